"""`comdiv evaluate` and `comdiv compare`: how good predictions are, and whether some are better than others."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json
from comdiv.cli.options import READING, ForceOption, JsonOption, Options, takes
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from rich.table import Table

    from comdiv.corpora.corpus_options import CorpusOptions
    from comdiv.evaluation import ChainResult, Comparison, Evaluation, Share
    from comdiv.verbs.solving import ComparisonSettings, SolvingSettings


@takes(settings=Options("comdiv.verbs.solving:SolvingSettings"), reading=READING)
def evaluate(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="[RUN]… TEST",
            help="One or more runs, which solve together, then the problems: a corpus or a dataset.",
        ),
    ],
    settings: "SolvingSettings",
    reading: "CorpusOptions",
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            help="Predictions from anywhere (JSON Lines, JSON, CSV, logs of Inspect): ids with answers, expressions or "
            "texts. May be repeated."
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(help="Training problems, for templates seen and unseen; a dataset folder has its own."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for predictions.jsonl and result.json; by default in the run's folder.")
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Evaluate trained solvers on problems, or score predictions from elsewhere (§V)."""
    from comdiv.verbs import solving

    *names, test = targets
    if predictions and names:
        raise ComdivError(f"--predictions takes one argument, the test problems: {' or '.join(targets)}?")
    if not predictions and not names:
        raise ComdivError("name a run and the problems (comdiv evaluate RUN FILE), or use --predictions FILE TEST")
    run = [Path(name) for name in names]
    evaluation = solving.evaluate(
        test, run=run, predictions=predictions or (), train=train, out=out, settings=settings, reading=reading,
        force=force, observer=TERMINAL,
    )  # fmt: skip
    if json:
        print_json(evaluation.to_json())
        return
    who = " and ".join(path.name for path in run) or ", ".join(path.name for path in predictions or ())
    print_evaluation(evaluation, f"{who} on {_name(test)}")


def _name(source: str) -> str:
    """A corpus's name in a table: a folder's name, a file's without its suffix, or the corpus's own."""
    path = Path(source)
    return path.resolve().name if path.is_dir() else path.stem if path.is_file() else source


def print_evaluation(evaluation: "Evaluation", title: str) -> None:
    """The result as a table: the whole, then its parts."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "accuracy", "95 % interval", "n", title=escape(title), title_justify="left", box=None)
    rows = {"answers": evaluation.answers}
    if evaluation.expressions is not None:
        rows["expressions"] = evaluation.expressions
    rows |= {_operators(name): share for name, share in evaluation.by_operator_count.items()}
    rows |= {f"template {name}": share for name, share in (evaluation.by_template_seen or {}).items()}
    rows |= evaluation.subsets
    for name, share in rows.items():
        table.add_row(escape(name), *_share_cells(share), f"{share.n:,}")
    console = output_console()
    console.print(table)
    if evaluation.chains:
        console.print(_chains_table(evaluation.chains))
    failures = ("ill_formed", "undefined", "unreadable", "missing")
    console.print("   ".join(f"{kind.replace('_', '-')}: {evaluation.counts[kind]:,}" for kind in failures))


def _chains_table(results: "Sequence[ChainResult]") -> "Table":
    """Expected and observed accuracy, one row per condition and length."""
    from rich.table import Table

    columns = ("", "parts (%)", "expected", "observed", "difference", "95 % interval", "n")
    table = Table(*columns, title="Composed problems", title_justify="left", box=None)
    for result in results:
        name = result.condition if result.condition != "composed" else "chains"
        low, high = result.difference_interval
        table.add_row(
            f"{name} of {result.length}",
            "·".join(f"{100 * (share.accuracy or 0):.0f}" for share in result.parts),
            f"{result.expected:.1%}",
            _share_cells(result.composed)[0],
            f"{result.difference:+.1%}",
            f"{low:+.1%} to {high:+.1%}",
            f"{result.composed.n:,}",
        )
    return table


def _share_cells(share: "Share") -> tuple[str, str]:
    """A share and its interval in percent."""
    if share.accuracy is None or share.interval is None:
        return "–", ""
    low, high = share.interval
    return f"{share.accuracy:.1%}", f"{low:.1%} to {high:.1%}"


def _operators(count: str) -> str:
    return f"{count} operator{'' if count == '1' else 's'}" if count.isdigit() else "no gold expression"


@takes(settings=Options("comdiv.verbs.solving:ComparisonSettings"), reading=READING)
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Predictions in any form that `comdiv evaluate` reads.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Other predictions for the same problems.")],
    settings: "ComparisonSettings",
    reading: "CorpusOptions",
    test: Annotated[
        str | None, typer.Option(help="The problems that both answer: a corpus, or a dataset folder's test side.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare two sets of predictions: paired bootstrap over problems, and McNemar's exact test."""
    from comdiv.corpora.corpus_options import load_test
    from comdiv.verbs import solving

    if test is None:
        raise ComdivError("name the problems that both answer: --test FILE, CORPUS or dataset folder")
    corpus = load_test(test, reading, TERMINAL)
    comparison = solving.compare(a, b, corpus, settings, observer=TERMINAL)
    if json:
        print_json({"test": {"name": corpus.name, "version": corpus.version}, **comparison.to_json()})
    else:
        _print_comparison(comparison, (str(a), str(b)), corpus.name)


def _print_comparison(comparison: "Comparison", names: tuple[str, str], test: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = output_console()
    title = escape(f"{test}, {comparison.a.n:,} problems")
    table = Table("", "predictions", "accuracy", "95 % interval", title=title, title_justify="left", box=None)
    for letter, name, share in zip("AB", names, (comparison.a, comparison.b), strict=True):
        table.add_row(letter, escape(name), *_share_cells(share))
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
