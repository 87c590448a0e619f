"""The work of a round on a Ray cluster: environments by hash, candidates and ranking by shard.

Results come back in the order of the items, and every item's result depends on the item alone: the augmented set is the
one that a single machine makes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from comdiv.errors import ComdivError
from comdiv.ray_cluster import join_cluster

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")


class RayEngine:
    """Tasks on a cluster that runs already (`address`), or on one that is started on this machine for the purpose."""

    def __init__(self, address: str | None = None) -> None:
        ray, self._started = join_cluster(address)
        self._ray: Any = ray
        self.partitions = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._nodes: Counter[str] = Counter()

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """At most three tasks a processor wait at a time, so that memory stays bounded."""
        ray = self._ray
        # SPREAD: every node gets its part, also where one alone would have room for all.
        task = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(_on_node)
        handle = ray.put(shared)
        waiting = iter(items)
        running = [task.remote(function, handle, item) for item in islice(waiting, 3 * self.partitions)]
        while running:
            try:
                result, node = ray.get(running.pop(0))
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, ComdivError) else error) from None
            except ray.exceptions.RayError as error:
                raise ComdivError(f"the Ray cluster failed: {str(error).splitlines()[0]}") from error
            running += [task.remote(function, handle, item) for item in islice(waiting, 1)]
            self._nodes[node] += 1
            yield result

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """As `map`."""
        return self.map(function, shared, items)

    def facts(self) -> dict[str, Any]:
        """How many tasks each node did."""
        nodes, self._nodes = self._nodes, Counter()
        return {"engine": "ray", "tasks": sum(nodes.values()), "nodes": dict(sorted(nodes.items()))}

    def close(self) -> None:
        """Leave the cluster, if it was joined here."""
        if self._started:
            self._ray.shutdown()


def _on_node(function: Callable[[Any, Any], Any], shared: Any, item: Any) -> tuple[Any, str]:
    import ray

    return function(shared, item), ray.get_runtime_context().get_node_id()
