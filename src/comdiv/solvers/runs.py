"""Solvers by name and by run. A run is a folder: a solver trained on a dataset, and its evaluations.

The functions behind the verbs `train` and `evaluate`, also used by experiments and augmentation. Nothing here needs
torch before a neural solver is made, loaded or trained.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from comdiv.asking.ask_settings import AskSettings
from comdiv.claims import owns
from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError
from comdiv.evaluation import Chain, Evaluation, Prediction, evaluate_predictions, templates_of, write_result
from comdiv.evaluation.accuracy import templates_hash
from comdiv.files import file_sha256, write_text
from comdiv.loading import load_yaml, validate
from comdiv.problem import Problem
from comdiv.registry import SOLVERS
from comdiv.settings import first_difference
from comdiv.solver import Progress, Solution, Solver, TrainingSummary
from comdiv.solvers.command import PROGRAM, CommandSolver
from comdiv.solvers.hyperparameters import (
    Cover,
    Select,
    SolverSettings,
    settings_for,
    weights_files,
)
from comdiv.solvers.language_model import ASK, LanguageModel
from comdiv.word_vectors import weights_folder

CONFIG = "config.yaml"
_SOLVED_AT_ONCE = 256  # problems between two reports of progress


# --- the configuration of a run ---


class _RunData(BaseModel):
    folder: str = ""
    sha256: dict[str, str] = {}


class _RunConfig(BaseModel):
    """The required part of a `config.yaml`."""

    solver: str = ""
    preset: str = ""
    settings: dict[str, Any] | None = {}
    data: _RunData | None = None


def read_config(run: Path) -> dict[str, Any]:
    """A run's configuration, validated; other keys are not checked."""
    if not (run / CONFIG).is_file():
        raise ComdivError(f"{run} is not a run of a solver: it has no {CONFIG}")
    config = load_yaml(run / CONFIG)
    if not isinstance(config, dict):
        raise ComdivError(f"{run} is not a run of a solver: {CONFIG} is not a mapping")
    validate(config, _RunConfig, f"{run} is not a run of a solver: {CONFIG}")
    return config


def write_config(run: Path, config: Mapping[str, Any]) -> None:
    """Write a run's configuration; keys of an existing one are kept unless given anew."""
    known = read_config(run) if (run / CONFIG).is_file() else {}
    write_text(run / CONFIG, yaml.safe_dump({**known, **config}, sort_keys=False, allow_unicode=True))


def own_beam(run: Path) -> int:
    """The beam with which a run decodes by default."""
    return int((read_config(run).get("settings") or {}).get("beam") or 1)


def data_of(run: Path) -> Path | None:
    """The dataset that a run was trained on, if it still exists unchanged.

    A run records its path relative to where it was trained: the current folder or one above the run.
    """
    data = read_config(run).get("data") or {}
    if not data.get("folder"):
        return None
    folder = Path(data["folder"])
    for base in (Path(), *run.resolve().parents):
        train = base / folder / "train.jsonl"
        if train.is_file() and file_sha256(train) == data.get("sha256", {}).get("train"):
            return train.parent
    return None


# --- solvers ---


def make_solver(
    name: str,
    settings: SolverSettings | None = None,
    *,
    preset: str = "cpu",
    changes: Mapping[str, Any] | None = None,
    programs: bool = False,
) -> Solver:
    """An untrained solver by name, with settings or a preset and changes.

    `command:PROGRAM` is a program of the user's own, and `ask` a language model at an endpoint, whose settings are
    those of `comdiv ask`; both are made only with `programs`.
    """
    if name.startswith(PROGRAM):
        check_programs([name], programs)
        return CommandSolver(name)
    if name == ASK:
        asked = AskSettings.checked(**(changes or {}))
        check_programs([name], programs, asked.base_url)
        return LanguageModel(asked)
    model_class = SOLVERS.get(name)  # reports a missing extra before anything needs torch
    from comdiv.solvers.neural import NeuralSolver

    return NeuralSolver(name, model_class, settings or settings_for(name, preset, changes))


def check_programs(solvers: Iterable[str], programs: bool, where: str = "") -> None:
    """Refuse `command:` solvers and endpoints unless programs are allowed.

    Folders and plans from elsewhere must neither run anything nor send problems and a key away.
    """
    if not programs and ASK in (solvers := list(solvers)):
        raise ComdivError(f"{where + ': ' if where else ''}this would ask an endpoint; add --programs if you trust it")
    if not programs and (name := next((name for name in solvers if name.startswith(PROGRAM)), None)):
        raise ComdivError(
            f"{where + ': ' if where else ''}this would run the program `{name.removeprefix(PROGRAM)}`; "
            "add --programs if you trust it"
        )


def load_solver(run: Path, *, programs: bool = False) -> Solver:
    """The trained solver of a run folder; a run that names a program is loaded only with `programs`."""
    name = str(read_config(run).get("solver", ""))
    if name.startswith(PROGRAM):
        check_programs([name], programs, str(run))
        return CommandSolver.load(run)
    if name == ASK:
        return LanguageModel.load(run, may_ask=programs)
    SOLVERS.get(name)
    from comdiv.solvers.neural import NeuralSolver

    return NeuralSolver.load(run)


def load_run(run: Path, cover: str = "none", *, programs: bool = False) -> Solver:
    """The solver of a run, decoding with or without the coverage constraint."""
    solver = load_solver(run, programs=programs)
    if cover == "none":
        return solver
    if not hasattr(solver, "with_settings"):
        raise ComdivError(f"{solver.name} decodes by itself: --cover does not apply to it")
    covering: Solver = solver.with_settings(cover=cover)
    return covering


def load_runs(runs: Sequence[Path], cover: str = "none", *, rerank: bool = True, programs: bool = False) -> Solver:
    """The solver of a run, or of several as an ensemble; without `rerank`, none re-ranks its beam by values."""
    solvers: list[Any] = [load_run(run, cover, programs=programs) for run in runs]
    if not rerank:
        solvers = [s.with_settings(plausible="none") if hasattr(s, "with_settings") else s for s in solvers]
    if len(solvers) == 1:
        only: Solver = solvers[0]
        return only
    from comdiv.solvers.ensemble import Ensemble

    return Ensemble(solvers)


def learn_run_weights(
    runs: Sequence[Path], problems: Sequence[Problem], without: Collection[str] = ()
) -> dict[str, float]:
    """Weights for re-ranking the beam of a run, or of several together, learnt on these problems."""
    from comdiv.solvers.plausible import learn_reranking

    return learn_reranking(load_runs(runs, rerank=False), sorted(problems, key=lambda one: one.id), without)


# --- training and evaluation ---


@owns("run")
def train_run(
    solver: str,
    data: Path,
    run: Path,
    *,
    preset: str = "cpu",
    changes: Mapping[str, Any] | None = None,
    select: Select = "best",
    progress: Progress | None = None,
) -> TrainingSummary:
    """Train a solver on a dataset folder into a run folder; an interrupted run in it is resumed.

    `select` is the epoch to keep: the best on validation problems, or the last, for which they are not used. A run with
    other settings or data is never continued; the error names the difference.
    """
    versions = SOLVERS.get(solver).versions_of  # refuses an unknown name before anything is read
    settings = settings_for(solver, preset, changes)
    dataset = read_dataset(data)
    config = _config(solver, preset, settings, select, data, versions)
    if not (run / CONFIG).is_file():
        if run.exists() and (not run.is_dir() or any(not path.name.endswith(".part") for path in run.iterdir())):
            raise ComdivError(f"{run} exists and is not a run of a solver; choose another folder")
        write_config(run, config)
    elif (difference := _difference(read_config(run), config, settings)) is not None:
        raise ComdivError(f"{run} is another run: {difference}; choose another folder, or remove it")
    trainer: Any = make_solver(solver, settings)

    def after_epoch(state: Any) -> None:
        write_text(run / "metrics.jsonl", "".join(json.dumps(entry) + "\n" for entry in state.history))

    try:
        validation = dataset.validation if select == "best" else None
        summary: TrainingSummary = trainer.fit(
            dataset.train, validation, resume_from=run, progress=progress, after_epoch=after_epoch
        )
        trainer.save(run)
    except ComdivError:
        if [path.name for path in run.iterdir()] == [CONFIG]:  # nothing learnt: allow other settings next time
            (run / CONFIG).unlink()
        raise
    except OSError as error:
        raise ComdivError(f"{run} cannot be written: {error}; the same command resumes it") from error
    return summary


@owns("folder")
def evaluate_run(
    run: Path | Sequence[Path],
    problems: Sequence[Problem],
    folder: Path,
    *,
    name: str,
    corpus_version: str = "",
    train: Sequence[Problem] | None = None,
    beam: int | None = None,
    cover: Cover = "none",
    rerank: bool = True,
    weights: Mapping[str, float] | None = None,
    subsets: Mapping[str, Collection[str]] | None = None,
    chains: Sequence[Chain] | None = None,
    programs: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Solve the problems with the solver of a run, or of several together, score them, and write all to `folder`.

    `train` gives the templates seen in training; `beam` defaults to the run's own; `weights` re-rank the beam in place
    of the run's own; `subsets` are sets of ids to report separately, `chains` composed problems among them.
    """
    problems = sorted(problems, key=lambda problem: problem.id)  # the same batches and bytes in any order
    runs = [run] if isinstance(run, Path) else list(run)
    solver: Any = load_runs(runs, cover, rerank=rerank and weights is None, programs=programs)
    settings = getattr(solver, "settings", None)
    width: int = beam or getattr(settings, "beam", None) or 1
    if weights is not None:
        from comdiv.solvers.plausible import Reranked

        solver = Reranked(solver, weights)
    if isinstance(solver, LanguageModel):
        predictions = tuple(solver.predict(problems, progress))
    else:
        predictions = _solved(solver, problems, width, name, progress)
    templates = None if train is None else templates_of(train)
    evaluation = evaluate_predictions(problems, predictions, templates, subsets, chains)
    origins = origins_of(runs)
    origin = {
        "run": origins[0] if len(runs) == 1 else origins,
        "solver": solver.name,
        "seed": getattr(settings, "seed", None),
        "beam": width,
        "cover": cover,
        "templates": None if templates is None else templates_hash(templates),
        "rerank": weights is not None or (rerank and getattr(settings, "plausible", "none") != "none"),
        **(solver.facts if isinstance(solver, LanguageModel) else {}),
    }
    write_result(folder, predictions, evaluation, {"test": {"name": name, "version": corpus_version}} | origin)
    return evaluation


def origins_of(runs: Sequence[Path]) -> list[dict[str, Any]]:
    """What an evaluation says about its runs: their names and the hashes of their weights, if they have any."""
    weights = [run / "model.safetensors" for run in runs]
    return [{"folder": path.parent.name, "sha256": file_sha256(path) if path.is_file() else None} for path in weights]


def _solved(
    solver: Solver, problems: Sequence[Problem], beam: int, name: str, progress: Progress | None
) -> tuple[Prediction, ...]:
    solutions: list[Solution] = []
    for start in range(0, len(problems), _SOLVED_AT_ONCE):
        solutions += solver.solve(problems[start : start + _SOLVED_AT_ONCE], beam=beam)
        if progress is not None:
            progress(f"solving {name}", len(solutions), len(problems), "")
    return tuple(
        Prediction.from_solution(problem.id, solution) for problem, solution in zip(problems, solutions, strict=True)
    )


def _config(
    solver: str, preset: str, settings: SolverSettings, select: Select, data: Path, versions: Collection[str]
) -> dict[str, Any]:
    files = {part: file_sha256(data / f"{part}.jsonl") for part in ("train", "validation")}
    named = {kind: weights_files(Path(weights_folder(name))) for kind, (_, name) in settings.named_files.items()}
    return {
        "solver": solver,
        "preset": preset,
        "settings": settings.model_dump(),
        "select": select,
        "data": {"folder": str(data), "sha256": files},
        "weights": {},
        **named,
        "versions": {name: version(name) for name in versions},
    }


@owns("run")
def ask_run(
    settings: AskSettings, run: Path, train: Sequence[Problem], *, data: Mapping[str, Any] | None = None
) -> LanguageModel:
    """A run of a language model: its settings and its examples from the training problems, in a folder.

    A run with another model, endpoint, prompt or training side is never continued; the error names the difference.
    """
    model = LanguageModel(settings, folder=run)
    model.fit(train, None)
    examples = [problem.id for problem in model.shots]
    if (run / CONFIG).is_file():
        there = read_config(run)
        recorded = {**there, **(there.get("settings") or {})}
        wanted = {"solver": ASK, **settings.identity(), "examples": examples}
        difference = first_difference({name: recorded.get(name) for name in wanted}, wanted)
        if difference:
            raise ComdivError(f"{run} is another run: {difference}; choose another folder")
    elif run.exists() and (not run.is_dir() or any(not path.name.endswith(".part") for path in run.iterdir())):
        raise ComdivError(f"{run} exists and is not a run of a solver; choose another folder")
    model.save(run)
    write_config(run, {"examples": examples, **({"data": dict(data)} if data else {})})
    return model


def _difference(there: Mapping[str, Any], wanted: Mapping[str, Any], settings: SolverSettings) -> str | None:
    """The first setting, or part of the dataset, in which a run differs from the requested one.

    A setting that a run of an older version lacks has its default.
    """
    defaults = {name: field.default for name, field in type(settings).model_fields.items()}

    def compared(config: Mapping[str, Any]) -> dict[str, Any]:
        recorded, data = defaults | (config.get("settings") or {}), config.get("data") or {}
        hashes = data.get("sha256", {})
        return {
            "solver": config.get("solver"),
            **{name: recorded.get(name) for name in wanted["settings"]},
            "select": config.get("select", "best"),
            **{f"{part}.jsonl": hashes.get(part) for part in wanted["data"]["sha256"]},
            # Runs of older versions did not record these.
            **{kind: config.get(kind, wanted[kind]) for kind in ("weights", "vectors") if kind in wanted},
        }

    return first_difference(compared(there), compared(wanted))
