"""The table of rounds: what an augmentation made and kept of each operation."""

from dataclasses import replace
from pathlib import Path

import pytest

from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.cell_tables import augmentation_table
from experiments.synthetic import write_synthetic_results


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> PlanResults:
    root: Path = write_synthetic_results(tmp_path_factory.mktemp("results"))
    return next(plan for plan in read_results(root) if plan.name == "rounds-curve")


def test_a_row_for_each_round_says_what_was_kept_of_each_operation(plan: PlanResults) -> None:
    table = augmentation_table(plan)
    assert table is not None
    assert [[entry.text for entry in row] for row in table.rows] == [
        ["DA", "sd", "gts", "1", "20", "5", "2", "1,200", "240", "−0.25", "−0.002", "−0.001"],
        ["DA", "sd", "gts", "2", "40", "5", "1", "1,200", "240", "−0.25", "−0.002", "−0.001"],
        ["DA", "sd", "gts", "3", "60", "5", "0", "1,200", "240", "−0.25", "−0.002", "−0.001"],
    ]
    assert len(table.columns) == len(table.rows[0])


def test_an_operation_that_was_left_out_made_nothing_and_another_seed_is_named(plan: PlanResults) -> None:
    cell = plan.of_kind("augmentation")[0]
    rounds = [{"round": 1, "operation 2": {"candidates": 7, "kept": 7, "new_templates": 0}}]
    report = {"options": {"ranker": "none"}, "rounds": rounds}
    other = replace(cell, facts=replace(cell.facts, augmentation_seed=4), summary={"report": report})
    table = augmentation_table(replace(plan, cells=(other,)))
    assert table is not None
    assert [entry.text for entry in table.rows[0]] == ["DA, seed 4", "sd", "none", "1", "0", "0", "0", "7", "7"]
    assert len(table.columns) == len(table.rows[0])  # nobody ranked, and no column says so


def test_an_operation_of_a_package_has_columns_beside_the_paper_s(plan: PlanResults) -> None:
    cell = plan.of_kind("augmentation")[0]
    counts = {"candidates": 3, "kept": 2, "new_templates": 1, "median_score": -0.5}
    rounds = [{"round": 1, "operation reorder": counts, "least_score_kept": -0.75}]
    other = replace(cell, summary={"report": {"options": {"ranker": "gts"}, "rounds": rounds}})
    table = augmentation_table(replace(plan, cells=(other,)))
    assert table is not None
    shown = {column.full_title: entry.text for column, entry in zip(table.columns, table.rows[0], strict=True)}
    assert shown["Operation reorder passed"] == "3"
    assert shown["Operation reorder kept"] == "2"
    assert shown["Operation reorder new templates"] == "1"
    assert shown["Median score operation reorder"] == "−0.5"
    assert shown["Operation 1 kept"] == "0"


def test_before_an_augmentation_is_done_there_is_no_table(plan: PlanResults) -> None:
    waiting = tuple(replace(cell, status="not run", summary={}) for cell in plan.cells)
    assert augmentation_table(replace(plan, cells=waiting)) is None
