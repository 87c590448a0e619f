"""The trained solvers that the Solve page offers: run folders, found once and loaded when first used."""

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import yaml

from comdiv.errors import ComdivError, unknown_name
from comdiv.solver import Solver

LOADED = 4  # solvers that stay in memory; the one used least recently makes room
DEEPEST = 4  # levels of folders below the runs' folder
_CONFIG = "config.yaml"


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder: its name is its path below the runs' folder."""

    name: str
    folder: Path
    solver: str

    @property
    def is_program(self) -> bool:
        """Whether solving means running a program that the run names."""
        return self.solver.startswith("command:")


class Shelf:
    """The runs below a folder. A name that a page sends is only ever compared with those found here."""

    def __init__(self, folder: Path | None = None, *, programs: bool = False) -> None:
        """`programs`: whether runs of `command:` solvers may be used, which means running what their files say."""
        self.folder = folder
        self.programs = programs
        self._lock = Lock()
        self._loaded: OrderedDict[str, Solver] = OrderedDict()

    def runs(self) -> list[Run]:
        """The runs that are there now; a training may have ended since the last look."""
        if self.folder is None or not self.folder.is_dir():
            return []
        root = self.folder.resolve()
        found = []
        for config in _configs(root, DEEPEST):
            folder = config.parent.resolve()
            if root not in (folder, *folder.parents):  # a link that leads elsewhere
                continue
            solver = _solver_of(config)
            usable = (folder / "model.safetensors").is_file() or (solver.startswith("command:") and self.programs)
            if solver and usable:
                found.append(Run(str(config.parent.relative_to(root)), folder, solver))
        return sorted(found, key=lambda run: run.name)

    def solver(self, name: str) -> Solver:
        """The solver of a run by its name, loaded once."""
        known = {run.name: run for run in self.runs()}
        if name not in known:
            raise unknown_name("run", name[:200], known)
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = _load(known[name].folder)
            self._loaded.move_to_end(name)
            while len(self._loaded) > LOADED:
                self._loaded.popitem(last=False)
            return self._loaded[name]


def _configs(folder: Path, depth: int) -> list[Path]:
    """The `config.yaml` files at most that deep; inside a run nothing more is looked for."""
    if (folder / _CONFIG).is_file():
        return [folder / _CONFIG]
    if not depth:
        return []
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [config for path in inner for config in _configs(path, depth - 1)]


def _solver_of(config: Path) -> str:
    """The solver that a configuration names; empty where it is no run of a solver."""
    try:
        read: Any = yaml.safe_load(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return ""
    name = read.get("solver") if isinstance(read, dict) else None
    return name if isinstance(name, str) else ""


def _load(folder: Path) -> Solver:
    try:
        from comdiv.solvers.registry import load_solver
    except ModuleNotFoundError as error:
        raise ComdivError("solvers need torch: pip install 'comdiv[solvers]'") from error
    return load_solver(folder)
