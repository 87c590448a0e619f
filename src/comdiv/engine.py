"""Where work is done: in processes on this machine, or on a Ray cluster. The results are the same.

Both engines do two things: `map` applies a function to many items (the rounds of an augmentation); `start` and `ended`
run separate programs (the cells of an experiment).
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
from comdiv.ray_cluster import NodeWatch, join_cluster

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")

_PASSED_ON = ("COMDIV_DATA",)  # environment variables that workers on other machines need
_AHEAD = 3  # items per processor that are computed before their results are asked for; bounds the memory
_TICK = 0.5  # seconds to wait for a result before checking the nodes
_QUEUED = 4  # tasks handed to Ray for each of its cores, so that no core is idle


class Engine(Protocol):
    """Applies a function to many items, each together with one shared value; results come in the order of the items."""

    partitions: int  # into how many parts data are divided by hash

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]: ...

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """Like `map`, for a function that computes in Python and returns a text."""
        ...

    def facts(self) -> dict[str, Any]:
        """Who did the work since the last call."""
        ...


class Program(Protocol):
    """A task that runs as a separate process; to run it on another node, call `start` there."""

    threads: int

    @property
    def label(self) -> str: ...

    def start(self, node: str | None = None) -> "subprocess.Popen[str]":
        """The process; it ends when its standard input is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished task. `died` is the cause of death of a process that did not end by itself, else empty."""

    task: Any
    died: str = ""


class Launcher(Protocol):
    """Starts programs and reports when they have ended; their results are on disk."""

    def free(self) -> int:
        """How many more tasks may be started now."""

    def start(self, task: Any) -> None:
        """Start a task; never waits for it."""

    def ended(self, timeout: float) -> list[Ended]:
        """The tasks that have ended since the last call; waits for one, for at most `timeout` seconds."""

    def close(self) -> None:
        """End all that is still running."""


def usable_processors() -> int:
    """The number of processors that this process may use: in a container or cluster job, not all of the machine's."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def make_engine(
    name: str, jobs: int | None = None, address: str | None = None, note: Callable[[str], None] = lambda line: None
) -> "LocalEngine | RayEngine":
    """`local` or `ray`; `jobs` is the number of local processes, or of cores of a Ray cluster started here.

    `note` is told of lost nodes.
    """
    if name not in ("local", "ray"):
        raise unknown_name("engine", name, ("local", "ray"))
    if name == "ray":
        return RayEngine(address, jobs, note)
    if address is not None:
        raise ComdivError("--address goes with --engine ray")
    return LocalEngine(usable_processors() if jobs is None else jobs)


# --- this machine ---


class LocalEngine:
    """Processes on this machine, at most `jobs` at a time; 0 means one per processor."""

    partitions = 1

    def __init__(self, jobs: int = 1) -> None:
        self.jobs = jobs or usable_processors()
        self._tasks = 0
        self._running: dict[int, subprocess.Popen[str]] = {}
        self._ended: queue.Queue[tuple[int, Ended]] = queue.Queue()

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """In this process and lazily: an item is computed when its result is asked for."""
        for item in items:
            self._tasks += 1
            yield function(shared, item)

    def map_texts(
        self, function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item]
    ) -> Iterator[str]:
        """In forked processes if there are enough items to keep all of them busy."""
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
        """How many jobs are idle."""
        return self.jobs - len(self._running)

    def start(self, task: Program) -> None:
        """Start a process, and a thread that waits for it to end."""
        process = task.start()
        self._running[process.pid] = process

        def wait() -> None:
            code = process.wait()
            self._ended.put((process.pid, Ended(task, cause_of_death(code))))

        threading.Thread(target=wait, daemon=True).start()

    def ended(self, timeout: float) -> list[Ended]:
        """The tasks that have ended since the last call."""
        over = []
        with suppress(queue.Empty):
            over.append(self._ended.get(timeout=timeout))
            while True:
                over.append(self._ended.get_nowait())
        for number, _ in over:
            _close_input(self._running.pop(number))
        return [ended for _, ended in over]

    def close(self) -> None:
        """Kill all running processes; tasks are built to be killed at any moment."""
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
    """Why a process failed, from its exit code; empty if it succeeded."""
    if code == 0:
        return ""
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        hint = ": perhaps out of memory" if -code == signal.SIGKILL else ""
        return f"the process was ended by {name}{hint}"
    return f"the process ended with code {code}; see its log"


def can_fork() -> bool:
    """Whether this system can fork processes that share memory: macOS libraries do not survive it, Windows cannot."""
    return sys.platform == "linux"


def forked_map(
    function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item], processes: int
) -> Iterator[str]:
    """The results of `function(shared, item)`, computed in forked processes that share this one's memory."""
    gc.freeze()  # a collection in a child would touch, and so copy, everything
    pool = ProcessPoolExecutor(
        processes, multiprocessing.get_context("fork"), initializer=_inherit, initargs=(function, shared, items)
    )
    try:
        with warnings.catch_warnings():
            # Python 3.12 warns if other threads are running (a progress bar's); the children take none of their locks.
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
        message = "a process that made new problems died (out of memory?); run the same command again to continue"
        raise ComdivError(message) from error
    finally:
        pool.shutdown(cancel_futures=True)
        gc.unfreeze()


_inherited: list[Any] = []  # of a forked process: the function, what all items share, the items


def _inherit(*work: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which then ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _inherited[:] = work


def _answer(place: int) -> tuple[type[Exception] | None, str]:
    """The result, or the error as a text and its type: exceptions are not sent between processes."""
    function, shared, items = _inherited
    try:
        return None, function(shared, items[place])
    except ComdivError as error:
        return ComdivError, str(error)
    except Exception:  # noqa: BLE001  (the parent raises it)
        return RuntimeError, traceback.format_exc()


# --- a Ray cluster ---


class RayEngine:
    """Tasks on a running cluster (`address`), or on one started on this machine.

    At most `jobs` programs run at a time. When a node dies, its processes die with it: `ended` reports them, `map`
    repeats their items on other nodes, and `note` is told.
    """

    def __init__(
        self, address: str | None = None, jobs: int | None = None, note: Callable[[str], None] = lambda line: None
    ) -> None:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        ray, self._owns = join_cluster(address, cores=jobs, runtime_env={"env_vars": environment})
        self.ray: Any = ray
        self.partitions = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._jobs = jobs
        self._watch = NodeWatch(ray, note)
        self._nodes: Counter[str] = Counter()
        self._running: dict[Any, Program] = {}

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """Results in the order of the items; some items are computed ahead."""
        ray = self.ray
        # SPREAD: every node gets a share, even if one node alone had room for everything.
        task = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(_on_node)
        handle = ray.put(shared)
        waiting = iter(items)
        running = deque(task.remote(function, handle, item) for item in islice(waiting, _AHEAD * self.partitions))
        while running:
            try:
                while not ray.wait([running[0]], timeout=_TICK)[0]:
                    self._watch.look()
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
        """How many items each node processed."""
        nodes, self._nodes = self._nodes, Counter()
        return {"engine": "ray", "tasks": sum(nodes.values()), "nodes": dict(sorted(nodes.items()))}

    def free(self) -> int:
        """How many tasks to add to Ray's own queue, which is kept full up to `jobs`."""
        cores = int(self.ray.cluster_resources().get("CPU", 1))
        most = _QUEUED * max(1, cores) if self._jobs is None else self._jobs
        return max(0, most - len(self._running))

    def start(self, task: Program) -> None:
        """Submit a task; it requests as many cores as it has threads."""
        remote = self.ray.remote(max_retries=0)(run_on_node)
        self._running[remote.options(num_cpus=task.threads, name=task.label).remote(task)] = task

    def ended(self, timeout: float) -> list[Ended]:
        """Tasks that have ended, or whose worker or node was lost."""
        if not self._running:
            return []
        self._watch.look()
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
        """Cancel all running tasks, and leave the cluster if this engine joined it."""
        for reference in self._running:
            self.ray.cancel(reference, force=True)
        self._running.clear()
        if self._owns:
            self.ray.shutdown()


def _on_node(function: Callable[[Any, Any], Any], shared: Any, item: Any) -> tuple[Any, str]:
    import ray

    return function(shared, item), ray.get_runtime_context().get_node_id()


def run_on_node(task: Program) -> str:
    """Run a task in a process on the current Ray node; returns its cause of death, if any."""
    import ray

    process = task.start(node=ray.get_runtime_context().get_node_id())
    try:
        return cause_of_death(process.wait())
    finally:
        process.kill()
