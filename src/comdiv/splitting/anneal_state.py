"""What the compiled loop of `anneal` reads and writes: flat arrays in named tuples, which numba understands.

The arrays are changed in place during a walk. Nothing outside `anneal` sees them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from comdiv.splitting.encoding import Floats, Incidence, Integers, Mask, Small, offsets_of, side_by_side
from comdiv.splitting.sides import SearchSpace

TRAIN, TEST = 0, 1


class Sums(NamedTuple):
    """Counts of ids on both sides, with the numerators of their Chernoff coefficients kept current.

    Ids are of one or several kinds, each a distribution of its own. An id that only one unit has can never be on both
    sides: it adds nothing to the numerator, so it is not listed, but it counts in the totals.
    """

    offsets: Integers  # (units + 1)
    ids: Small  # (entries)
    counts: Small  # (entries)
    kinds: Integers  # (width): the kind of each id
    unit_totals: Integers  # (units, kinds)
    sides: Integers  # (width, 2): how often an id occurs in train and in test
    totals: Integers  # (kinds, 2)
    numerators: Floats  # (kinds): Σ train^α test^(1-α) over the ids of a kind
    powers: Integers  # (kinds): the row of the tables of powers for the α of a kind
    train_powers: Floats  # (different αs, largest total + 1): n^α, so that the loop needs no powers
    test_powers: Floats  # (different αs, largest total + 1): n^(1-α)


class Units(NamedTuple):
    """What a walk moves: twin groups, those of train before those of test in `order`."""

    sizes: Integers  # (units)
    lengths: Floats  # (units)
    alike: Integers  # (units): equal for units with the same compounds
    side: Integers  # (units)
    order: Integers  # (units)
    place: Integers  # (units): the position of each unit in `order`
    train_count: Integers  # (1): where in `order` test begins
    length_sums: Floats  # (2)
    side_sizes: Integers  # (2): items on each side; an exchange never changes them


class Goal(NamedTuple):
    """The objective: compound divergence (or closeness to a target), minus penalties for atoms and lengths."""

    target: float  # negative: as high as possible
    bounds: Floats  # (kinds of atoms): on the divergence of each; above 1: no bound
    atom_weight: float
    length_weight: float


class Best(NamedTuple):
    """The best state so far within the bound, and the units that may have moved since."""

    side: Integers  # (units)
    moved: Integers  # (units), of which `moved_count` are in use
    moved_count: Integers  # (1)
    is_moved: npt.NDArray[np.bool_]  # (units)
    scores: Floats  # (3): objective, compound divergence and |log length ratio| of that state
    excess: Floats  # (1): the least total excess of the atom divergences over their bounds so far
    nearest: Floats  # (kinds of atoms): the divergences in that state


class Walk(NamedTuple):
    """The complete state of a walk."""

    compounds: Sums  # of one kind
    atoms: Sums  # of several kinds, each within a bound of its own
    units: Units
    goal: Goal
    best: Best
    hand: Integers  # (largest unit + 1): the exchange being assembled; the first unit moves one way, the others back
    numerators: Floats  # (kinds of atoms): those before the exchange that is being tried
    random: npt.NDArray[np.uint64]  # (1)


@dataclass(frozen=True, eq=False)
class Level:
    """A corpus with its movable units, built once for all walks over them."""

    groups: Integers  # (items): the unit of each item
    sizes: Integers  # (units)
    lengths: Floats  # (units)
    alike: Integers  # (units)
    compounds: Sums  # with everything in train
    atoms: Sums  # with everything in train

    @property
    def mean_size(self) -> float:
        return len(self.groups) / len(self.sizes)


def make_level(space: SearchSpace, groups: Integers) -> Level:
    """The level at which these groups of items move."""
    count = int(groups.max()) + 1
    compounds = space.compounds_of(groups, count)
    alike, compound_sums = _alike(compounds), _sums([compounds], [space.alphas.compounds])
    del compounds  # before there are others of the size
    return Level(
        groups=groups,
        sizes=np.bincount(groups),
        lengths=np.bincount(groups, weights=space.encoded.lengths, minlength=count).astype(np.float64),
        alike=alike,
        compounds=compound_sums,
        atoms=_sums(
            [[bounded.counts.merged(groups, count)] for bounded in space.bounded],
            [bounded.alpha for bounded in space.bounded],
        ),
    )


def start_walk(level: Level, test_mask: Mask, goal: Goal, seed: int) -> Walk:
    """The state of a walk that begins at `test_mask`, with the numerators still to be computed."""
    side = np.full(len(level.sizes), TRAIN, dtype=np.int64)
    side[level.groups[test_mask]] = TEST
    order = np.argsort(side, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Walk(
        compounds=_on_sides(level.compounds, side),
        atoms=_on_sides(level.atoms, side),
        units=Units(
            sizes=level.sizes,
            lengths=level.lengths,
            alike=level.alike,
            side=side,
            order=order,
            place=place,
            train_count=np.array([np.sum(side == TRAIN)]),
            length_sums=np.bincount(side, weights=level.lengths, minlength=2).astype(np.float64),
            side_sizes=np.bincount(side, weights=level.sizes, minlength=2).astype(np.int64),
        ),
        goal=goal,
        best=Best(
            side=side.copy(),
            moved=np.zeros_like(side),
            moved_count=np.zeros(1, dtype=np.int64),
            is_moved=np.zeros(len(side), dtype=np.bool_),
            scores=np.array([-np.inf, 0.0, 0.0]),
            excess=np.full(1, np.inf),
            nearest=np.ones(len(goal.bounds)),
        ),
        hand=np.zeros(int(level.sizes.max()) + 1, dtype=np.int64),
        numerators=np.zeros(len(goal.bounds)),
        random=np.array([seed], dtype=np.uint64),
    )


def _sums(kinds: Sequence[Sequence[Incidence]], alphas: Sequence[float]) -> Sums:
    """The sums of tables with the same rows, one or several for each kind, with everything in train.

    Each table is reduced to what counts before they are put side by side: together they are the largest arrays.
    """
    reduced = [[_shared_only(table) for table in tables] for tables in kinds]
    table = side_by_side([one for tables in reduced for one in tables])
    unit_totals = np.zeros((table.rows, len(kinds)), dtype=np.int64)
    for kind, tables in enumerate(kinds):
        for one in tables:
            unit_totals[:, kind] += one.row_totals()
    sides = np.zeros((table.width, 2), dtype=np.int64)
    sides[:, TRAIN] = np.concatenate(
        [np.bincount(one.ids, weights=one.counts, minlength=one.width) for tables in reduced for one in tables]
    )
    totals = np.zeros((len(kinds), 2), dtype=np.int64)
    totals[:, TRAIN] = unit_totals.sum(axis=0)
    different, powers = np.unique(alphas, return_inverse=True)
    train_powers = _powers(different, int(totals.max()))
    symmetric = np.array_equal(different, 1.0 - different)
    return Sums(
        offsets=table.offsets,
        ids=table.ids,
        counts=table.counts,
        kinds=np.repeat(np.arange(len(kinds)), [sum(one.width for one in tables) for tables in reduced]),
        unit_totals=unit_totals,
        sides=sides,
        totals=totals,
        numerators=np.zeros(len(kinds)),
        powers=powers.astype(np.int64),
        train_powers=train_powers,
        test_powers=train_powers if symmetric else _powers(1.0 - different, int(totals.max())),
    )


def _shared_only(table: Incidence) -> Incidence:
    """The same table with those ids alone that several rows have."""
    shared = np.bincount(table.ids, minlength=table.width) > 1  # (width)
    kept = shared[table.ids]  # (entries)
    ids = (np.cumsum(shared) - 1).astype(np.int32)[table.ids[kept]]
    names = tuple(name for name, one in zip(table.names, shared.tolist(), strict=True) if one)
    return Incidence(offsets_of(kept)[table.offsets], ids, table.counts[kept], names)


def _powers(alphas: Floats, greatest: int) -> Floats:
    """n^α for all n up to the greatest, a row for each α."""
    numbers = np.arange(greatest + 1, dtype=np.float64)
    return np.stack([numbers**alpha for alpha in alphas.tolist()])


def _on_sides(sums: Sums, side: Integers) -> Sums:
    """A copy of the sums with every unit moved from train to its side in `side`."""
    entry_in_test = np.repeat(side == TEST, np.diff(sums.offsets))
    test = np.bincount(sums.ids[entry_in_test], weights=sums.counts[entry_in_test], minlength=len(sums.sides))
    sides = np.stack([sums.sides[:, TRAIN] - test, test], axis=1).astype(np.int64)
    test_totals = sums.unit_totals[side == TEST].sum(axis=0)  # (kinds)
    totals = np.stack([sums.totals[:, TRAIN] - test_totals, test_totals], axis=1)
    return sums._replace(sides=sides, totals=totals, numerators=np.zeros_like(sums.numerators))


def _alike(tables: Sequence[Incidence]) -> Integers:
    """Equal numbers for rows with equal entries: a sum of a random 64-bit number for each id, wrapping around."""
    words = np.random.default_rng(0).integers(2**64, size=sum(table.width for table in tables), dtype=np.uint64)
    sums, shift = np.zeros(tables[0].rows, dtype=np.uint64), 0
    for table in tables:
        own = np.cumsum(words[table.ids + shift] * table.counts.astype(np.uint64), dtype=np.uint64)
        sums += np.diff(np.concatenate([np.zeros(1, dtype=np.uint64), own])[table.offsets])
        shift += table.width
    return np.unique(sums, return_inverse=True)[1].astype(np.int64)
