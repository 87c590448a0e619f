"""How long cells will take: from the processor time of similar ones, in a folder of runs or among published results.

A training's time grows with the problems that it reads, so it is counted by problem and epoch; its solver and its sizes
decide how long one takes. Of everything else, the mean of the most similar cells is the best guess.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from comdiv.errors import ComdivError
from comdiv.experiments.archive import is_published, read_results
from comdiv.experiments.cell import Cell, processor_seconds
from comdiv.experiments.keys import differences
from comdiv.experiments.shapes import CellRecord
from comdiv.experiments.store import CELL, CELLS, DONE, read_done
from comdiv.loading import load_object, validate

# Settings that decide how long one problem takes; values that equal the preset's are not in a recipe's differences.
_SIZES = ("hidden", "embedding", "layers", "batch")
_WEIGHTS = ("weights", "encoder")

Likeness = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """`seconds` of one processor in cells similar to one already timed; `unknown` is the number of other cells."""

    seconds: float
    unknown: int

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(self.seconds + other.seconds, self.unknown + other.unknown)

    def left(self, jobs: int) -> str:
        """The time that this many jobs will need, for people."""
        time = f"about {duration(self.seconds / jobs)}" if self.seconds else ""
        more = f"{self.unknown} cells unlike any timed before" if self.unknown else ""
        return " and ".join(filter(None, (time, more))) or "nothing"


def estimate(root: Path, cells: Sequence[Cell], published: Path | None = None) -> Estimate:
    """The time that cells will take, from the timings in a folder of runs and in one of published results."""
    timings = _Timings.of(root, published)
    times = [timings.seconds(cell) for cell in cells]
    return Estimate(sum(filter(None, times)), times.count(None))


@dataclass(frozen=True)
class _Timings:
    """Seconds by likeness: of a problem in an epoch for trainings, else of a whole cell; and sizes of training sets."""

    seconds_by: Mapping[Likeness, Sequence[float]]
    problems: Mapping[Likeness, int]

    @classmethod
    def of(cls, root: Path, published: Path | None) -> "_Timings":
        cells = {cell.key: cell for folder in (published, root) if folder is not None for cell in _timed(folder)}
        seconds_by: dict[Likeness, list[float]] = defaultdict(list)
        problems: dict[Likeness, int] = {}
        for cell in cells.values():
            if cell.kind in ("dataset", "augmentation", "rounds") and "problems" in cell.summary:
                for like in _size_likenesses(cell):
                    problems.setdefault(like, int(cell.summary["problems"]["train"]))
        timings = cls(seconds_by, problems)
        for cell in cells.values():
            seconds, work = processor_seconds(cell), timings._work(cell, cell.summary.get("problems"))
            if seconds is None or not work:
                continue
            for like in _likenesses(cell):
                seconds_by[like].append(seconds / work)
        return timings

    def seconds(self, cell: Cell) -> float | None:
        """The mean of the most similar cells; None if there are none."""
        work = self._work(cell, None)
        if work is None:
            return None
        known = (self.seconds_by[like] for like in _likenesses(cell) if like in self.seconds_by)
        return next((work * fmean(seconds) for seconds in known), None)

    def _work(self, cell: Cell, read: Any) -> float | None:
        """Problems times epochs of a training as planned, although early stopping may save some; 1 for other cells.

        With equal steps it does not matter how large an augmented set is, but with how many problems it must keep up.
        """
        if cell.kind != "training":
            return 1.0
        if isinstance(read, int) and cell.summary.get("planned_epochs"):
            return float(read * cell.summary["planned_epochs"])
        likenesses = [("key", cell.needs[-1]), *_size_likenesses(cell)]
        size = next((self.problems[like] for like in likenesses if like in self.problems), None)
        epochs = (cell.recipe.get("settings") or {}).get("epochs")
        return None if size is None or not epochs else float(size * epochs)


def _size_likenesses(cell: Cell) -> list[Likeness]:
    facts = cell.facts
    key = [("key", cell.key)] if cell.kind != "training" else []
    return [*key, ("dataset", facts.dataset), ("split", facts.corpus, facts.split), ("corpus", facts.corpus)]


def _likenesses(cell: Cell) -> list[Likeness]:
    """The keys under which similar cells are looked up, from most to least similar."""
    facts, kind = cell.facts, cell.kind
    if kind in ("training", "evaluation"):
        settings = differences(kind, cell.recipe).get("settings") if kind == "training" else facts.settings
        settings = settings or {}
        weights = [str(settings[name]).rpartition("/")[2] for name in _WEIGHTS if settings.get(name)]
        same = (facts.solver, *weights, *((name, settings.get(name)) for name in _SIZES))
        kinship = "pre-trained" if weights else "learnt"  # a language model takes a hundred times as long as a GRU
        last = (
            [(kind, *weights), (kind, facts.solver, kinship)]
            if weights
            else [(kind, facts.solver, kinship), (kind, kinship)]
        )
        where = (facts.cover, facts.dataset), (facts.cover, facts.corpus), (facts.cover,)
        return [(kind, *same, *one) for one in where] + last
    return [(kind, facts.solver, facts.dataset), (kind, facts.solver, facts.corpus, facts.split), (kind, facts.solver)]


def _timed(root: Path) -> Iterator[Cell]:
    """Finished cells with their recipes; what cannot be read is from another version, and ignored."""
    if not root.is_dir():
        return
    if is_published(root):
        yield from (cell for plan in read_results(root) for cell in plan.cells if cell.status == "done")
        return
    for path in sorted((root / CELLS).glob(f"*/{DONE}")):
        try:
            record, done = load_object(path.with_name(CELL)), read_done(path.parent)
            validate(record, CellRecord, str(path))
        except ComdivError:
            continue
        if done is not None:
            yield replace(Cell.from_json(record), status="done", summary=done.get("summary", {}), origin=done)


def duration(seconds: float) -> str:
    """45 s, 12 min, 3 h 20 min."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
