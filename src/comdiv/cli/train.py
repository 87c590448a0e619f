"""`comdiv train`: a solver, a dataset, a run folder."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from comdiv.cli.console import TERMINAL, print_json, print_line
from comdiv.cli.options import JsonOption, Options, read_changes, takes


@takes(
    settings=Options(
        "comdiv.solvers.hyperparameters:SolverSettings", only=("seed", "threads", "device"), said_only=True
    )
)
def train(
    solver: Annotated[
        str, typer.Argument(help="lstm, transformer, mathen, gts, deductive, bertgen, gpt2, or one from a package.")
    ],
    data: Annotated[Path, typer.Option(help="Dataset folder; its train and validation parts are used.")],
    out: Annotated[Path, typer.Option(help="Run folder; an interrupted run there is resumed.")],
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
    """Train a solver and keep the best epoch by validation accuracy; the run folder is all that solving needs."""
    from comdiv.verbs import solving

    named = {**settings, **read_changes(changes or [])}
    summary = solving.train(solver, data, out, preset=preset, changes=named, select=select, observer=TERMINAL)
    accuracy = summary.best_validation_accuracy
    if json:
        print_json(
            {
                "run": str(out),
                "solver": solver,
                "epochs": summary.epochs,
                "best_epoch": summary.best_epoch,
                "validation_accuracy": accuracy,
                "problems": summary.problems,
                "left_out": summary.left_out,
            }
        )
        return
    shown = "no validation problems" if accuracy is None else f"validation accuracy {accuracy:.1%}"
    print_line(f"{out}: {solver}, best epoch {summary.best_epoch} of {summary.epochs}, {shown}")
