"""The work of a round on a Ray cluster: environments by hash, candidates and ranking by shard.

Results come back in the order of the items, and every item's result depends on the item alone: the augmented set is the
one that a single machine makes.
"""

import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from comdiv.errors import ComdivError

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")

_PATIENCE = 5.0  # seconds in which a cluster must answer at all


class RayEngine:
    """Tasks on a cluster that runs already (`address`), or on one that is started on this machine for the purpose."""

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ComdivError("--engine ray needs Ray: pip install 'comdiv[ray]'") from error
        self._ray: Any = ray
        self._started = not ray.is_initialized()
        if self._started:
            _connect(ray, address)
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


def _connect(ray: Any, address: str | None) -> None:
    """Join a cluster, or start one here. A dead address is found out at once: Ray itself would try for minutes."""
    if address is not None and address != "auto":
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if not host or not port.isdigit():
            raise ComdivError(f"--address {address}: say it as HOST:PORT, or auto")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise ComdivError(f"no Ray cluster answers at {address}: {error}") from error
    try:
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level="ERROR",
            include_dashboard=False if not address else None,
        )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise ComdivError(f"no Ray cluster at {address or 'this machine'}: {str(error).splitlines()[0]}") from error
