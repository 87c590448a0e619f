"""What `import comdiv` offers: every name there, typed, and the verbs' twins under the verbs' names."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import comdiv
from comdiv.cli import app
from comdiv.settings import Settings

NAMES = [name for name in comdiv.__all__ if name != "__version__"]
SERVERS = {"studio", "judge"}  # they serve pages until they are stopped: `comdiv.studio` is the package


@pytest.mark.slow
def test_no_exported_name_is_any_for_a_type_checker(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    lines = ["import comdiv", *(f"reveal_type(comdiv.{name})" for name in NAMES)]
    script.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    types = dict(enumerate(re.findall(r'user\.py:\d+: note: Revealed type is "(.*)"', done.stdout)))
    assert done.returncode == 0, done.stdout
    assert len(types) == len(NAMES)
    # A class is revealed as its constructor; what it or a function returns may hold Any, but is not Any.
    untyped = [name for name, kind in zip(NAMES, types.values(), strict=True) if re.search(r"^Any$|-> Any$", kind)]
    assert untyped == []


@pytest.mark.slow
def test_a_name_that_is_not_there_is_an_error_for_a_type_checker(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text("from comdiv import splitt\n")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert 'Module "comdiv" has no attribute "splitt"' in done.stdout


def test_every_verb_has_its_twin() -> None:
    verbs = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert verbs - SERVERS <= set(NAMES)
    for verb in verbs - SERVERS:
        assert inspect.isfunction(getattr(comdiv, verb))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"Settings"}])
def test_every_name_says_what_it_is(name: str) -> None:
    value = getattr(comdiv, name)
    assert inspect.getdoc(value)
    assert not (inspect.isclass(value) and issubclass(value, Settings)) or value.__name__ == name
