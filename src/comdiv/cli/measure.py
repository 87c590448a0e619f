"""`comdiv measure`: how compositional a test set is, given its training set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json
from comdiv.cli.options import READING, ForceOption, JsonOption, Options, takes

if TYPE_CHECKING:
    from comdiv.corpora.corpus_options import CorpusOptions
    from comdiv.splitting.measurement import Measurement


@takes(changes=Options("comdiv.splitting.extraction:ExtractionSettings", said_only=True), reading=READING)
def measure(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Training problems, or a dataset folder alone.")],
    changes: dict[str, Any],
    reading: "CorpusOptions",
    test: Annotated[str | None, typer.Argument(metavar="[TEST]", help="Test problems.")] = None,
    alpha: Annotated[
        str | None, typer.Option(help="Preset for the α of the i.i.d. divergence: paper or keysers2020.")
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            help="Word vectors of another representation of the quantities: a file or folder, or package:NAME/PATH "
            "(docs/explanation/splitting.md)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the report, two figures, compounds.jsonl and an audit (JSON and HTML)."),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Measure the divergences between two files, or between the sides of a dataset folder (§III-A, Table I).

    A dataset folder is measured with its own settings unless options override them.
    """
    from comdiv.verbs import benchmarks

    measurement = benchmarks.measure(
        train, test, changes, alpha=alpha, vectors=vectors, out=out, reading=reading, force=force, observer=TERMINAL
    )
    if json:
        print_json(measurement.to_json())
    else:
        print_measurement(measurement, f"{train}, {test}" if test else train)


def print_measurement(measurement: "Measurement", title: str) -> None:
    """The report on a split."""
    from rich.table import Table
    from rich.text import Text

    from comdiv.splitting.measurement import table_rows

    table = Table(title=Text(title), title_justify="left", show_header=False, box=None)
    for name, value in table_rows(measurement):
        table.add_row(name, value)
    output_console().print(table)
