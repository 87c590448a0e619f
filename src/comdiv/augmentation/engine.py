"""Where the work of a round is done: on this machine, or on a Ray cluster (`ray_engine`). The results are the same."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from comdiv.augmentation.processes import can_fork, forked_map, usable_processors

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Applies a function to many items beside something that all of them share; results come in the items' order."""

    partitions: int  # of the environments, by hash

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]: ...

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """The same for a function that computes in Python and returns a text."""
        ...

    def facts(self) -> dict[str, Any]:
        """Who did the work since the last time, for the round's timings."""
        ...


class LocalEngine:
    """One item after the other, here; texts are made by several processes where that is wanted."""

    partitions = 1

    def __init__(self, processes: int = 1) -> None:
        """`processes`: as many as there are processors with 0."""
        self._processes = (processes or usable_processors()) if can_fork() else 1
        self._tasks = 0

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """Lazily: an item is worked on when its result is wanted."""
        for item in items:
            self._tasks += 1
            yield function(shared, item)

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """By processes where there are items enough for all of them."""
        if self._processes == 1 or len(items) <= self._processes:
            yield from self.map(function, shared, items)
            return
        self._tasks += len(items)
        yield from forked_map(function, shared, items, self._processes)

    def facts(self) -> dict[str, Any]:
        """The number of tasks."""
        tasks, self._tasks = self._tasks, 0
        return {"engine": "local", "tasks": tasks}
