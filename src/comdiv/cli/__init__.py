"""The command line: one verb per capability, and nothing but argument handling.

Everything heavy is imported inside the verbs, so that `comdiv --help` answers at once.
"""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from comdiv.cli.ask import ask
from comdiv.cli.augment import augment
from comdiv.cli.console import Stop, SuggestingGroup, print_error, print_stop, stop_on_signals
from comdiv.cli.data import data_app
from comdiv.cli.evaluate import compare, evaluate
from comdiv.cli.export import export_app, import_app
from comdiv.cli.judging import agreement, judge, studio
from comdiv.cli.measure import measure
from comdiv.cli.options import VerbCommand
from comdiv.cli.run import report, run
from comdiv.cli.solve import solve
from comdiv.cli.split import split
from comdiv.cli.synthesize import synthesize
from comdiv.cli.train import train
from comdiv.cli.verify import verify
from comdiv.errors import ComdivError

app = typer.Typer(
    name="comdiv",
    cls=SuggestingGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with [bold]comdiv data show demo-en[/bold]. Every verb has an example: [bold]comdiv split -h[/bold]",
)


def _verb(panel: str, function: Callable[..., None], *examples: str) -> None:
    """Add a verb; its help ends in examples."""
    title = "Examples: " if len(examples) > 1 else "Example: "
    app.command(cls=VerbCommand, rich_help_panel=panel, epilog=title + "; ".join(examples))(function)


app.add_typer(data_app, name="data", rich_help_panel="Corpora")
_verb(
    "Benchmarks",
    split,
    "comdiv split mawps --out mawps-comdiv --with-iid",
    "comdiv split mine.csv --text question --equation formula --answer result --target 0.3,0.5,0.7 --out curve",
)
_verb(
    "Benchmarks",
    synthesize,
    "comdiv synthesize math23k --out sd --size 1078/745",
    "comdiv synthesize math23k --out sd-dev --size 800/560 --exclude sd",
)
_verb("Benchmarks", measure, "comdiv measure train.jsonl test.jsonl", "comdiv measure mawps-comdiv --json")
_verb(
    "Benchmarks",
    augment,
    "comdiv augment mawps-comdiv --out mawps-da",
    "comdiv augment mawps-comdiv --preset paper --out mawps-paper",
    "comdiv augment mine.jsonl --solver 'command:./my-ranker' --rank given --out mine-da",
)
_verb("Solvers", train, "comdiv train gts --data mawps-comdiv --out runs/gts --set epochs=20")
_verb(
    "Solvers",
    evaluate,
    "comdiv evaluate runs/gts mawps-comdiv",
    "comdiv evaluate --predictions llm.jsonl mawps-comdiv",
)
_verb(
    "Solvers",
    ask,
    "comdiv ask mawps-comdiv --base-url http://localhost:8080/v1 --model qwen3-8b --out runs/qwen",
    "comdiv ask pairs --base-url https://api.openai.com/v1 --key-variable OPENAI_API_KEY --model gpt-5 --out gpt",
)
_verb("Solvers", solve, "comdiv solve 'Tom has 3 bags of 12 apples. How many apples has he?' --run runs/gts")
_verb("Solvers", compare, "comdiv compare gts.jsonl lstm.jsonl --test mawps-comdiv")
_verb("People", studio, "comdiv studio mawps-comdiv --runs runs --open", "comdiv studio sd --source math23k")
_verb("People", judge, "comdiv judge sd-da/train.jsonl --judge Ann --judge Ben --sample 100 --seed 1")
_verb("People", agreement, "comdiv agreement ann.jsonl ben.csv", "comdiv agreement label-studio-export.json --json")
_verb(
    "Experiments",
    run,
    "comdiv run experiments/main-results.yaml --preset smoke",
    "comdiv run mine.yaml --jobs 2 --dry-run",
)
app.add_typer(export_app, name="export", rich_help_panel="Exchange")
app.add_typer(import_app, name="import", rich_help_panel="Exchange")
_verb("Experiments", report, "comdiv report runs --out report --open")
_verb("Experiments", verify, "comdiv verify", "comdiv verify runs --json", "comdiv verify mawps-comdiv")


def _print_version(wanted: bool) -> None:
    if wanted:
        from comdiv import __version__

        typer.echo(f"comdiv {__version__}")
        raise typer.Exit


@app.callback()
def comdiv(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Compositional generalization in math word problem solving: measure it, build benchmarks for it, close the gap."""


def main() -> None:
    """Run the command line: a user's mistake is one line and exit code 1, wrong usage 2; a bug keeps its traceback.

    Ctrl+C and SIGTERM end it with one line and the usual codes, 130 and 143.
    """
    stop_on_signals()
    try:
        app()
    except Stop as stop:
        print_stop(stop)
        sys.exit(128 + stop.number)
    except ComdivError as error:
        print_error(str(error))
        sys.exit(1)
    except PermissionError as error:  # on files and folders that the user named
        print_error(f"{error.filename}: {error.strerror}")
        sys.exit(1)
