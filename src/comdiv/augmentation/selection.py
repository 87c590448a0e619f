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


def repetitions(kinds: Sequence[str], times: int, balance: float) -> list[int]:
    """How often each item is there, once at least and `times` on average, where n of a kind weigh n^(1 − balance).

    What does not divide evenly among the items of a kind goes to the first of them.
    """
    sizes = Counter(kinds)
    weights = {kind: float(size ** (1 - balance)) for kind, size in sizes.items()}
    share = times * len(kinds) / sum(weights.values()) if kinds else 0.0
    places = {kind: max(size, round(share * weights[kind])) for kind, size in sizes.items()}
    met: Counter[str] = Counter()
    result = []
    for kind in kinds:
        often, rest = divmod(places[kind], sizes[kind])
        result.append(often + (met[kind] < rest))
        met[kind] += 1
    return result


def _digest(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()
