"""Where work is done: by processes of this machine, or on a Ray cluster. The results are the same.

An engine has two faces. `map` applies a function to many items (the rounds of an augmentation); `start` and `ended` run
programs of their own (the cells of an experiment). Both engines have both.
"""

import gc
import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

from comdiv.errors import ComdivError, unknown_name
from comdiv.ray_cluster import join_cluster

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")

_PASSED_ON = ("COMDIV_DATA",)  # what workers on other machines must know of this one's environment
_AHEAD = 3  # items per processor that are worked on before their results are wanted: memory stays bounded
_QUEUED = 4  # tasks handed to Ray for each of its cores, so that none waits for us


class Engine(Protocol):
    """Applies a function to many items beside something that all of them share; results come in the items' order."""

    partitions: int  # of what is divided by hash

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]: ...

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """The same for a function that computes in Python and returns a text."""
        ...

    def facts(self) -> dict[str, Any]:
        """Who did the work since the last time."""
        ...


class Program(Protocol):
    """A task that is a process of its own; whoever runs it on another node calls `start` there."""

    threads: int

    @property
    def label(self) -> str: ...

    def start(self, node: str | None = None) -> "subprocess.Popen[str]":
        """The process; it ends when its standard input is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """A task that is over. `died` says how, where its process did not come to its own end."""

    task: Any
    died: str = ""


class Launcher(Protocol):
    """Starts programs and says when they have ended; what has come of them is on disk."""

    def free(self) -> int:
        """How many more tasks may be started now."""

    def start(self, task: Any) -> None:
        """Start a task; never waits for it."""

    def ended(self, timeout: float) -> list[Ended]:
        """The tasks that have ended since the last call; waits for one, but not longer than that."""

    def close(self) -> None:
        """End all that is still running."""


def usable_processors() -> int:
    """The processors that this process may use: in a container or a job of a cluster not all that there are."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def make_engine(name: str, jobs: int | None = None, address: str | None = None) -> "LocalEngine | RayEngine":
    """`local` or `ray`; `jobs` is the number of processes here, or of cores of a Ray that starts here."""
    if name not in ("local", "ray"):
        raise unknown_name("engine", name, ("local", "ray"))
    if name == "ray":
        return RayEngine(address, jobs)
    if address is not None:
        raise ComdivError("--address goes with --engine ray")
    return LocalEngine(usable_processors() if jobs is None else jobs)


# --- this machine ---


class LocalEngine:
    """Processes on this machine, so many at a time; with 0, as many as there are processors."""

    partitions = 1

    def __init__(self, jobs: int = 1) -> None:
        self.jobs = jobs or usable_processors()
        self._tasks = 0
        self._running: dict[int, subprocess.Popen[str]] = {}
        self._ended: queue.Queue[tuple[int, Ended]] = queue.Queue()

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """Here and lazily: an item is worked on when its result is wanted."""
        for item in items:
            self._tasks += 1
            yield function(shared, item)

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """By forked processes where there are items enough for all of them."""
        if self.jobs == 1 or len(items) <= self.jobs or not can_fork():
            yield from self.map(function, shared, items)
            return
        self._tasks += len(items)
        yield from forked_map(function, shared, items, self.jobs)

    def facts(self) -> dict[str, Any]:
        """The number of items."""
        tasks, self._tasks = self._tasks, 0
        return {"engine": "local", "tasks": tasks}

    def free(self) -> int:
        """Jobs that have nothing to do."""
        return self.jobs - len(self._running)

    def start(self, task: Program) -> None:
        """Start a process, and a thread that waits for its end."""
        process = task.start()
        self._running[process.pid] = process

        def wait() -> None:
            code = process.wait()
            self._ended.put((process.pid, Ended(task, cause_of_death(code))))

        threading.Thread(target=wait, daemon=True).start()

    def ended(self, timeout: float) -> list[Ended]:
        """Whatever has ended."""
        over = []
        with suppress(queue.Empty):
            over.append(self._ended.get(timeout=timeout))
            while True:
                over.append(self._ended.get_nowait())
        for number, _ in over:
            _close_input(self._running.pop(number))
        return [ended for _, ended in over]

    def close(self) -> None:
        """Kill what is running: tasks can be killed at any moment."""
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()
            _close_input(process)
        self._running.clear()


def _close_input(process: "subprocess.Popen[str]") -> None:
    if process.stdin is not None and not process.stdin.closed:
        with suppress(BrokenPipeError):
            process.stdin.close()


def cause_of_death(code: int) -> str:
    """How a process ended that did not end well; empty for one that did."""
    if code == 0:
        return ""
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        hint = ": out of memory, perhaps" if -code == signal.SIGKILL else ""
        return f"the process was ended by {name}{hint}"
    return f"the process ended with code {code}: its log says more"


def can_fork() -> bool:
    """Whether processes can share what is in memory: macOS's libraries do not survive a fork, Windows has none."""
    return sys.platform == "linux"


def forked_map(
    function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item], processes: int
) -> Iterator[str]:
    """What `function(shared, item)` returns for each item, by processes that see what this one sees without a copy."""
    gc.freeze()  # a collection in a child would touch, and so copy, everything
    pool = ProcessPoolExecutor(
        processes, multiprocessing.get_context("fork"), initializer=_inherit, initargs=(function, shared, items)
    )
    try:
        with warnings.catch_warnings():
            # Python 3.12 warns where other threads run (a progress bar's): the children take none of their locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            waiting = iter(range(len(items)))
            running = deque(pool.submit(_answer, place) for place in islice(waiting, _AHEAD * processes))
        while running:
            fate, answer = running.popleft().result()
            running.extend(pool.submit(_answer, place) for place in islice(waiting, 1))
            if fate is ComdivError:
                raise ComdivError(answer)
            if fate is not None:
                raise RuntimeError(f"in a process that made new problems:\n{answer}")
            yield answer
    except BrokenProcessPool as error:
        told = "a process that made new problems has died (of too little memory?); start again to go on"
        raise ComdivError(told) from error
    finally:
        pool.shutdown(cancel_futures=True)
        gc.unfreeze()


_inherited: list[Any] = []  # of a forked process: the function, what all items share, the items


def _inherit(*work: Any) -> None:
    _inherited[:] = work


def _answer(place: int) -> tuple[type[Exception] | None, str]:
    """The result, or what went wrong with it: errors travel as texts."""
    function, shared, items = _inherited
    try:
        return None, function(shared, items[place])
    except ComdivError as error:
        return ComdivError, str(error)
    except Exception:  # noqa: BLE001  (the parent raises it)
        return RuntimeError, traceback.format_exc()


# --- a Ray cluster ---


class RayEngine:
    """Tasks on a cluster that runs already (`address`), or on one that is started on this machine for the purpose.

    `jobs` is how many programs run at a time, at most. A node that dies takes its processes with it; whoever started
    them sees it in `ended`.
    """

    def __init__(self, address: str | None = None, jobs: int | None = None) -> None:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        ray, self._owns = join_cluster(address, cores=jobs, runtime_env={"env_vars": environment})
        self.ray: Any = ray
        self.partitions = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._jobs = jobs
        self._nodes: Counter[str] = Counter()
        self._running: dict[Any, Program] = {}

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """In the order of the items, of which some are worked on ahead."""
        ray = self.ray
        # SPREAD: every node gets its part, also where one alone would have room for all.
        task = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(_on_node)
        handle = ray.put(shared)
        waiting = iter(items)
        running = deque(task.remote(function, handle, item) for item in islice(waiting, _AHEAD * self.partitions))
        while running:
            try:
                result, node = ray.get(running.popleft())
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, ComdivError) else error) from None
            except ray.exceptions.RayError as error:
                raise ComdivError(f"the Ray cluster failed: {str(error).splitlines()[0]}") from error
            running.extend(task.remote(function, handle, item) for item in islice(waiting, 1))
            self._nodes[node] += 1
            yield result

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """As `map`."""
        return self.map(function, shared, items)

    def facts(self) -> dict[str, Any]:
        """How many items each node did."""
        nodes, self._nodes = self._nodes, Counter()
        return {"engine": "ray", "tasks": sum(nodes.values()), "nodes": dict(sorted(nodes.items()))}

    def free(self) -> int:
        """Ray has its own queue: it is kept filled, unless there should be fewer jobs."""
        cores = int(self.ray.cluster_resources().get("CPU", 1))
        most = _QUEUED * max(1, cores) if self._jobs is None else self._jobs
        return max(0, most - len(self._running))

    def start(self, task: Program) -> None:
        """Hand a task over; it asks for as many cores as it has threads."""
        remote = self.ray.remote(max_retries=0)(run_on_node)
        self._running[remote.options(num_cpus=task.threads, name=task.label).remote(task)] = task

    def ended(self, timeout: float) -> list[Ended]:
        """Tasks that have ended, or whose worker or node has."""
        if not self._running:
            return []
        ready, _ = self.ray.wait(list(self._running), num_returns=1, timeout=timeout)
        over = []
        for reference in ready:
            task = self._running.pop(reference)
            try:
                over.append(Ended(task, self.ray.get(reference)))
            except self.ray.exceptions.RayTaskError as error:
                over.append(Ended(task, f"{type(error.cause).__name__}: {error.cause}"))
            except self.ray.exceptions.RayError as error:
                over.append(Ended(task, f"the worker or its node was lost ({type(error).__name__})"))
        return over

    def close(self) -> None:
        """Cancel what is running, and leave the cluster if it was joined here."""
        for reference in self._running:
            self.ray.cancel(reference, force=True)
        self._running.clear()
        if self._owns:
            self.ray.shutdown()


def _on_node(function: Callable[[Any, Any], Any], shared: Any, item: Any) -> tuple[Any, str]:
    import ray

    return function(shared, item), ray.get_runtime_context().get_node_id()


def run_on_node(task: Program) -> str:
    """Run a task in a process on the node where Ray put us; how it died, if it did."""
    import ray

    process = task.start(node=ray.get_runtime_context().get_node_id())
    try:
        return cause_of_death(process.wait())
    finally:
        process.kill()
