"""The compiled loop of `anneal`. Divergences are kept as incremental sums: a move touches only the ids of its units.

Everything that numba compiles stands in this one file, because its cache notices a change of the file that holds a
function, but not of another file that the function calls into.
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

# How many partners are tried for a unit in hand before it is put back.
PATIENCE = 32
LOGS = np.log((np.arange(4096) + 0.5) / 4096)


def compiled(function: Function) -> Function:
    """Compile for speed and let other threads run meanwhile; without a writable place for it, do without the cache."""
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
    """Set the numerator to its exact value; returns by how much the divergence had drifted."""
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
    """|log LR| if `change` more of the length lay in test; 0 where a side has no length at all."""
    train = (units.length_sums[TRAIN] - change) / units.side_sizes[TRAIN]
    test = (units.length_sums[TEST] + change) / units.side_sizes[TEST]
    return abs(math.log(train / test)) if train > 0 and test > 0 else 0.0


@compiled
def _random_bits(state: RandomState) -> np.uint64:
    """32 bits of SplitMix64: a generator of our own, so that a seed means the same under every numba version."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64((z ^ (z >> np.uint64(31))) >> np.uint64(32))


@compiled
def _random_below(state: RandomState, limit: int) -> np.int64:
    return np.int64((_random_bits(state) * np.uint64(limit)) >> np.uint64(32))


@compiled
def _random_on_side(walk: Walk, side: int) -> int:
    """A unit of that side: mostly an active one if chance finds it soon, else any."""
    if _random_below(walk.random, 8) > 0:
        for _ in range(4):
            unit = walk.active.units[_random_below(walk.random, walk.active.count[0])]
            if walk.units.side[unit] == side:
                return int(unit)
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
    """Put a unit on the other side of the border in `order`, and note that it may differ from the best state."""
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
def _record(walk: Walk) -> None:
    """Make the present state the best; costs only what has moved since the last best."""
    for index in range(walk.best.moved_count[0]):
        unit = walk.best.moved[index]
        walk.best.side[unit] = walk.units.side[unit]
        walk.best.is_moved[unit] = False
    walk.best.moved_count[0] = 0


@compiled
def return_to_best(walk: Walk) -> None:
    """Undo whatever has moved since the best state."""
    for index in range(walk.best.moved_count[0]):
        unit = walk.best.moved[index]
        walk.best.is_moved[unit] = False
        if walk.units.side[unit] != walk.best.side[unit]:
            shift(walk.compounds, unit, walk.best.side[unit])
            shift(walk.atoms, unit, walk.best.side[unit])
            walk.best.is_moved[unit] = True  # keeps `_change_side` from listing it again
            _change_side(walk, unit)
            walk.best.is_moved[unit] = False
    walk.best.moved_count[0] = 0


@compiled
def choose_active(walk: Walk, cost: float) -> None:
    """Make active the units whose move alone costs at most `cost` of compound divergence."""
    gain = gain_of(walk.goal, divergence_of(walk.compounds, 0.0))
    found = 0
    for unit in range(len(walk.units.sizes)):
        to = 1 - walk.units.side[unit]
        if gain_of(walk.goal, divergence_after(walk.compounds, unit, to, 0.0)) >= gain - cost:
            walk.active.units[found] = unit
            found += 1
    if found == 0:
        for unit in range(len(walk.units.sizes)):
            walk.active.units[unit] = unit
        found = len(walk.units.sizes)
    walk.active.count[0] = found


@compiled
def kick(walk: Walk, largest: int, touched: npt.NDArray[np.bool_]) -> bool:
    units, random, blocks = walk.units, walk.random, walk.postings
    touched[:] = False
    surplus = 0  # items that test has too many
    limit = largest
    side = -1
    for _ in range(2000):
        unit = _random_below(random, len(units.sizes))
        if touched[unit] or (side >= 0 and units.side[unit] != side):
            continue
        side = units.side[unit]
        block = walk.leaders[unit]
        for index in range(blocks.offsets[block], blocks.offsets[block + 1]):
            other = blocks.units[index]
            if units.side[other] == side and not touched[other] and units.sizes[other] <= limit:
                touched[other] = True
                limit -= units.sizes[other]
                surplus += units.sizes[other] if side == TRAIN else -units.sizes[other]
                shift(walk.compounds, other, 1 - side)
                shift(walk.atoms, other, 1 - side)
                _change_side(walk, other)
        if surplus == 0:
            return True
        side = TEST if surplus > 0 else TRAIN
        limit = abs(surplus)
    return False


@compiled
def objective_of(walk: Walk) -> float:
    """The objective of the present state."""
    excess = max(0.0, divergence_of(walk.atoms, 1.0) - walk.goal.bound)
    gain = gain_of(walk.goal, divergence_of(walk.compounds, 0.0))
    return gain - walk.goal.atom_weight * excess - walk.goal.length_weight * length_off(walk.units, 0.0)


@compiled
def run_slice(walk: Walk, temperature: float, steps: int, keep_bound: bool) -> int:
    """Some steps of annealing at one temperature; returns how many exchanges were accepted."""
    compounds, atoms, units, goal, best, hand = walk.compounds, walk.atoms, walk.units, walk.goal, walk.best, walk.hand
    atom_divergence = divergence_of(atoms, 1.0)
    gain = gain_of(goal, divergence_of(compounds, 0.0))
    objective = gain - goal.atom_weight * max(0.0, atom_divergence - goal.bound)
    objective -= goal.length_weight * length_off(units, 0.0)
    accepted, tries, open_size, to, surplus = 0, 0, 0, 0, 0.0
    for _ in range(steps):
        # Metropolis: by how much a step may lose.
        loss = temperature * LOGS[_random_bits(walk.random) >> np.uint64(20)]
        held = hand.count[0]
        if held > 0 and tries == 0:
            for index in range(held):
                shift(compounds, hand.units[index], units.side[hand.units[index]])
            hand.count[0] = 0
            continue
        if held == 0:
            if _random_below(walk.random, 8) > 0:
                unit = walk.active.units[_random_below(walk.random, walk.active.count[0])]
            else:
                unit = _random_below(walk.random, len(units.sizes))
            to = 1 - units.side[unit]
            surplus = gain_of(goal, divergence_after(compounds, unit, to, 0.0)) - gain
            if surplus >= loss:
                shift(compounds, unit, to)
                hand.units[0] = unit
                hand.count[0] = 1
                open_size = units.sizes[unit]
                tries = PATIENCE
            continue
        tries -= 1
        unit = _random_on_side(walk, to)
        usable = units.sizes[unit] <= open_size and units.kinds[unit] != units.kinds[hand.units[0]]
        for index in range(1, held):
            usable = usable and hand.units[index] != unit
        if not usable:
            continue
        compound_divergence = divergence_after(compounds, unit, 1 - to, 0.0)
        new_gain = gain_of(goal, compound_divergence)
        left = open_size - units.sizes[unit]
        if left > 0:
            if new_gain - gain - surplus * left / units.sizes[hand.units[0]] >= loss:
                shift(compounds, unit, 1 - to)
                hand.units[held] = unit
                hand.count[0] = held + 1
                open_size = left
                tries = PATIENCE
            continue
        hand.units[held] = unit
        change = 0.0
        for index in range(held + 1):
            other = hand.units[index]
            change += units.lengths[other] if units.side[other] == TRAIN else -units.lengths[other]
        off = length_off(units, change)
        attained = new_gain - goal.length_weight * off
        if attained < objective + loss:
            continue
        atom_numerator = atoms.numerator[0]
        for index in range(held + 1):
            shift(atoms, hand.units[index], 1 - units.side[hand.units[index]])
        new_atom_divergence = divergence_of(atoms, 1.0)
        excess = max(0.0, new_atom_divergence - goal.bound)
        attained -= goal.atom_weight * excess
        if attained < objective + loss or (keep_bound and excess > 0 and new_atom_divergence >= atom_divergence):
            for index in range(held + 1):
                shift(atoms, hand.units[index], units.side[hand.units[index]])
            atoms.numerator[0] = atom_numerator
            continue
        shift(compounds, unit, 1 - to)
        for index in range(held + 1):
            _change_side(walk, hand.units[index])
        hand.count[0] = 0
        accepted += 1
        gain, objective, atom_divergence = new_gain, attained, new_atom_divergence
        best.lowest_atom_divergence[0] = min(best.lowest_atom_divergence[0], atom_divergence)
        countable = compounds.totals[TRAIN] > 0 and compounds.totals[TEST] > 0
        if atom_divergence <= goal.bound and countable and objective > best.scores[0]:
            best.scores[0], best.scores[1], best.scores[2] = objective, compound_divergence, off
            _record(walk)
    for index in range(hand.count[0]):
        shift(compounds, hand.units[index], units.side[hand.units[index]])
    hand.count[0] = 0
    return accepted
