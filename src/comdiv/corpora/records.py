"""What every reader gives and what becomes of it: a problem, or a line that says why not."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from comdiv.expression import (
    Expression,
    ExpressionError,
    NotExpressible,
    evaluate,
    parse_answer,
    parse_equation,
    parse_prefix,
)
from comdiv.language import Alignment, align, detect_language, get_language
from comdiv.problem import KEYS, Problem, Provenance

Notation = Literal["infix", "prefix"]
NumberWords = Literal["never", "auto", "always"]
_COMMON_CONSTANTS = frozenset([Fraction(1), Fraction(314, 100)])


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as its corpus gives it. `where` names file and line or place, for messages."""

    id: str
    text: str
    where: str
    equation: str | None = None
    answer: Any = None
    notation: Notation = "infix"
    number_words: NumberWords = "never"
    no_expression: str = ""  # why the record has an answer, but no equation that could be read
    extra: Mapping[str, Any] = field(default_factory=dict)


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
    """What happened while a corpus was read; filled as its problems are taken.

    `unreadable` records have no text, or an equation or answer that is no expression; `not_expressible` ones have an
    equation without an expression for its unknown. Both are kept as problems wherever they have a text.
    """

    records: int = 0
    problems: int = 0
    leaves_aligned: int = 0
    constants: Counter[Fraction] = field(default_factory=Counter)
    unreadable: list[Complaint] = field(default_factory=list)
    not_expressible: list[Complaint] = field(default_factory=list)

    def damaged(self, where: str, reason: str) -> None:
        """Take note of a line that is no record."""
        self.records += 1
        self.unreadable.append(Complaint(where, "?", reason))


def build_problem(
    record: RawRecord, report: ReadReport, *, corpus: str, version: str, language: str | None = None
) -> Problem | None:
    """The problem of a raw record; None where there is no text. Every loss is entered in the report."""
    report.records += 1
    text = record.text.strip() if isinstance(record.text, str) else ""
    if not text:
        report.unreadable.append(Complaint(record.where, record.id, "no text"))
        return None
    code = language or detect_language(text)
    alignment, number_words = _aligned(record, text, code, report)
    # A column that is called as one of ours, but is not what we read, keeps its value under another name.
    extra = {f"corpus_{key}" if key in KEYS else key: value for key, value in record.extra.items()}
    if alignment is None and record.equation:
        extra["equation"] = record.equation
    elif alignment is not None:
        report.leaves_aligned += alignment.aligned
        report.constants.update(alignment.constants)
    report.problems += 1
    return Problem(
        id=record.id,
        language=code,
        text=text,
        expression=alignment.expression if alignment else None,
        answer=_answer(record, report),
        provenance=Provenance(corpus=corpus, version=version),
        number_words=number_words,
        extra=extra,
    )


def _answer(record: RawRecord, report: ReadReport) -> Fraction | None:
    if record.answer is None or record.answer == "":
        return None
    try:
        return parse_answer(record.answer)
    except ExpressionError as error:
        report.unreadable.append(Complaint(record.where, record.id, f"answer {record.answer!r}: {error}"))
        return None


def _aligned(record: RawRecord, text: str, code: str, report: ReadReport) -> tuple[Alignment | None, bool]:
    """The equation over the text's quantities, and whether number words are among them."""
    if record.no_expression:
        report.not_expressible.append(Complaint(record.where, record.id, record.no_expression))
    if not record.equation:
        return None, record.number_words == "always"
    try:
        if record.notation == "prefix":
            equation = parse_prefix(record.equation)
        else:
            equation = parse_equation(record.equation, fractions_are_leaves=True)
        without = _alignment(equation, text, code, number_words=False)
        if record.number_words == "never" or (record.number_words == "auto" and not _foreign(without)):
            return without, False
        with_words = _alignment(equation, text, code, number_words=True)
        if record.number_words == "always" or _foreign(with_words) < _foreign(without):
            return with_words, True
        return without, False
    except NotExpressible as error:
        report.not_expressible.append(Complaint(record.where, record.id, f"equation {record.equation[:80]}: {error}"))
    except ExpressionError as error:
        report.unreadable.append(Complaint(record.where, record.id, f"equation {record.equation[:80]}: {error}"))
    return None, False


def _alignment(equation: Expression, text: str, code: str, *, number_words: bool) -> Alignment:
    language = get_language(code)
    quantities = language.quantities(text, number_words=number_words)
    alignment = align(equation, language, text, quantities)
    evaluate(alignment.expression, [quantity.value for quantity in quantities])  # refuses N7 in a text without it
    return alignment


def _foreign(alignment: Alignment) -> int:
    """How many constants there are that no corpus takes for granted."""
    return sum(constant not in _COMMON_CONSTANTS for constant in alignment.constants)
