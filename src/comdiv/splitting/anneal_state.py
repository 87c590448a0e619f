"""What the compiled loop of `anneal` reads and writes: flat arrays in named tuples, which numba understands.

The arrays are changed in place during a walk. Nothing outside `anneal` sees them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from comdiv.splitting.divergence import Alphas
from comdiv.splitting.encoding import Encoded, Floats, Incidence, Integers, Mask, offsets_of

TRAIN, TEST = 0, 1


class Sums(NamedTuple):
    """Counts of atoms (or of compounds) on both sides, with the numerator of their Chernoff coefficient kept current.

    An id that only one unit has can never be on both sides. It adds nothing to the numerator, so it is not listed, but
    it counts in the totals.
    """

    offsets: Integers  # (units + 1)
    ids: Integers  # (entries)
    counts: Integers  # (entries)
    unit_totals: Integers  # (units)
    sides: Integers  # (width, 2): how often an id occurs in train and in test
    totals: Integers  # (2)
    numerator: Floats  # (1): Σ train^α test^(1-α) over ids
    train_power: Floats  # (sum of totals + 1): n^α, so that the loop needs no powers
    test_power: Floats  # (sum of totals + 1): n^(1-α)


class Units(NamedTuple):
    """What a walk moves: twin groups, those of train before those of test in `order`."""

    sizes: Integers  # (units)
    lengths: Floats  # (units)
    kinds: Integers  # (units): equal for units with the same compounds
    side: Integers  # (units)
    order: Integers  # (units)
    place: Integers  # (units): the position of each unit in `order`
    train_count: Integers  # (1): where in `order` test begins
    length_sums: Floats  # (2)
    side_sizes: Integers  # (2): items on each side; an exchange never changes them


class Goal(NamedTuple):
    """The objective: compound divergence (or closeness to a target), minus penalties for atoms and lengths."""

    target: float  # negative: as high as possible
    bound: float  # on the atom divergence; above 1: no bound
    atom_weight: float
    length_weight: float


class Best(NamedTuple):
    """The best state so far within the bound, and the units that may have moved since."""

    side: Integers  # (units)
    moved: Integers  # (units), of which `moved_count` are in use
    moved_count: Integers  # (1)
    is_moved: npt.NDArray[np.bool_]  # (units)
    scores: Floats  # (3): objective, compound divergence and |log length ratio| of that state
    lowest_atom_divergence: Floats  # (1), within the bound or not


class Walk(NamedTuple):
    """The complete state of a walk."""

    compounds: Sums
    atoms: Sums
    units: Units
    goal: Goal
    best: Best
    hand: Integers  # (largest unit + 1): the exchange being assembled; the first unit moves one way, the others back
    random: npt.NDArray[np.uint64]  # (1)


@dataclass(frozen=True, eq=False)
class Level:
    """A corpus with its movable units, built once for all walks over them."""

    encoded: Encoded
    sizes: Integers  # (units)
    lengths: Floats  # (units)
    kinds: Integers  # (units)
    compounds: Sums  # with everything in train
    atoms: Sums  # with everything in train

    @property
    def mean_size(self) -> float:
        return self.encoded.items / len(self.sizes)


def make_level(encoded: Encoded, alphas: Alphas) -> Level:
    """The level at which the groups of `encoded` move."""
    groups = encoded.grouped()
    return Level(
        encoded=encoded,
        sizes=encoded.group_sizes,
        lengths=groups.lengths,
        kinds=_kinds(groups.compounds),
        compounds=_sums(groups.compounds, alphas.compounds),
        atoms=_sums(groups.atoms, alphas.atoms),
    )


def start_walk(level: Level, test_mask: Mask, goal: Goal, seed: int) -> Walk:
    """The state of a walk that begins at `test_mask`, with the numerators still to be computed."""
    side = np.full(len(level.sizes), TRAIN, dtype=np.int64)
    side[level.encoded.groups[test_mask]] = TEST
    order = np.argsort(side, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Walk(
        compounds=_on_sides(level.compounds, side),
        atoms=_on_sides(level.atoms, side),
        units=Units(
            sizes=level.sizes,
            lengths=level.lengths,
            kinds=level.kinds,
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
            lowest_atom_divergence=np.ones(1),
        ),
        hand=np.zeros(int(level.sizes.max()) + 1, dtype=np.int64),
        random=np.array([seed], dtype=np.uint64),
    )


def _sums(incidence: Incidence, alpha: float) -> Sums:
    rows = incidence.row_of_entry()
    shared = np.bincount(incidence.ids, minlength=incidence.width) > 1  # (width)
    kept = shared[incidence.ids]  # (entries)
    ids = (np.cumsum(shared) - 1)[incidence.ids[kept]]
    counts = incidence.counts[kept]
    total = int(incidence.counts.sum())
    sides = np.zeros((int(shared.sum()), 2), dtype=np.int64)
    sides[:, TRAIN] = np.bincount(ids, weights=counts, minlength=len(sides))
    numbers = np.arange(total + 1, dtype=np.float64)
    return Sums(
        offsets=offsets_of(np.bincount(rows[kept], minlength=incidence.rows)),
        ids=ids,
        counts=counts,
        unit_totals=np.bincount(rows, weights=incidence.counts, minlength=incidence.rows).astype(np.int64),
        sides=sides,
        totals=np.array([total, 0]),
        numerator=np.zeros(1),
        train_power=numbers**alpha,
        test_power=numbers ** (1.0 - alpha),
    )


def _on_sides(sums: Sums, side: Integers) -> Sums:
    """A copy of the sums with every unit moved from train to its side in `side`."""
    entry_in_test = np.repeat(side, np.diff(sums.offsets)) == TEST
    test = np.bincount(sums.ids[entry_in_test], weights=sums.counts[entry_in_test], minlength=len(sums.sides))
    sides = np.stack([sums.sides[:, TRAIN] - test, test], axis=1).astype(np.int64)
    test_total = int(sums.unit_totals[side == TEST].sum())
    totals = np.array([sums.totals[TRAIN] - test_total, test_total])
    return sums._replace(sides=sides, totals=totals, numerator=np.zeros(1))


def _kinds(compounds: Incidence) -> Integers:
    """Equal numbers for rows with equal entries: a sum of a random 64-bit number for each id, wrapping around."""
    words = np.random.default_rng(0).integers(2**64, size=compounds.width, dtype=np.uint64)
    sums = np.cumsum(words[compounds.ids] * compounds.counts.astype(np.uint64), dtype=np.uint64)
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), sums])[compounds.offsets]
    return np.unique(np.diff(ends), return_inverse=True)[1].astype(np.int64)
