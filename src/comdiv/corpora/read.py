"""One way to read problems from anything: a corpus's name, a file in any format, a dataset folder, records.

Nothing is lost silently: a record becomes a problem, or a line of the report says why not.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path
from typing import Any

from comdiv.corpora.demo import VERSION, generate
from comdiv.corpora.formats import (
    Columns,
    DamagedRecord,
    Format,
    NumberWords,
    RawRecord,
    detect_format,
    read_records,
)
from comdiv.corpora.hub import hub_source, open_hub, restored_record
from comdiv.corpora.published import DEMO_CORPORA, find_corpus_files
from comdiv.corpora.record_files import Record
from comdiv.corpora.steps import align_steps
from comdiv.errors import ComdivError, shortened
from comdiv.expression import (
    Constant,
    ExpressionError,
    NotExpressible,
    leaves,
    parse_answer,
    parse_equation,
    parse_prefix,
    used_quantities,
    value_of,
)
from comdiv.expression.scanning import plain_signs
from comdiv.files import file_sha256
from comdiv.language import Alignment, align, detect_language
from comdiv.problem import KEYS, LONGEST_TEXT, Problem, Provenance, split_labels
from comdiv.reading import read, read_text

DATASET_FILES = ("train.jsonl", "validation.jsonl", "test.jsonl")
LONGEST_NAME = 255  # bytes of a file's name, on every usual file system
_CURRENCY = re.compile(r"[$€£¥￥]\s*")
_WITH_REMAINDER = re.compile(r"\d\s*r(?:em(?:ainder)?)?\.?\s*\d", re.IGNORECASE)
_LONGEST_ANSWER = 200  # characters of an answer with its unit; a longer text is not an answer
_SAMPLE = 50  # records that decide a corpus's language
_OUR_KEYS = frozenset(["id", "language", "text", "expression"])
_COMMON_CONSTANTS = frozenset([Fraction(1), Fraction(314, 100)])


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something in a corpus that could not be used, and why."""

    where: str
    id: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}, id {self.id}: {self.reason}"


@dataclass(slots=True)
class ReadReport:
    """What happened while a corpus was read; filled as its problems are consumed.

    `unreadable` records have no text, or an equation or answer that cannot be parsed; `not_expressible` ones have an
    equation that gives no expression for its unknown. Both are kept as problems if they have a text. `contradicting`
    are the ids of problems that were left out because their expression does not give their answer.
    """

    records: int = 0
    problems: int = 0
    leaves_aligned: int = 0
    constants: Counter[Fraction] = field(default_factory=Counter)
    unreadable: list[Complaint] = field(default_factory=list)
    not_expressible: list[Complaint] = field(default_factory=list)
    contradicting: list[str] = field(default_factory=list)  # ids of problems left out

    def without_contradictions(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """The problems whose expression does not contradict their answer; the ids of the others go into the report."""
        for problem in problems:
            if read(problem).contradicts:
                self.contradicting.append(problem.id)
            else:
                yield problem

    def complain(self, where: str, reason: str, name: str = "?") -> None:
        """Take note of something that is not a record."""
        self.records += 1
        self.unreadable.append(Complaint(where, name, reason))

    def count(self, problem: Problem) -> Problem:
        """Count a problem that was already in our own format, with the leaves of its expression."""
        self.records += 1
        self.problems += 1
        for leaf in leaves(problem.expression) if problem.expression is not None else ():
            if isinstance(leaf, Constant):
                self.constants[leaf.value] += 1
            else:
                self.leaves_aligned += 1
        return problem


@dataclass(frozen=True, slots=True)
class Corpus:
    """A whole corpus in memory: its name, version and problems, and the report on reading them."""

    name: str
    version: str
    problems: tuple[Problem, ...]
    report: ReadReport


def read_corpus(
    source: str | Path,
    *,
    columns: Columns | None = None,
    language: str | None = None,
    number_words: NumberWords | None = None,
) -> Corpus:
    """Read a whole corpus. `source` is a name (`math23k`, `demo-en`, `hf:owner/name`), a file or a dataset folder."""
    report = ReadReport()
    name, version, problems = open_corpus(source, report, columns=columns, language=language, number_words=number_words)
    return Corpus(name, version, tuple(problems), report)


def open_corpus(
    source: str | Path,
    report: ReadReport,
    *,
    columns: Columns | None = None,
    language: str | None = None,
    number_words: NumberWords | None = None,
) -> tuple[str, str, Iterator[Problem]]:
    """The corpus's name and version, and its problems one at a time; the report is complete once all are consumed."""
    if str(source) in DEMO_CORPORA:
        return str(source), f"demo {VERSION}", map(report.count, generate(DEMO_CORPORA[str(source)]))
    _check_length(source)
    records: Iterator[tuple[str, Record]]
    if not _has_our_files(source) and (hub := hub_source(source)):
        name = hub.name
        version, records = open_hub(hub)
    else:
        name, paths = locate(source)
        version = _version(paths)
        records = chain.from_iterable(read_records(path, report.complain) for path in paths)
    reader = _CorpusReader(report, name, version, columns, language, number_words)
    return name, version, _unique(reader.problems(records))


def read_rows(
    rows: Iterable[Record], columns: Columns | None = None, *, name: str = "rows", language: str | None = None
) -> Corpus:
    """Problems from mappings such as a Hugging Face `datasets.Dataset`: `read_rows(dataset, Columns("question"))`."""
    if isinstance(rows, Mapping):  # a `datasets.DatasetDict`
        first = next(iter(rows), "train")
        raise ComdivError(f"{name}: these are the parts {', '.join(rows)}, not rows: read one of them, rows['{first}']")
    report = ReadReport()
    records = ((f"{name}, row {number}", row) for number, row in enumerate(rows, start=1))
    reader = _CorpusReader(report, name, "", columns, language, None)
    return Corpus(name, "", tuple(_unique(reader.problems(records))), report)


def locate(source: str | Path) -> tuple[str, list[Path]]:
    """The name of a corpus and its files."""
    _check_length(source)
    path = Path(source)
    if path.is_dir():
        parts = [path / file for file in DATASET_FILES if (path / file).is_file()]
        if not parts:
            raise ComdivError(
                f"{path} is not a dataset folder: it has none of {', '.join(DATASET_FILES)} "
                f"(for a Hugging Face dataset, write hf:{path})"
            )
        filled = [file for file in parts if file.stat().st_size]  # a dataset may have no validation problems
        return path.resolve().name, filled or parts
    if path.is_file():
        return path.stem, [path]
    if path.suffix or str(source) != path.name:  # ./mine and folder/mine are not names of corpora
        raise ComdivError(f"{path}: no such file")
    return str(source), find_corpus_files(str(source))


def _check_length(source: str | Path) -> None:
    """Refuse names too long for any file system."""
    if any(len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in Path(source).parts):
        raise ComdivError(f"{shortened(str(source), 60)}: no such file, and no corpus has a name this long")


def _has_our_files(source: str | Path) -> bool:
    return any((Path(source) / file).is_file() for file in DATASET_FILES)


def _version(paths: list[Path]) -> str:
    """A version that changes with any byte: a prefix of the files' hash."""
    joined = " ".join(file_sha256(path) for path in paths)
    digest = joined if len(paths) == 1 else hashlib.sha256(joined.encode()).hexdigest()
    return f"sha256:{digest[:16]}"


def _unique(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Give a repeated id a suffix, `17#2`: the published parts of a corpus may each number their records from 1."""
    names: set[str] = set()
    repeats: Counter[str] = Counter()
    for problem in problems:
        name = problem.id
        while name in names:
            repeats[problem.id] += 1
            name = f"{problem.id}#{repeats[problem.id] + 1}"
        names.add(name)
        yield problem if name == problem.id else replace(problem, id=name)


@dataclass(slots=True)
class _CorpusReader:
    """Turns the records of one corpus into problems; the first of them decide its format and its language."""

    report: ReadReport
    name: str
    version: str
    columns: Columns | None
    language: str | None
    number_words: NumberWords | None

    def problems(self, records: Iterable[tuple[str, Record]]) -> Iterator[Problem]:
        records = iter(records)
        sample = list(islice(records, _SAMPLE))
        if not sample:
            return
        where, first = sample[0]
        if self.columns is None and first.keys() >= _OUR_KEYS:
            problems = (self._our_problem(record, where) for where, record in chain(sample, records))
        else:
            form = self.columns or detect_format(first, where)
            # A corpus has one language, even where single texts ("10.6-0.4=?") do not show it.
            self.language = self.language or detect_language(" ".join(str(record) for _, record in sample))
            problems = (
                self._problem(form, record, where, number)
                for number, (where, record) in enumerate(chain(sample, records), start=1)
            )
        yield from filter(None, problems)

    def _our_problem(self, record: Record, where: str) -> Problem | None:
        """The problem of a record in our own format; a damaged one is reported, not silently skipped."""
        try:
            problem = Problem.from_json(restored_record(record))
            values = read(problem).values
            if problem.expression is not None:
                value_of(problem.expression, values)
        except ComdivError as error:
            self.report.complain(where, str(error), str(record.get("id", "?")))
            return None
        return self.report.count(problem)

    def _problem(self, form: Format | Columns, record: Record, where: str, number: int) -> Problem | None:
        try:
            raw = form.convert(record, where, number)
        except (KeyError, DamagedRecord) as error:
            reason = f"no column {error}" if isinstance(error, KeyError) else str(error)  # not as the first
            self.report.complain(where, reason, str(record.get("id", number)))
            return None
        raw = raw if self.number_words is None else replace(raw, number_words=self.number_words)
        return build_problem(raw, self.report, corpus=self.name, version=self.version, language=self.language)


def build_problem(
    record: RawRecord, report: ReadReport, *, corpus: str, version: str, language: str | None = None
) -> Problem | None:
    """The problem of a raw record, or None if it has no text. Every loss is entered in the report."""
    text = record.text.strip() if isinstance(record.text, str) else ""
    if not text:
        report.complain(record.where, "no text", record.id)
        return None
    if len(text) > LONGEST_TEXT:
        report.complain(
            record.where, f"the text has {len(text):,} characters; at most {LONGEST_TEXT:,} are allowed", record.id
        )
        return None
    report.records += 1
    code = language or detect_language(text)
    record = replace(record, equation=_joined_equations(record.equation))
    answer, several = _answer(record, report)
    alignment, number_words = _aligned(record, text, code, report)
    if several and (alignment is not None or not (record.equation or record.no_expression)):
        report.not_expressible.append(Complaint(record.where, record.id, several))
        alignment = None
    # A column that has the name of one of our keys, but is not what we read, keeps its value under another name.
    extra = {f"corpus_{key}" if key in KEYS else key: value for key, value in record.extra.items()}
    if alignment is None and record.equation and record.notation != "steps":
        extra["equation"] = record.equation
    elif alignment is not None:
        report.leaves_aligned += alignment.aligned
        report.constants.update(alignment.constants)
    report.problems += 1
    labels, extra = split_labels(extra)
    return Problem(
        id=record.id,
        language=code,
        text=text,
        expression=alignment.expression if alignment else None,
        answer=answer,
        provenance=Provenance(corpus=corpus, version=version),
        number_words=number_words,
        **labels,
        extra=extra,
    )


def _joined_equations(equation: Any) -> str | None:
    """An equation as text; those of a system are joined. A list of one is its item; a missing or blank one is None."""
    if isinstance(equation, list | tuple):
        equation = "; ".join(str(part) for part in equation if _is_given(part))
    return str(equation) if _is_given(equation) else None


def _is_given(value: Any) -> bool:
    missing = value is None or (isinstance(value, float) and value != value)  # NaN: an empty cell of a table
    return not missing and str(value).strip().lower() not in ("", "nan", "null", "none")


def _answer(record: RawRecord, report: ReadReport) -> tuple[Fraction | None, str]:
    """The answer if it is a single number; otherwise a text that says what the record has."""
    answer = record.answer
    while isinstance(answer, list | tuple) and len({str(item) for item in answer}) == 1:
        answer = answer[0]
    if isinstance(answer, list | tuple):
        return None, f"{len(answer)} answers: {', '.join(map(str, answer))[:80]}" if answer else ""
    if not _is_given(answer):
        return None, ""
    try:
        return parse_answer(answer), ""
    except ExpressionError as error:
        numbers = read_text(_CURRENCY.sub("", plain_signs(str(answer))), "en").numbers
        if _WITH_REMAINDER.search(str(answer)):
            return None, f"a quotient and a remainder: {str(answer)[:80]}"
        if len(numbers) == 1 and len(str(answer)) < _LONGEST_ANSWER:
            return numbers[0].value, ""
        if len(numbers) > 1:
            return None, f"{len(numbers)} answers: {str(answer)[:80]}"
        report.unreadable.append(Complaint(record.where, record.id, f"answer {answer!r}: {error}"))
        return None, ""


def _aligned(record: RawRecord, text: str, code: str, report: ReadReport) -> tuple[Alignment | None, bool]:
    """The equation aligned to the text's quantities, and whether number words count among them."""
    if record.no_expression:
        report.not_expressible.append(Complaint(record.where, record.id, record.no_expression))
    if not record.equation or record.no_expression:
        return None, record.number_words == "always"
    try:
        if record.number_words != "auto":
            words = record.number_words == "always"
            return _alignment(record, text, code, number_words=words), words
        if record.notation == "steps":  # a step may mean a number word
            with_words = _alignment(record, text, code, number_words=True)
            words = _uses_words(with_words, text, code)
            return with_words if words else _alignment(record, text, code, number_words=False), words
        without = _alignment(record, text, code, number_words=False)
        if not _foreign(without):
            return without, False
        with_words = _alignment(record, text, code, number_words=True)
        words = _foreign(with_words) < _foreign(without)
        return with_words if words else without, words
    except ExpressionError as error:
        complaints = report.not_expressible if isinstance(error, NotExpressible) else report.unreadable
        equation = "" if record.notation == "steps" else f"equation {record.equation[:80]}: "
        complaints.append(Complaint(record.where, record.id, f"{equation}{error}"))
    return None, False


def _alignment(record: RawRecord, text: str, code: str, *, number_words: bool) -> Alignment:
    reading = read_text(text, code, number_words=number_words)
    if record.notation == "steps":
        return align_steps(record.equation or "", reading)
    equation = (
        parse_prefix(record.equation or "")
        if record.notation == "prefix"
        else parse_equation(record.equation or "", fractions_are_leaves=True)
    )
    alignment = align(equation, reading.language, text, reading.plain_quantities)
    value_of(alignment.expression, reading.values)  # refuses N7 in a text without it
    return alignment


def _uses_words(alignment: Alignment, text: str, code: str) -> bool:
    """Whether an expression over a text's digits and number words uses any of the words."""
    quantities = read_text(text, code, number_words=True).plain_quantities
    return any(quantities[index].form == "word" for index in used_quantities(alignment.expression))


def _foreign(alignment: Alignment) -> int:
    """The number of constants that are not common to all corpora."""
    return sum(constant not in _COMMON_CONSTANTS for constant in alignment.constants)
