"""The compiled inner loop of `anneal`, and the incremental sums that both searches share.

Everything that numba compiles stands in this one file: its cache notices a change of the file that holds the loop, but
not of another file that the loop calls into. Arrays are handed over in named tuples, which numba understands.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from comdiv.splitting.encoding import Floats, Integers

Function = TypeVar("Function", bound=Callable[..., object])
RandomState = npt.NDArray[np.uint64]  # (1)
TRAIN, TEST = 0, 1


def compiled(function: Function) -> Function:
    """Compile for speed and let other threads run meanwhile; without a writable place for it, do without the cache."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Function, numba.njit(nogil=True)(function))


class Sums(NamedTuple):
    """Counts of atoms (or of compounds) on both sides, with the numerator of their Chernoff coefficient kept current."""

    offsets: Integers  # (units + 1)
    ids: Integers  # (entries); an id that only one unit has is left out, it can never be on both sides
    counts: Integers  # (entries)
    unit_totals: Integers  # (units), with the ids left out above
    sides: Integers  # (width, 2), how often an id occurs in train and in test
    totals: Integers  # (2)
    numerator: Floats  # (1), Σ train^α test^(1-α) over ids
    train_power: Floats  # (largest total + 1), n^α
    test_power: Floats  # (largest total + 1), n^(1-α)


class Units(NamedTuple):
    """What the search moves: twin groups, sorted into classes of equal size, train before test within each class."""

    sizes: Integers  # (units)
    lengths: Floats  # (units)
    kinds: Integers  # (units), equal for units with the same compounds
    side: Integers  # (units)
    classes: Integers  # (units)
    order: Integers  # (units), by class, then by side
    place: Integers  # (units), where in `order` each unit stands
    starts: Integers  # (classes + 1)
    borders: Integers  # (classes), where in `order` the test units of a class begin
    length_sums: Floats  # (2)
    side_sizes: Integers  # (2), items on each side; the search never changes them


class Goal(NamedTuple):
    """The objective: compound divergence (or nearness to a target) less what atoms and lengths are off by."""

    target: float  # negative: as high as possible
    bound: float  # of the atom divergence; 1 or more: none
    atom_weight: float
    length_weight: float


class Best(NamedTuple):
    """The best state so far within the bound, and the units that may have moved since."""

    side: Integers  # (units)
    moved: Integers  # (units), the first `moved_count[0]` of them
    moved_count: Integers  # (1)
    is_moved: npt.NDArray[np.bool_]  # (units)
    scores: Floats  # (3): objective, compound divergence and |log length ratio| of the best state
    lowest_atom_divergence: Floats  # (1), within the bound or not


@compiled
def shift(sums: Sums, unit: int, to: int) -> None:
    """Move a unit's counts to the other side and keep the numerator current."""
    away = 1 - to
    for entry in range(sums.offsets[unit], sums.offsets[unit + 1]):
        sides = sums.sides[sums.ids[entry]]
        before = sums.train_power[sides[TRAIN]] * sums.test_power[sides[TEST]]
        sides[to] += sums.counts[entry]
        sides[away] -= sums.counts[entry]
        sums.numerator[0] += sums.train_power[sides[TRAIN]] * sums.test_power[sides[TEST]] - before
    sums.totals[to] += sums.unit_totals[unit]
    sums.totals[away] -= sums.unit_totals[unit]


@compiled
def unshift(sums: Sums, unit: int, to: int) -> None:
    """Take back a `shift` without the numerator, of which the caller kept the old value: exact, and cheaper."""
    away = 1 - to
    for entry in range(sums.offsets[unit], sums.offsets[unit + 1]):
        sides = sums.sides[sums.ids[entry]]
        sides[to] -= sums.counts[entry]
        sides[away] += sums.counts[entry]
    sums.totals[to] -= sums.unit_totals[unit]
    sums.totals[away] += sums.unit_totals[unit]


@compiled
def recompute(sums: Sums) -> float:
    """Set the numerator to its exact value; returns by how much it had drifted."""
    exact = 0.0
    for identifier in range(len(sums.sides)):
        exact += sums.train_power[sums.sides[identifier, TRAIN]] * sums.test_power[sums.sides[identifier, TEST]]
    drift = abs(exact - sums.numerator[0])
    sums.numerator[0] = exact
    return drift


@compiled
def divergence_of(sums: Sums, when_empty: float) -> float:
    """The divergence from the sums; `when_empty` stands for a side that has nothing to count."""
    if sums.totals[TRAIN] == 0 or sums.totals[TEST] == 0:
        return when_empty
    return float(
        1.0 - sums.numerator[0] / (sums.train_power[sums.totals[TRAIN]] * sums.test_power[sums.totals[TEST]])
    )


@compiled
def log_length_ratio(units: Units, change: float) -> float:
    """|log LR| if `change` went from train to test; 0 where a side has no length at all."""
    train = (units.length_sums[TRAIN] - change) / units.side_sizes[TRAIN]
    test = (units.length_sums[TEST] + change) / units.side_sizes[TEST]
    return abs(math.log(train / test)) if train > 0 and test > 0 else 0.0


@compiled
def _random_bits(state: RandomState) -> np.uint64:
    """SplitMix64, 32 bits of it: a generator of our own, so that a seed means the same on every numba version."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64((z ^ (z >> np.uint64(31))) >> np.uint64(32))


@compiled
def _random_below(state: RandomState, limit: int) -> int:
    return int((_random_bits(state) * np.uint64(limit)) >> np.uint64(32))


@compiled
def _exchange_places(units: Units, a: int, b: int) -> None:
    units.order[a], units.order[b] = units.order[b], units.order[a]
    units.place[units.order[a]] = a
    units.place[units.order[b]] = b


@compiled
def _change_side(units: Units, unit: int, to: int) -> None:
    """Put a unit on the other side of its class's border."""
    klass = units.classes[unit]
    if to == TEST:
        units.borders[klass] -= 1
        _exchange_places(units, units.place[unit], units.borders[klass])
    else:
        _exchange_places(units, units.place[unit], units.borders[klass])
        units.borders[klass] += 1
    units.side[unit] = to


@compiled
def _propose(units: Units, random: RandomState, chosen: Integers) -> int:
    """Fill `chosen` with a unit and what comes for it from the other side; returns how many, 0 for no move.

    One group of m comes against another of m, or against m singles.
    """
    unit = _random_below(random, len(units.sizes))
    chosen[0] = unit
    size = units.sizes[unit]
    from_test = units.side[unit] == TRAIN
    against_singles = size > 1 and units.sizes[units.order[0]] == 1 and _random_below(random, 2) == 0
    klass = 0 if against_singles else units.classes[unit]
    first = units.borders[klass] if from_test else units.starts[klass]
    available = (units.starts[klass + 1] if from_test else units.borders[klass]) - first
    wanted = size if against_singles else 1
    if available < wanted:
        return 0
    for drawn in range(wanted):
        at = first + drawn
        if wanted > 1:  # draw without repetition by bringing the drawn to the front of their side
            _exchange_places(units, at, at + _random_below(random, available - drawn))
        else:
            at += _random_below(random, available)
        chosen[1 + drawn] = units.order[at]
    if wanted == 1 and units.kinds[chosen[0]] == units.kinds[chosen[1]]:
        return 0
    return int(1 + wanted)


@compiled
def _record(best: Best, units: Units) -> None:
    for index in range(best.moved_count[0]):
        unit = best.moved[index]
        best.side[unit] = units.side[unit]
        best.is_moved[unit] = False
    best.moved_count[0] = 0


@compiled
def run_slice(
    compounds: Sums, atoms: Sums, units: Units, goal: Goal, best: Best, random: RandomState,
    chosen: Integers, temperature: float, steps: int, keep_bound: bool,
) -> int:  # fmt: skip
    """Some steps of annealing at one temperature; returns how many moves were accepted."""
    atom_divergence = divergence_of(atoms, 1.0)
    compound_divergence = divergence_of(compounds, 0.0)
    gain = compound_divergence if goal.target < 0 else -abs(compound_divergence - goal.target)
    penalty = goal.atom_weight * max(0.0, atom_divergence - goal.bound)
    objective = gain - penalty - goal.length_weight * log_length_ratio(units, 0.0)
    accepted = 0
    for _ in range(steps):
        moving = _propose(units, random, chosen)
        if moving == 0:
            continue
        to = 1 - units.side[chosen[0]]
        change = units.lengths[chosen[0]]
        for index in range(1, moving):
            change -= units.lengths[chosen[index]]
        if to == TRAIN:
            change = -change
        # Metropolis: what the objective must reach. Atoms only ever lower it, so most moves are refused without them.
        least = objective + temperature * math.log((float(_random_bits(random)) + 1.0) / 4294967296.0)
        length_off = log_length_ratio(units, change)
        compound_numerator = compounds.numerator[0]
        shift(compounds, chosen[0], to)
        for index in range(1, moving):
            shift(compounds, chosen[index], 1 - to)
        compound_divergence = divergence_of(compounds, 0.0)
        gain = compound_divergence if goal.target < 0 else -abs(compound_divergence - goal.target)
        attained = gain - goal.length_weight * length_off
        refused = attained < least
        if not refused:
            atom_numerator = atoms.numerator[0]
            shift(atoms, chosen[0], to)
            for index in range(1, moving):
                shift(atoms, chosen[index], 1 - to)
            new_atom_divergence = divergence_of(atoms, 1.0)
            excess = max(0.0, new_atom_divergence - goal.bound)
            attained -= goal.atom_weight * excess
            refused = attained < least or (keep_bound and excess > 0 and new_atom_divergence >= atom_divergence)
            if refused:
                unshift(atoms, chosen[0], to)
                for index in range(1, moving):
                    unshift(atoms, chosen[index], 1 - to)
                atoms.numerator[0] = atom_numerator
        if refused:
            unshift(compounds, chosen[0], to)
            for index in range(1, moving):
                unshift(compounds, chosen[index], 1 - to)
            compounds.numerator[0] = compound_numerator
            continue
        accepted += 1
        objective = attained
        atom_divergence = new_atom_divergence
        units.length_sums[TRAIN] -= change
        units.length_sums[TEST] += change
        for index in range(moving):
            unit = chosen[index]
            _change_side(units, unit, to if index == 0 else 1 - to)
            if not best.is_moved[unit]:
                best.is_moved[unit] = True
                best.moved[best.moved_count[0]] = unit
                best.moved_count[0] += 1
        best.lowest_atom_divergence[0] = min(best.lowest_atom_divergence[0], atom_divergence)
        countable = compounds.totals[TRAIN] > 0 and compounds.totals[TEST] > 0
        if atom_divergence <= goal.bound and countable and objective > best.scores[0]:
            best.scores[0] = objective
            best.scores[1] = compound_divergence
            best.scores[2] = length_off
            _record(best, units)
    return accepted
