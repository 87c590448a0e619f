"""Runs a plan: all cells that are not done yet, on an engine, each after those that it needs.

A part of a plan can be chosen, so that a large one can be run in several sittings or on several machines.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from comdiv.engine import Ended, Launcher, LocalEngine, usable_processors
from comdiv.errors import ComdivError, unknown_name
from comdiv.experiments.archive import is_published
from comdiv.experiments.cell import Cell, Facts, PlanResults
from comdiv.experiments.keys import adopt_cells
from comdiv.experiments.plan import Plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.shapes import Origin, Progressing
from comdiv.experiments.store import (
    DONE,
    FAILED,
    PROGRESS,
    cell_folder,
    fail_cell,
    read_done,
    read_plan_results,
    write_plan,
)
from comdiv.experiments.worker import Task
from comdiv.loading import load_model

ATTEMPTS = 3  # for a task whose process or node dies; a cell that fails by itself is not retried in the same run
_TICK = 0.5  # seconds between two checks of the progress


@dataclass(frozen=True, slots=True)
class Running:
    """A running task, and the progress of its current cell."""

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
    blocked: int  # not run because of a failed cell
    running: tuple[Running, ...]
    news: tuple[str, ...]  # lines about what has ended since the last check


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
    """Run what is not done, and return the results on disk afterwards.

    `base` is the folder to which the plan's file names are relative; `preset` is the one that was applied.
    With `datasets`, `methods` or `seeds`, only those are run, and what they need; the rest stays part of the plan.
    Without an engine, processes on this machine use all cores.
    """
    if is_published(folder):
        raise ComdivError(f"{folder} holds published results, which are for reading only: choose another folder")
    if count := adopt_cells(folder):
        (watch or _nobody)(
            State(0, 0, 0, 0, (), (f"{count} cells of an earlier version were renamed to their present keys",))
        )
    cells = plan_cells(plan, base)
    todo = selected(plan, cells, datasets, methods, seeds)
    path = register_plan(plan, folder, cells, preset)
    launcher = engine or LocalEngine(fitting_jobs(None, plan.training.threads))
    try:
        _Run(folder.resolve(), todo, launcher, plan.training.threads, watch or _nobody).finish()
    finally:
        launcher.close()
    return read_plan_results(folder, path)


def _nobody(state: State) -> None:
    """Nobody watches."""


def register_plan(plan: Plan, folder: Path, cells: Sequence[Cell], preset: str | None) -> Path:
    """Write down which cells a plan consists of."""
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
    """How many jobs with this many threads fit the machine's cores: at least one."""
    most = max(1, usable_processors() // threads)
    return most if wanted is None else min(wanted, most)


def tasks_of(root: Path, cells: Iterable[Cell], threads: int) -> list[Task]:
    """The cells that are not done, by process: a training, unless done, shares one with its evaluations."""
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
        for key in pending:  # cells that failed in an earlier run are tried again
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
        """Start the tasks that can start, drop those that never can; the rest keep waiting."""
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
        """Read from disk how a task's cells ended; return what must be tried again."""
        for place, cell in enumerate(ended.task.cells):
            folder = cell_folder(self.root, cell.key)
            if read_done(folder) is not None:
                self.done.add(cell.key)
                news.append(f"done: {cell.label}")
                continue
            rest = ended.task.cells[place:]
            if not (folder / FAILED).is_file():  # neither done nor failed: the process died in it
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
        """Finished cells of running tasks."""
        return {
            cell.key
            for task in self.running
            for cell in task.cells
            if (cell_folder(self.root, cell.key) / DONE).is_file()
        }

    def _at_work(self, task: Task) -> Running | None:
        """The current cell of a task is the one that records its progress."""
        for cell in task.cells:
            try:
                progress = load_model(cell_folder(self.root, cell.key) / PROGRESS, Progressing)
            except ComdivError:  # not started yet, or just finished
                continue
            return Running(cell, **progress.model_dump())
        return Running(task.cells[0])


def _reason(folder: Path) -> str:
    return load_model(folder / FAILED, Origin).reason


def selected(
    plan: Plan,
    cells: Sequence[Cell],
    datasets: Collection[str] = (),
    methods: Collection[str] = (),
    seeds: Collection[int] = (),
) -> tuple[Cell, ...]:
    """The cells of these datasets, methods and training seeds, as named in the plan; all if none are named.

    Measurements have neither method nor seed.
    """
    _check_names("dataset", datasets, plan.datasets)
    _check_names("method", methods, plan.methods)
    for seed in seeds:
        if seed not in plan.training.seeds:
            there = ", ".join(map(str, plan.training.seeds))
            raise ComdivError(f"seed {seed} is not in this plan ({there})")
    keys = {
        cell.key
        for cell in cells
        if (not datasets or _origin(cell.facts) in datasets)
        and (not methods or cell.facts.method in methods)
        and (not seeds or cell.facts.seed is None or cell.facts.seed in seeds)
        and (cell.facts.method is not None or cell.facts.augmentation is None)  # augmentations only if they are needed
    }
    for cell in reversed(cells):  # each comes after those that it needs
        if cell.key in keys:
            keys.update(cell.needs)
    return tuple(cell for cell in cells if cell.key in keys)


def _origin(facts: Facts) -> str | None:
    """The dataset's name in the plan; a split with targets makes one dataset per target."""
    if facts.target is None or facts.dataset is None:
        return facts.dataset
    return facts.dataset.removesuffix(f"-{facts.target:.2f}")


def _check_names(what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ComdivError(str(unknown_name(f"{what} of this plan", name, known)))
