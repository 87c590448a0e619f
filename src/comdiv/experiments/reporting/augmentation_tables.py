"""What each round of an augmentation made and kept, by operation: whether a ranker lets new structures through."""

from collections.abc import Mapping
from typing import Any

from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table
from comdiv.experiments.results import Cell, PlanResults

_CAPTION = (
    "New problems that passed the checks, and those that stayed: all, or the share that the ranker was surest of. "
    "Templates that the training set did not have before the round. With a ranker the median score of each operation's "
    "problems, and the least score that was kept: the logarithm of the probability of the ranker's own best "
    "expression, unless the augmentation ranks otherwise."
)
_COLUMNS = (
    Column("Augmentation", number=False), Column("Dataset", number=False), Column("Ranker", number=False),
    Column("Round"), Column("passed", group="Operation 1"), Column("kept", group="Operation 1"),
    Column("new templates", group="Operation 1"), Column("median score", group="Operation 1"),
    Column("passed", group="Operation 2"), Column("kept", group="Operation 2"),
    Column("median score", group="Operation 2"), Column("Least score kept"),
)  # fmt: skip

_OF_THE_FIRST = ("candidates", "kept", "new_templates")


def augmentation_table(plan: PlanResults) -> Table | None:
    """A row for each round of each augmentation that is done."""
    rows = [row for cell in plan.of_kind("augmentation") if cell.status == "done" for row in _rows(cell)]
    if not rows:
        return None
    return Table(f"{plan.name}-augmentations", "Rounds of the augmentation", _COLUMNS, tuple(rows), _CAPTION)


def _rows(cell: Cell) -> list[tuple[Entry, ...]]:
    report = cell.summary["report"]
    seed = f", seed {cell.facts.augmentation_seed}" if cell.facts.augmentation_seed else ""
    named = (f"{cell.facts.augmentation}{seed}", cell.facts.dataset or "", str(report["options"]["ranker"]))
    return [(*(Entry(name, name) for name in named), *_counts(found)) for found in report["rounds"]]


def _counts(found: Mapping[str, Any]) -> list[Entry]:
    first, second = found.get("operation 1", {}), found.get("operation 2", {})
    return [
        *(_count(number) for number in (found["round"], *(first.get(key, 0) for key in _OF_THE_FIRST))),
        _score(first.get("median_score")),
        *(_count(second.get(key, 0)) for key in ("candidates", "kept")),
        _score(second.get("median_score")),
        _score(found.get("least_score_kept")),
    ]


def _count(count: int) -> Entry:
    return Entry(f"{count:,}", count)


def _score(score: float | None) -> Entry:
    return EMPTY if score is None else Entry(f"{score:.4f}".replace("-", "−"), score)
