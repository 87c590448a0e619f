"""The record that every stage passes on: a problem, the quantities in its text, and where it came from.

On disk a corpus is JSON Lines, one problem per line: `id`, `language`, `text`, `expression` (infix over `N0`, `N1`…),
`answer` (exact: `"9"`, `"2/3"`), `provenance`; in a synthesised test set also `composition` and `rule`. Unknown keys
survive a round trip.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from comdiv.errors import ComdivError
from comdiv.expression import Expression, ExpressionError, format_number, parse, parse_answer, to_infix
from comdiv.files import json_line, write_json_lines
from comdiv.loading import read_json_lines

NumberForm = Literal["integer", "decimal", "percent", "fraction", "mixed", "word"]
QuantityKind = Literal["measure", "share", "bare"]
LONGEST_TEXT = 20_000  # characters: ten times the longest word problem of any known corpus
REPETITION = "repetition"  # the operation of an original that an augmented set repeats


class ProblemError(ComdivError):
    """A record that is not a problem. The message names the file, the line and the id as far as they are known."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text: `N0` is the first, `N1` the second. `start` and `end` are character offsets.

    `kind` says what it counts: a measure (with its `unit`), a share of something, a bare number; None where unclear.
    """

    index: int
    value: Fraction
    text: str
    start: int
    end: int
    form: NumberForm
    unit: str | None = None
    kind: QuantityKind | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a problem came from: a corpus and its version, or an operation or rule with its parents' ids."""

    corpus: str = ""
    version: str = ""
    operation: str = ""
    rule: str = ""
    round: int | None = None
    parents: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_product(self) -> bool:
        """Whether a rule or an operation made the problem; a repeated original does not count."""
        return bool(self.rule or self.operation) and self.operation != REPETITION

    def to_json(self) -> dict[str, Any]:
        """Only the fields that are set; details are inlined, so that unknown keys come out as they went in."""
        record: dict[str, Any] = {}
        if self.corpus:
            record["corpus"] = self.corpus
        if self.version:
            record["version"] = self.version
        if self.operation:
            record["operation"] = self.operation
        if self.rule:
            record["rule"] = self.rule
        if self.round is not None:
            record["round"] = self.round
        if self.parents:
            record["parents"] = list(self.parents)
        record.update(self.details)
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Provenance":
        """The inverse of `to_json`; raises `ProblemError` on a known key of the wrong type."""
        known: dict[str, Any] = {}
        for key in ("corpus", "version", "operation", "rule"):
            known[key] = _typed(record, key, str, "")
        known["round"] = _typed(record, "round", int, None)
        parents = _typed(record, "parents", list, [])
        if not all(isinstance(parent, str) for parent in parents):
            raise ProblemError("provenance 'parents' is not a list of ids")
        details = {key: value for key, value in record.items() if key not in known and key != "parents"}
        return cls(**known, parents=tuple(parents), details=details)


_PROVENANCES: dict[str, Provenance] = {}  # a corpus repeats these, too, and they take more memory than its texts
_MOST_PROVENANCES, _LONGEST_SHARED = 4096, 1000


def _provenance(record: Mapping[str, Any]) -> Provenance:
    """The provenance of a record: the same object for equal records."""
    key = repr(record)
    found = _PROVENANCES.get(key)
    if found is None:
        found = Provenance.from_json(record)
        if len(_PROVENANCES) >= _MOST_PROVENANCES:
            _PROVENANCES.clear()
        if len(key) <= _LONGEST_SHARED:
            _PROVENANCES[key] = found
    return found


_answer_once = lru_cache(maxsize=4096)(parse_answer)


def _answer(answer: Any) -> Fraction:
    return _answer_once(answer) if isinstance(answer, str) else parse_answer(answer)


_parse_once = lru_cache(maxsize=4096)(parse)  # a corpus repeats the same expressions many times; trees are immutable


@dataclass(frozen=True, slots=True)
class Problem:
    """A math word problem. `expression` is None where the corpus's equation has no expression within our operators.

    `number_words` says that numbers written as words ("three", 三) count among the quantities of this text. In a
    synthesised test set `composition` says what is new about the problem, `structural` or `lexical`, and `rule` is the
    id of its rule in the table (§III-B); elsewhere they are empty.
    """

    id: str
    language: str
    text: str
    expression: Expression | None = None
    answer: Fraction | None = None
    provenance: Provenance = field(default_factory=Provenance)
    number_words: bool = False
    composition: str = ""
    rule: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The record as it is written to a file."""
        record: dict[str, Any] = {"id": self.id, "language": self.language, "text": self.text}
        record["expression"] = None if self.expression is None else to_infix(self.expression)
        record["answer"] = None if self.answer is None else format_number(self.answer)
        record["provenance"] = self.provenance.to_json()
        if self.number_words:
            record["number_words"] = True
        record.update((key, value) for key, value in self.extra.items() if key not in KEYS)
        record.update((key, value) for key in LABELS if (value := getattr(self, key)))
        return record

    @classmethod
    def from_json(cls, record: Any) -> "Problem":
        """The inverse of `to_json`; raises a `ProblemError` that says what is wrong."""
        if not isinstance(record, dict):
            raise ProblemError("a problem is a JSON object")
        name = _typed(record, "id", str, None)
        if not name:
            raise ProblemError("'id' is missing")
        try:
            _check_length(_typed(record, "text", str, ""))
            expression = _typed(record, "expression", str, None)
            answer = record.get("answer")
            labels, extra = split_labels({key: value for key, value in record.items() if key not in KEYS})
            return cls(
                id=name,
                language=_typed(record, "language", str, "") or _missing("language"),
                text=_typed(record, "text", str, "") or _missing("text"),
                expression=None if expression is None else _parse_once(expression),
                answer=None if answer is None else _answer(answer),
                provenance=_provenance(_typed(record, "provenance", dict, {})),
                number_words=_typed(record, "number_words", bool, False),
                **labels,
                extra=extra,
            )
        except (ProblemError, ExpressionError) as error:
            raise ProblemError(f"problem '{name}': {error}") from error


KEYS = frozenset(["id", "language", "text", "expression", "answer", "provenance", "number_words"])
LABELS = ("composition", "rule")  # if set, written after the unknown keys


def split_labels(extra: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The labels among the extra keys, and the rest. A label is a text; any other value under its key is left alone."""
    labels = {key: value for key in LABELS if isinstance(value := extra.get(key), str) and value}
    return labels, {key: value for key, value in extra.items() if key not in labels}


def _typed(record: Mapping[str, Any], key: str, wanted: type, default: Any) -> Any:
    value = record.get(key)
    if value is None:
        return default
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise ProblemError(f"'{key}' is a {type(value).__name__}, not a {wanted.__name__}")
    return value


def _check_length(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise ProblemError(f"'text' has {len(text):,} characters; the maximum is {LONGEST_TEXT:,}")


def _missing(key: str) -> str:
    raise ProblemError(f"'{key}' is missing")


def read_problems(path: Path) -> Iterator[Problem]:
    """The problems of a JSON Lines file, one at a time; ids must be unique."""
    names: set[str] = set()
    for number, record in _records(path):
        try:
            problem = Problem.from_json(record)
        except ProblemError as error:
            raise ProblemError(f"{path}, line {number}: {error}") from error
        if problem.id in names:
            raise ProblemError(f"{path}, line {number}: the id '{problem.id}' occurs twice")
        names.add(problem.id)
        yield problem


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        yield from read_json_lines(path)
    except ComdivError as error:
        raise ProblemError(str(error)) from error


def write_problems(path: Path, problems: Iterable[Problem]) -> int:
    """Write problems as JSON Lines, atomically and one at a time; returns how many."""
    return write_json_lines(path, (problem.to_json() for problem in problems))


def problem_line(problem: Problem) -> str:
    """A problem as a line of a JSON Lines file, without the line break."""
    return json_line(problem.to_json())
