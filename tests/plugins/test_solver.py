"""A seventh solver as a package: `docs/examples/comdiv-bag-of-words`, as `docs/how-to/add-a-solver.md` shows it."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from comdiv.problem import write_problems
from plugins.conftest import EXAMPLES, Environment, installed
from solvers.tiny import EIGHT

PAGE = EXAMPLES.parent / "how-to" / "add-a-solver.md"
PLAN = """\
name: bag
datasets: {demo: {corpus: demo.jsonl, split: {method: iid}}}
methods: {Bag: {solver: bag-of-words, settings: {pooling: sum}}, GTS: {solver: gts}}
training: {seeds: [0], threads: 1, settings: {epochs: 1, hidden: 8, embedding: 8, layers: 1, heads: 2}}
"""


bag = installed("comdiv-bag-of-words")


@pytest.fixture(scope="module")
def folder(bag: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page's commands have been run."""
    folder = tmp_path_factory.mktemp("bag")
    page = PAGE.read_text(encoding="utf-8").partition("## In a package of your own")[2]  # before: encoders, decoders
    block = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)[0]
    for line in block.splitlines():
        program, *arguments = shlex.split(line)
        if program == "comdiv":
            bag.comdiv(*arguments, folder=folder)
    return folder


def test_the_page_shows_the_package_word_for_word() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for path in (EXAMPLES / "comdiv-bag-of-words").iterdir():
        if path.is_file():
            assert path.read_text(encoding="utf-8") in page, path.name


def test_a_run_keeps_the_setting_of_its_own(folder: Path) -> None:
    config = yaml.safe_load((folder / "runs" / "bag-of-words" / "config.yaml").read_text(encoding="utf-8"))
    assert (config["solver"], config["settings"]["pooling"], config["settings"]["epochs"]) == ("bag-of-words", "sum", 5)
    assert config["settings"]["hidden"] == 128  # its own preset
    result = folder / "runs" / "bag-of-words" / "evaluations" / "demo-comdiv" / "result.json"
    assert json.loads(result.read_text(encoding="utf-8"))["solver"] == "bag-of-words"


def test_a_misspelled_setting_is_answered_with_the_nearest(bag: Environment, folder: Path) -> None:
    arguments = ("train", "bag-of-words", "--data", "demo-comdiv", "--out", "x", "--set", "poling=sum")
    said = " ".join(bag.comdiv(*arguments, folder=folder, fails=True).split())
    assert "unknown setting 'poling'. Did you mean 'pooling'?" in said


def test_a_plan_and_its_workers_know_the_solver(bag: Environment, folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    bag.comdiv("run", "plan.yaml", "--out", "results", "--jobs", "2", folder=folder)
    configs = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.glob("results/**/run/config.yaml")]
    assert {config["solver"]: config["settings"].get("pooling") for config in configs} == {
        "bag-of-words": "sum",
        "gts": None,
    }


def test_without_the_package_the_solver_is_unknown_in_one_line(tmp_path: Path) -> None:
    write_problems(tmp_path / "eight.jsonl", EIGHT)
    here = Environment(Path(sys.executable))
    said = here.comdiv("train", "bag-of-words", "--data", ".", "--out", "x", folder=tmp_path, fails=True)
    assert "unknown solver 'bag-of-words'" in " ".join(said.split())
