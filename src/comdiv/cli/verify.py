"""`comdiv verify`: every hash and every number, computed again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json
from comdiv.cli.options import JsonOption, Options, takes

if TYPE_CHECKING:
    from comdiv.verbs.verifying import VerificationSettings
    from comdiv.verification.ledger import Verification


@takes(settings=Options("comdiv.verbs.verifying:VerificationSettings"))
def verify(
    settings: "VerificationSettings",
    results: Annotated[
        Path | None,
        typer.Argument(
            metavar="RESULTS",
            help="Published results, a folder of runs, a run, a dataset or an evaluation; "
            "by default experiments/results of a clone.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check every hash and compute every number again from predictions or outcomes; exit code 1 if any differs."""
    from comdiv.verbs import verifying

    verification = verifying.verify(results, settings, observer=TERMINAL)
    if json:
        print_json(verification.to_json())
    else:
        _print_verification(verification)
    if not verification.is_true:
        raise typer.Exit(1)


def _print_verification(verification: "Verification") -> None:
    from rich.markup import escape
    from rich.table import Table

    console = output_console()
    table = Table("", "checked", "differ", "not checked", box=None)
    for what, *counts in verification.rows():
        table.add_row(what, *(f"{count:,}" for count in counts))
    console.print(table)
    for (what, why), count in verification.unchecked.items():
        times = f" ({count:,} times)" if count > 1 else ""
        console.print(escape(f"not checked: {what}: {why}{times}"), soft_wrap=True)
    for difference in verification.differences:
        console.print(escape(str(difference)), soft_wrap=True)
    total = sum(verification.checked.values())
    many = len(verification.differences)
    console.print(f"{total:,} checks, {many:,} difference{'s' * (many != 1)}")
