"""The trained solvers that the Solve page offers: run folders, found once and loaded when first used."""

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from comdiv.errors import ComdivError, unknown_name
from comdiv.solver import Solver
from comdiv.solvers.command import PROGRAM
from comdiv.solvers.runs import CONFIG, load_solver, read_config

LOADED = 4  # solvers that stay in memory; the least recently used one is dropped
DEEPEST = 4  # levels of folders below the runs' folder


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder: its name is its path below the runs' folder."""

    name: str
    folder: Path
    solver: str


class Shelf:
    """The runs below a folder. A name sent by a page is only compared with those found here."""

    def __init__(self, folder: Path | None = None, *, programs: bool = False) -> None:
        """`programs`: whether runs of `command:` solvers may be used, which runs the commands in their files."""
        self.folder = folder
        self.programs = programs
        self._lock = Lock()
        self._loaded: OrderedDict[tuple[Path, str], Solver] = OrderedDict()

    def runs(self) -> list[Run]:
        """The runs that exist now; a training may have ended since the last call."""
        if self.folder is None or not self.folder.is_dir():
            return []
        root = self.folder.resolve()
        usable_runs = []
        for run in _run_folders(root, DEEPEST):
            folder = run.resolve()
            if root not in (folder, *folder.parents):  # a link that leads elsewhere
                continue
            solver = _solver_of(run)
            usable = (folder / "model.safetensors").is_file() or (solver.startswith(PROGRAM) and self.programs)
            if solver and usable:
                usable_runs.append(Run(str(run.relative_to(root)), folder, solver))
        return sorted(usable_runs, key=lambda run: run.name)

    def solver(self, name: str) -> Solver:
        """The solver of a run by its name, loaded once; a run that has been trained again is loaded again."""
        known = {run.name: run for run in self.runs()}
        if name not in known:
            raise unknown_name("run", name[:200], known)
        folder = known[name].folder
        with self._lock:
            key = (folder, _state_of(folder))
            if key not in self._loaded:
                self._loaded[key] = load_solver(folder, programs=self.programs)
            self._loaded.move_to_end(key)
            while len(self._loaded) > LOADED:
                self._loaded.popitem(last=False)
            return self._loaded[key]


def _state_of(run: Path) -> str:
    """A value that changes when a run is rewritten: its files are replaced, never modified in place."""
    files = [run / name for name in (CONFIG, "model.safetensors", "vocabulary.json") if (run / name).is_file()]
    stats = [path.stat() for path in files]
    return repr(
        [(path.name, stat.st_ino, stat.st_size, stat.st_mtime_ns) for path, stat in zip(files, stats, strict=True)]
    )


def _run_folders(folder: Path, depth: int) -> list[Path]:
    """The folders with a configuration, down to a depth; the search does not enter a run."""
    if (folder / CONFIG).is_file():
        return [folder]
    if not depth:
        return []
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [run for path in inner for run in _run_folders(path, depth - 1)]


def _solver_of(run: Path) -> str:
    """The solver that a run's configuration names; empty if it is not a run of a solver."""
    try:
        name = read_config(run).get("solver")
    except ComdivError:  # some other program's config.yaml
        return ""
    return name if isinstance(name, str) else ""
