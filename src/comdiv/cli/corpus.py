"""How verbs take a corpus: one argument, the same column options everywhere, and every loss said aloud."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from comdiv.cli.console import print_note, tracked
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.corpora import Columns, Corpus, ReadReport

Source = Annotated[
    str,
    typer.Argument(metavar="CORPUS", help="A corpus's name, a file in any shape, a dataset folder, or hf:OWNER/NAME."),
]
TextColumn = Annotated[
    str | None, typer.Option("--text", help="Column with the problem's text, for files of your own.")
]
EquationColumn = Annotated[str | None, typer.Option("--equation", help="Column with the equation or expression.")]
AnswerColumn = Annotated[str | None, typer.Option("--answer", help="Column with the answer.")]
IdColumn = Annotated[str | None, typer.Option("--id-column", help="Column with the id; without it, the line's number.")]
LanguageOption = Annotated[str | None, typer.Option("--language", help="en or zh; told by the text otherwise.")]
NumberWordsOption = Annotated[
    Literal["never", "auto", "always"] | None,
    typer.Option("--number-words", help="Whether numbers written as words count; auto: where an equation needs them."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
CoverOption = Annotated[
    Literal["none", "soft", "hard"],
    typer.Option("--cover", help="Whether an expression should use every quantity of its text."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def named_columns(
    text: str | None, equation: str | None, answer: str | None, id_column: str | None = None
) -> "Columns | None":
    """The user's own columns, if any were named."""
    from comdiv.corpora import Columns

    if text is None:
        if equation or answer or id_column:
            raise ComdivError("name the column with the text, too: --text COLUMN")
        return None
    return Columns(text, equation, answer, id_column)


def load_corpus(source: str, columns: "Columns | None" = None, language: str | None = None) -> "Corpus":
    """Read a corpus with a progress bar, and say what could not be used."""
    from comdiv.corpora import Corpus, ReadReport, open_corpus

    report = ReadReport()
    name, version, problems = open_corpus(source, report, columns=columns, language=language)
    corpus = Corpus(name, version, tuple(tracked(problems, f"reading {name}")), report)
    print_complaints(report, shown=2)
    return corpus


def load_test(source: str, columns: "Columns | None", language: str | None) -> "Corpus":
    """The test problems: of a dataset folder its test.jsonl, of anything else all."""
    folder = Path(source)
    if not folder.is_dir():
        return load_corpus(source, columns, language)
    if not (folder / "test.jsonl").is_file():
        raise ComdivError(f"{folder} has no test.jsonl: name a file, or a dataset folder")
    return replace(load_corpus(str(folder / "test.jsonl"), columns, language), name=folder.resolve().name)


def print_complaints(report: "ReadReport", shown: int = 10) -> None:
    """What could not be used, a line each, the first of them; nothing is lost in silence."""
    for title, complaints in (("not expressible", report.not_expressible), ("unreadable", report.unreadable)):
        for complaint in complaints[:shown]:
            print_note(f"{title}: {complaint}")
        if len(complaints) > shown:
            print_note(f"{title}: … and {len(complaints) - shown} more; `comdiv data stats --json` lists all")
