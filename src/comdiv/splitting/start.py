"""Random splits of exact size that never tear a twin group: the i.i.d. split, and where every search starts."""

import numpy as np

from comdiv.errors import ComdivError
from comdiv.splitting.encoding import Encoded, Integers, Mask


def check_test_size(encoded: Encoded, test_size: int) -> None:
    """Refuse, with one clear line, what cannot be split."""
    items = encoded.items
    if items < 2:
        raise ComdivError(f"nothing to split: {items} examples, at least 2 are needed")
    if not 0 < test_size < items:
        raise ComdivError(
            f"a test size of {test_size} leaves one side empty: of {items} examples, 1 to {items - 1} can go to test"
        )
    smallest_group = int(encoded.group_sizes.min())
    if smallest_group == items:
        raise ComdivError(f"all {items} examples are twins of each other, and twins stay on one side: no split exists")
    if smallest_group > test_size:
        raise ComdivError(
            f"a test size of {test_size} is smaller than the smallest group of twins ({smallest_group} examples), "
            "and twins stay on one side"
        )


def random_split(encoded: Encoded, test_size: int, seed: int = 0) -> Mask:
    """A random test set of whole groups, as a mask over items: the i.i.d. split of §V.

    If groups do not add up to `test_size`, it is of the nearest smaller size that they do add up to.
    """
    check_test_size(encoded, test_size)
    return draw_groups(encoded.group_sizes, test_size, np.random.default_rng(seed))[encoded.groups]


def draw_groups(group_sizes: Integers, wanted: int, generator: np.random.Generator) -> Mask:
    """Random groups, as a mask over groups, whose sizes add up to `wanted` or to the nearest smaller sum there is."""
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
    """How many groups of each size to take: the largest total up to `wanted`, close to what chance preferred.

    The sums that the classes from one on can reach are the set bits of an integer, so each class costs a few shifts.
    """
    reachable = [1]
    for size, count in zip(sizes[::-1], available[::-1], strict=True):
        reachable.append(_reach(reachable[-1], int(size), count, wanted))
    reachable.reverse()  # (classes + 1); the last knows only the empty sum
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
