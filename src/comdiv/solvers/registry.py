"""Solvers by name: ours, those of installed packages (entry points `comdiv.solvers`), and `command:` programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comdiv.errors import ComdivError
from comdiv.registry import SOLVERS
from comdiv.solver import Solver

if TYPE_CHECKING:
    from comdiv.solvers.model import Model
    from comdiv.solvers.settings import SolverSettings


def solver_names() -> list[str]:
    """All names that are known."""
    return sorted(SOLVERS.names())


def register_model(name: str, model: "type[Model]") -> None:
    """Make a model known under a name, for this process."""
    SOLVERS.add(name, model)


def model_class(name: str) -> "type[Model]":
    """The model behind a name; a package that adds one is trusted, as any installed package is."""
    return SOLVERS.get(name)


def make_solver(
    name: str,
    settings: "SolverSettings | None" = None,
    *,
    preset: str = "cpu",
    changes: Mapping[str, Any] | None = None,
) -> Solver:
    """An untrained solver by name, with settings or a preset and changes; `command:PROGRAM` runs a user's program."""
    if name.startswith("command:"):
        from comdiv.solvers.command import CommandSolver

        return CommandSolver(name)
    model = model_class(name)
    from comdiv.solvers.neural import NeuralSolver
    from comdiv.solvers.settings import settings_for

    return NeuralSolver(name, model, settings or settings_for(name, preset, changes))


def load_solver(folder: Path) -> Solver:
    """The trained solver of a run folder."""
    if not (folder / "config.yaml").is_file():
        raise ComdivError(f"{folder} is no run of a solver: it has no config.yaml")
    import yaml

    try:
        config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ComdivError(f"{folder} is no run of a solver: config.yaml: {error}") from error
    name = str(config.get("solver", "")) if isinstance(config, dict) else ""
    if name.startswith("command:"):
        from comdiv.solvers.command import CommandSolver

        return CommandSolver.load(folder)
    model_class(name)  # says what is missing before anything needs torch
    from comdiv.solvers.neural import NeuralSolver

    return NeuralSolver.load(folder)
