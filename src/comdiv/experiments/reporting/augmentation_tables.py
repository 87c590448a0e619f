"""What each round of an augmentation made and kept, by operation: whether a ranker lets new structures through."""

from collections.abc import Mapping
from typing import Any

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table

_CAPTION = (
    "New problems that passed the checks, and those that stayed: all, or the share that the ranker was surest of. "
    "Templates that the training set did not have before the round."
)
_SCORES_CAPTION = (
    " Scores: the median of each operation's problems, and the least that was kept; the logarithm of the probability "
    "of the ranker's own best expression, unless the augmentation ranks otherwise."
)
_COLUMNS = (
    Column("Augmentation", number=False), Column("Dataset", number=False), Column("Ranker", number=False),
    Column("Round"), Column("passed", group="Operation 1"), Column("kept", group="Operation 1"),
    Column("new templates", group="Operation 1"), Column("passed", group="Operation 2"),
    Column("kept", group="Operation 2"),
)  # fmt: skip
_SCORE_COLUMNS = (
    Column("operation 1", group="Median score"), Column("operation 2", group="Median score"),
    Column("Least score kept"),
)  # fmt: skip


def augmentation_table(plan: PlanResults) -> Table | None:
    """A row for each round of each augmentation that is done."""
    rounds = [
        (cell, found)
        for cell in plan.of_kind("augmentation")
        if cell.status == "done"
        for found in cell.summary["report"]["rounds"]
    ]
    if not rounds:
        return None
    name, title = f"{plan.name}-augmentations", "Rounds of the augmentation"
    rows = [(*_names(cell), *_counts(found)) for cell, found in rounds]
    if not any("least_score_kept" in found for _, found in rounds):
        return Table(name, title, _COLUMNS, tuple(rows), _CAPTION)
    rows = [(*row, *_scores(found)) for row, (_, found) in zip(rows, rounds, strict=True)]
    return Table(name, title, (*_COLUMNS, *_SCORE_COLUMNS), tuple(rows), _CAPTION + _SCORES_CAPTION)


def _names(cell: Cell) -> list[Entry]:
    seed = f", seed {cell.facts.augmentation_seed}" if cell.facts.augmentation_seed else ""
    ranker = str(cell.summary["report"]["options"]["ranker"])
    names = (f"{cell.facts.augmentation}{seed}", cell.facts.dataset or "", ranker)
    return [Entry(name, name) for name in names]


def _counts(found: Mapping[str, Any]) -> list[Entry]:
    first, second = found.get("operation 1", {}), found.get("operation 2", {})
    counts = (
        found["round"], first.get("candidates", 0), first.get("kept", 0), first.get("new_templates", 0),
        second.get("candidates", 0), second.get("kept", 0),
    )  # fmt: skip
    return [Entry(f"{count:,}", count) for count in counts]


def _scores(found: Mapping[str, Any]) -> list[Entry]:
    medians = (found.get(operation, {}).get("median_score") for operation in ("operation 1", "operation 2"))
    return [
        EMPTY if score is None else Entry(f"{score:.3g}".replace("-", "−"), score)
        for score in (*medians, found.get("least_score_kept"))
    ]
