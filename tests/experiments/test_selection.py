"""A part of a plan: what is named, and what it needs; the rest stays a part of the plan."""

from pathlib import Path
from typing import Any

import pytest

from comdiv.errors import ComdivError
from comdiv.experiments.plan import Plan, make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.runner import run_plan, selected
from experiments.test_runner import Pretending
from experiments.tiny import tiny_corpus, tiny_plan


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    tiny_corpus(tmp_path)
    record: dict[str, Any] = tiny_plan(
        augmentations={"DA": {"options": {"rounds": 1}}},
        methods={"GTS": {"solver": "gts"}, "GTS+DA": {"solver": "gts", "augmentation": "DA"}},
    )
    record["datasets"]["curve"] = {"corpus": "mine.jsonl", "split": {"test_size": 10, "k": 3, "targets": [0.3, 0.5]}}
    return make_plan(record)


def labels(plan: Plan, base: Path, **part: Any) -> set[str]:
    return {cell.label for cell in selected(plan, plan_cells(plan, base), **part)}


def test_without_names_it_is_the_whole_plan(plan: Plan, tmp_path: Path) -> None:
    assert selected(plan, plan_cells(plan, tmp_path)) == plan_cells(plan, tmp_path)


def test_a_method_brings_what_it_needs_and_no_other(plan: Plan, tmp_path: Path) -> None:
    assert labels(plan, tmp_path, datasets=["iid"], methods=["GTS"]) == {
        "iid", "GTS on iid, seed 0", "GTS on iid, seed 0: evaluation",
    }  # fmt: skip
    assert labels(plan, tmp_path, datasets=["iid"], methods=["GTS+DA"]) == {
        "iid", "DA on iid, seed 0", "GTS+DA on iid, seed 0", "GTS+DA on iid, seed 0: evaluation",
    }  # fmt: skip


def test_a_split_with_targets_goes_by_its_name_in_the_plan(plan: Plan, tmp_path: Path) -> None:
    assert {"curve-0.30", "curve-0.50", "GTS on curve-0.50, seed 0"} <= labels(plan, tmp_path, datasets=["curve"])


def test_a_seed_brings_its_trainings_and_what_has_no_seed(plan: Plan, tmp_path: Path) -> None:
    seeds = plan.model_copy(update={"training": plan.training.model_copy(update={"seeds": (0, 1, 2)})})
    assert labels(seeds, tmp_path, datasets=["iid"], methods=["GTS+DA"], seeds=[1]) == {
        "iid", "DA on iid, seed 0", "GTS+DA on iid, seed 1", "GTS+DA on iid, seed 1: evaluation",
    }  # fmt: skip
    assert labels(seeds, tmp_path, seeds=[0]) == labels(plan, tmp_path)
    with pytest.raises(ComdivError, match=r"seed 3 is not in this plan \(0, 1, 2\)"):
        labels(seeds, tmp_path, seeds=[3])


def test_an_unknown_name_is_answered_with_the_nearest(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="comdiv"):
        labels(plan, tmp_path, datasets=["comdv"])
    with pytest.raises(ComdivError, match="GTS"):
        labels(plan, tmp_path, methods=["GTS+AD"])


def test_what_was_not_named_is_not_run_and_stays_in_the_plan(plan: Plan, tmp_path: Path) -> None:
    results = run_plan(
        plan, tmp_path / "runs", Pretending(lambda cell: "done"), base=tmp_path, datasets=["iid"], methods=["GTS"]
    )
    assert {cell.label for cell in results.cells if cell.status == "done"} == labels(
        plan, tmp_path, datasets=["iid"], methods=["GTS"]
    )
    assert {cell.label for cell in results.cells} == labels(plan, tmp_path)
