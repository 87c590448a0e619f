"""One way to read problems, whatever they come as: a corpus's name, a file in any shape, a dataset folder, records."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from comdiv.corpora.demo.generate import VERSION, generate
from comdiv.corpora.files import read_records
from comdiv.corpora.hub import hub_source, open_hub
from comdiv.corpora.locate import find_corpus_files
from comdiv.corpora.records import Complaint, NumberWords, ReadReport, build_problem
from comdiv.corpora.registry import DEMO_CORPORA
from comdiv.corpora.rows import restored_record
from comdiv.corpora.shapes import Columns, Convert, DamagedRecord, detect_shape
from comdiv.errors import ComdivError
from comdiv.expression import Constant, evaluate, leaves
from comdiv.files import file_sha256
from comdiv.language import detect_language, get_language
from comdiv.problem import IdSet, Problem

DATASET_FILES = ("train.jsonl", "validation.jsonl", "test.jsonl")
_SAMPLE = 50  # records that decide a corpus's language
_OUR_KEYS = frozenset(["id", "language", "text", "expression"])


@dataclass(frozen=True, slots=True)
class Corpus:
    """A whole corpus in memory: its name, its version, its problems and what happened while they were read."""

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
    """Read everything. `source` is a name (`math23k`, `demo-en`, `hf:owner/name`), a file, or a dataset folder."""
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
    """The corpus's name, version and problems, one at a time; the report is complete when they have been taken."""
    if str(source) in DEMO_CORPORA:
        version = f"demo {VERSION}"
        return str(source), version, _counted(generate(DEMO_CORPORA[str(source)]), report)
    raw: Iterator[tuple[str, Mapping[str, Any]]]
    if not _has_our_files(source) and (hub := hub_source(source)):
        name = hub.name
        version, raw = open_hub(hub)
    else:
        name, paths = locate(source)
        version = _version(paths)
        raw = ((where, record) for path in paths for where, record in read_records(path, report.damaged))
    reader = _Reader(report, name, version, columns, language, number_words)
    return name, version, _unique(reader.problems(raw))


def read_rows(
    rows: Iterable[Mapping[str, Any]],
    columns: Columns | None = None,
    *,
    name: str = "rows",
    language: str | None = None,
) -> Corpus:
    """Problems from mappings such as a Hugging Face `datasets.Dataset`: `read_rows(dataset, Columns("question"))`."""
    if isinstance(rows, Mapping):  # a `datasets.DatasetDict`
        first = next(iter(rows), "train")
        raise ComdivError(f"{name}: these are the parts {', '.join(rows)}, not rows: read one of them, rows['{first}']")
    report = ReadReport()
    records = ((f"{name}, row {number}", row) for number, row in enumerate(rows, start=1))
    reader = _Reader(report, name, "", columns, language, None)
    return Corpus(name, "", tuple(_unique(reader.problems(records))), report)


def _has_our_files(source: str | Path) -> bool:
    return any((Path(source) / file).is_file() for file in DATASET_FILES)


def locate(source: str | Path) -> tuple[str, list[Path]]:
    """The name of a corpus and its files."""
    path = Path(source)
    if path.is_dir():
        found = [path / file for file in DATASET_FILES if (path / file).is_file()]
        if not found:
            raise ComdivError(
                f"{path} is no dataset folder: it has none of {', '.join(DATASET_FILES)} "
                f"(if it is one of Hugging Face's, say hf:{path})"
            )
        filled = [file for file in found if file.stat().st_size]  # a dataset may hold nothing back for validation
        return path.resolve().name, filled or found
    if path.is_file():
        return path.stem, [path]
    if path.suffix or str(source) != path.name:  # ./mine and folder/mine are no names of corpora
        raise ComdivError(f"{path}: no such file")
    return str(source), find_corpus_files(str(source))


def _version(paths: list[Path]) -> str:
    """A version that changes with any byte: the beginning of the files' hashes."""
    joined = " ".join(file_sha256(path) for path in paths)
    digest = joined if len(paths) == 1 else hashlib.sha256(joined.encode()).hexdigest()
    return f"sha256:{digest[:16]}"


@dataclass(slots=True)
class _Reader:
    """Turns the records of one corpus into problems; the first of them decide its shape and its language."""

    report: ReadReport
    name: str
    version: str
    columns: Columns | None
    language: str | None
    number_words: NumberWords | None

    def problems(self, records: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Problem]:
        records = iter(records)
        sample = list(islice(records, _SAMPLE))
        if sample and self.columns is None and sample[0][1].keys() >= _OUR_KEYS:
            for where, record in chain(sample, records):
                if problem := _our_problem(record, where, self.report):
                    yield problem
            return
        if not sample:
            return
        convert = self.columns.convert if self.columns else detect_shape(sample[0][1], sample[0][0]).convert
        # A corpus has one language, even where single texts ("10.6-0.4=?") do not show it.
        self.language = self.language or detect_language(" ".join(str(record) for _, record in sample))
        for number, (where, record) in enumerate(chain(sample, records), start=1):
            if problem := self._problem(convert, record, where, number):
                yield problem

    def _problem(self, convert: Convert, record: Mapping[str, Any], where: str, number: int) -> Problem | None:
        try:
            raw = convert(record, where, number)
        except (KeyError, DamagedRecord) as error:
            reason = f"no column {error}" if isinstance(error, KeyError) else str(error)  # another shape than the first
            self.report.records += 1
            self.report.unreadable.append(Complaint(where, str(record.get("id", number)), reason))
            return None
        raw = raw if self.number_words is None else replace(raw, number_words=self.number_words)
        return build_problem(raw, self.report, corpus=self.name, version=self.version, language=self.language)


def _our_problem(record: Mapping[str, Any], where: str, report: ReadReport) -> Problem | None:
    """A record of our own format; one that is damaged is reported, not passed over in silence."""
    report.records += 1
    try:
        problem = Problem.from_json(restored_record(record))
        quantities = get_language(problem.language).quantities(problem.text, number_words=problem.number_words)
        if problem.expression is not None:
            evaluate(problem.expression, [quantity.value for quantity in quantities])
            _count_leaves(problem, report)
    except ComdivError as error:
        report.unreadable.append(Complaint(where, str(record.get("id", "?")), str(error)))
        return None
    report.problems += 1
    return problem


def _counted(problems: Iterator[Problem], report: ReadReport) -> Iterator[Problem]:
    for problem in problems:
        report.records += 1
        report.problems += 1
        _count_leaves(problem, report)
        yield problem


def _count_leaves(problem: Problem, report: ReadReport) -> None:
    for leaf in leaves(problem.expression) if problem.expression is not None else ():
        if isinstance(leaf, Constant):
            report.constants[leaf.value] += 1
        else:
            report.leaves_aligned += 1


def _unique(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Give a repeated id a suffix, `17#2`: published parts of one corpus number their records anew."""
    seen = IdSet()
    repeats: dict[str, int] = {}
    for problem in problems:
        name = problem.id
        while not seen.add(name):
            repeats[problem.id] = repeats.get(problem.id, 1) + 1
            name = f"{problem.id}#{repeats[problem.id]}"
        yield problem if name == problem.id else replace(problem, id=name)
