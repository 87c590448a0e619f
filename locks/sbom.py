"""A software bill of materials (CycloneDX 1.6, JSON) of a lock: `make sbom`, or `python locks/sbom.py demo|test`.

Names, versions and hashes come from the lock; licences and who needs whom from the packages that are installed here.
The same locks and packages give the same bytes: no time of day, and a serial number that is a hash of the rest.
"""

import argparse
import json
import re
import tomllib
import uuid
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from lockfile import ROOT, Pin, normalised, read_lock

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_LICENCE_CLASS = "License :: OSI Approved :: "
_LONGEST_NAME = 80  # some packages have their licence's whole text where its name should be


def reference(name: str, version: str) -> str:
    """The package URL of a package: the same name for it in every tool."""
    return f"pkg:pypi/{name}@{version}"


def licences(about: metadata.PackageMetadata) -> list[dict[str, Any]]:
    """What a package says of its licence: an SPDX expression, or else names; nothing where it says nothing short."""
    if expression := about.get("License-Expression"):
        return [{"expression": expression}]
    classes = about.get_all("Classifier") or []
    names = sorted(line.removeprefix(_LICENCE_CLASS) for line in classes if line.startswith(_LICENCE_CLASS))
    name = about.get("License", "").strip()
    if not names and name and "\n" not in name and len(name) <= _LONGEST_NAME:
        names = [name]
    return [{"license": {"name": name}} for name in names]


def installed(pin: Pin) -> metadata.Distribution | None:
    """The package of a pin, where just that version is installed (a build for CPUs, `+cpu`, is the same version)."""
    try:
        package = metadata.distribution(pin.name)
    except metadata.PackageNotFoundError:
        return None
    return package if package.version.partition("+")[0] == pin.version.partition("+")[0] else None


def component(pin: Pin, package: metadata.Distribution | None) -> dict[str, Any]:
    """The entry of a package. Not `required` is what is for other platforms, or simply not installed here."""
    entry: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference(pin.name, pin.version),
        "name": pin.name,
        "version": pin.version,
        "purl": reference(pin.name, pin.version),
        "scope": "required" if package else "optional",
        "hashes": [{"alg": "SHA-256", "content": sha} for sha in pin.hashes],
    }
    if package and (said := licences(package.metadata)):
        entry["licenses"] = said
    return entry


def needed(package: metadata.Distribution | None, references: dict[str, str]) -> list[str]:
    """What of the lock a package asks for by name, extras aside."""
    lines = (line for line in (package and package.requires) or () if "extra ==" not in line)
    names = (normalised(match[1]) for line in lines if (match := _REQUIREMENT.match(line)))
    return sorted({references[name] for name in names if name in references})


def bill_of_materials(pins: Iterable[Pin]) -> dict[str, Any]:
    """The whole document."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    unique = sorted({(pin.name, pin.version): pin for pin in pins}.values(), key=lambda pin: (pin.name, pin.version))
    packages = {pin: installed(pin) for pin in unique}
    references = {pin.name: reference(pin.name, pin.version) for pin in unique}
    ours = reference(project["name"], project["version"])
    extras = project["optional-dependencies"].values()
    asked = {
        normalised(match[1])
        for line in [*project["dependencies"], *(line for extra in extras for line in extra)]
        if (match := _REQUIREMENT.match(line))
    }
    root = {
        "type": "application",
        "bom-ref": ours,
        "name": project["name"],
        "version": project["version"],
        "purl": ours,
        "licenses": [{"expression": project["license"]}],
    }
    dependencies = [{"ref": ours, "dependsOn": sorted(references[name] for name in asked & references.keys())}]
    dependencies += [{"ref": references[pin.name], "dependsOn": needed(packages[pin], references)} for pin in unique]
    document: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": [component(pin, packages[pin]) for pin in unique],
        "dependencies": dependencies,
    }
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document, sort_keys=True))
    return {"serialNumber": f"urn:uuid:{serial}", **document}


def main() -> None:
    """Print the bill of the lock that is asked for, with what builds it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lock", choices=["demo", "test"])
    name = parser.parse_args().lock
    pins = [*read_lock(name), *read_lock("build"), *(read_lock("weights") if name == "test" else [])]
    print(json.dumps(bill_of_materials(pins), indent=2, sort_keys=True, ensure_ascii=False))


if __name__ == "__main__":
    main()
