"""Which of a round's new problems stay where there are more than wanted: drawn by seed, the same on every machine."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence


def selected(ids: Sequence[str], limit: int | None, seed: int) -> list[str]:
    """At most `limit` ids, drawn uniformly, in their order."""
    if limit is None or len(ids) <= limit:
        return list(ids)
    chosen = set(sorted(ids, key=lambda name: _digest(name, seed))[:limit])
    return [name for name in ids if name in chosen]


def selected_evenly(kinds: Mapping[str, str], limit: int | None, seed: int, balance: float) -> list[str]:
    """At most `limit` of the ids, so that a kind with n of them is drawn like one with n^(1 − balance).

    With balance 1 every kind is as likely as every other, with 0 every id (`selected`). Each id waits for a random
    time, the shorter the greater its weight, and the first ones are taken: a weighted sample without return.
    """
    if limit is None or len(kinds) <= limit or not balance:
        return selected(list(kinds), limit, seed)
    sizes = Counter(kinds.values())

    def waiting(name: str) -> float:
        uniform = (int.from_bytes(_digest(name, seed)[:8]) + 1) / 2**64
        return -math.log(uniform) * float(sizes[kinds[name]] ** balance)

    chosen = set(sorted(kinds, key=lambda name: (waiting(name), name))[:limit])
    return [name for name in kinds if name in chosen]


def _digest(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()
