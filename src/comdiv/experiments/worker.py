"""The process that runs cells one by one: `python -m comdiv.experiments.worker`, with its task on standard input.

Both engines start it, so that a cell runs in the same way everywhere. It ends when its standard input does: if the
process that started it is killed, no orphan keeps writing.
"""

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from comdiv.claims import locked_file
from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell
from comdiv.experiments.store import (
    CELL,
    DONE,
    FAILED,
    LOG,
    PLANS,
    PROGRESS,
    begin_cell,
    cell_folder,
    fail_cell,
    finish_cell,
    read_done,
)
from comdiv.files import inside, write_text

ORPHANED = 75  # exit code: the process that started this one is gone
_VERSIONS_OF = ("comdiv", "numpy", "torch", "transformers")
_SCRATCH = (CELL, DONE, FAILED, LOG, PROGRESS, ".lock")
CHECKPOINTS = "training_state"  # of a run; not needed once it is over
_SHOWN_EVERY = 0.5  # seconds between two notes on progress


@dataclass(frozen=True, slots=True)
class Task:
    """Cells for one process to run one by one: a training and its evaluations share what they have loaded."""

    root: Path
    cells: tuple[Cell, ...]
    threads: int

    @property
    def label(self) -> str:
        """For people."""
        return self.cells[0].label

    def to_json(self, node: str | None = None) -> str:
        """The line on the standard input of a worker."""
        cells = [cell.whole_json() for cell in self.cells]
        return json.dumps({"root": str(self.root), "cells": cells, "threads": self.threads, "node": node}) + "\n"

    def start(self, node: str | None = None) -> "subprocess.Popen[str]":
        """A process for the cells, on this machine; results stay in `root`, which all nodes of a cluster must see."""
        if not (self.root / PLANS).is_dir():
            raise ComdivError(f"node {socket.gethostname()} does not see {self.root}: all nodes must share that folder")
        folder = inside(self.root, cell_folder(self.root, self.cells[0].key))
        folder.mkdir(parents=True, exist_ok=True)
        with inside(folder, folder / LOG).open("a", encoding="utf-8") as log:  # for errors before the cell has started
            process = subprocess.Popen(
                [sys.executable, "-m", "comdiv.experiments.worker"],
                stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, encoding="utf-8",
                start_new_session=True,  # Ctrl-C is for the runner, which then ends its workers
            )  # fmt: skip
        if process.stdin is not None:
            with suppress(BrokenPipeError):  # it died at once: the exit code says how
                process.stdin.write(self.to_json(node))
                process.stdin.flush()
        return process


def main() -> None:
    """Run the cells of a task until one fails."""
    task = json.loads(_first_line())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limit_threads(task["threads"])
    for record in task["cells"]:
        if not run_cell(Path(task["root"]), Cell.from_json(record), node=task.get("node")):
            break


def _first_line() -> bytes:
    """Read unbuffered, byte by byte: the rest is for the thread that waits for the end of the input."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            sys.exit(ORPHANED)
        line += piece
    return line


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(ORPHANED)


def limit_threads(threads: int) -> None:
    """Limit the threads of every library that is loaded from now on; solvers get theirs as a setting."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(threads)


def run_cell(root: Path, cell: Cell, node: str | None = None) -> bool:
    """Run a cell unless it is done; return whether it is done now. On failure, the traceback is in the log."""
    folder = inside(root, cell_folder(root, cell.key))
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder), _logged(folder):
        if read_done(folder) is not None:  # another process has finished it meanwhile
            return True
        begin_cell(root, cell)
        started, clock = datetime.now(UTC), time.perf_counter()
        where = f"{socket.gethostname()}, node {node}" if node else socket.gethostname()
        _say(f"{cell.label} ({cell.key}), process {os.getpid()} on {where}")

        def origin() -> dict[str, Any]:
            return {
                "seconds": round(time.perf_counter() - clock, 3),
                "started": started.isoformat(timespec="seconds"),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
                "host": socket.gethostname(),
                "node": node,
                "versions": _versions(),
            }

        try:
            summary = _work(root, cell, folder)
        except Exception as error:  # noqa: BLE001  (whatever goes wrong in one cell must not stop the others)
            traceback.print_exc()
            reason = str(error) if isinstance(error, ComdivError) else f"{type(error).__name__}: {error}"
            _say(f"failed: {reason}")
            fail_cell(folder, reason, origin())
            return False
        finally:
            (folder / PROGRESS).unlink(missing_ok=True)
        finish_cell(folder, summary, origin(), list(_results(folder)))
        shutil.rmtree(folder / "run" / CHECKPOINTS, ignore_errors=True)
        _say(f"done in {time.perf_counter() - clock:.1f} s")
        return True


def _work(root: Path, cell: Cell, folder: Path) -> dict[str, Any]:
    from comdiv.experiments.work import Workplace, work

    needs = tuple(cell_folder(root, key) for key in cell.needs)
    return work(cell.kind, cell.recipe, Workplace(folder, needs, cell.inputs, _Noting(folder)))


class _Noting:
    """Progress as a small file that the runner reads from time to time, and one line per stage in the log."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / PROGRESS
        self.noted = 0.0
        self.stage = ""

    def __call__(self, what: str, done: int, total: int, note: str) -> None:
        if what != self.stage:
            self.stage = what
            _say(f"{what} {note}".strip())
        elif time.monotonic() - self.noted < _SHOWN_EVERY:
            return
        self.noted = time.monotonic()
        write_text(self.path, json.dumps({"what": what, "done": done, "total": total, "note": note}))


def _results(folder: Path) -> Iterator[Path]:
    """The files that make up a cell's result."""
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        if path.is_file() and inner[0] not in _SCRATCH and CHECKPOINTS not in inner and path.suffix != ".part":
            yield path


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Allow one process at a time in a cell's folder; the system releases the lock of a dead one."""
    with locked_file(inside(folder, folder / ".lock")):
        yield


@contextmanager
def _logged(folder: Path) -> Iterator[None]:
    """Redirect standard output and error to the cell's log, including output of libraries not written in Python."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = os.dup(1), os.dup(2)
    log = os.open(inside(folder, folder / LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, original in enumerate(before, start=1):
            os.dup2(original, number)
            os.close(original)
        os.close(log)


def _say(line: str) -> None:
    sys.stdout.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {line}\n")
    sys.stdout.flush()


def _versions() -> Mapping[str, str]:
    versions = {"python": platform.python_version()}
    for name in _VERSIONS_OF:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


if __name__ == "__main__":
    main()
