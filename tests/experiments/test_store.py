"""What a reader of results sees, of done, failed and not run cells."""

import json
import shutil
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.shapes import check_summary
from comdiv.experiments.store import begin_cell
from experiments.synthetic import write_synthetic_results


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_synthetic_results(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def main_results(root: Path) -> PlanResults:
    return read_results(root)[0]


def cell_of(plan: PlanResults, label: str) -> Cell:
    return next(cell for cell in plan.cells if cell.label == label)


def test_plans_come_by_name_with_all_their_cells(root: Path) -> None:
    plans = read_results(root)
    assert [(plan.name, plan.reproduces) for plan in plans] == [
        ("main-results", "Table II"),
        ("rounds-curve", "Figure 5b"),
    ]
    assert len(plans[0].of_kind("training")) == 2 * 4 * 3


def test_a_done_cell_has_its_numbers_and_files(main_results: PlanResults) -> None:
    cell = cell_of(main_results, "GTS+DA on demo-en-comdiv, seed 1, cover hard")
    assert (cell.status, cell.facts.method, cell.facts.plain, cell.facts.cover) == ("done", "GTS+DA", "GTS", "hard")
    assert cell.summary["test"]["n"] == 40
    assert 0.3 < cell.summary["test"]["answer_accuracy"] < 0.9
    result = cell.file("test/result.json")
    assert result is not None
    assert json.loads(result.read_text())["correct"] == cell.summary["test"]["correct"]
    assert cell.file("run/metrics.jsonl") is None


def test_a_failed_cell_says_why_and_its_dependants_because_of_whom(main_results: PlanResults) -> None:
    failed = cell_of(main_results, "MathEN on demo-en-comdiv, seed 2")
    assert (failed.status, failed.reason.partition(":")[0]) == ("failed", "the loss is not a number at step 17")
    assert failed.file("log.txt") is not None
    waiting = cell_of(main_results, "MathEN on demo-en-comdiv, seed 2, cover none")
    assert (waiting.status, waiting.reason) == ("not run", "because of: MathEN on demo-en-comdiv, seed 2")
    assert waiting.file("test/result.json") is None


def test_the_way_back_leads_to_training_and_data(main_results: PlanResults) -> None:
    cell = cell_of(main_results, "GTS+DA on demo-en-iid, seed 0, cover none")
    training = main_results.ancestor(cell, "training")
    assert training is not None
    assert training.label == "GTS+DA on demo-en-iid, seed 0"
    data = main_results.ancestor(cell, "dataset", "augmentation", "rounds")
    assert data is not None
    assert data.label == "DA on demo-en-iid"
    assert data.file("dataset/report.json") is not None
    assert main_results.ancestor(data, "training") is None


def test_a_cell_whose_files_are_gone_is_not_done(tmp_path: Path) -> None:
    plan = read_results(write_synthetic_results(tmp_path))[1]
    cell = plan.of_kind("training")[0]
    metrics = cell.file("run/metrics.jsonl")
    assert metrics is not None
    metrics.write_text("")
    again = read_results(tmp_path)[1].of_kind("training")[0]
    assert (cell.status, again.status) == ("done", "not run")


def test_a_cell_that_has_a_link_out_of_its_folder_is_not_begun(tmp_path: Path) -> None:
    cell = read_results(write_synthetic_results(tmp_path / "runs"))[1].of_kind("training")[0]
    assert cell.folder is not None
    link = cell.folder / "cell.json"
    link.unlink()
    link.symlink_to(tmp_path / "mine.json")
    with pytest.raises(ComdivError, match=r"cell\.json leads out of .* by a link"):
        begin_cell(tmp_path / "runs", cell)
    shutil.move(cell.folder, tmp_path / "away")
    cell.folder.symlink_to(tmp_path / "away")
    with pytest.raises(ComdivError, match=r"leads out of .*runs by a link"):
        begin_cell(tmp_path / "runs", cell)
    assert (tmp_path / "away" / "done.json").exists()


def test_a_folder_without_plans_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="holds no results"):
        read_results(tmp_path)


def test_a_plan_of_another_version_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    record = {"name": "x", "cells": [{"key": "k", "kind": "training", "label": "l", "facts": {"no": 1}, "needs": []}]}
    (tmp_path / "plans" / "x.json").write_text(json.dumps(record))
    with pytest.raises(ComdivError, match=r"x\.json is not a plan's file of this version"):
        read_results(tmp_path)


@pytest.mark.parametrize("operation", ["operation 1", "operation reorder"])
def test_a_round_with_damaged_counts_of_any_operation_is_one_line(operation: str) -> None:
    report = {"options": {"ranker": "gts"}, "rounds": [{"round": 1, operation: 5}]}
    with pytest.raises(ComdivError, match=r"done\.json: report\.rounds\.0"):
        check_summary("augmentation", {"report": report}, "done.json")
