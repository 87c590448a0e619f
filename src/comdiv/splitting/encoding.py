"""Examples as integer arrays: the form in which divergences are computed and splits are searched.

Whatever the caller calls an atom or a compound becomes an id. Ids are numbered by first appearance, so that equal input
gives equal arrays on every machine.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from comdiv.errors import ComdivError

Example = TypeVar("Example")
# What `atoms_of` or `compounds_of` may return: a sequence of things, in which repetitions count, or a counter.
Things = Iterable[Hashable] | Mapping[Hashable, int]
Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]  # 32 bits for the largest arrays: half the memory
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MOST_OFTEN = 1_000_000  # that an example has one thing


@dataclass(frozen=True, eq=False)
class Incidence:
    """Which ids each row has, and how often (compressed rows: row r owns `offsets[r]:offsets[r + 1]`)."""

    offsets: Integers  # (rows + 1)
    ids: Small  # (entries), ascending within a row
    counts: Small  # (entries), at least 1
    names: tuple[Hashable, ...]  # what each id stands for

    @property
    def rows(self) -> int:
        return len(self.offsets) - 1

    @property
    def width(self) -> int:
        """How many different ids there are."""
        return len(self.names)

    def row_of_entry(self) -> Integers:
        """The row that each entry belongs to."""
        return np.repeat(np.arange(self.rows), np.diff(self.offsets))  # (entries)

    def totals(self, rows: Mask) -> Integers:
        """How often each id occurs in the rows of a mask."""
        chosen = rows[self.row_of_entry()]
        sums = np.bincount(self.ids[chosen], weights=self.counts[chosen], minlength=self.width)
        return sums.astype(np.int64)  # (width)

    def only(self, rows: Mask) -> "Incidence":
        """The same ids for some of the rows."""
        kept = rows[self.row_of_entry()]
        return Incidence(offsets_of(np.diff(self.offsets)[rows]), self.ids[kept], self.counts[kept], self.names)

    def row_totals(self) -> Integers:
        """How many things each row has."""
        return np.bincount(self.row_of_entry(), weights=self.counts, minlength=self.rows).astype(np.int64)  # (rows)

    def merged(self, row_to_group: Integers, groups: int) -> "Incidence":
        """The same counts with rows summed by group."""
        if np.array_equal(row_to_group, np.arange(self.rows)):
            return self
        key = row_to_group[self.row_of_entry()] * max(self.width, 1) + self.ids
        unique, inverse = np.unique(key, return_inverse=True)
        counts = np.bincount(inverse, weights=self.counts, minlength=len(unique))
        group, ids = np.divmod(unique, max(self.width, 1))
        offsets = offsets_of(np.bincount(group, minlength=groups))
        return Incidence(offsets, ids.astype(np.int32), counts.astype(np.int32), self.names)


@dataclass(frozen=True, eq=False)
class Encoded:
    """A corpus as the search sees it: atoms, compounds, length and twin group of every item."""

    atoms: Incidence
    compounds: Incidence
    lengths: Floats  # (items)
    groups: Integers  # (items), 0 to the number of groups - 1; items of one group stay on one side

    @property
    def items(self) -> int:
        return len(self.lengths)

    @property
    def group_sizes(self) -> Integers:
        """How many items each group has."""
        return np.bincount(self.groups)  # (groups)

    def only(self, items: Mask) -> "Encoded":
        """The same for some of the items, in whole groups, so that the remaining ones stay together."""
        groups = np.unique(self.groups[items], return_inverse=True)[1]
        return Encoded(self.atoms.only(items), self.compounds.only(items), self.lengths[items], groups)


def side_by_side(tables: Sequence[Incidence]) -> Incidence:
    """Several tables with the same rows as one; the ids of each follow those of the tables before it."""
    if len(tables) == 1:
        return tables[0]
    offsets = np.sum([table.offsets for table in tables], axis=0)
    ids, counts = np.empty(int(offsets[-1]), dtype=np.int32), np.empty(int(offsets[-1]), dtype=np.int32)
    shift, free = 0, offsets[:-1].copy()  # free: where each row goes on
    for table in tables:
        lengths = np.diff(table.offsets)
        places = np.repeat(free - table.offsets[:-1], lengths) + np.arange(len(table.ids))
        ids[places], counts[places] = table.ids + np.int32(shift), table.counts
        free += lengths
        shift += table.width
    return Incidence(offsets, ids, counts, names=tuple(name for table in tables for name in table.names))


def encode(
    examples: Sequence[Example],
    atoms_of: Callable[[Example], Things],
    compounds_of: Callable[[Example], Things],
    length_of: Callable[[Example], float] | None = None,
    group_of: Callable[[Example], Hashable] | None = None,
) -> Encoded:
    """Turn examples of any kind into arrays; atoms, compounds and groups may be anything hashable.

    Without `length_of` all examples are equally long; without `group_of` each example is a separate group.
    """
    lengths = np.array([1.0 if length_of is None else float(length_of(example)) for example in examples])
    for position, length in enumerate(lengths):
        if not (math.isfinite(length) and length >= 0):
            raise ComdivError(f"example {position} has length {length:g}; a length must be a finite number from 0 up")
    if len(lengths) and lengths.sum() == 0:
        raise ComdivError("every example has length 0, so there is no length ratio; leave `length_of` out")
    group_index: dict[Hashable, int] = {}
    groups = [
        group_index.setdefault(position if group_of is None else group_of(example), len(group_index))
        for position, example in enumerate(examples)
    ]
    return Encoded(
        atoms=_incidence([atoms_of(example) for example in examples], "atom"),
        compounds=_incidence([compounds_of(example) for example in examples], "compound"),
        lengths=lengths,
        groups=np.array(groups, dtype=np.int64),
    )


def _incidence(rows: Sequence[Things], what: str) -> Incidence:
    index: dict[Hashable, int] = {}
    sizes: list[int] = []
    ids: list[int] = []
    counts: list[int] = []
    for position, row in enumerate(rows):
        # The order of a set differs between runs (string hashes are salted); ids must not.
        ordered = sorted(row, key=repr) if isinstance(row, AbstractSet) else row
        counter = Counter(ordered)
        for thing, count in counter.items():
            if not 0 <= count <= MOST_OFTEN:
                raise ComdivError(
                    f"example {position} counts {what} {thing!r} {count} times; counts lie between 0 and {MOST_OFTEN:,}"
                )
        entries = sorted((index.setdefault(thing, len(index)), count) for thing, count in counter.items() if count)
        sizes.append(len(entries))
        ids.extend(identifier for identifier, _ in entries)
        counts.extend(count for _, count in entries)
    return Incidence(
        offsets_of(np.array(sizes, dtype=np.int64)),
        np.array(ids, dtype=np.int32),
        np.array(counts, dtype=np.int32),
        tuple(index),
    )


def offsets_of(sizes: npt.NDArray[np.integer | np.bool_]) -> Integers:
    """Where each row begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
