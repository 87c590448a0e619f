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
from comdiv.splitting.encoding import Floats

Function = TypeVar("Function", bound=Callable[..., object])
Result = TypeVar("Result")
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


def call(function: Callable[..., Result], *arguments: object) -> Result:
    """Call a compiled function; the first call compiles it and stores it in the cache.

    If several processes do that at once, storing can fail before the function has run. It is compiled nevertheless, so
    a second call works.
    """
    try:
        return function(*arguments)
    except RuntimeError as error:
        if "no compiled object" not in str(error):
            raise
        return function(*arguments)


@compiled
def shift(sums: Sums, unit: int, to: int) -> None:
    """Move a unit's counts to the other side and keep the numerators current."""
    away = 1 - to
    for entry in range(sums.offsets[unit], sums.offsets[unit + 1]):
        kind = sums.kinds[sums.ids[entry]]
        train_power, test_power = sums.train_powers[sums.powers[kind]], sums.test_powers[sums.powers[kind]]
        sides = sums.sides[sums.ids[entry]]
        before = train_power[sides[TRAIN]] * test_power[sides[TEST]]
        sides[to] += sums.counts[entry]
        sides[away] -= sums.counts[entry]
        sums.numerators[kind] += train_power[sides[TRAIN]] * test_power[sides[TEST]] - before
    for kind in range(len(sums.numerators)):
        sums.totals[kind, to] += sums.unit_totals[unit, kind]
        sums.totals[kind, away] -= sums.unit_totals[unit, kind]


@compiled
def recompute(sums: Sums) -> float:
    """Set the numerators to their exact values; returns the greatest drift of a divergence."""
    exact = np.zeros(len(sums.numerators))
    for identifier in range(len(sums.sides)):
        kind = sums.kinds[identifier]
        train, test = sums.sides[identifier, TRAIN], sums.sides[identifier, TEST]
        exact[kind] += sums.train_powers[sums.powers[kind], train] * sums.test_powers[sums.powers[kind], test]
    drift = 0.0
    for kind in range(len(exact)):
        power, train, test = sums.powers[kind], sums.totals[kind, TRAIN], sums.totals[kind, TEST]
        whole = max(1.0, sums.train_powers[power, train] * sums.test_powers[power, test])
        drift = max(drift, abs(exact[kind] - sums.numerators[kind]) / whole)
        sums.numerators[kind] = exact[kind]
    return drift


@compiled
def divergence_of(sums: Sums, kind: int, when_empty: float) -> float:
    """The divergence of a kind from the sums; `when_empty` stands for a side that has nothing to count."""
    train, test = sums.totals[kind, TRAIN], sums.totals[kind, TEST]
    if train == 0 or test == 0:
        return when_empty
    whole = sums.train_powers[sums.powers[kind], train] * sums.test_powers[sums.powers[kind], test]
    return float(1.0 - sums.numerators[kind] / whole)


@compiled
def divergence_after(sums: Sums, unit: int, to: int, when_empty: float) -> float:
    """The divergence of the first kind if a unit moved, without moving it."""
    sign = 1 if to == TEST else -1
    numerator = sums.numerators[0]
    train_power, test_power = sums.train_powers[0], sums.test_powers[0]
    for entry in range(sums.offsets[unit], sums.offsets[unit + 1]):
        identifier = sums.ids[entry]
        train, test = sums.sides[identifier, TRAIN], sums.sides[identifier, TEST]
        change = sign * sums.counts[entry]
        numerator += train_power[train - change] * test_power[test + change]
        numerator -= train_power[train] * test_power[test]
    train_total = sums.totals[0, TRAIN] - sign * sums.unit_totals[unit, 0]
    test_total = sums.totals[0, TEST] + sign * sums.unit_totals[unit, 0]
    if train_total == 0 or test_total == 0:
        return when_empty
    return float(1.0 - numerator / (train_power[train_total] * test_power[test_total]))


@compiled
def excess_of(atoms: Sums, bounds: Floats) -> float:
    """The sum of the excesses of the kinds' divergences over their bounds."""
    excess = 0.0
    for kind in range(len(bounds)):
        excess += max(0.0, divergence_of(atoms, kind, 1.0) - bounds[kind])
    return excess


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
    excess = excess_of(walk.atoms, walk.goal.bounds)
    if excess < best.excess[0]:
        best.excess[0] = excess
        for kind in range(len(best.nearest)):
            best.nearest[kind] = divergence_of(walk.atoms, kind, 1.0)
    countable = walk.compounds.totals[0, TRAIN] > 0 and walk.compounds.totals[0, TEST] > 0
    if not countable or excess > 0.0 or objective <= best.scores[0]:
        return
    best.scores[0] = objective
    best.scores[1] = divergence_of(walk.compounds, 0, 0.0)
    best.scores[2] = length_off(walk.units, 0.0)
    for index in range(best.moved_count[0]):
        unit = best.moved[index]
        best.side[unit] = walk.units.side[unit]
        best.is_moved[unit] = False
    best.moved_count[0] = 0


@compiled
def objective_of(walk: Walk) -> float:
    """J of the current state."""
    excess = excess_of(walk.atoms, walk.goal.bounds)
    gain = gain_of(walk.goal, divergence_of(walk.compounds, 0, 0.0))
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
    before = excess_of(walk.atoms, goal.bounds)
    walk.numerators[:] = walk.atoms.numerators
    for index in range(held):
        shift(walk.atoms, hand[index], 1 - units.side[hand[index]])
    after = excess_of(walk.atoms, goal.bounds)
    if attained - goal.atom_weight * after < least or (keep_bound and after > 0 and after >= before):
        for index in range(held):
            shift(walk.atoms, hand[index], units.side[hand[index]])
        walk.atoms.numerators[:] = walk.numerators
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
    gain = gain_of(goal, divergence_of(compounds, 0, 0.0))
    _record(walk, objective)
    exchanges = 0
    while steps > 0:
        steps -= 1
        first = _random_below(walk.random, len(units.sizes))
        to = 1 - units.side[first]
        surplus = gain_of(goal, divergence_after(compounds, first, to, 0.0)) - gain
        if surplus < _allowed_loss(walk.random, temperature):
            continue
        numerator = compounds.numerators[0]
        shift(compounds, first, to)
        hand[0], held, open_size, tries, done = first, 1, units.sizes[first], PATIENCE, False
        while steps > 0 and tries > 0 and not done:
            steps -= 1
            tries -= 1
            unit = _random_on_side(walk, to)
            usable = units.sizes[unit] <= open_size and units.alike[unit] != units.alike[first]
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
            gain = gain_of(goal, divergence_of(compounds, 0, 0.0))
            _record(walk, objective)
        else:
            for index in range(held):
                shift(compounds, hand[index], units.side[hand[index]])
            compounds.numerators[0] = numerator
    return exchanges
