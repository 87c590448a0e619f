"""What runs tasks: an interface, and the engine for this machine."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from comdiv.errors import unknown_name
from comdiv.experiments.cell import Cell
from comdiv.experiments.store import LOG, cell_folder

_PASSED_ON = ("COMDIV_DATA",)  # what workers on other machines must know of this one's environment


@dataclass(frozen=True, slots=True)
class Task:
    """Cells for one process, one after the other: a training and its evaluations share what they have loaded."""

    root: Path
    cells: tuple[Cell, ...]
    threads: int

    def to_json(self, node: str | None = None) -> str:
        """The line on the standard input of a worker."""
        cells = [cell.whole_json() for cell in self.cells]
        return json.dumps({"root": str(self.root), "cells": cells, "threads": self.threads, "node": node}) + "\n"


@dataclass(frozen=True, slots=True)
class Ended:
    """A task that is over. `died` says how, where its process did not come to its own end."""

    task: Task
    died: str = ""


class Engine(Protocol):
    """Starts tasks and says when they have ended; whether their cells are done is on disk."""

    def free(self) -> int:
        """How many more tasks may be started now."""

    def start(self, task: Task) -> None:
        """Start a task; never waits for it."""

    def ended(self, timeout: float) -> list[Ended]:
        """The tasks that have ended since the last call; waits for one, but not longer than that."""

    def close(self) -> None:
        """End all that is still running."""


def start_worker(task: Task, node: str | None = None) -> subprocess.Popen[str]:
    """A process for a task. It ends when its standard input is closed."""
    folder = cell_folder(task.root, task.cells[0].key)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOG).open("a", encoding="utf-8") as log:  # for what goes wrong before the cell has begun
        process = subprocess.Popen(
            [sys.executable, "-m", "comdiv.experiments.worker"],
            stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the runner, which then ends its workers
        )  # fmt: skip
    if process.stdin is not None:
        with suppress(BrokenPipeError):  # it died at once: the exit code says how
            process.stdin.write(task.to_json(node))
            process.stdin.flush()
    return process


def cause_of_death(code: int) -> str:
    """How a process ended that did not end well; empty for one that did."""
    if code == 0:
        return ""
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        hint = ": out of memory, perhaps" if -code == signal.SIGKILL else ""
        return f"the process was ended by {name}{hint}"
    return f"the process ended with code {code}: its log says more"


class LocalEngine:
    """Processes on this machine, so many at a time."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._running: dict[int, subprocess.Popen[str]] = {}
        self._ended: queue.Queue[tuple[int, Ended]] = queue.Queue()

    def free(self) -> int:
        """Jobs that have nothing to do."""
        return self.jobs - len(self._running)

    def start(self, task: Task) -> None:
        """Start a process, and a thread that waits for its end."""
        process = start_worker(task)
        self._running[process.pid] = process

        def wait() -> None:
            code = process.wait()
            self._ended.put((process.pid, Ended(task, cause_of_death(code))))

        threading.Thread(target=wait, daemon=True).start()

    def ended(self, timeout: float) -> list[Ended]:
        """Whatever has ended."""
        found = []
        try:
            found.append(self._ended.get(timeout=timeout))
            while True:
                found.append(self._ended.get_nowait())
        except queue.Empty:
            pass
        for number, _ in found:
            _close_input(self._running.pop(number))
        return [ended for _, ended in found]

    def close(self) -> None:
        """Kill what is running: cells can be killed at any moment."""
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()
            _close_input(process)
        self._running.clear()


def _close_input(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None and not process.stdin.closed:
        with suppress(BrokenPipeError):
            process.stdin.close()


def available_cores() -> int:
    """The cores that this process may use, which in a container or a job of a cluster are not all that there are."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def make_engine(name: str, jobs: int | None = None, address: str | None = None) -> Engine:
    """`local` or `ray`; `jobs` is the number of processes here, or of cores of a Ray that starts here."""
    if name == "local":
        return LocalEngine(jobs or available_cores())
    if name != "ray":
        raise unknown_name("engine", name, ("local", "ray"))
    from comdiv.experiments.ray_engine import RayEngine

    return RayEngine(address, jobs, {name: os.environ[name] for name in _PASSED_ON if name in os.environ})
