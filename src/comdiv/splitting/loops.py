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
    """What the search moves: twin groups, with those of train before those of test in `order`."""

    sizes: Integers  # (units)
    lengths: Floats  # (units)
    kinds: Integers  # (units), equal for units with the same compounds
    side: Integers  # (units)
    order: Integers  # (units)
    place: Integers  # (units), where in `order` each unit stands
    train_count: Integers  # (1), where in `order` test begins
    length_sums: Floats  # (2)
    side_sizes: Integers  # (2), items on each side; the search never changes them


class Goal(NamedTuple):
    """The objective: compound divergence (or nearness to a target) less what atoms and lengths are off by."""

    target: float  # negative: as high as possible
    bound: float  # of the atom divergence; 1 or more: none
    atom_weight: float
    length_weight: float


class Hand(NamedTuple):
    """An exchange in the making."""

    units: Integers  # (largest group + 1)
    numerators: Floats  # (largest group + 1), of the compounds before each of them was shifted
    count: Integers  # (1)


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
    return float(1.0 - sums.numerator[0] / (sums.train_power[sums.totals[TRAIN]] * sums.test_power[sums.totals[TEST]]))


@compiled
def gain_of(goal: Goal, compound_divergence: float) -> float:
    return compound_divergence if goal.target < 0 else -abs(compound_divergence - goal.target)


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
    return np.int64((_random_bits(state) * np.uint64(limit)) >> np.uint64(32))


@compiled
def _exchange_places(units: Units, a: int, b: int) -> None:
    units.order[a], units.order[b] = units.order[b], units.order[a]
    units.place[units.order[a]] = a
    units.place[units.order[b]] = b


@compiled
def _change_side(units: Units, unit: int) -> None:
    """Put a unit on the other side of the border in `order`."""
    if units.side[unit] == TRAIN:
        units.train_count[0] -= 1
        _exchange_places(units, units.place[unit], units.train_count[0])
        units.side[unit] = TEST
    else:
        _exchange_places(units, units.place[unit], units.train_count[0])
        units.train_count[0] += 1
        units.side[unit] = TRAIN


@compiled
def _random_on_side(units: Units, side: int, random: RandomState) -> int:
    train = units.train_count[0]
    at = _random_below(random, train) if side == TRAIN else train + _random_below(random, len(units.order) - train)
    return int(units.order[at])


@compiled
def _release(compounds: Sums, units: Units, hand: Hand) -> None:
    """Give up an exchange: everything in hand goes back to where it came from."""
    for index in range(hand.count[0]):
        unit = hand.units[index]
        unshift(compounds, unit, 1 - units.side[unit])
    if hand.count[0] > 0:
        compounds.numerator[0] = hand.numerators[0]
    hand.count[0] = 0


@compiled
def _commit(units: Units, hand: Hand, best: Best) -> None:
    for index in range(hand.count[0]):
        unit = hand.units[index]
        units.length_sums[units.side[unit]] -= units.lengths[unit]
        _change_side(units, unit)
        units.length_sums[units.side[unit]] += units.lengths[unit]
        if not best.is_moved[unit]:
            best.is_moved[unit] = True
            best.moved[best.moved_count[0]] = unit
            best.moved_count[0] += 1
    hand.count[0] = 0


@compiled
def _record(best: Best, units: Units) -> None:
    for index in range(best.moved_count[0]):
        unit = best.moved[index]
        best.side[unit] = units.side[unit]
        best.is_moved[unit] = False
    best.moved_count[0] = 0


@compiled
def run_slice(
    compounds: Sums, atoms: Sums, units: Units, goal: Goal, best: Best, hand: Hand,
    random: RandomState, temperature: float, steps: int, keep_bound: bool, patience: int
) -> int:  # fmt: skip
    atom_divergence = divergence_of(atoms, 1.0)
    gain = gain_of(goal, divergence_of(compounds, 0.0))
    objective = (
        gain
        - goal.atom_weight * max(0.0, atom_divergence - goal.bound)
        - goal.length_weight * log_length_ratio(units, 0.0)
    )
    accepted = 0
    tries = 0
    surplus = 0.0
    open_size = 0
    to = 0
    for _ in range(steps):
        slack = temperature * math.log((float(_random_bits(random)) + 1.0) / 4294967296.0)
        held = hand.count[0]
        if held == 0:
            unit = _random_below(random, len(units.sizes))
            to = 1 - units.side[unit]
            hand.numerators[0] = compounds.numerator[0]
            shift(compounds, unit, to)
            surplus = gain_of(goal, divergence_of(compounds, 0.0)) - gain
            if surplus < slack:
                unshift(compounds, unit, to)
                compounds.numerator[0] = hand.numerators[0]
            else:
                hand.units[0] = unit
                hand.count[0] = 1
                open_size = units.sizes[unit]
                tries = patience
            continue
        if tries == 0:
            _release(compounds, units, hand)
            continue
        tries -= 1
        unit = _random_on_side(units, to, random)
        usable = units.sizes[unit] <= open_size and units.kinds[unit] != units.kinds[hand.units[0]]
        for index in range(1, held):
            if hand.units[index] == unit:
                usable = False
        if not usable:
            continue
        hand.numerators[held] = compounds.numerator[0]
        shift(compounds, unit, 1 - to)
        compound_divergence = divergence_of(compounds, 0.0)
        left = open_size - units.sizes[unit]
        hand.units[held] = unit
        if left > 0:
            if gain_of(goal, compound_divergence) - gain - surplus * left / units.sizes[hand.units[0]] < slack:
                unshift(compounds, unit, 1 - to)
                compounds.numerator[0] = hand.numerators[held]
            else:
                hand.count[0] = held + 1
                open_size = left
                tries = patience
            continue
        change = 0.0
        for index in range(held + 1):
            other = hand.units[index]
            change += units.lengths[other] if units.side[other] == TRAIN else -units.lengths[other]
        length_off = log_length_ratio(units, change)
        attained = gain_of(goal, compound_divergence) - goal.length_weight * length_off
        refused = attained < objective + slack
        if not refused:
            atom_numerator = atoms.numerator[0]
            for index in range(held + 1):
                shift(atoms, hand.units[index], 1 - units.side[hand.units[index]])
            new_atom_divergence = divergence_of(atoms, 1.0)
            excess = max(0.0, new_atom_divergence - goal.bound)
            attained -= goal.atom_weight * excess
            refused = attained < objective + slack or (
                keep_bound and excess > 0 and new_atom_divergence >= atom_divergence
            )
            if refused:
                for index in range(held + 1):
                    unshift(atoms, hand.units[index], 1 - units.side[hand.units[index]])
                atoms.numerator[0] = atom_numerator
        if refused:
            unshift(compounds, unit, 1 - to)
            compounds.numerator[0] = hand.numerators[held]
            continue
        accepted += 1
        objective = attained
        gain = gain_of(goal, compound_divergence)
        atom_divergence = new_atom_divergence
        hand.count[0] = held + 1
        _commit(units, hand, best)
        best.lowest_atom_divergence[0] = min(best.lowest_atom_divergence[0], atom_divergence)
        countable = compounds.totals[TRAIN] > 0 and compounds.totals[TEST] > 0
        if atom_divergence <= goal.bound and countable and objective > best.scores[0]:
            best.scores[0] = objective
            best.scores[1] = compound_divergence
            best.scores[2] = length_off
            _record(best, units)
    _release(compounds, units, hand)
    return accepted
