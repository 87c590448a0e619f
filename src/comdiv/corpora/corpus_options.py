"""How verbs take a corpus: one argument, the same column options everywhere, and a report of every loss."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from comdiv.corpora.formats import Columns, NumberWords
from comdiv.corpora.read import Corpus, ReadReport, open_corpus
from comdiv.errors import ComdivError
from comdiv.observer import SILENT, Observer
from comdiv.problem import Problem
from comdiv.settings import Option, Settings

Contradictions = Literal["keep", "drop"]


class CorpusOptions(Settings):
    """How a corpus is read where its columns and texts do not say."""

    text: str | None = Field(default=None, description="Column with the problem's text, for files of your own.")
    equation: str | None = Field(default=None, description="Column with the equation or expression.")
    answer: str | None = Field(default=None, description="Column with the answer.")
    id: Annotated[str | None, Option(key="id_column")] = Field(
        default=None, description="Column with the id; the line number if there is none."
    )
    language: str | None = Field(
        default=None, description="Code of the language, such as en or zh; detected if not given."
    )
    contradictions: Contradictions | None = Field(
        default=None,
        description="Keep or drop problems whose expression does not give their answer; only `split` drops by default.",
    )
    number_words: NumberWords | None = Field(
        default=None, description="Whether numbers written as words count; auto: only where an equation needs them."
    )

    @property
    def columns(self) -> Columns | None:
        """The user's own columns, if any were named."""
        if self.text is None:
            if self.equation or self.answer or self.id:
                raise ComdivError("name the column with the text, too: --text COLUMN")
            return None
        return Columns(self.text, self.equation, self.answer, self.id)


AS_IT_COMES = CorpusOptions()


def open_source(
    source: str | Path, reading: CorpusOptions = AS_IT_COMES, contradictions: Contradictions = "keep"
) -> tuple[str, str, Iterable[Problem], ReadReport]:
    """A corpus's name, version, problems and report; the report is complete once all problems have been consumed.

    `contradictions` is the verb's default.
    """
    report = ReadReport()
    name, version, problems = open_corpus(
        source, report, columns=reading.columns, language=reading.language, number_words=reading.number_words
    )
    if (reading.contradictions or contradictions) == "drop":
        problems = report.without_contradictions(problems)
    return name, version, problems, report


def load_corpus(
    source: str | Path | Corpus,
    reading: CorpusOptions = AS_IT_COMES,
    observer: Observer = SILENT,
    contradictions: Contradictions = "keep",
) -> Corpus:
    """Read a corpus and report what could not be used."""
    if isinstance(source, Corpus):
        return source
    name, version, problems, report = open_source(source, reading, contradictions)
    corpus = Corpus(name, version, tuple(observer.tracked(problems, f"reading {name}")), report)
    note_complaints(report, observer, shown=2)
    return corpus


def load_test(source: str | Path | Corpus, reading: CorpusOptions = AS_IT_COMES, observer: Observer = SILENT) -> Corpus:
    """The test problems: test.jsonl of a dataset folder, or all problems of any other corpus."""
    if isinstance(source, Corpus) or not Path(source).is_dir():
        return load_corpus(source, reading, observer)
    folder = Path(source)
    if not (folder / "test.jsonl").is_file():
        raise ComdivError(f"{folder} has no test.jsonl: name a file, or a dataset folder")
    return replace(load_corpus(folder / "test.jsonl", reading, observer), name=folder.resolve().name)


def note_complaints(report: ReadReport, observer: Observer, shown: int = 10) -> None:
    """Report what could not be used, one line per complaint for the first few; nothing is lost silently."""
    for title, complaints in (("not expressible", report.not_expressible), ("unreadable", report.unreadable)):
        for complaint in complaints[:shown]:
            observer.note(f"{title}: {complaint}")
        if len(complaints) > shown:
            observer.note(f"{title}: … and {len(complaints) - shown} more; `comdiv data stats --json` lists all")
    if report.contradicting:
        names = f"{', '.join(report.contradicting[:5])}{' …' if len(report.contradicting) > 5 else ''}"
        observer.note(
            f"{len(report.contradicting)} of {report.problems} problems left out: their expression contradicts their "
            f"answer ({names}); --contradictions keep keeps them"
        )
