"""What the trainings of a plan cost: how much they read, for how long, and how fast the machine was."""

from collections.abc import Sequence
from statistics import fmean

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table

_CAPTION = (
    "Means over seeds. Seconds are those of the processor: others on the machine change nothing, another machine does."
)
_COLUMNS = (
    Column("Method", number=False), Column("Dataset", number=False), Column("Seeds"), Column("Training problems"),
    Column("Epochs"), Column("Best epoch"), Column("Seconds an epoch"),
)  # fmt: skip


def training_table(plan: PlanResults) -> Table | None:
    """A row for each method and dataset; trainings with other rounds or settings are rows of their own."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in plan.of_kind("training"):
        if cell.status == "done" and cell.summary.get("problems") is not None:
            facts = cell.facts
            changed = [f"{name}={value}" for name, value in facts.settings.items()] if plan.plan.get("tuning") else []
            rounds = [] if facts.rounds is None else [f"{facts.rounds} rounds"]
            named = ", ".join([facts.method or "", *rounds, *changed])
            groups.setdefault((named, facts.dataset or ""), []).append(cell)
    if not groups:
        return None
    rows = [
        (
            Entry(method, method), Entry(dataset, dataset), Entry(str(len(cells)), len(cells)),
            _mean(cells, "problems", ",.0f"), _mean(cells, "epochs", ".3g"), _mean(cells, "best_epoch", ".3g"),
            _mean(cells, "seconds_per_epoch", ".1f"),
        )
        for (method, dataset), cells in groups.items()
    ]  # fmt: skip
    return Table(f"{plan.name}-trainings", "Trainings", _COLUMNS, tuple(rows), _CAPTION)


def _mean(cells: Sequence[Cell], name: str, form: str) -> Entry:
    values = [float(cell.summary[name]) for cell in cells if cell.summary.get(name) is not None]
    return Entry(format(fmean(values), form), fmean(values)) if values else EMPTY
