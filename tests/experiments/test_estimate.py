"""How long the rest of a plan takes."""

from pathlib import Path
from typing import Any

import pytest

from comdiv.experiments.cell import Cell, Facts
from comdiv.experiments.runner import Estimate, duration, estimate
from comdiv.experiments.store import begin_cell, finish_cell


def cell(number: int, kind: Any = "training", settings: dict[str, Any] | None = None, **facts: Any) -> Cell:
    recipe = {"settings": {"seed": number, **(settings or {})}} if kind == "training" else {}
    return Cell(f"{kind}-{number}", kind, f"{kind} {number}", Facts(**facts), (), recipe)


def finished(root: Path, one: Cell, seconds: float) -> None:
    finish_cell(begin_cell(root, one), {}, {"seconds": seconds}, [])


def test_cells_are_judged_by_what_is_most_like_them(tmp_path: Path) -> None:
    finished(tmp_path, cell(1, solver="gts", dataset="a", settings={"hidden": 8}), 10)
    finished(tmp_path, cell(2, solver="gts", dataset="a", settings={"hidden": 8}), 20)
    finished(tmp_path, cell(3, solver="gts", dataset="a", settings={"hidden": 512}), 1000)
    finished(tmp_path, cell(4, solver="lstm", dataset="a", settings={"hidden": 8}), 7)
    assert estimate(tmp_path, [cell(9, solver="gts", dataset="a", settings={"hidden": 8})]) == Estimate(15, 0)
    assert estimate(tmp_path, [cell(9, solver="lstm", dataset="b", settings={"hidden": 9})]) == Estimate(7, 0)


def test_what_has_no_like_is_counted_as_unknown(tmp_path: Path) -> None:
    finished(tmp_path, cell(1, solver="gts"), 10)
    assert estimate(tmp_path, [cell(2, "evaluation"), cell(3, solver="gts")]) == Estimate(10, 1)
    assert estimate(tmp_path / "empty", [cell(2)]) == Estimate(0, 1)


def test_a_marker_that_cannot_be_read_is_no_obstacle(tmp_path: Path) -> None:
    finished(tmp_path, cell(1), 10)
    (tmp_path / "cells" / "training-1" / "cell.json").write_text("{")
    assert estimate(tmp_path, [cell(2)]) == Estimate(0, 1)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59, "59 s"), (61, "1 min"), (3599, "1 h 00 min"), (7300, "2 h 02 min")]
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_time_left_is_shared_by_the_jobs() -> None:
    assert Estimate(600, 0).left(2) == "about 5 min"
    assert Estimate(600, 3).left(1) == "about 10 min and 3 cells unlike any timed before"
    assert Estimate(0, 0).left(1) == "nothing"
