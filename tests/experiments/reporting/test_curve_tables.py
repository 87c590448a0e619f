"""The points of the curves as tables: what was asked for, what was reached, what has not been run."""

import json
from pathlib import Path

import pytest

from comdiv.evaluation import Share
from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import Cell, Facts, PlanResults
from comdiv.experiments.reporting.accuracies import Number, plan_numbers
from comdiv.experiments.reporting.accuracy_tables import divergence_table, rounds_table
from comdiv.experiments.store import RunDetails

CURVE = {
    None: (0.2, 30),
    0.5: (0.47, 20),
    0.9: (None, None),
}  # target → divergence, problems right of 40; None: not run


@pytest.fixture
def curve(tmp_path: Path) -> tuple[PlanResults, list[Number]]:
    """A plan with an i.i.d. split and two targets, the last of which has not been run."""
    cells, numbers = [], []
    for target, (divergence, right) in CURVE.items():
        facts = Facts(dataset=f"d{target}", corpus="mine", split="dbca", target=target, method="MathEN", cover="none")
        folder = tmp_path / f"d{target}"
        (folder / "dataset").mkdir(parents=True)
        facts_of_split = {"compound_divergence": {"paper": divergence, "keysers2020": 0.0}}
        (folder / "dataset" / "dataset.json").write_text(json.dumps(facts_of_split))
        status = "not run" if right is None else "done"
        data = Cell(f"dataset-{target}", "dataset", "", facts, (), status=status, details=RunDetails(folder, folder))  # type: ignore[arg-type]
        cell = Cell(f"evaluation-{target}", "evaluation", "", facts, (data.key,), status=status)  # type: ignore[arg-type]
        cells += [data, cell]
        shares = {} if right is None else {"seed 0": Share(right, 40)}
        numbers.append(Number("curve", "MathEN", facts, "test", None, shares, (cell,)))
    return PlanResults("curve", "", "", None, {}, tmp_path / "plans" / "curve.json", tuple(cells)), numbers


def test_a_split_is_shown_with_what_it_should_reach_and_what_it_did(curve: tuple[PlanResults, list[Number]]) -> None:
    table = divergence_table(*curve)
    assert table is not None
    assert [[entry.text for entry in row] for row in table.rows] == [
        ["mine", "MathEN", "i.i.d.", "0.20", "75.0", "40"],
        ["mine", "MathEN", "0.5", "0.47", "50.0", "40"],
        ["mine", "MathEN", "0.9", "–", "not run", "–"],
    ]


def test_two_splits_are_no_curve(curve: tuple[PlanResults, list[Number]]) -> None:
    plan, numbers = curve
    assert divergence_table(plan, numbers[:2]) is None


def test_rounds_are_shown_with_their_training_set_and_time(results: Path) -> None:
    plan = next(plan for plan in read_results(results) if plan.name == "rounds-curve")
    table = rounds_table(plan, plan_numbers(plan))
    assert table is not None
    assert [entry.text for entry in table.rows[3]][:4] == ["GTS", "sd", "3", "50"]
    assert [row[-1].text for row in table.rows] == ["0.1", "0.2", "0.3", "0.4"]


@pytest.mark.parametrize(("rounds", "printed"), [(None, 23.5), (7, 23.5), (0, None), (3, None)])
def test_the_papers_number_is_for_its_own_number_of_rounds(rounds: int | None, printed: float | None) -> None:
    facts = Facts("sd", "math23k", "synthesis", method="GTS+DA", rounds=rounds, cover="none")
    found = Number("mine", "GTS+DA", facts, "test", None, {}, ()).paper
    assert (found.percent if found else None) == printed


def test_a_plan_without_rounds_has_no_such_table(results: Path) -> None:
    plan = next(plan for plan in read_results(results) if plan.name == "main-results")
    assert rounds_table(plan, plan_numbers(plan)) is None
