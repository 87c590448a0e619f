"""`comdiv train`: a solver, a dataset, a run folder."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from comdiv.cli.console import print_json, print_note, progress_of
from comdiv.cli.corpus import JsonOption
from comdiv.cli.options import Options, read_changes, takes


@takes(
    settings=Options(
        "comdiv.solvers.hyperparameters:SolverSettings", only=("seed", "threads", "device"), said_only=True
    )
)
def train(
    solver: Annotated[str, typer.Argument(help="lstm, transformer, mathen, gts, bertgen, gpt2, or a registered one.")],
    data: Annotated[Path, typer.Option(help="Dataset folder; its train and validation parts are used.")],
    out: Annotated[Path, typer.Option(help="Run folder; an interrupted run there goes on by itself.")],
    settings: dict[str, Any],
    preset: Annotated[str, typer.Option(help="cpu (minutes on two cores) or paper (the appendix's sizes).")] = "cpu",
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting: --set hidden=128 --set epochs=20.")
    ] = None,
    select: Annotated[
        Literal["best", "last"], typer.Option(help="The epoch to keep: the best on validation problems, or the last.")
    ] = "best",
    json: JsonOption = False,
) -> None:
    """Train a solver. The best epoch by validation accuracy is kept; the run folder is all that solving needs."""
    from comdiv.solvers.runs import train_run

    named = {**settings, **read_changes(changes or [])}
    with progress_of(solver) as progress:
        summary = train_run(solver, data, out, preset=preset, changes=named, select=select, progress=progress)
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
