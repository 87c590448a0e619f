"""Drawing whole groups at random, so that twins never lie on both sides of a split.

The i.i.d. split, the start of every search and the validation part of a dataset are all drawn here.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from comdiv.dataset import VALIDATION_SHARE

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def group_numbers(keys: Iterable[Hashable]) -> Integers:
    """A group number for every item, equal for items with the same key; numbered by first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def connected_groups(keys: Sequence[tuple[Hashable, Hashable]]) -> list[int]:
    """Groups of items that share a first or a second key, directly or through others (union-find)."""
    parent = list(range(len(keys)))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    owner: dict[tuple[int, Hashable], int] = {}
    for item, pair in enumerate(keys):
        for place, key in enumerate(pair):
            other = owner.setdefault((place, key), item)
            parent[root(item)] = root(other)
    return [root(item) for item in range(len(keys))]


def draw_validation(keys: Iterable[Hashable], share: float = VALIDATION_SHARE, seed: int = 0) -> Mask:
    """A random share of the items as a mask, items with the same key together; empty if every group is too large.

    The only draw of a validation part: made when a dataset is built, or by a solver if the dataset has none.
    """
    groups = group_numbers(keys)
    size = round(share * len(groups))
    sizes = np.bincount(groups)  # (groups)
    if not len(groups) or size < sizes.min() or size == len(groups):
        return np.zeros(len(groups), dtype=np.bool_)
    return draw_groups(sizes, size, np.random.default_rng(seed))[groups]


def draw_groups(group_sizes: Integers, wanted: int, generator: np.random.Generator) -> Mask:
    """Random groups, as a mask over groups, whose sizes add up to `wanted` or to the nearest smaller possible sum."""
    order = generator.permutation(len(group_sizes))
    ordered_sizes = group_sizes[order]
    drawn = ordered_sizes[np.cumsum(ordered_sizes) <= wanted]
    sizes = np.unique(group_sizes)[::-1]  # (classes); singles come last: they can make up any remainder
    available = [int(np.sum(group_sizes == size)) for size in sizes]
    preferred = [int(np.sum(drawn == size)) for size in sizes]
    chosen = np.zeros(len(group_sizes), dtype=np.bool_)
    for size, take in zip(sizes, _counts_that_add_up(sizes, available, preferred, wanted), strict=True):
        chosen[order[ordered_sizes == size][:take]] = True
    return chosen


def _counts_that_add_up(sizes: Integers, available: list[int], preferred: list[int], wanted: int) -> list[int]:
    """How many groups of each size to take: the largest total up to `wanted`, close to the `preferred` random draw.

    The sums reachable from each size class onwards are the set bits of an integer, so each class costs a few shifts.
    """
    reachable = [1]
    for size, count in zip(sizes[::-1], available[::-1], strict=True):
        reachable.append(_reach(reachable[-1], int(size), count, wanted))
    reachable.reverse()  # (classes + 1); the last entry has only the empty sum
    remaining = reachable[0].bit_length() - 1
    taken = []
    for size, count, liked, rest in zip(sizes, available, preferred, reachable[1:], strict=True):
        fitting = (x for x in range(count + 1) if size * x <= remaining and rest >> int(remaining - size * x) & 1)
        best = min(fitting, key=lambda x: abs(x - liked))
        taken.append(best)
        remaining -= int(size) * best
    return taken


def _reach(sums: int, size: int, count: int, wanted: int) -> int:
    """The sums reachable with up to `count` more groups of `size`, in powers of two so that few shifts suffice."""
    within = (1 << (wanted + 1)) - 1
    step = 1
    while count > 0:
        step = min(step, count)
        sums = (sums | sums << size * step) & within
        count -= step
        step *= 2
    return sums
