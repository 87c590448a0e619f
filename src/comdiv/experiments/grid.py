"""Hyper-parameters to try: the whole grid of some ranges, or a sample of it."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any


def grid(ranges: Mapping[str, Sequence[Any]], samples: int | None = None, seed: int | str = 0) -> list[dict[str, Any]]:
    """All combinations, the last range changing fastest; of `samples`, so many different ones, drawn by seed.

    Combinations are counted, never all made: the paper's ranges have thousands.
    """
    total = math.prod(len(values) for values in ranges.values())
    if samples is None or samples >= total:
        chosen: Sequence[int] = range(total)
    else:
        chosen = sorted(random.Random(str(seed)).sample(range(total), samples))
    return [_combination(ranges, number) for number in chosen]


def _combination(ranges: Mapping[str, Sequence[Any]], number: int) -> dict[str, Any]:
    """The combination with a number, as the digits of a mixed base."""
    digits = {}
    for name in reversed(list(ranges)):
        number, place = divmod(number, len(ranges[name]))
        digits[name] = ranges[name][place]
    return {name: digits[name] for name in ranges}
