"""The compiled loop of `anneal`. Divergences are kept as incremental sums: a move touches only the ids of its units.

Everything that numba compiles is in this file, because its cache notices changes to the file of a function, but not to
other files whose functions it calls.
"""

import math
from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from comdiv.splitting.anneal_state import TEST, TRAIN, Goal, Sums, Units, Walk

Function = TypeVar("Function", bound=Callable[..., object])
RandomState = npt.NDArray[np.uint64]  # (1)

# How many partners are tried for a selected unit before it is put back.
PATIENCE = 32
# Logarithms of evenly spaced numbers from 0 to 1: a lookup is cheaper than computing one.
LOGARITHMS = np.log((np.arange(4096) + 0.5) / 4096)


def compiled(function: Function) -> Function:
    """Compile a function that releases the GIL; caches the result if there is a writable place for it."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Function, numba.njit(nogil=True)(function))


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
def recompute(sums: Sums) -> float:
    """Set the numerator to its exact value; returns how far the divergence had drifted."""
    exact = 0.0
    for identifier in range(len(sums.sides)):
        exact += sums.train_power[sums.sides[identifier, TRAIN]] * sums.test_power[sums.sides[identifier, TEST]]
    drift = abs(exact - sums.numerator[0])
    sums.numerator[0] = exact
    return float(drift / max(1.0, sums.train_power[sums.totals[TRAIN]] * sums.test_power[sums.totals[TEST]]))


@compiled
def divergence_of(sums: Sums, when_empty: float) -> float:
    """The divergence from the sums; `when_empty` stands for a side that has nothing to count."""
    if sums.totals[TRAIN] == 0 or sums.totals[TEST] == 0:
        return when_empty
    whole = sums.train_power[sums.totals[TRAIN]] * sums.test_power[sums.totals[TEST]]
    return float(1.0 - sums.numerator[0] / whole)


@compiled
def divergence_after(sums: Sums, unit: int, to: int, when_empty: float) -> float:
    """The divergence if a unit moved, without moving it."""
    sign = 1 if to == TEST else -1
    numerator = sums.numerator[0]
    for entry in range(sums.offsets[unit], sums.offsets[unit + 1]):
        identifier = sums.ids[entry]
        train, test = sums.sides[identifier, TRAIN], sums.sides[identifier, TEST]
        change = sign * sums.counts[entry]
        numerator += sums.train_power[train - change] * sums.test_power[test + change]
        numerator -= sums.train_power[train] * sums.test_power[test]
    train_total = sums.totals[TRAIN] - sign * sums.unit_totals[unit]
    test_total = sums.totals[TEST] + sign * sums.unit_totals[unit]
    if train_total == 0 or test_total == 0:
        return when_empty
    return float(1.0 - numerator / (sums.train_power[train_total] * sums.test_power[test_total]))


@compiled
def gain_of(goal: Goal, compound_divergence: float) -> float:
    return compound_divergence if goal.target < 0 else -abs(compound_divergence - goal.target)


@compiled
def length_off(units: Units, change: float) -> float:
    """|log LR| if test had `change` more of the length; 0 if a side has no length at all."""
    train = (units.length_sums[TRAIN] - change) / units.side_sizes[TRAIN]
    test = (units.length_sums[TEST] + change) / units.side_sizes[TEST]
    return abs(math.log(train / test)) if train > 0 and test > 0 else 0.0


@compiled
def _random_bits(state: RandomState) -> np.uint64:
    """32 bits of SplitMix64, implemented here so that a seed gives the same numbers under every numba version."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64((z ^ (z >> np.uint64(31))) >> np.uint64(32))


@compiled
def _random_below(state: RandomState, limit: int) -> int:
    # int64 first: in compiled code, int() of an unsigned number stays unsigned.
    return int(np.int64((_random_bits(state) * np.uint64(limit)) >> np.uint64(32)))


@compiled
def _allowed_loss(state: RandomState, temperature: float) -> float:
    """The Metropolis rule, inverted: a move is accepted if it loses no more than this (a number of at most 0)."""
    return float(temperature * LOGARITHMS[_random_bits(state) >> np.uint64(20)])


@compiled
def _random_on_side(walk: Walk, side: int) -> int:
    train = walk.units.train_count[0]
    if side == TRAIN:
        return int(walk.units.order[_random_below(walk.random, train)])
    return int(walk.units.order[train + _random_below(walk.random, len(walk.units.order) - train)])


@compiled
def _exchange_places(units: Units, a: int, b: int) -> None:
    units.order[a], units.order[b] = units.order[b], units.order[a]
    units.place[units.order[a]] = a
    units.place[units.order[b]] = b


@compiled
def _change_side(walk: Walk, unit: int) -> None:
    """Move a unit across the border in `order`, and record that it may now differ from the best state."""
    units, best = walk.units, walk.best
    units.length_sums[units.side[unit]] -= units.lengths[unit]
    if units.side[unit] == TRAIN:
        units.train_count[0] -= 1
        _exchange_places(units, units.place[unit], units.train_count[0])
    else:
        _exchange_places(units, units.place[unit], units.train_count[0])
        units.train_count[0] += 1
    units.side[unit] = 1 - units.side[unit]
    units.length_sums[units.side[unit]] += units.lengths[unit]
    if not best.is_moved[unit]:
        best.is_moved[unit] = True
        best.moved[best.moved_count[0]] = unit
        best.moved_count[0] += 1


@compiled
def _record(walk: Walk, objective: float) -> None:
    """Record the current state if it is the best so far; the cost depends only on what moved since the last best."""
    best = walk.best
    atom_divergence = divergence_of(walk.atoms, 1.0)
    best.lowest_atom_divergence[0] = min(best.lowest_atom_divergence[0], atom_divergence)
    countable = walk.compounds.totals[TRAIN] > 0 and walk.compounds.totals[TEST] > 0
    if not countable or atom_divergence > walk.goal.bound or objective <= best.scores[0]:
        return
    best.scores[0] = objective
    best.scores[1] = divergence_of(walk.compounds, 0.0)
    best.scores[2] = length_off(walk.units, 0.0)
    for index in range(best.moved_count[0]):
        unit = best.moved[index]
        best.side[unit] = walk.units.side[unit]
        best.is_moved[unit] = False
    best.moved_count[0] = 0


@compiled
def objective_of(walk: Walk) -> float:
    """J of the current state."""
    excess = max(0.0, divergence_of(walk.atoms, 1.0) - walk.goal.bound)
    gain = gain_of(walk.goal, divergence_of(walk.compounds, 0.0))
    return float(gain - walk.goal.atom_weight * excess - walk.goal.length_weight * length_off(walk.units, 0.0))


@compiled
def _complete(walk: Walk, held: int, least: float, keep_bound: bool) -> bool:
    """Carry out the selected exchange if its objective is at least `least`; its last unit has not been shifted yet.

    Lengths and atoms can only lower the objective, so the cheapest tests come first.
    """
    units, hand, goal = walk.units, walk.hand, walk.goal
    last = hand[held - 1]
    to = 1 - units.side[last]
    change = 0.0
    for index in range(held):
        length = units.lengths[hand[index]]
        change += length if units.side[hand[index]] == TRAIN else -length
    attained = gain_of(goal, divergence_after(walk.compounds, last, to, 0.0))
    if attained < least:
        return False
    attained -= goal.length_weight * length_off(units, change)
    if attained < least:
        return False
    before = divergence_of(walk.atoms, 1.0)
    numerator = walk.atoms.numerator[0]
    for index in range(held):
        shift(walk.atoms, hand[index], 1 - units.side[hand[index]])
    after = divergence_of(walk.atoms, 1.0)
    excess = max(0.0, after - goal.bound)
    if attained - goal.atom_weight * excess < least or (keep_bound and excess > 0 and after >= before):
        for index in range(held):
            shift(walk.atoms, hand[index], units.side[hand[index]])
        walk.atoms.numerator[0] = numerator
        return False
    shift(walk.compounds, last, to)
    for index in range(held):
        _change_side(walk, hand[index])
    return True


@compiled
def run_slice(walk: Walk, temperature: float, steps: int, keep_bound: bool) -> int:
    """Do `steps` annealing steps at one temperature; returns how many exchanges were carried out.

    A step looks at one unit. A unit that may leave its side at this temperature is selected, and then units of the
    other side are tried until their sizes add up to its size. Choosing the two ends of an exchange one after the other
    makes the cold end of the walk fast: there, one unit in a hundred is good, but only one pair in ten thousand.
    """
    compounds, units, goal, hand = walk.compounds, walk.units, walk.goal, walk.hand
    objective = objective_of(walk)
    gain = gain_of(goal, divergence_of(compounds, 0.0))
    _record(walk, objective)
    exchanges = 0
    while steps > 0:
        steps -= 1
        first = _random_below(walk.random, len(units.sizes))
        to = 1 - units.side[first]
        surplus = gain_of(goal, divergence_after(compounds, first, to, 0.0)) - gain
        if surplus < _allowed_loss(walk.random, temperature):
            continue
        numerator = compounds.numerator[0]
        shift(compounds, first, to)
        hand[0], held, open_size, tries, done = first, 1, units.sizes[first], PATIENCE, False
        while steps > 0 and tries > 0 and not done:
            steps -= 1
            tries -= 1
            unit = _random_on_side(walk, to)
            usable = units.sizes[unit] <= open_size and units.kinds[unit] != units.kinds[first]
            for index in range(1, held):
                usable = usable and hand[index] != unit
            if not usable:
                continue
            hand[held] = unit
            loss = _allowed_loss(walk.random, temperature)
            left = open_size - units.sizes[unit]
            if left == 0:
                done = _complete(walk, held + 1, objective + loss, keep_bound)
            # A partner that replaces part of the first unit may use up the same part of the first unit's gain.
            elif gain_of(goal, divergence_after(compounds, unit, 1 - to, 0.0)) - gain >= (
                surplus * left / units.sizes[first] + loss
            ):
                shift(compounds, unit, 1 - to)
                held, open_size, tries = held + 1, left, PATIENCE
        if done:
            exchanges += 1
            objective = objective_of(walk)
            gain = gain_of(goal, divergence_of(compounds, 0.0))
            _record(walk, objective)
        else:
            for index in range(held):
                shift(compounds, hand[index], units.side[hand[index]])
            compounds.numerator[0] = numerator
    return exchanges
