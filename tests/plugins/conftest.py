"""Plug-ins as their users meet them: the examples of the how-to pages, installed into an environment of their own."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@dataclass(frozen=True)
class Environment:
    """A virtual environment that sees this one's packages, and has one more."""

    python: Path

    def comdiv(self, *arguments: str | Path, folder: Path, fails: bool = False) -> str:
        """What a `comdiv` command prints; it must succeed, or with `fails` must not."""
        command = [str(self.python), "-m", "comdiv", *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
        assert (done.returncode != 0) == fails, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stderr if fails else done.stdout


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Environment]:
    """Install an example package into a fresh environment; once for each, however many tests use it."""
    environments: dict[str, Environment] = {}

    def installed(package: str) -> Environment:
        if package not in environments:
            environments[package] = _fresh_environment(tmp_path_factory.mktemp("environment"), EXAMPLES / package)
        return environments[package]

    return installed


def installed(package: str) -> Any:
    """A fixture for the tests of one module: an environment with this example package."""

    @pytest.fixture(scope="module")
    def environment(install: Callable[[str], Environment]) -> Environment:
        return install(package)

    return environment


def _fresh_environment(folder: Path, package: Path) -> Environment:
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    # What is installed here need not be downloaded again; what the package adds goes into the new environment alone.
    seen = sysconfig.get_path("purelib")
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    (Path(own) / "parent.pth").write_text(f"import site; site.addsitedir({seen!r})\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-build-isolation", str(package)], check=True)
    return Environment(python)
