"""Simulated annealing over splits of fixed size: the default search of §III-A.

The objective is J = D_c - 10·max(0, D_a - bound) - w·|log LR|, with -|D_c - D| instead of D_c for a target D. There are
two levels. First whole blocks move: a block is all units that share their most frequent compound. This decides the side
of each compound, which single exchanges cannot change at low temperature. Then twin groups move one by one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from comdiv.groups import draw_groups
from comdiv.splitting.anneal_loop import call, objective_of, recompute, run_slice
from comdiv.splitting.anneal_state import TEST, Goal, Level, Walk, make_level, start_walk
from comdiv.splitting.divergence import ROUNDING
from comdiv.splitting.encoding import Encoded, Integers, Mask
from comdiv.splitting.sides import SearchSpace, bound_missed, random_split, target_missed

Progress = Callable[[int, int], None]
LazyLevel = Callable[[], Level]

ATOM_WEIGHT = 10.0
NO_BOUND = 2.0  # no divergence exceeds 1
MARGIN = 1e-10  # running sums drift by less, so that a state within the bound here is also within it when recomputed
SLICES = 100  # pieces of a walk: after each one the sums are recomputed exactly and progress is reported
KEEP_BOUND_FROM = 0.9  # share of a walk after which no move may leave the bound

# Temperatures are in units of (mean size of what moves) / (test size), which is about how much one move changes D_c.
# Each pair is where cooling begins and ends. Blocks start hot, so that the random start does not matter; groups start
# just below the temperature at which the arrangement of the blocks would melt.
BLOCK_TEMPERATURES = (2.0, 0.002)
GROUP_TEMPERATURES = (0.25, 0.02)
RANDOM_START_TEMPERATURES = (0.5, 0.005)
TARGET_TEMPERATURES = (0.05, 0.005)

BLOCK_STARTS = 12  # walks over blocks; they are cheap, and each ends in a different arrangement
BLOCK_SHARE = 0.4  # of all steps
REFINED_STARTS = 4  # how many of the best are refined: the best arrangement of blocks need not give the best split

TARGET_TOLERANCE = 0.005
TARGET_AIM = 0.001  # a walk ends when it is this close
LENGTH_TOLERANCE = math.log(1.01)


@dataclass(frozen=True)
class AnnealSettings:
    """What to search for, and for how long."""

    length_weight: float
    target: float | None
    steps_per_item: int
    seed: int

    def goal(self, space: SearchSpace, *, target: float | None) -> Goal:
        """The objective in the form that the compiled loop uses."""
        bounds = [bounded.bound for bounded in space.bounded]
        return Goal(
            target=-1.0 if target is None else target,
            bounds=np.array([NO_BOUND if bound is None else max(bound - MARGIN, ROUNDING / 10) for bound in bounds]),
            atom_weight=ATOM_WEIGHT,
            length_weight=self.length_weight,
        )


@dataclass(frozen=True, eq=False)
class Walked:
    """The outcome of a walk: its best state within the bound, or the last one if there was none."""

    test_mask: Mask
    objective: float
    within_bound: bool
    compound_divergence: float
    excess: float  # least ever, of all bounded divergences together
    nearest: Sequence[float]  # the bounded divergences where the excess was least


class _Meter:
    """Counts steps over all walks of a search and reports progress."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.done, self.total, self.progress = 0, total, progress

    def add(self, steps: int) -> None:
        self.done += steps
        if self.progress:
            self.progress(min(self.done, self.total), self.total)

    def finish(self) -> None:
        if self.progress and self.done < self.total:
            self.progress(self.total, self.total)


def anneal(
    space: SearchSpace, test_size: int, settings: AnnealSettings, progress: Progress | None = None
) -> tuple[Mask, int]:
    """The best split found, as a mask over items, and the number of steps it took.

    Raises `ComdivError` if no state met all bounds, or the target.
    """
    start = random_split(space.encoded, test_size, settings.seed)
    meter = _Meter(settings.steps_per_item * space.encoded.items, progress)
    seek = _highest if settings.target is None else _at_target
    level = cache(partial(make_level, space, space.encoded.groups))  # made when blocks are done: both are large
    split = seek(space, level, start, settings, meter)
    meter.finish()
    return split.test_mask, meter.done


def _highest(space: SearchSpace, level: LazyLevel, start: Mask, settings: AnnealSettings, meter: _Meter) -> Walked:
    """Compound divergence as high as possible: blocks first, then twin groups from the best arrangements of blocks."""
    goal = settings.goal(space, target=None)
    block_steps = int(meter.total * BLOCK_SHARE) // BLOCK_STARTS
    group_steps = (meter.total - BLOCK_STARTS * block_steps) // REFINED_STARTS
    found: list[Walked] = []
    for rank, arranged in enumerate(_arrange_blocks(space, start, settings, goal, block_steps, meter)):
        seed = _seed(settings.seed, "groups", rank)
        found.append(_walk(level(), arranged, goal, GROUP_TEMPERATURES, group_steps, seed, meter))
    if not any(walked.within_bound for walked in found):
        # Blocks are too coarse for the size or the bounds; a random split lies near D_a = 0.
        seed = _seed(settings.seed, "groups", REFINED_STARTS)
        found.append(_walk(level(), start, goal, RANDOM_START_TEMPERATURES, group_steps, seed, meter))
    best = max(found, key=_quality)
    if not best.within_bound:
        raise bound_missed(space.bounded, min(found, key=lambda walked: walked.excess).nearest)
    return best


def _quality(walked: Walked) -> tuple[bool, float]:
    return walked.within_bound, walked.objective


def _arrange_blocks(
    space: SearchSpace, start: Mask, settings: AnnealSettings, goal: Goal, steps: int, meter: _Meter
) -> list[Mask]:
    """The best few walks over blocks, filled up to the size of `start`; fewer or none if the sizes do not add up."""
    blocks = make_level(space, _blocks(space.encoded))
    size = int(start.sum())
    found: list[Walked] = []
    for attempt in range(BLOCK_STARTS):
        seed = _seed(settings.seed, "blocks", attempt)
        test_mask = draw_groups(blocks.sizes, size, np.random.default_rng(seed))[blocks.groups]
        if test_mask.any():
            found.append(_walk(blocks, test_mask, goal, BLOCK_TEMPERATURES, steps, seed, meter))
    found.sort(key=_quality, reverse=True)
    filled = (_fill_up(space.encoded, walked.test_mask, size, settings.seed) for walked in found[:REFINED_STARTS])
    return [test_mask for test_mask in filled if test_mask is not None]


def _seed(seed: int, purpose: str, number: int) -> int:
    """A different seed for every walk, so that no two walks of a search are correlated."""
    sequence = np.random.SeedSequence([seed, *purpose.encode(), number])
    return int(sequence.generate_state(1, dtype=np.uint64)[0])


def _blocks(encoded: Encoded) -> Integers:
    """The block of every item: the twin groups whose most frequent compound is the same make one block."""
    compounds = encoded.compounds.merged(encoded.groups, len(encoded.group_sizes))
    frequency = np.bincount(compounds.ids, weights=compounds.counts, minlength=compounds.width)
    group_of_entry = compounds.row_of_entry()
    order = np.lexsort((compounds.ids, -frequency[compounds.ids], group_of_entry))
    with_compounds, first = np.unique(group_of_entry[order], return_index=True)
    leaders = compounds.width + np.arange(compounds.rows)  # a group without compounds forms its own block
    leaders[with_compounds] = compounds.ids[order][first]
    return np.unique(leaders, return_inverse=True)[1][encoded.groups].astype(np.int64)


def _fill_up(encoded: Encoded, test_mask: Mask, size: int, seed: int) -> Mask | None:
    """Add random twin groups to a test side until it has `size` items; None if they do not add up."""
    missing = size - int(test_mask.sum())
    if missing == 0:
        return test_mask
    in_test = np.zeros(len(encoded.group_sizes), dtype=np.bool_)
    in_test[encoded.groups[test_mask]] = True
    candidates = np.flatnonzero(~in_test)
    drawn = draw_groups(encoded.group_sizes[candidates], missing, np.random.default_rng(seed))
    in_test[candidates[drawn]] = True
    filled: Mask = in_test[encoded.groups]
    return filled if int(filled.sum()) == size else None


def _at_target(space: SearchSpace, level: LazyLevel, start: Mask, settings: AnnealSettings, meter: _Meter) -> Walked:
    """Compound divergence at the target: up from a random split or, if that gets stuck, down from the highest."""
    target = settings.target
    assert target is not None
    by_chance = space.compound_divergence(start)
    goal = settings.goal(space, target=target)
    found: Walked | None = None
    if target >= by_chance - TARGET_TOLERANCE:
        steps = meter.total // 3
        found = _walk(level(), start, goal, TARGET_TEMPERATURES, steps, settings.seed, meter)
        if _is_reached(found, target):
            return found
    highest = _highest(space, level, start, settings, meter)
    if by_chance - TARGET_TOLERANCE <= target <= highest.compound_divergence + TARGET_TOLERANCE:
        top = highest.test_mask
        down = _walk(level(), top, goal, TARGET_TEMPERATURES, meter.total // 3, settings.seed, meter)
        if _is_reached(down, target):
            return down
        found = down if found is None or down.objective > found.objective else found
    nearest = by_chance if target < by_chance else highest.compound_divergence
    if found is not None and found.within_bound and target < highest.compound_divergence:
        nearest = found.compound_divergence
    raise target_missed(target, nearest, by_chance, highest.compound_divergence)


def _is_reached(walked: Walked, target: float) -> bool:
    return walked.within_bound and abs(walked.compound_divergence - target) <= TARGET_TOLERANCE


def _walk(
    level: Level, start: Mask, goal: Goal, temperatures: tuple[float, float], steps: int, seed: int, meter: _Meter
) -> Walked:
    """One walk with geometric cooling, in slices; with a target, it ends as soon as the target is reached."""
    walk = start_walk(level, start, goal, seed)
    unit = level.mean_size / int(start.sum())
    hot, cold = (temperature * unit for temperature in temperatures)
    done = 0
    for index in range(SLICES):
        call(recompute, walk.compounds)
        call(recompute, walk.atoms)
        share = index / SLICES
        slice_steps = steps * (index + 1) // SLICES - done
        call(run_slice, walk, hot * (cold / hot) ** share, slice_steps, share >= KEEP_BOUND_FROM)
        done += slice_steps
        meter.add(slice_steps)
        if goal.target >= 0 and _is_there(walk):
            break
    return _walked(level, walk)


def _is_there(walk: Walk) -> bool:
    _, compound_divergence, length_off = walk.best.scores
    lengths_fit = walk.goal.length_weight == 0 or length_off <= LENGTH_TOLERANCE
    return bool(abs(compound_divergence - walk.goal.target) <= TARGET_AIM and lengths_fit)


def _walked(level: Level, walk: Walk) -> Walked:
    within_bound = bool(np.isfinite(walk.best.scores[0]))
    side = walk.best.side if within_bound else walk.units.side
    return Walked(
        test_mask=(side == TEST)[level.groups],
        objective=float(walk.best.scores[0]) if within_bound else float(call(objective_of, walk)),
        within_bound=within_bound,
        compound_divergence=float(walk.best.scores[1]),
        excess=float(walk.best.excess[0]),
        nearest=walk.best.nearest.tolist(),
    )
