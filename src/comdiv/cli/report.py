"""`comdiv report`: the page, the tables and the figures on whatever has finished."""

from pathlib import Path
from typing import Annotated

import typer

from comdiv.cli.console import print_json, print_note, progress_of
from comdiv.cli.corpus import ForceOption, JsonOption


def report(
    runs: Annotated[Path, typer.Argument(help="Folder that `comdiv run` filled.")],
    out: Annotated[Path, typer.Option(help="Folder of the report: index.html, tables/, figures/, results.json.")],
    judgements: Annotated[
        list[Path] | None,
        typer.Option(help="People's marks of augmented problems, a file each; those in RUNS/judgements otherwise."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page, where there is a screen.")] = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Make a page of all results: the paper's numbers beside ours, figures, examples, how to reproduce each number."""
    from comdiv.experiments.reporting.report import make_report
    from comdiv.figures import chinese_font

    with progress_of("reading results") as progress:
        made = make_report(runs, out, judgements=judgements or (), force=force, progress=progress)
    if chinese_font() is None:
        print_note("no font with Chinese characters found: PNG figures show boxes for them (SVG and the page do not)")
    if json:
        print_json(made)
    else:
        cells = ", ".join(f"{count} {state}" for state, count in made["cells"].items() if count)
        typer.echo(f"{made['page']}: {made['numbers']} numbers, {made['figures']} figures; cells: {cells}")
    if show and _has_screen():
        typer.launch(str(Path(made["page"]).resolve()))


def _has_screen() -> bool:
    """Whether opening a page would show it to somebody: on Linux a display must be there."""
    import os
    import sys

    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
