"""`comdiv compare`: is A better than B on the same problems?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import output_console, print_json
from comdiv.cli.corpus import (
    AnswerColumn,
    EquationColumn,
    IdColumn,
    JsonOption,
    LanguageOption,
    TextColumn,
    load_test,
    named_columns,
)
from comdiv.cli.evaluate import note_losses, share_cells
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.evaluation import Comparison, Prediction


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Predictions, in any form that `comdiv evaluate` reads.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Other predictions for the same problems.")],
    test: Annotated[
        str | None, typer.Option(help="The problems that both answer: a corpus, or a dataset folder's test side.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, help="Of the bootstrap.")] = 10_000,
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    id_column: IdColumn = None,
    language: LanguageOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two sets of predictions: paired bootstrap over problems, and McNemar's exact test."""
    from comdiv.evaluation import compare_predictions

    if test is None:
        raise ComdivError("name the problems that both answer: --test FILE, CORPUS or dataset folder")
    a_predictions, b_predictions = _read(a), _read(b)
    corpus = load_test(test, named_columns(text, equation, answer, id_column), language)
    for predictions, path in ((a_predictions, a), (b_predictions, b)):
        note_losses(predictions, corpus, str(path))
    comparison = compare_predictions(corpus.problems, a_predictions, b_predictions, seed, resamples)
    if json:
        print_json({"test": {"name": corpus.name, "version": corpus.version}, **comparison.to_json()})
    else:
        _print_comparison(comparison, (str(a), str(b)), corpus.name)


def _read(path: Path) -> "tuple[Prediction, ...]":
    """The predictions of a file, or those in an evaluation's folder."""
    from comdiv.evaluation import read_predictions

    return read_predictions(path / "predictions.jsonl" if path.is_dir() else path)


def _print_comparison(comparison: "Comparison", names: tuple[str, str], test: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = output_console()
    title = escape(f"{test}, {comparison.a.n:,} problems")
    table = Table("", "predictions", "accuracy", "95 % interval", title=title, title_justify="left", box=None)
    for letter, name, share in zip("AB", names, (comparison.a, comparison.b), strict=True):
        table.add_row(letter, escape(name), *share_cells(share))
    console.print(table)
    low, high = (100 * bound for bound in comparison.interval)
    console.print(
        f"A − B: {100 * comparison.difference:+.1f} points, 95 % interval {low:+.1f} to {high:+.1f}, "
        f"p = {comparison.p:.2g} (paired bootstrap, {comparison.resamples:,} resamples, seed {comparison.seed})",
        soft_wrap=True,
    )
    counts = Table("", "B right", "B wrong", title="McNemar's table", title_justify="left", box=None)
    counts.add_row("A right", f"{comparison.mcnemar.both:,}", f"{comparison.mcnemar.only_a:,}")
    counts.add_row("A wrong", f"{comparison.mcnemar.only_b:,}", f"{comparison.mcnemar.neither:,}")
    console.print(counts)
    console.print(f"p = {comparison.mcnemar.p:.2g} (McNemar's exact test)")
