"""The locks cover what `pyproject.toml` asks for, with hashes, and name no host; the bill of materials lists them."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "locks"
sys.path.insert(0, str(LOCKS))

from lockfile import Pin, lock_text, normalised, parse_lock, read_lock  # noqa: E402

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAMES = sorted(path.stem for path in LOCKS.glob("*.txt"))
SHA = hashlib.sha256(b"a wheel").hexdigest()


def requirements(*extras: str) -> list[Requirement]:
    """What the package asks for with these extras, extras within extras resolved."""
    project = PYPROJECT["project"]
    direct = [Requirement(line) for line in project["dependencies"]]
    for extra in extras:
        for requirement in map(Requirement, project["optional-dependencies"][extra]):
            direct += requirements(*requirement.extras) if requirement.name == project["name"] else [requirement]
    return direct


def uncovered(wanted: list[Requirement], pins: list[Pin]) -> list[str]:
    """The requirements that no pin of the lock meets on every platform."""
    versions = {pin.name: pin.version for pin in pins if not pin.marker}
    return [str(line) for line in wanted if not line.specifier.contains(versions.get(normalised(line.name), "0"))]


@pytest.mark.parametrize(("lock", "extra"), [("demo", "solvers"), ("test", "dev")])
def test_a_lock_pins_every_requirement_of_its_extra(lock: str, extra: str) -> None:
    assert uncovered(requirements(extra), read_lock(lock)) == []


def test_a_requirement_that_is_missing_or_newer_than_its_pin_is_noticed() -> None:
    pins = [Pin("numpy", "1.26.0", "", (SHA,)), Pin("rich", "15.0.0", "sys_platform == 'win32'", (SHA,))]
    wanted = [Requirement(line) for line in ("numpy>=1.26", "NumPy>=2", "rich>=13", "scipy>=1")]
    assert uncovered(wanted, pins) == ["NumPy>=2", "rich>=13", "scipy>=1"]


def test_the_locks_build_the_package_and_agree_with_the_constraints() -> None:
    backend = [Requirement(line) for line in PYPROJECT["build-system"]["requires"]]
    assert uncovered([*backend, Requirement("pip"), Requirement("editables")], read_lock("build")) == []
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert uncovered([Requirement(line) for line in lines if not line.startswith("#")], read_lock("test")) == []


def test_every_lock_has_the_versions_of_the_tests() -> None:
    test = {(pin.name, pin.version, pin.marker) for pin in read_lock("test")}
    for lock in ("build", "demo"):
        assert {(pin.name, pin.version) for pin in read_lock(lock)} <= {(name, version) for name, version, _ in test}


def test_the_cpu_build_of_torch_is_the_version_of_the_other_locks() -> None:
    (ordinary,) = {pin.version for lock in ("demo", "test") for pin in read_lock(lock) if pin.name == "torch"}
    assert [pin.version for pin in read_lock("torch-cpu")] == [f"{ordinary}+cpu"]


def test_what_only_graphics_cards_need_is_a_constraint_and_never_a_requirement() -> None:
    only = {pin.name for pin in read_lock("cuda")}
    assert any(name.startswith("nvidia-") for name in only)
    assert not only & {pin.name for lock in ("build", "demo", "test") for pin in read_lock(lock)}


@pytest.mark.parametrize("name", NAMES)
def test_every_pin_of_a_lock_has_a_hash(name: str) -> None:
    pins = read_lock(name)
    assert pins
    assert [pin.name for pin in pins if not pin.hashes] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_holds_pins_and_comments_and_names_no_host(name: str) -> None:
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert (
        re.findall(r"(?m)(?:^|\s)(?:-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host|-r|-c)\b", text)
        == []
    )
    comments = "\n".join(line for line in text.splitlines() if line.startswith("#"))
    assert re.findall(r"\b[\w-]+(?:\.[\w-]+)*\.(?:org|com|io|net|dev|cn|co)\b", comments) == []
    assert parse_lock(text) == parse_lock(lock_text(parse_lock(text)))


@pytest.mark.parametrize(
    "line",
    ["numpy>=1.26", "--index-url x", "numpy @ file:x", "numpy==1 --hash=md5:00", f"numpy==1 --hash=sha256:{SHA[1:]}"],
)
def test_a_line_that_is_no_pin_with_its_sha256_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a pinned requirement"):
        parse_lock(f"rich==15.0.0 \\\n    --hash=sha256:{SHA}\n{line}\n")


def bill(lock: str) -> str:
    command = [sys.executable, "locks/sbom.py", lock]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, encoding="utf-8").stdout


def test_the_bill_of_materials_names_every_package_of_the_lock_and_is_the_same_twice() -> None:
    text = bill("demo")
    assert bill("demo") == text
    document = json.loads(text)
    parts = {(part["name"], part["version"]): part for part in document["components"]}
    pins = {(pin.name, pin.version): pin for lock in ("demo", "build") for pin in read_lock(lock)}
    assert parts.keys() == pins.keys()
    assert all({entry["content"] for entry in parts[key]["hashes"]} == set(pin.hashes) for key, pin in pins.items())
    depends = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
    rich = next(part["bom-ref"] for part in document["components"] if part["name"] == "rich")
    assert rich in depends["pkg:pypi/comdiv@" + PYPROJECT["project"]["version"]]
    assert any(needed.startswith("pkg:pypi/pygments@") for needed in depends[rich])
