"""`comdiv train`: a solver, a dataset, a run folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comdiv.cli.console import print_json, print_note, progress_bars
from comdiv.cli.corpus import JsonOption
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.solver import TrainingSummary
    from comdiv.solvers.settings import SolverSettings

_VERSIONS_OF = ("comdiv", "torch", "numpy")


def train(
    solver: Annotated[str, typer.Argument(help="lstm, transformer, mathen, gts, or a registered one.")],
    data: Annotated[Path, typer.Option(help="Dataset folder; its train and validation parts are used.")],
    out: Annotated[Path, typer.Option(help="Run folder; an interrupted run there goes on by itself.")],
    preset: Annotated[str, typer.Option(help="cpu (minutes on two cores) or paper (the appendix's sizes).")] = "cpu",
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting: --set hidden=128 --set epochs=20.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0: as torch finds them.")] = 0,
    json: JsonOption = False,
) -> None:
    """Train a solver. The best epoch by validation accuracy is kept; the run folder is all that solving needs."""
    from comdiv.dataset import read_dataset
    from comdiv.files import write_text
    from comdiv.solvers.registry import make_solver, model_class
    from comdiv.solvers.settings import settings_for

    model_class(solver)
    settings = settings_for(
        solver, preset, {"seed": seed, "device": device, "threads": threads, **_parsed(changes or [])}
    )
    dataset = read_dataset(data)
    config = _config(solver, preset, settings, data)
    if not (out / "config.yaml").is_file():
        if out.exists() and any(not path.name.endswith(".part") for path in out.iterdir()):
            raise ComdivError(f"{out} exists and is no run of a solver; choose another folder")
        _write_config(out, config)
    elif (difference := _difference(_read_config(out), config)) is not None:
        raise ComdivError(f"{out} is a run with other settings: {difference}; choose another folder, or remove it")
    trainer: Any = make_solver(solver, settings)
    with progress_bars() as bars:
        task = bars.add_task(solver, total=None, note="")

        def progress(what: str, done: int, total: int, note: str) -> None:
            bars.update(task, description=what, completed=done, total=total, note=note)

        def after_epoch(trained: Any) -> None:
            lines = [_json_line(entry) for entry in trained.history]
            write_text(out / "metrics.jsonl", "".join(lines))

        try:
            summary: TrainingSummary = trainer.fit(
                dataset.train, dataset.validation, resume_from=out, progress=progress, after_epoch=after_epoch
            )
            trainer.save(out)
        except OSError as error:
            raise ComdivError(f"{out} cannot be written: {error}; the same command goes on from there") from error
    if summary.left_out:
        print_note(f"{summary.left_out} training problems were left out: the alphabet cannot spell their expressions")
    result = {
        "run": str(out),
        "solver": solver,
        "epochs": summary.epochs,
        "best_epoch": summary.best_epoch,
        "validation_accuracy": summary.best_validation_accuracy,
        "problems": summary.problems,
        "left_out": summary.left_out,
    }
    if json:
        print_json(result)
        return
    accuracy = summary.best_validation_accuracy
    shown = "no validation problems" if accuracy is None else f"validation accuracy {accuracy:.1%}"
    typer.echo(f"{out}: {solver}, best epoch {summary.best_epoch} of {summary.epochs}, {shown}")


def _parsed(changes: list[str]) -> dict[str, str]:
    pairs = [change.partition("=") for change in changes]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise ComdivError(f"--set {name}{sign}{value}: say it as --set hidden=128")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _config(solver: str, preset: str, settings: "SolverSettings", data: Path) -> dict[str, Any]:
    from importlib.metadata import version

    from comdiv.files import file_sha256

    files = {part: file_sha256(data / f"{part}.jsonl") for part in ("train", "validation")}
    return {
        "solver": solver,
        "preset": preset,
        "settings": settings.model_dump(),
        "data": {"folder": str(data), "sha256": files},
        "versions": {name: version(name) for name in _VERSIONS_OF},
    }


def _write_config(out: Path, config: dict[str, Any]) -> None:
    import yaml

    from comdiv.files import write_text

    write_text(out / "config.yaml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True))


def _read_config(out: Path) -> dict[str, Any]:
    import yaml

    try:
        config = yaml.safe_load((out / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ComdivError(f"{out / 'config.yaml'}: {error}") from error
    return config if isinstance(config, dict) else {}


def _difference(there: dict[str, Any], wanted: dict[str, Any]) -> str | None:
    """The first setting in which a run differs from what is asked for."""
    if there.get("solver") != wanted["solver"]:
        return f"solver is {there.get('solver')}, not {wanted['solver']}"
    for name, value in wanted["settings"].items():
        if there.get("settings", {}).get(name) != value:
            return f"{name} is {there.get('settings', {}).get(name)}, not {value}"
    if there.get("data", {}).get("sha256") != wanted["data"]["sha256"]:
        return "the dataset has changed"
    return None


def _json_line(entry: dict[str, Any]) -> str:
    import json

    return json.dumps(entry) + "\n"
