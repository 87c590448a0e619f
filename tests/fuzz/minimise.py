"""Smaller cases with the same defect: pieces of texts, lists and mappings are left out while the finding stays."""

import time
from collections.abc import Callable, Iterator
from typing import Any

SECONDS = 20  # for one case; what is smallest by then is taken


def minimise(case: Any, fails: Callable[[Any], bool], seconds: float = SECONDS) -> Any:
    """The smallest case that still fails, found greedily: large pieces first, then smaller ones."""
    end = time.monotonic() + seconds
    smaller = True
    while smaller:
        smaller = False
        for candidate in simpler(case):
            if time.monotonic() > end:
                return case
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def simpler(value: Any) -> Iterator[Any]:
    """Values with a little less in them, the greatest losses first."""
    if isinstance(value, str | list):
        yield from _shorter(value)
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from ([*value[:place], less, *value[place + 1 :]] for less in simpler(item))
    elif isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
        for key, item in value.items():
            yield from ({**value, key: less} for less in simpler(item))
    elif isinstance(value, int) and not isinstance(value, bool) and value:
        yield from (0, value // 2)


def _shorter(value: Any) -> Iterator[Any]:
    """A text or list without one of its halves, quarters, eighths… down to single items."""
    size = len(value)
    while size := size // 2 if size > 1 else 0:
        for start in range(0, len(value), size):
            yield value[:start] + value[start + size :]
    if len(value) == 1:
        yield value[:0]
