"""How long the rest of a plan will take, judged by cells of the same kind that have been run before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell
from comdiv.experiments.store import CELL, CELLS, DONE, read_json

Likeness = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """`seconds` of work in the cells whose like has been run; `unknown` is how many have no like."""

    seconds: float
    unknown: int

    def left(self, jobs: int) -> str:
        """For people: the time that so many jobs will need."""
        said = f"about {duration(self.seconds / jobs)}" if self.seconds else ""
        more = f"{self.unknown} cells whose like has not been run yet" if self.unknown else ""
        return " and ".join(filter(None, (said, more))) or "nothing"


def estimate(root: Path, cells: Sequence[Cell]) -> Estimate:
    """The time that cells will take, from the timings in a folder of results."""
    timings: dict[Likeness, list[float]] = {}
    for record, seconds in _finished(root):
        for likeness in _likenesses(Cell.from_json(record)):
            timings.setdefault(likeness, []).append(seconds)
    found = [next((mean(timings[like]) for like in _likenesses(cell) if like in timings), None) for cell in cells]
    return Estimate(sum(filter(None, found)), found.count(None))


def _likenesses(cell: Cell) -> list[Likeness]:
    """By what a cell is judged, from what is most like it to what is least."""
    facts, settings = cell.facts, cell.recipe.get("settings") or {}
    same = tuple(sorted((name, str(value)) for name, value in settings.items() if name != "seed"))
    return [
        (cell.kind, facts.solver, facts.dataset, facts.augmentation, same),
        (cell.kind, facts.solver, facts.corpus, same),
        (cell.kind, facts.solver, same),
        (cell.kind, facts.solver),
        (cell.kind,),
    ]


def _finished(root: Path) -> Iterator[tuple[Mapping[str, Any], float]]:
    for path in sorted((root / CELLS).glob(f"*/{DONE}")):
        try:
            yield read_json(path.with_name(CELL)), float(read_json(path)["seconds"])
        except (ComdivError, KeyError, TypeError, ValueError):  # of another version: no help, and no harm
            continue


def duration(seconds: float) -> str:
    """45 s, 12 min, 3 h 20 min."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
