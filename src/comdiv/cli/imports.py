"""`comdiv import`: what people found out elsewhere, in comdiv's own records."""

from pathlib import Path
from typing import Annotated

import typer

from comdiv.cli.console import SuggestingGroup, print_json
from comdiv.cli.corpus import ForceOption, JsonOption, load_corpus
from comdiv.errors import ComdivError

import_app = typer.Typer(cls=SuggestingGroup, no_args_is_help=True, help="Bring back what was done elsewhere.")


@import_app.callback()
def _imports() -> None:
    """A group, although it has one verb today: `comdiv import judgements`."""


@import_app.command(epilog="Example: comdiv import judgements ann.csv label-studio-export.json --out judgements.jsonl")
def judgements(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="CSV, JSON Lines, or what Label Studio exports.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The JSON Lines file to write.")],
    judge: Annotated[
        str | None, typer.Option(help="Who judged, for one file that does not say; its name does otherwise.")
    ] = None,
    problems: Annotated[
        str | None, typer.Option(help="The problems that were judged: marks for any other are an error.")
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Pass over problems without marks; they are an error otherwise.")
    ] = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Collect the judgements of several people, as `comdiv agreement` and the studio read them."""
    from comdiv.evaluation.judgements import Judgement, read_judgements, write_judgements
    from comdiv.files import refuse_to_overwrite

    refuse_to_overwrite(out, force=force)
    if judge is not None and len(files) > 1:
        raise ComdivError("--judge names who filled in one file, but there are several")
    found: dict[tuple[str, str], Judgement] = {}
    for path in files:
        for judgement in read_judgements(path, judge=judge, unfinished=unfinished):
            key = (judgement.id, judgement.judge)
            if key in found:
                raise ComdivError(
                    f"{path}: judge '{judgement.judge}' marked problem '{judgement.id}' in another file, too"
                )
            found[key] = judgement
    if problems is not None:
        known = {problem.id for problem in load_corpus(problems).problems}
        if foreign := [name for name, _ in found if name not in known]:
            raise ComdivError(f"{problems} has no problem '{foreign[0]}', which was judged ({len(foreign)} such marks)")
    count = write_judgements(out, found.values())
    judges = list(dict.fromkeys(who for _, who in found))
    if json:
        good = sum(judgement.good for judgement in found.values())
        print_json({"out": str(out), "judgements": count, "judges": judges, "good": good})
        return
    typer.echo(f"{out}: {count:,} judgements by {', '.join(judges)}")
