"""`comdiv export`: one command for every export that the registry knows, with an option for each of its settings."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command_from_info
from typer.models import CommandInfo

from comdiv.cli.console import SuggestingGroup, print_json, print_note, progress_of
from comdiv.cli.corpus import (
    AnswerColumn,
    EquationColumn,
    IdColumn,
    JsonOption,
    LanguageOption,
    Source,
    TextColumn,
    load_corpus,
    load_test,
    named_columns,
)
from comdiv.cli.options import Options, expanded, takes
from comdiv.registry import EXPORTS

if TYPE_CHECKING:
    from comdiv.exchange import Export, ExportSource
    from comdiv.settings import Settings


class ExportGroup(SuggestingGroup):
    """The exports by name; each is loaded when it is called, all of them for the help."""

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
        """The commands as the reference describes them."""
        return map(_command, EXPORTS.names())


export_app = typer.Typer(cls=ExportGroup, no_args_is_help=True, help="Take datasets and problems elsewhere.")


def _command(name: str) -> CommandInfo:
    export = EXPORTS.get(name)()
    epilog = f"Example: {export.example}" if export.example else None
    return CommandInfo(name=name, callback=_verb(export), epilog=epilog, context_settings={})


def _verb(export: "Export") -> Callable[..., None]:
    """A function with the export's parameters, as typer reads them."""
    folder = Annotated[Path, typer.Argument(metavar="FOLDER", help=export.folder_help)]
    out_option = Annotated[Path, typer.Option("--out", help=export.out_help)]
    force_option = Annotated[bool, typer.Option("--force", help=export.force_help)]

    def of_folder(
        folder: folder,
        out: out_option,
        settings: Any,
        force: force_option = False,
        json: JsonOption = False,
    ) -> None:
        from comdiv.exchange import ExportSource

        _write(export, ExportSource(folder), out, settings, force=force, json=json)

    def of_corpus(
        source: Source,
        out: out_option,
        settings: Any,
        text: TextColumn = None,
        equation: EquationColumn = None,
        answer: AnswerColumn = None,
        id_column: IdColumn = None,
        language: LanguageOption = None,
        force: force_option = False,
        json: JsonOption = False,
    ) -> None:
        from comdiv.exchange import ExportSource

        columns = named_columns(text, equation, answer, id_column)
        tests_only = export.reads == "test"
        corpus = (load_test if tests_only else load_corpus)(source, columns, language)
        training = Path(source) / "train.jsonl"
        reads_training = tests_only and training.is_file()
        train = load_corpus(str(training), columns, language).problems if reads_training else None
        what = ExportSource(Path(source), corpus.name, corpus.problems, train)
        _write(export, what, out, settings, force=force, json=json)

    verb: Callable[..., None] = of_folder if export.reads == "folder" else of_corpus
    verb.__doc__ = export.__doc__
    settings = type(export).settings
    return expanded(takes(settings=Options(f"{settings.__module__}:{settings.__qualname__}"))(verb))


def _write(
    export: "Export", source: "ExportSource", out: Path, settings: "Settings", *, force: bool, json: bool
) -> None:
    with progress_of("exporting") as progress:
        facts = export.write(source, out, settings, force=force, progress=progress, note=print_note)
    if json:
        print_json({"out": str(out), **facts})
        return
    typer.echo(f"{out}: {', '.join(export.sizes(source, facts))}")
    if "pushed" in facts:
        typer.echo(facts["pushed"])
