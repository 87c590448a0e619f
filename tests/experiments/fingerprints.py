"""Every number of a folder of results, as one short hash per plan and thing: what publishing must never change.

`PYTHONPATH=tests python -m experiments.fingerprints FOLDER FILE` writes those of today, once they have been looked at.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import Cell, PlanResults, right_answers
from comdiv.experiments.reporting.accuracies import plan_numbers
from comdiv.experiments.reporting.cell_tables import cell_table, measurement_of, recipe
from comdiv.experiments.reporting.pictures import training_history
from comdiv.experiments.reporting.sections import plan_section
from comdiv.experiments.reporting.tables import Entry, Table

_NAMES = ("Key",)  # columns with names of ours, not with results
_NEWER = ("operators", "their number", "train", "test")  # columns of the table of datasets that it did not have then
_MEASURED = "measurement/report.json"  # was published in another form, under that form's hash


def fingerprints(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Plan → what is published of it → the hash of all its numbers; and every finished cell → the hash of its own.

    What is published of a plan changes when it has more cells, so `state` says which it had; a cell never changes.
    """
    plans = read_results(folder)
    return {
        "plans": {plan.name: {name: _hash(value) for name, value in _published(plan)} for plan in plans},
        "cells": {
            "all": {cell.key: _hash(_outcome(cell)) for plan in plans for cell in plan.cells if cell.status == "done"}
        },
    }


def _outcome(cell: Cell) -> list[Any]:
    outcomes = right_answers(cell) if cell.kind == "evaluation" else None
    curve = _curve(cell) if cell.kind == "training" else None
    return [cell.kind, cell.summary, outcomes, curve, cell.origin.get("originals")]


def _published(plan: PlanResults) -> Iterator[tuple[str, Any]]:
    numbers = plan_numbers(plan)
    section = plan_section(plan, numbers)
    done = [cell for cell in plan.cells if cell.status == "done"]
    yield "state", [plan.plan, [cell.key for cell in plan.cells], [cell.key for cell in done]]
    yield "numbers", [{**number.to_json(), "plan": "", "cells": len(number.cells)} for number in numbers]
    for table in filter(None, (*section.all_tables, cell_table(plan))):
        yield f"table {table.name.removeprefix(plan.name + '-')}", _rows(table)
    pictures = section.all_pictures
    yield "figures", [[picture.name.removeprefix(f"{plan.name}-"), picture.alternative] for picture in pictures]
    run = recipe(plan)
    yield "recipe", [run.seeds, run.versions, run.seconds, run.states, plan.plan, plan.title, plan.reproduces]
    yield "cells", [[cell.label, cell.kind, cell.status, cell.facts.to_json()] for cell in plan.cells]
    yield "summaries", {cell.label: cell.summary for cell in done}
    yield "outcomes", {cell.label: right_answers(cell) for cell in done if cell.kind == "evaluation"}
    yield "datasets", {cell.label: measurement_of(cell) for cell in done if cell.kind == "dataset"}
    yield "curves", {cell.label: _curve(cell) for cell in done if cell.kind == "training"}
    yield "frequencies", {cell.label: _frequencies(cell) for cell in done if cell.kind == "measurement"}
    yield "hashes of what was made", {cell.label: cell.origin.get("originals") for cell in done}


def _rows(table: Table) -> list[list[Any]]:
    left_out = (*_NAMES, *(_NEWER if table.title == "Datasets" else ()))
    kept = [place for place, column in enumerate(table.columns) if column.title not in left_out]
    return [[_entry(row[place]) for place in kept] for row in table.rows]


def _entry(entry: Entry) -> list[Any]:
    return ["", "", ()] if _MEASURED in entry.lines else [entry.text, entry.value, entry.lines]


def _curve(cell: Cell) -> list[dict[str, Any]]:
    """Rates to four digits: a schedule's rounding errors are no result."""
    return [{**entry, "learning_rate": f"{entry['learning_rate']:.4g}"} for entry in training_history(cell)]


def _frequencies(cell: Cell) -> Any:
    record = cell.details.frequencies() if cell.details else {}
    return [record["atoms"], record["compounds"]] if record else None


def _hash(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(fingerprints(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
