"""Where the work of a round is done: in this process, or on a Ray cluster (`ray_engine`). The results are the same."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Applies a function to many items beside something that all of them share; results come in the items' order."""

    partitions: int  # of the environments, by hash

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]: ...

    def facts(self) -> dict[str, Any]:
        """Who did the work since the last time, for the round's timings."""
        ...


class LocalEngine:
    """One item after the other, here."""

    partitions = 1

    def __init__(self) -> None:
        self._tasks = 0

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """Lazily: an item is worked on when its result is wanted."""
        for item in items:
            self._tasks += 1
            yield function(shared, item)

    def facts(self) -> dict[str, Any]:
        """The number of tasks."""
        tasks, self._tasks = self._tasks, 0
        return {"engine": "local", "tasks": tasks}
