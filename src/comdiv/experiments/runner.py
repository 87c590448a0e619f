"""Runs a plan: whatever of its cells is not done yet, on an engine, in an order in which each finds what it needs.

A part of a plan can be chosen, so that a large one is run in several sittings or on several machines; how long the rest
will take is judged by similar cells that were timed before.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from comdiv.engine import Ended, Launcher, LocalEngine, usable_processors
from comdiv.errors import ComdivError, unknown_name
from comdiv.experiments.archive import is_published
from comdiv.experiments.cell import Cell, Facts, PlanResults
from comdiv.experiments.keys import adopt_cells
from comdiv.experiments.plan import Plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.store import (
    CELL,
    CELLS,
    DONE,
    FAILED,
    PROGRESS,
    cell_folder,
    fail_cell,
    read_done,
    read_json,
    read_plan_results,
    write_plan,
)
from comdiv.experiments.worker import Task

ATTEMPTS = 3  # of a task whose process or node dies; a cell that fails by itself is not tried again in the same run
_TICK = 0.5  # seconds between two looks at the progress


@dataclass(frozen=True, slots=True)
class Running:
    """A task at work, and how far its present cell is."""

    cell: Cell
    what: str = ""
    done: int = 0
    total: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """Where a run stands."""

    cells: int
    done: int
    failed: int
    blocked: int  # not run because of a failed one
    running: tuple[Running, ...]
    news: tuple[str, ...]  # lines about what has ended since the last look


Watch = Callable[[State], None]


def run_plan(
    plan: Plan,
    folder: Path,
    engine: Launcher | None = None,
    *,
    base: Path | None = None,
    preset: str | None = None,
    watch: Watch | None = None,
    datasets: Collection[str] = (),
    methods: Collection[str] = (),
    seeds: Collection[int] = (),
) -> PlanResults:
    """Run what is not done, and return the results as they stand on disk afterwards.

    `base` is the folder from which the plan names files; `preset` is the one that was laid over it, for the record.
    With `datasets`, `methods` or `seeds`, only those are run, and what they need; the rest stays a part of the plan.
    Without an engine, processes on this machine take all cores.
    """
    if is_published(folder):
        raise ComdivError(f"{folder} holds published results, to read and not to go on with: choose another folder")
    if adopted := adopt_cells(folder):
        (watch or _nobody)(
            State(0, 0, 0, 0, (), (f"{adopted} cells of an earlier version have got their present names",))
        )
    cells = plan_cells(plan, base)
    wanted = selected(plan, cells, datasets, methods, seeds)
    path = register_plan(plan, folder, cells, preset)
    chosen = engine or LocalEngine(fitting_jobs(None, plan.training.threads))
    try:
        _Run(folder.resolve(), wanted, chosen, plan.training.threads, watch or _nobody).finish()
    finally:
        chosen.close()
    return read_plan_results(folder, path)


def _nobody(state: State) -> None:
    """Nobody watches."""


def register_plan(plan: Plan, folder: Path, cells: Sequence[Cell], preset: str | None) -> Path:
    """Write down what a plan consists of."""
    name = plan.name if preset is None else f"{plan.name}@{preset}"
    described = {
        "title": plan.title,
        "reproduces": plan.reproduces,
        "about": plan.about,
        "order": plan.order,
        "preset": preset,
        "plan": plan.model_dump(mode="json", exclude_defaults=True, exclude={"about", "order"}),
    }
    return write_plan(folder, name, described, cells)


def fitting_jobs(wanted: int | None, threads: int) -> int:
    """How many jobs of so many threads this machine has cores for: never more than that, never none."""
    most = max(1, usable_processors() // threads)
    return most if wanted is None else min(wanted, most)


def tasks_of(root: Path, cells: Iterable[Cell], threads: int) -> list[Task]:
    """The cells that are not done, by process: the evaluations of a training share one, with it if it is not done."""
    groups: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        if read_done(cell_folder(root, cell.key)) is None:
            leader = cell.needs[0] if cell.kind == "evaluation" else cell.key
            groups.setdefault(leader, {}).setdefault(cell.key, cell)
    return [Task(root, tuple(group.values()), threads) for group in groups.values()]


@dataclass(slots=True)
class _Run:
    root: Path
    cells: Sequence[Cell]
    engine: Launcher
    threads: int
    watch: Watch
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    blocked: set[str] = field(default_factory=set)
    running: list[Task] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)

    def finish(self) -> None:
        waiting = tasks_of(self.root, self.cells, self.threads)
        pending = {cell.key for task in waiting for cell in task.cells}
        self.done = {cell.key for cell in self.cells} - pending
        for key in pending:  # what failed in an earlier run is tried again
            (cell_folder(self.root, key) / FAILED).unlink(missing_ok=True)
        self._show()
        while waiting or self.running:
            waiting = self._start_ready(waiting)
            if not self.running:
                break
            news: list[str] = []
            for ended in self.engine.ended(_TICK):
                self.running.remove(ended.task)
                again = self._account(ended, news)
                waiting = [*again, *waiting]
            self._show(news)
        self._show()

    def _start_ready(self, waiting: Sequence[Task]) -> list[Task]:
        """Start what can be started, drop what never can be; the rest goes on waiting."""
        rest = []
        for task in waiting:
            own = {cell.key for cell in task.cells}
            needs = {key for cell in task.cells for key in cell.needs} - own
            if needs & (self.failed | self.blocked):
                self.blocked |= own
            elif needs <= self.done and self.engine.free() > 0:
                self.engine.start(task)
                self.running.append(task)
            else:
                rest.append(task)
        return rest

    def _account(self, ended: Ended, news: list[str]) -> list[Task]:
        """See on disk what became of a task's cells; returns what of it is to be tried again."""
        for place, cell in enumerate(ended.task.cells):
            folder = cell_folder(self.root, cell.key)
            if read_done(folder) is not None:
                self.done.add(cell.key)
                news.append(f"done: {cell.label}")
                continue
            rest = ended.task.cells[place:]
            if not (folder / FAILED).is_file():  # neither: the process died in it
                tried = self.attempts[cell.key] = self.attempts.get(cell.key, 0) + 1
                died = ended.died or "the process ended without a result: its log says more"
                if tried < ATTEMPTS:
                    news.append(f"again: {cell.label}: {died}")
                    return [Task(self.root, rest, self.threads)]
                fail_cell(folder, f"{died}, {tried} times", {})
            self.failed.add(cell.key)
            news.append(f"failed: {cell.label}: {_reason(folder)}")
            self.blocked |= {other.key for other in rest[1:]}
            break
        return []

    def _show(self, news: Sequence[str] = ()) -> None:
        shown = (self._at_work(task) for task in self.running)
        self.watch(
            State(
                cells=len({cell.key for cell in self.cells}),
                done=len(self.done | self._just_done()),
                failed=len(self.failed),
                blocked=len(self.blocked),
                running=tuple(one for one in shown if one is not None),
                news=tuple(news),
            )
        )

    def _just_done(self) -> set[str]:
        """Cells of running tasks that are over already."""
        return {
            cell.key
            for task in self.running
            for cell in task.cells
            if (cell_folder(self.root, cell.key) / DONE).is_file()
        }

    def _at_work(self, task: Task) -> Running | None:
        """The present cell of a task is the one that notes its progress."""
        for cell in task.cells:
            try:
                record: dict[str, Any] = json.loads(
                    (cell_folder(self.root, cell.key) / PROGRESS).read_text(encoding="utf-8")
                )
            except (OSError, ValueError):  # not begun, or just over
                continue
            return Running(cell, **record)
        return Running(task.cells[0])


def _reason(folder: Path) -> str:
    return str(json.loads((folder / FAILED).read_text(encoding="utf-8")).get("reason", ""))


def selected(
    plan: Plan,
    cells: Sequence[Cell],
    datasets: Collection[str] = (),
    methods: Collection[str] = (),
    seeds: Collection[int] = (),
) -> tuple[Cell, ...]:
    """The cells of these datasets, methods and seeds of trainings, as the plan names them; none named: of all.

    Measurements have neither method nor seed.
    """
    _check_names("dataset", datasets, plan.datasets)
    _check_names("method", methods, plan.methods)
    for seed in seeds:
        if seed not in plan.training.seeds:
            there = ", ".join(map(str, plan.training.seeds))
            raise ComdivError(f"seed {seed} is none of this plan's ({there})")
    chosen = {
        cell.key
        for cell in cells
        if (not datasets or _origin(cell.facts) in datasets)
        and (not methods or cell.facts.method in methods)
        and (not seeds or cell.facts.seed is None or cell.facts.seed in seeds)
        and (cell.facts.method is not None or cell.facts.augmentation is None)  # augmentations: if they are needed
    }
    for cell in reversed(cells):  # each comes after those that it needs
        if cell.key in chosen:
            chosen.update(cell.needs)
    return tuple(cell for cell in cells if cell.key in chosen)


def _origin(facts: Facts) -> str | None:
    """The dataset as the plan names it; a split with targets makes one for each."""
    if facts.target is None or facts.dataset is None:
        return facts.dataset
    return facts.dataset.removesuffix(f"-{facts.target:.2f}")


def _check_names(what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ComdivError(str(unknown_name(f"{what} of this plan", name, known)))


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
    for record, seconds in _timed_cells(root):
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


def _timed_cells(root: Path) -> Iterator[tuple[Mapping[str, Any], float]]:
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
