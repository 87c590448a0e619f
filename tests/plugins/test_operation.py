"""A third operation as a package: `docs/examples/comdiv-swap`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from comdiv.expression import parse, value_of
from comdiv.problem import Problem
from comdiv.reading import read
from plugins.conftest import Environment

PLAN = """
name: swapped
datasets:
  demo-iid: {corpus: demo-en, limit: 40, split: {method: iid, test_size: 8, k: 2}}
augmentations:
  DA: {options: {operations: [1, swap], repeat_originals: 1}}
methods:
  LSTM+DA: {solver: lstm, augmentation: DA}
training: {settings: {epochs: 1, hidden: 8, embedding: 8}}
"""


def made_by(path: Path, operation: str) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [record for record in records if record["provenance"].get("operation") == operation]


@pytest.fixture(scope="module")
def environment(install: Callable[[str], Environment]) -> Environment:
    return install("comdiv-swap")


@pytest.fixture(scope="module")
def folder(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split, augmented by operations 1 and 2 and by the package's."""
    folder = tmp_path_factory.mktemp("swap")
    environment.comdiv("data", "demo", "en", "--size", "120", "--out", "demo.jsonl", folder=folder)
    environment.comdiv("split", "demo.jsonl", "--method", "iid", "--k", "3", "--out", "split", folder=folder)
    augment = ("augment", "split", "--operations", "1,2,swap", "--out", "augmented")
    environment.comdiv(*augment, folder=folder)
    return folder


def test_the_new_problems_of_a_packages_operation_keep_their_answers(folder: Path) -> None:
    swapped = made_by(folder / "augmented" / "train.jsonl", "operation swap")
    assert swapped
    for record in swapped:
        values = read(Problem("", "en", record["text"])).values
        assert value_of(parse(record["expression"]), values) == value_of(parse(record["answer"]))
    assert made_by(folder / "augmented" / "train.jsonl", "operation 1")


def test_report_and_card_tell_of_it(folder: Path) -> None:
    report = json.loads((folder / "augmented" / "report.json").read_text(encoding="utf-8"))
    assert report["rounds"][0]["operation swap"]["kept"] > 0
    assert "order" in (folder / "augmented" / "README.md").read_text(encoding="utf-8")


def test_any_number_of_processes_makes_the_same_problems(environment: Environment, folder: Path) -> None:
    augment = ("augment", "split", "--operations", "1,2,swap", "--jobs", "2", "--out", "again")
    environment.comdiv(*augment, folder=folder)
    assert (folder / "again" / "train.jsonl").read_bytes() == (folder / "augmented" / "train.jsonl").read_bytes()


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_plan_and_its_workers_know_it(environment: Environment, tmp_path: Path, engine: str) -> None:
    (tmp_path / "swapped.yaml").write_text(PLAN, encoding="utf-8")
    environment.comdiv("run", "swapped.yaml", "--engine", engine, "--out", "runs", folder=tmp_path)
    assert any(made_by(path, "operation swap") for path in (tmp_path / "runs").rglob("train.jsonl"))


def test_an_operation_that_nobody_has_is_refused_with_the_nearest_name(environment: Environment, folder: Path) -> None:
    said = environment.comdiv("augment", "split", "--operations", "swop", "--out", "x", folder=folder, fails=True)
    assert "swop" in said
    assert "swap" in said
    assert "Traceback" not in said
