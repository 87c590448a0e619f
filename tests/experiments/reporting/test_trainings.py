"""The table of trainings: what they cost, seeds together."""

from pathlib import Path

import pytest

from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.cell_tables import training_table
from experiments.synthetic import write_synthetic_results


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PlanResults]:
    root: Path = write_synthetic_results(tmp_path_factory.mktemp("results"))
    return {plan.name: plan for plan in read_results(root)}


def test_seeds_are_one_row_and_a_failed_training_is_none_of_them(plans: dict[str, PlanResults]) -> None:
    table = training_table(plans["main-results"])
    assert table is not None
    seeds = {(str(row[0].value), str(row[1].value)): row[2].value for row in table.rows}
    assert len(seeds) == 8  # four methods on two datasets
    assert sorted(set(seeds.values())) == [2, 3]


def test_a_row_says_how_much_was_read_how_long_and_how_fast(plans: dict[str, PlanResults]) -> None:
    table = training_table(plans["main-results"])
    assert table is not None
    row = next(row for row in table.rows if row[0].value == "GTS")
    assert [entry.text for entry in row[3:]] == ["50", "5", "5", "0.1"]


def test_trainings_after_different_rounds_are_rows_of_their_own(plans: dict[str, PlanResults]) -> None:
    table = training_table(plans["rounds-curve"])
    assert table is not None
    assert [row[0].text for row in table.rows] == [f"GTS, {rounds} rounds" for rounds in range(4)]
    assert [row[-1].text for row in table.rows] == ["0.1", "0.2", "0.3", "0.4"]
