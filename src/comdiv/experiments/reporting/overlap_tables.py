"""Test texts that are in the training set, numbers aside: how many, and what accuracy is with and without them.

Augmentation can join what a synthesis took apart, and so write a test text anew: a result says how much that explains.
"""

from collections.abc import Sequence

from comdiv.experiments.reporting.entries import number_entry
from comdiv.experiments.reporting.numbers import Number
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table
from comdiv.experiments.subsets import IN_TRAIN, NOT_IN_TRAIN

PARTS = (None, NOT_IN_TRAIN, IN_TRAIN)


def overlap_table(plan: str, numbers: Sequence[Number]) -> Table | None:
    """A row for each method with augmentation, and for others where training and test share a text."""
    found: dict[tuple[object, ...], dict[str | None, Number]] = {}
    for number in numbers:
        if number.part == "test" and number.subset in PARTS and number.facts.cover in (None, "none"):
            facts = number.facts
            key = (number.method, facts.dataset, facts.target, facts.rounds)
            found.setdefault(key, {})[number.subset] = number
    rows = [_row(parts) for parts in found.values() if _is_shown(parts)]
    if not rows:
        return None
    columns = (
        Column("Method", number=False), Column("Dataset", number=False), Column("Test texts in train"), Column("of"),
        Column("all", group="Accuracy"), Column("without them", group="Accuracy"), Column("on them", group="Accuracy"),
    )  # fmt: skip
    caption = "Texts without their numbers; the training set is the augmented one. Answer accuracy in percent on test."
    return Table(f"{plan}-overlap", "Test texts in the training set", columns, tuple(rows), caption)


def _is_shown(parts: dict[str | None, Number]) -> bool:
    known = IN_TRAIN in parts and NOT_IN_TRAIN in parts
    return known and (parts[IN_TRAIN].n > 0 or parts[IN_TRAIN].facts.augmentation is not None)


def _row(parts: dict[str | None, Number]) -> tuple[Entry, ...]:
    number = parts[IN_TRAIN]
    rounds = "" if number.facts.rounds is None else f", {number.facts.rounds} rounds"
    dataset = f"{number.facts.dataset}{rounds}"
    of = number.n + parts[NOT_IN_TRAIN].n
    accuracies = (_plain(parts.get(part)) for part in PARTS)
    return (
        Entry(number.method, number.method), Entry(dataset, dataset), Entry(f"{number.n:,}", number.n),
        Entry(f"{of:,}", of), *accuracies,
    )  # fmt: skip


def _plain(number: Number | None) -> Entry:
    """Only the accuracy: what it is compared with stands in the other tables."""
    if number is None or number.accuracy is None:
        return EMPTY
    whole = number_entry(number)
    return Entry(whole.text, whole.value, (), "", whole.hint, whole.link)
