"""A plan's results in a few rows, for the terminal: accuracies over seeds, and the best of a tuning."""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from comdiv.experiments.results import Cell, PlanResults

Row = dict[str, Any]  # column → value; numbers below 1 are shares


def accuracies(results: PlanResults) -> list[Row]:
    """A row for each dataset, method and way to decode, with the mean over seeds; what is not done yet is left out."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in results.of_kind("evaluation"):
        facts = cell.facts
        if cell.status == "done":
            key = (facts.dataset, facts.method, facts.rounds, facts.steps_like, facts.cover)
            groups.setdefault(key, []).append(cell)
    rows = []
    for (dataset, method, rounds, _, cover), cells in groups.items():
        named = method if rounds is None else f"{method}, {rounds} rounds"
        parts = list(cells[0].summary)
        shown = {part: mean(cell.summary[part]["answer_accuracy"] for cell in cells) for part in parts}
        n = cells[0].summary[parts[-1]]["n"]
        rows.append({"dataset": dataset, "method": named, "cover": cover, **shown, "n": n, "seeds": len(cells)})
    return rows


def best_settings(results: PlanResults, shown: int = 3) -> list[Row]:
    """Of each method and dataset, the settings with the best mean validation accuracy over seeds."""
    groups: dict[tuple[str | None, str | None], dict[str, list[float]]] = {}
    for cell in results.of_kind("training"):
        accuracy = cell.summary.get("validation_accuracy")
        if cell.status == "done" and accuracy is not None:
            settings = ", ".join(f"{name}={value}" for name, value in cell.facts.settings.items())
            found = groups.setdefault((cell.facts.dataset, cell.facts.method), {})
            found.setdefault(settings, []).append(accuracy)
    return [
        {"dataset": dataset, "method": method, "validation": value, "seeds": seeds, "settings": settings}
        for (dataset, method), found in groups.items()
        for value, seeds, settings in _best(found)[:shown]
    ]


def _best(found: dict[str, list[float]]) -> Sequence[tuple[float, int, str]]:
    ranked = [(mean(values), len(values), settings) for settings, values in found.items()]
    return sorted(ranked, key=lambda row: (-row[0], row[2]))
