"""`comdiv export` and `comdiv import`: datasets and problems taken elsewhere, and judgements brought back.

Every export in the registry is a command with one option per setting.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command_from_info
from typer.models import CommandInfo

from comdiv.claims import owns
from comdiv.cli.console import TERMINAL, SuggestingGroup, print_json, print_line
from comdiv.cli.options import READING, ForceOption, JsonOption, Options, Source, expanded, takes
from comdiv.errors import ComdivError
from comdiv.registry import EXPORTS

if TYPE_CHECKING:
    from comdiv.corpora.corpus_options import CorpusOptions
    from comdiv.exchange import Export
    from comdiv.settings import Settings


class ExportGroup(SuggestingGroup):
    """The exports by name; each is loaded when it is called, and all of them for the help."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(EXPORTS.names())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in EXPORTS:
            return None
        return get_command_from_info(
            _command(cmd_name), pretty_exceptions_short=False, rich_markup_mode=self.rich_markup_mode
        )

    @staticmethod
    def entries() -> Iterator[CommandInfo]:
        """The commands, for the reference page."""
        return map(_command, EXPORTS.names())


export_app = typer.Typer(cls=ExportGroup, no_args_is_help=True, help="Take datasets and problems elsewhere.")


def _command(name: str) -> CommandInfo:
    export = EXPORTS.get(name)()
    epilog = f"Example: {export.example}" if export.example else None
    return CommandInfo(name=name, callback=_verb(name, export), epilog=epilog, context_settings={})


def _verb(name: str, export: "Export") -> Callable[..., None]:
    """A function with the export's parameters, in the form that typer reads."""
    folder = Annotated[str, typer.Argument(metavar="FOLDER", help=export.folder_help)]
    of_folder = export.reads == "folder"

    def verb(
        source: str,
        out: Annotated[Path, typer.Option("--out", help=export.out_help)],
        settings: "Settings",
        reading: "CorpusOptions",
        force: Annotated[bool, typer.Option("--force", help=export.force_help)] = False,
        json: JsonOption = False,
    ) -> None:
        from comdiv.verbs import running

        what = running.export_source(export, source, reading, TERMINAL)
        facts = running.export(name, what, out, settings, force=force, observer=TERMINAL)
        if json:
            print_json({"out": str(out), **facts})
            return
        print_line(f"{out}: {', '.join(export.sizes(what, facts))}")
        if "pushed" in facts:
            print_line(facts["pushed"])

    verb.__doc__ = export.__doc__
    verb.__annotations__ |= {"source": folder if of_folder else Source, "settings": Any, "reading": Any}
    options = {"settings": Options(type(export).settings), "reading": Options(READING.settings, only=())}
    return expanded(takes(**(options if of_folder else {**options, "reading": READING}))(verb))


import_app = typer.Typer(cls=SuggestingGroup, no_args_is_help=True, help="Bring back what was done elsewhere.")


@import_app.callback()
def _imports() -> None:
    """`comdiv import judgements` and `comdiv import verdicts`."""


@import_app.command(epilog="Example: comdiv import judgements ann.csv label-studio-export.json --out judgements.jsonl")
@owns("out")
def judgements(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="CSV, JSON Lines or Label Studio exports.")],
    out: Annotated[Path, typer.Option("--out", help="The JSON Lines file to write.")],
    judge: Annotated[
        str | None, typer.Option(help="Who judged, if a single file does not say; by default the file's name.")
    ] = None,
    problems: Annotated[
        str | None, typer.Option(help="The problems that were judged; marks for any others are an error.")
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Skip problems without marks, which are otherwise an error.")
    ] = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Collect the judgements of several people in one file for `comdiv agreement`."""
    from comdiv.corpora.corpus_options import load_corpus
    from comdiv.evaluation.judgements import Judgement, read_judgements, write_judgements
    from comdiv.files import refuse_to_overwrite

    refuse_to_overwrite(out, force=force)
    if judge is not None and len(files) > 1:
        raise ComdivError("--judge names the judge of a single file, but there are several")
    by_key: dict[tuple[str, str], Judgement] = {}
    for path in files:
        for judgement in read_judgements(path, judge=judge, unfinished=unfinished):
            key = (judgement.id, judgement.judge)
            if key in by_key:
                raise ComdivError(
                    f"{path}: judge '{judgement.judge}' marked problem '{judgement.id}' in another file as well"
                )
            by_key[key] = judgement
    if problems is not None:
        known = {problem.id for problem in load_corpus(problems, observer=TERMINAL).problems}
        if foreign := [name for name, _ in by_key if name not in known]:
            raise ComdivError(f"{problems} has no problem '{foreign[0]}', which was judged ({len(foreign)} such marks)")
    count = write_judgements(out, by_key.values())
    judges = list(dict.fromkeys(who for _, who in by_key))
    if json:
        good = sum(judgement.good for judgement in by_key.values())
        print_json({"out": str(out), "judgements": count, "judges": judges, "good": good})
        return
    print_line(f"{out}: {count:,} judgements by {', '.join(judges)}")


@import_app.command(
    epilog="Example: comdiv import verdicts ann.jsonl ben.jsonl --queue queue.jsonl --out verdicts.jsonl"
)
@owns("out")
@owns("disputed")
def verdicts(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Readers' verdicts: JSON Lines, or decisions of `comdiv studio --reader`."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="The JSON Lines file to write.")],
    queue: Annotated[
        Path | None,
        typer.Option(help="The file of `comdiv synthesize --queue` that they read: FILE.keys turns its keys into ids."),
    ] = None,
    disputed: Annotated[
        Path | None,
        typer.Option(help="Also write the products on which readers disagree to this file, for another reader."),
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Collect what readers said of synthetic problems in one file for `comdiv synthesize --verdicts`."""
    from comdiv.files import refuse_to_overwrite, write_json_lines
    from comdiv.synthesis.readers import by_product, collect_verdicts, decide, reading_facts, write_disputed

    for path in filter(None, (out, disputed)):
        refuse_to_overwrite(path, force=force)
    if disputed is not None and queue is None:
        raise ComdivError("--disputed needs the texts: name the file that they read with --queue")
    collection = collect_verdicts(files, queue)
    write_json_lines(out, (verdict.to_json() for verdict in collection))
    if disputed is not None and queue is not None:
        write_disputed(disputed, queue, collection)
    products = by_product(collection)
    decided = decide(collection)
    once = sum(len(own) == 1 for own in products.values())
    counts = {
        "good": sum(decided.values()),
        "not_good": len(decided) - sum(decided.values()),
        "disputed": len(products) - len(decided) - once,
        "read_once": once,
    }
    if json:
        print_json({"out": str(out), "products": len(products), **counts, "reading": reading_facts(collection)})
        return
    readers = ", ".join(dict.fromkeys(verdict.reader for verdict in collection))
    print_line(f"{out}: {len(collection):,} verdicts on {len(products):,} products by {readers}")
    print_line(
        f"good: {counts['good']:,}, not good: {counts['not_good']:,}, disputed: {counts['disputed']:,}, "
        f"read by one only: {counts['read_once']:,}"
    )
