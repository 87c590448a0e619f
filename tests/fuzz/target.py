"""What is fuzzed: a target draws cases from a seed and examines them; a case is any JSON value.

An examination ends well or with a `ComdivError`, which is one line. Everything else is a finding: another exception, a
property that does not hold, or no end.
"""

import json
import random
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError

SECONDS = 20  # of processor time, after which a case counts as endless: most take milliseconds, the worst a second
Case = Any


@dataclass(frozen=True, slots=True)
class Target:
    """`draw` makes a case, `examine` tries it; `units` is how many things a case counts for (a file has many rows).

    `full` is how many things a full run examines.
    """

    name: str
    draw: Callable[[random.Random], Case]
    examine: Callable[[Case], object]
    units: int = 1
    full: int = 100_000
    prepare: Callable[[Case], object] = lambda case: None

    def case(self, seed: int, number: int) -> Case:
        """The case with a number: a function of the seed alone."""
        return self.draw(random.Random(f"{self.name} {seed} {number}"))


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that did not end as it should. `signature` tells one defect from another: the error and where it arose."""

    target: str
    case: Case
    error: str
    signature: str
    seed: int = 0
    number: int = 0

    def reproduce(self) -> str:
        """The command that examines the drawn case again."""
        return f"python -m fuzz --target {self.target} --seed {self.seed} --case {self.number}"


class Endless(BaseException):
    """Raised in a case that takes too long; not an `Exception`, so that nothing on the way swallows it."""


def examine(target: Target, case: Case, seconds: float = SECONDS) -> Finding | None:
    """Examine one case; None if it ended as it should."""
    try:
        target.prepare(case)
        with _time_limit(seconds):
            target.examine(case)
    except ComdivError:
        return None
    except (Exception, Endless) as error:  # noqa: BLE001  (that is what we look for)
        return Finding(target.name, case, f"{type(error).__name__}: {str(error)[:300]}", _signature(error))
    return None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Endless(f"no end after {seconds:g} seconds of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _signature(error: BaseException) -> str:
    """The kind of error and the innermost line of comdiv, or of the property that was tested."""
    frames = traceback.extract_tb(error.__traceback__)
    named = {"comdiv"} if isinstance(error, Endless) else {"comdiv", "fuzz"}
    place = ([frame for frame in frames if named & {*Path(frame.filename).parts}] or frames)[-1]
    return f"{type(error).__name__} in {Path(place.filename).name}, {place.name}: {place.line}"


def write_case(folder: Path, finding: Finding) -> Path:
    """A finding as a file that ordinary tests pick up; its name is its target and its defect."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{finding.target}-{_short_hash(finding.signature)}.json"
    record = {"target": finding.target, "error": finding.error, "signature": finding.signature}
    record |= {"seed": finding.seed, "number": finding.number, "case": finding.case}
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path


def _short_hash(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:8]
