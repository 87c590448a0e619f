"""A third operation as a package: `docs/examples/comdiv-reorder`, through `augment`, plans and Ray."""

import json
import sys
from pathlib import Path

import pytest

from augmentation.small import write_small_dataset
from plugins.conftest import Environment, installed
from plugins.provenance import operations, records

PLAN = """
name: third
title: A third operation
datasets: {small: {folder: small}}
augmentations: {reordered: {options: {operations: [reorder], repeat_originals: 1}}}
methods: {GTS+DA: {solver: gts, augmentation: reordered}}
training: {settings: {epochs: 1, hidden: 8, embedding: 8}, seeds: [0]}
"""


reorder = installed("comdiv-reorder")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small_dataset(tmp_path / "small")
    return tmp_path


def test_without_the_package_the_operation_is_unknown_in_one_line(folder: Path) -> None:
    here = Environment(Path(sys.executable))
    said = here.comdiv("augment", "small", "--operations", "1,reorder", "--out", "x", folder=folder, fails=True)
    assert "unknown operation 'reorder'" in said.replace("\n", " ")
    assert "Traceback" not in said


def test_it_is_counted_wherever_the_paper_s_operations_are(reorder: Environment, folder: Path) -> None:
    chosen = ("--preset", "structure", "--operations", "1,2,reorder", "--per-problem", "3,1,2", "--jobs", "2")
    printed = reorder.comdiv("augment", "small", *chosen, "--out", "out", folder=folder)
    made = operations(folder / "out" / "train.jsonl")
    assert min(made[f"operation {name}"] for name in ("1", "2", "reorder")) > 0
    facts = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    assert facts["rounds"][0]["operation reorder"]["kept"] == made["operation reorder"]
    assert facts["options"]["operations"] == [1, 2, "reorder"]
    card = (folder / "out" / "README.md").read_text(encoding="utf-8")
    said = f"{made['operation reorder']:,} by operation reorder (order)"
    assert said in card
    assert said in printed
    assert "## Samples of operation reorder" in (folder / "out" / "report.md").read_text(encoding="utf-8")
    reasons = {record["reason"] for record in records(folder / "out" / "rounds" / "1" / "rejected.jsonl")}
    assert "the story begins with a pronoun" in reasons


def test_its_problems_have_the_expression_of_their_new_order(reorder: Environment, folder: Path) -> None:
    reorder.comdiv("augment", "small", "--operations", "reorder", "--out", "out", folder=folder)
    parents = {record["id"]: record for record in records(folder / "small" / "train.jsonl")}
    new = [record for record in records(folder / "out" / "train.jsonl") if record["id"].startswith("r1-opreorder-")]
    assert new
    for record in new:
        (parent,) = record["provenance"]["parents"]
        assert record["answer"] == parents[parent]["answer"]
        assert sorted(record["text"].split()) == sorted(parents[parent]["text"].split())


def test_a_plan_can_name_it(reorder: Environment, folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    reorder.comdiv("run", "plan.yaml", "--out", "runs", folder=folder)
    (train,) = (path for path in folder.glob("runs/**/train.jsonl") if operations(path)["operation reorder"])
    assert operations(train)["operation reorder"] > 0


@pytest.mark.slow
def test_on_ray_it_makes_the_same_problems(reorder: Environment, folder: Path) -> None:
    pytest.importorskip("ray")
    chosen = ("--preset", "structure", "--operations", "1,reorder", "--rounds", "2")
    reorder.comdiv("augment", "small", *chosen, "--out", "here", folder=folder)
    reorder.comdiv("augment", "small", *chosen, "--engine", "ray", "--out", "there", folder=folder)
    assert (folder / "here" / "train.jsonl").read_bytes() == (folder / "there" / "train.jsonl").read_bytes()
