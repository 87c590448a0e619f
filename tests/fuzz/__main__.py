"""The driver: `make fuzz MINUTES=15`, or `PYTHONPATH=tests python -m fuzz --help`.

Prints how many cases of each target were examined, how fast, and what was found. A finding is minimised and written
into `cases/`, which the ordinary tests examine from then on.
"""

import argparse
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path

from fuzz.minimise import minimise
from fuzz.target import Finding, Target, examine, write_case
from fuzz.targets import TARGETS

CASES = Path(__file__).parent / "cases"
_BLOCK = 2.0  # seconds that a process works before it reports
_NEWS = 60.0  # seconds between two lines about the progress
_MEMORY = 6 * 2**30  # bytes: a case that wants more is a finding, not the end of the machine


@dataclass(slots=True)
class Tally:
    """What came out of one target: how many units were examined, how long it took, one finding per defect."""

    target: Target
    seconds: float = 0.0
    cases: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)

    def __str__(self) -> str:
        units = self.cases * self.target.units
        rate = units / max(self.seconds, 1e-9)
        speed = f"{self.seconds:>8,.0f} s {rate:>10,.0f}/s"
        return f"{self.target.name:<12} {units:>12,} {speed} {len(self.findings):>4} findings"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz and report; the exit code says whether something was found."""
    options = _options(arguments)
    targets = [TARGETS[name] for name in options.target or TARGETS]
    if options.case is not None:
        finding = examine(targets[0], targets[0].case(options.seed or 0, options.case))
        _say(f"{finding.case!r}\n{finding.error}\n{finding.signature}" if finding else "ends as it should")
        return int(finding is not None)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    _say(f"seed {seed}, {options.jobs} processes")
    tallies = []
    for target in targets:
        count = target.full if options.full else options.count
        seconds = 60 * options.minutes / len(targets) if count is None else None
        cases = None if count is None else -(-count // target.units)
        tallies.append(fuzz(target, seed, jobs=options.jobs, first=options.first, cases=cases, seconds=seconds))
    _say("\n".join(["", *map(str, tallies)]))
    return int(any(tally.findings for tally in tallies))


def fuzz(
    target: Target,
    seed: int,
    *,
    jobs: int = 1,
    first: int = 0,
    cases: int | None = None,
    seconds: float | None = None,
) -> Tally:
    """Examine cases until there were enough, or the time is over; a finding is minimised and written down at once."""
    tally, started, news = Tally(target), time.monotonic(), _NEWS
    for numbers, findings in _blocks(target, seed, jobs, first, cases, seconds):
        tally.cases += len(numbers)
        tally.seconds = time.monotonic() - started
        for finding in findings:
            if finding.signature not in tally.findings:
                tally.findings[finding.signature] = finding
                _say(f"  {finding.error}\n    {finding.signature}\n    {finding.reproduce()}")
                _say(f"    {write_case(CASES, _smallest(target, finding))}")
        if tally.seconds > news:
            news += _NEWS
            _say(str(tally))
    _say(str(tally))
    return tally


def _blocks(
    target: Target, seed: int, jobs: int, first: int, cases: int | None, seconds: float | None
) -> Iterator[tuple[range, list[Finding]]]:
    """Ranges of numbers and what was found in them, examined by processes; each takes some two seconds."""
    end = float("inf") if cases is None else first + cases
    until = float("inf") if seconds is None else time.monotonic() + seconds
    size = 4
    running: dict[Future[tuple[float, list[Finding]]], range] = {}
    with ProcessPoolExecutor(jobs, initializer=_limit_memory) as pool:
        while running or (first < end and time.monotonic() < until):
            while len(running) < 2 * jobs and first < end and time.monotonic() < until:
                numbers = range(first, int(min(end, first + size)))
                running[pool.submit(_examine_block, target.name, seed, numbers)] = numbers
                first = numbers.stop
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                numbers = running.pop(future)
                try:
                    spent, findings = future.result()
                except BrokenProcessPool:
                    raise SystemExit(f"a process died; {target.name}, seed {seed}, in one of {numbers}") from None
                size = max(1, min(4 * size, int(len(numbers) * _BLOCK / max(spent, 1e-3))))
                yield numbers, findings


def _examine_block(name: str, seed: int, numbers: range) -> tuple[float, list[Finding]]:
    started = time.monotonic()
    target = TARGETS[name]
    findings = [
        replace(finding, seed=seed, number=number)
        for number in numbers
        if (finding := examine(target, target.case(seed, number))) is not None
    ]
    return time.monotonic() - started, findings


def _smallest(target: Target, finding: Finding) -> Finding:
    """The finding with the smallest case that has the same signature."""

    def fails(case: object) -> bool:
        other = examine(target, case)
        return other is not None and other.signature == finding.signature

    case = minimise(finding.case, fails)
    again = examine(target, case)
    return finding if again is None else replace(again, seed=finding.seed, number=finding.number)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__)
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="only this one; may be repeated")
    parser.add_argument("--minutes", type=float, default=15, help="in all, shared by the targets")
    parser.add_argument("--count", type=int, help="this many of each target, however long it takes")
    parser.add_argument("--full", action="store_true", help="as many as a full run has: about an hour")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, help="the same seed gives the same cases; drawn and printed otherwise")
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first case, to go on where a run stopped"
    )
    parser.add_argument("--case", type=int, help="only the case with this number, without minimising")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stdout.write(line.encode("ascii", "backslashreplace").decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
