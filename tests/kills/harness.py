"""`kill -9` at moments drawn by seed, again and again: each start resumes what the kill before it left.

A moment is a change in the output folder, a file that appears, grows or goes, and a few milliseconds more: kills fall
where things are written. A command that ends before its moment has its results compared and begins anew.
"""

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Commands are forked from a process that has loaded everything: a kill costs milliseconds, not the seconds of a start.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["kills.harness", "comdiv.cli", "comdiv.solvers.neural", "comdiv.splitting.methods"])
_POLL = 0.002  # seconds between two looks at the folder
_JITTER = 0.03  # seconds, at most, between a change and its kill

Bytes = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Work:
    """A command of comdiv that can be killed: its arguments, where it writes, the bytes that must not depend on kills.

    `begin` makes `out` as it is before the command, by default absent; `check` looks at what a kill has left.
    """

    name: str
    arguments: list[str]
    out: Path
    results: Callable[[Path], Bytes]
    begin: Callable[[Path], object] = lambda out: shutil.rmtree(out, ignore_errors=True)
    check: Callable[[Path], object] = lambda out: None


@dataclass(frozen=True, slots=True)
class Count:
    """What a battered command went through: kills, how many of them hit a resumption, completed runs, lost results."""

    name: str
    kills: int
    of_resumptions: int
    completed: int
    lost: int = 0

    def __str__(self) -> str:
        numbers = f"{self.kills:>6} {self.of_resumptions:>14} {self.completed:>10} {self.lost:>6}"
        return f"{self.name:<28} {numbers}"


HEADING = f"{'command':<28} {'kills':>6} {'of resumptions':>14} {'identical':>10} {'lost':>6}"


def batter(work: Work, kills: int, seed: int) -> Count:
    """Kill a command so many times, let it finish, and compare with the command left alone."""
    source = random.Random(seed)
    work.begin(work.out)
    changes = _watch(work, lambda count: False)
    whole = work.results(work.out)
    assert whole, "no results to compare"
    done = resumptions = completed = 0
    resumes = False
    work.begin(work.out)
    while done < kills:
        moment = source.randint(1, max(1, changes))
        hit = _watch(work, lambda count, moment=moment: count >= moment, source.uniform(0, _JITTER)) < 0
        if hit:
            done, resumptions, resumes = done + 1, resumptions + resumes, True
            work.check(work.out)
        else:
            assert work.results(work.out) == whole, f"{work.name}: other results after {done} kills"
            completed, resumes = completed + 1, False
            work.begin(work.out)
    _watch(work, lambda count: False)
    assert work.results(work.out) == whole, f"{work.name}: other results after {done} kills"
    return Count(work.name, done, resumptions, completed + 1)


def _watch(work: Work, is_moment: Callable[[int], bool], delay: float = 0.0) -> int:
    """Run the command and count the changes of its output; -1 if it was killed at its moment."""
    log = work.out.parent.with_suffix(".log")
    process = _FORKS.Process(target=_comdiv, args=(work.arguments, log))
    process.start()
    seen, count = frozenset(_state(work.out)), 0
    while process.is_alive():
        now = frozenset(_state(work.out))
        count += now != seen
        seen = now
        if is_moment(count):
            time.sleep(delay)
            process.kill()
        time.sleep(_POLL)
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), log.read_text(encoding="utf-8")
    return count if process.exitcode == 0 else -1


def _comdiv(arguments: list[str], log: Path) -> None:
    """The command line in this process, with its output in a file."""
    from comdiv.cli import main

    with log.open("w", encoding="utf-8") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    sys.argv = ["comdiv", *arguments]
    main()


def _state(out: Path) -> Iterator[tuple[str, int, int]]:
    """The files in a folder and unfinished ones beside it, by size and time; what goes meanwhile is not there."""
    for folder, _, names in os.walk(out.parent):
        for name in names:
            try:
                status = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118  (thousands of times)
            except FileNotFoundError:
                continue
            yield os.path.join(folder, name), status.st_size, status.st_mtime_ns  # noqa: PTH118


def files_in(folder: Path, *but: str) -> dict[str, bytes]:
    """All files of a folder by their relative names, without those that tell of the work: `but` are parts of paths."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder): path for path in paths}
    return {name.as_posix(): path.read_bytes() for name, path in named.items() if not {*but} & {*name.parts}}


def finish(command: list[str]) -> None:
    """Let a command end well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def kill_once(command: list[str], reached: Callable[[], bool], delay: float) -> bool:
    """Start, wait until something is reached and a moment longer, kill; whether it was still at work."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not reached() and process.poll() is None:
        time.sleep(0.001)
    time.sleep(delay)
    at_work = process.poll() is None
    process.kill()
    _, errors = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), errors
    return at_work
