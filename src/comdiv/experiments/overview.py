"""A plan's results in a few rows, for the terminal: accuracies over seeds, and the best of a tuning."""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from comdiv.experiments.cell import Cell, Facts, PlanResults

Row = dict[str, Any]  # column → value; numbers below 1 are shares


def accuracies(results: PlanResults) -> list[Row]:
    """A row for each dataset, method and way to decode, with the mean over seeds; what is not done yet is left out."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in results.of_kind("evaluation"):
        if cell.status == "done":
            groups.setdefault((cell.facts.dataset, _method(cell.facts), cell.facts.cover), []).append(cell)
    rows = []
    for (dataset, named, cover), cells in groups.items():
        parts = list(cells[0].summary)
        shown = {part: mean(cell.summary[part]["answer_accuracy"] for cell in cells) for part in parts}
        n = cells[0].summary[parts[-1]]["n"]
        rows.append({"dataset": dataset, "method": named, "cover": cover, **shown, "n": n, "seeds": len(cells)})
    return rows


def _method(facts: Facts) -> str:
    """A row's name: the method, and what tells it from others of the same name."""
    parts = [str(facts.method)]
    if facts.rounds is not None:
        parts.append(f"{facts.rounds} round{'s' * (facts.rounds != 1)}")
    if facts.augmentation_seed:
        parts.append(f"augmentation seed {facts.augmentation_seed}")
    if facts.steps_like is not None and facts.augmentation is None:
        parts.append(f"steps of {facts.steps_like}")
    return ", ".join(parts)


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
