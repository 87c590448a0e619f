"""`comdiv agreement`: how far judges agree, from their files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import output_console, print_json
from comdiv.cli.corpus import JsonOption

if TYPE_CHECKING:
    from rich.table import Table

    from comdiv.evaluation.judgements import Judgement
    from comdiv.evaluation.kappa import Agreement, Kappa


def agreement(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="The judges' marks: JSON Lines, CSV or a Label Studio export; one file may hold several.",
        ),
    ],
    shown: Annotated[int, typer.Option(min=0, help="How many of the disagreements to list.")] = 20,
    json: JsonOption = False,
) -> None:
    """Shares of good problems with intervals, Cohen's κ (Fleiss' of more than two judges), disagreements (§V-D)."""
    from comdiv.evaluation.judgements import read_judgement_files
    from comdiv.evaluation.kappa import agreement as agreement_of

    found = agreement_of(read_judgement_files(files))
    if json:
        print_json(found.to_json())
    else:
        _print(found, shown)


def _print(found: "Agreement", shown: int) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = output_console()
    judges = " and ".join(found.judges) if len(found.judges) == 2 else ", ".join(found.judges)
    console.print(escape(f"{len(found.problems):,} problems, judged by {judges}"))
    shares = Table("", *(escape(judge) for judge in found.judges), "κ", "95 % interval", "", box=None)
    for criterion in found.criteria:
        cells = [f"{share.share:.1%} good" for share in criterion.shares]
        shares.add_row(criterion.criterion, *cells, *_kappa_cells(criterion.kappa))
    console.print(shares)
    for share in found.good.shares:
        low, high = share.interval
        console.print(
            escape(f"{share.judge}: {share.good} of {share.n} good, 95 % interval {low:.1%} to {high:.1%}"),
            soft_wrap=True,
        )
    for pair in found.good.pairs:
        console.print(_pair_table(pair.judges, pair.table))
        if len(found.judges) > 2:
            value, interval, band = _kappa_cells(pair.kappa)
            console.print(f"Cohen's κ {value} ({interval}), {band}")
    _print_disagreements(found.disagreements, shown)


def _kappa_cells(kappa: "Kappa") -> tuple[str, str, str]:
    if kappa.value is None:
        return "–", "–", "undefined: all marks are the same"
    interval = "–" if kappa.interval is None else f"{kappa.interval[0]:.2f} to {kappa.interval[1]:.2f}"
    return f"{kappa.value:.3f}", interval, kappa.band


def _pair_table(judges: tuple[str, str], counts: tuple[tuple[int, int], tuple[int, int]]) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    first, second = (escape(judge) for judge in judges)
    table = Table("", f"{second}: good", f"{second}: not good", box=None)
    for word, row in zip(("good", "not good"), counts, strict=True):
        table.add_row(f"{first}: {word}", *(f"{count:,}" for count in row))
    return table


def _print_disagreements(disagreements: "tuple[tuple[Judgement, ...], ...]", shown: int) -> None:
    from rich.markup import escape

    console = output_console()
    console.print(f"{len(disagreements):,} disagreements" + (":" if disagreements and shown else ""))
    for disputed in disagreements[:shown]:
        marks = ", ".join(f"{one.judge} {verdict(one)}" for one in disputed)
        console.print(escape(f"  {disputed[0].id}: {marks}"), soft_wrap=True)
    if shown and len(disagreements) > shown:
        console.print(f"  … and {len(disagreements) - shown} more: --shown {len(disagreements)}")


def verdict(judgement: "Judgement") -> str:
    """A judgement in words: good, or what is not."""
    from comdiv.evaluation.judgements import CRITERIA

    if judgement.good:
        return "good"
    wrong = [criterion for criterion in CRITERIA if judgement.mark(criterion) is False]
    return f"not good ({', '.join(wrong)})" if wrong else "not good"
