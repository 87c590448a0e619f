"""The engine for a Ray cluster: the same workers, on any node.

Results stay in the folder of the plan, which all nodes must see (as Ray's own training libraries ask for). A node that
dies takes its processes with it; the runner starts their tasks again elsewhere, where they go on from the checkpoints.
"""

import socket
from typing import Any

from comdiv.errors import ComdivError
from comdiv.experiments.engine import Ended, Task, cause_of_death, start_worker
from comdiv.ray_cluster import join_cluster

_QUEUED = 4  # tasks handed to Ray for each of its cores, so that none waits for us


class RayEngine:
    """Hands tasks to Ray; each asks for as many cores as it has threads. `jobs` is how many at a time, at most."""

    def __init__(self, address: str | None, jobs: int | None, environment: dict[str, str]) -> None:
        ray, self._owns = join_cluster(address, cores=jobs, runtime_env={"env_vars": environment})
        self.ray: Any = ray
        self._remote = ray.remote(max_retries=0)(run_on_node)
        self._jobs = jobs
        self._running: dict[Any, Task] = {}

    def free(self) -> int:
        """Ray has its own queue: it is kept filled, unless there should be fewer jobs."""
        cores = int(self.ray.cluster_resources().get("CPU", 1))
        most = _QUEUED * max(1, cores) if self._jobs is None else self._jobs
        return max(0, most - len(self._running))

    def start(self, task: Task) -> None:
        """Hand a task over."""
        reference = self._remote.options(num_cpus=task.threads, name=task.cells[0].label).remote(task)
        self._running[reference] = task

    def ended(self, timeout: float) -> list[Ended]:
        """Tasks that have ended, or whose worker or node has."""
        if not self._running:
            return []
        ready, _ = self.ray.wait(list(self._running), num_returns=1, timeout=timeout)
        found = []
        for reference in ready:
            task = self._running.pop(reference)
            try:
                found.append(Ended(task, self.ray.get(reference)))
            except self.ray.exceptions.RayTaskError as error:
                found.append(Ended(task, f"{type(error.cause).__name__}: {error.cause}"))
            except self.ray.exceptions.RayError as error:
                found.append(Ended(task, f"the worker or its node was lost ({type(error).__name__})"))
        return found

    def close(self) -> None:
        """Cancel what is running, and leave the cluster if we joined it."""
        for reference in self._running:
            self.ray.cancel(reference, force=True)
        self._running.clear()
        if self._owns:
            self.ray.shutdown()


def run_on_node(task: Task) -> str:
    """Run a task in a worker on the node where Ray put us; how it died, if it did."""
    import ray

    if not (task.root / "plans").is_dir():
        raise ComdivError(f"node {socket.gethostname()} does not see {task.root}: all nodes must share that folder")
    process = start_worker(task, node=ray.get_runtime_context().get_node_id())
    try:
        return cause_of_death(process.wait())
    finally:
        process.kill()
