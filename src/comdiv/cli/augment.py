"""`comdiv augment`: new compositions from a training set's own problems."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json, print_line, print_note
from comdiv.cli.options import READING, JsonOption, Options, ProgramsOption, Source, takes
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.corpora.corpus_options import CorpusOptions


@takes(changes=Options("comdiv.augmentation.augmentation_options:AugmentationOptions", said_only=True), reading=READING)
def augment(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder of the new dataset; interrupted work there is resumed.")],
    changes: dict[str, Any],
    reading: "CorpusOptions",
    preset: Annotated[
        str, typer.Option(help="sense, mixed, structure, or paper for Algorithm 1 as printed.")
    ] = "sense",
    ban: Annotated[
        Path | None, typer.Option(help="Hashes of texts that must not be produced, from `comdiv data hashes`.")
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="ray: on a cluster; the result is the same.")
    ] = "local",
    address: Annotated[str | None, typer.Option(help="Address of a running Ray cluster: HOST:PORT or auto.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes that make new problems; 0: one per core.")] = 0,
    programs: ProgramsOption = False,
    json: JsonOption = False,
) -> None:
    """Augment a training set with new compositions of its own problems (§IV). Test problems are never read."""
    from comdiv.augmentation.augmentation_options import AugmentationOptions
    from comdiv.verbs import benchmarks

    options = AugmentationOptions.preset(preset, **changes, ban=_read_ban(ban))
    report = benchmarks.augment(
        source, out, options, engine=engine, address=address, jobs=jobs, programs=programs, reading=reading,
        observer=TERMINAL,
    )  # fmt: skip
    if json:
        print_json(report)
    else:
        _print_report(report, out)


def _read_ban(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    from comdiv.loading import read_bounded

    try:
        return tuple(read_bounded(path).split())
    except ComdivError as error:
        raise ComdivError(f"--ban {error}") from error


def _print_report(report: dict[str, Any], out: Path) -> None:
    from rich.table import Table

    from comdiv.augmentation.growth_report import card_paragraphs, operations_of

    table = Table("round", "operation", "drafts", "passed", "kept", "new templates", "new shapes")
    for entry in report["rounds"]:
        for name, label in operations_of(report):
            values = [entry[label][key] for key in ("drafts", "passed", "kept", "new_templates", "new_shapes")]
            table.add_row(str(entry["round"]), name, *(f"{value:,}" for value in values))
    output_console().print(table)
    for paragraph in card_paragraphs(report):
        print_line(paragraph)
    print_note(f"{out / 'report.md'}: what each check refused, and samples")
