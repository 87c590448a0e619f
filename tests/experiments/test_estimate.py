"""How long the rest of a plan takes."""

from pathlib import Path
from typing import Any

import pytest

from comdiv.experiments.cell import Cell, Facts
from comdiv.experiments.estimates import Estimate, duration, estimate
from comdiv.experiments.store import begin_cell, finish_cell

DATASET = "dataset-1"


def training(number: int, needs: str = DATASET, *, epochs: int = 10, hidden: int = 8, **facts: Any) -> Cell:
    recipe = {"solver": facts.get("solver"), "settings": {"seed": number, "epochs": epochs, "hidden": hidden}}
    return Cell(f"training-{number}", "training", f"training {number}", Facts(**facts), (needs,), recipe)


def other(number: int, kind: Any, **facts: Any) -> Cell:
    return Cell(f"{kind}-{number}", kind, f"{kind} {number}", Facts(**facts), ())


def finished(root: Path, one: Cell, seconds: float, **summary: Any) -> None:
    finish_cell(begin_cell(root, one), summary, {"seconds": seconds}, [])


def trained(root: Path, one: Cell, seconds: float) -> None:
    """On the clock it took ten times as long: the machine did other things."""
    epochs = one.recipe["settings"]["epochs"]
    facts = {"problems": 100, "epochs": epochs, "planned_epochs": epochs, "seconds_per_epoch": seconds / epochs}
    finished(root, one, 10 * seconds, **facts)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    sizes = {"train": 100, "validation": 10, "test": 10}
    finished(tmp_path, other(1, "dataset", dataset="a", corpus="c"), 5, problems=sizes)
    trained(tmp_path, training(1, solver="gts", dataset="a"), 10)
    trained(tmp_path, training(2, solver="gts", dataset="a"), 20)
    trained(tmp_path, training(3, solver="gts", dataset="a", hidden=512), 1000)
    trained(tmp_path, training(4, solver="lstm", dataset="a"), 7)
    return tmp_path


def test_trainings_are_judged_by_the_processor_time_of_what_is_most_like_them(runs: Path) -> None:
    assert estimate(runs, [training(9, solver="gts", dataset="a")]) == Estimate(15, 0)
    assert estimate(runs, [training(9, solver="gts", dataset="b", hidden=512)]) == Estimate(1000, 0)
    assert estimate(runs, [training(9, solver="lstm", dataset="b", hidden=9)]) == Estimate(7, 0)


def test_twice_the_epochs_take_twice_as_long_and_so_do_twice_the_problems(runs: Path) -> None:
    assert estimate(runs, [training(9, solver="gts", dataset="a", epochs=20)]) == Estimate(30, 0)
    finished(runs, other(2, "dataset", dataset="b"), 5, problems={"train": 200, "validation": 1, "test": 1})
    assert estimate(runs, [training(9, "dataset-2", solver="gts", dataset="b")]) == Estimate(30, 0)


def test_with_equal_steps_the_size_that_counts_is_that_of_the_plain_set(runs: Path) -> None:
    augmented = training(9, solver="gts", dataset="a")
    assert augmented.needs == (DATASET,)
    both = Cell(augmented.key, "training", "", augmented.facts, ("augmentation-1", DATASET), augmented.recipe)
    assert estimate(runs, [both]) == Estimate(15, 0)


def test_what_has_no_like_is_counted_as_unknown(runs: Path) -> None:
    assert estimate(runs, [other(2, "evaluation"), training(9, solver="gts", dataset="a")]) == Estimate(15, 1)
    assert estimate(runs / "empty", [other(2, "evaluation")]) == Estimate(0, 1)


def test_a_marker_that_cannot_be_read_is_no_obstacle(runs: Path) -> None:
    (runs / "cells" / "training-2" / "cell.json").write_text("{")
    assert estimate(runs, [training(9, solver="gts", dataset="a")]) == Estimate(10, 0)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59, "59 s"), (61, "1 min"), (3599, "1 h 00 min"), (7300, "2 h 02 min")]
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_time_left_is_shared_by_the_jobs() -> None:
    assert Estimate(600, 0).left(2) == "about 5 min"
    assert Estimate(600, 3).left(1) == "about 10 min and 3 cells unlike any timed before"
    assert (Estimate(0, 0) + Estimate(0, 0)).left(1) == "nothing"
