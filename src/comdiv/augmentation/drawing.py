"""What is drawn by seed: pairs to try, one at a time, and which of too many new problems stay."""

import hashlib
import math
import random
from collections.abc import Iterator, Sequence


def drawn(source: random.Random, total: int, most: int) -> Iterator[int]:
    """Numbers below `total` in random order, each once, at most `most`; most of them are never asked for.

    The numbers that `source.sample(range(total), most)` gives, as long as nothing else draws from the source: in
    Python's own way, so that rounds made with that stay as they are.
    """
    most = min(most, total)
    draw = source.randrange
    if total <= _worth_a_list(most):
        left = list(range(total))
        for _ in range(most):
            place = draw(len(left))
            yield left[place]
            left[place] = left[-1]
            left.pop()
        return
    seen: set[int] = set()
    while len(seen) < most:
        number = draw(total)
        if number not in seen:
            seen.add(number)
            yield number


def _worth_a_list(most: int) -> int:
    """How many numbers may take less room in a list than the drawn ones would in a set."""
    return 21 + (4 ** math.ceil(math.log(most * 3, 4)) if most > 5 else 0)


def selected(ids: Sequence[str], limit: int | None, seed: int) -> list[str]:
    """At most `limit` ids, drawn uniformly, in their order; the same ones in whatever order they come."""
    if limit is None or len(ids) <= limit:
        return list(ids)
    chosen = set(sorted(ids, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest())[:limit])
    return [name for name in ids if name in chosen]
