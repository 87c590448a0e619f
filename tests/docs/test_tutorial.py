"""The tutorial: every command in it is run, in its order, in a folder with nothing but its CSV."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from comdiv.cli import app

DOCS = Path(__file__).resolve().parents[2] / "docs"


def commands() -> list[str]:
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.S)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def follow(lines: list[str]) -> dict[str, str]:
    """What each command printed; all of them must succeed."""
    printed = {}
    for line in lines:
        result = CliRunner().invoke(app, shlex.split(line)[1:], catch_exceptions=False)
        assert result.exit_code == 0, f"{line}: {result.output}"
        printed[line] = result.stdout
    return printed


def tiny(line: str) -> str:
    """The same command with a solver that learns next to nothing, quickly: what it has not learnt to end, we end."""
    quick = re.sub(r"epochs=\d+", "epochs=1", re.sub(r"hidden=\d+", "hidden=16", line))
    return f"{quick} --set layers=1 --set beam=1 --set most_tokens=7" if line.startswith("comdiv train") else quick


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(DOCS / "examples" / "problems.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_runs(desk: Path) -> None:
    """With one epoch of a tiny solver: whether it learns is not the question here."""
    assert all(line.startswith("comdiv ") for line in commands())
    printed = follow([tiny(line) for line in commands()])
    assert len(printed) >= 8
    assert "answers" in printed["comdiv evaluate runs/comdiv benchmark"]
    assert (desk / "benchmark" / "iid" / "dataset.json").is_file()


@pytest.mark.slow
def test_the_tutorial_shows_what_it_promises(desk: Path) -> None:
    """As it stands: the solver does better on the random split than on the compositional one."""
    printed = follow(commands())

    def accuracy(line: str) -> float:
        found = re.search(r"answers\s+([\d.]+)%", printed[line])
        assert found is not None
        return float(found.group(1))

    assert accuracy("comdiv evaluate runs/iid benchmark/iid") > accuracy("comdiv evaluate runs/comdiv benchmark")
