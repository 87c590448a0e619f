"""The shapes in which the public corpora come, recognised by their content, not by their file names.

A shape says which keys a record has and how it becomes a `RawRecord`. Everything that is read from JSON or CSV is first
a plain mapping; ASDiv's XML is made one.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from comdiv.corpora.gsm8k import compose_steps, final_answer
from comdiv.corpora.records import NumberWords, RawRecord
from comdiv.errors import ComdivError
from comdiv.expression import ExpressionError, format_number
from comdiv.language import get_language
from comdiv.registry import FORMATS

Record = Mapping[str, Any]
Convert = Callable[[Record, str, int], RawRecord]  # a record, its place, its number
_NUMBER_NAME = re.compile(r"\bnumber([0-9]{1,4})\b")
_ANSWER_NUMBER = re.compile(r"\s*([-+]?[\d.,]+(?:/\d+)?%?)\s*(?:\([^)]*\)\s*)?")


class DamagedRecord(ComdivError):  # noqa: N818  (it is counted and read past, not an end)
    """A record that cannot be completed to a text; the message says why."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A known shape: its name for people, the keys that tell it, and the conversion of one record.

    Keys that others have, too, need a further `mark`: a sign in a record that it is of this shape.
    """

    name: str
    keys: frozenset[str]
    convert: Convert
    mark: Callable[[Record], bool] = lambda record: True

    def fits(self, record: Record) -> bool:
        """Whether a record is of this shape."""
        return self.keys <= record.keys() and self.mark(record)


@dataclass(frozen=True, slots=True)
class Columns:
    """A user's own column names. Only the text is needed: without an equation a problem can still be solved."""

    text: str
    equation: str | None = None
    answer: str | None = None
    id: str | None = None
    number_words: NumberWords = "auto"

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        """The raw record of a mapping; a column that the first one lacks is an error that lists those there are."""
        named = [name for name in (self.text, self.equation, self.answer, self.id) if name is not None]
        missing = [name for name in named if name not in record]
        if missing and number == 1:
            raise ComdivError(f"{where}: no column '{missing[0]}'; there are: {', '.join(map(str, record))}")
        name = record.get(self.id) if self.id else None
        return RawRecord(
            id=_id(record, number) if name in (None, "") else str(name),
            text=record[self.text],
            where=where,
            equation=_text(record.get(self.equation)) if self.equation else None,
            answer=record.get(self.answer) if self.answer else None,
            number_words=self.number_words,
            extra={key: value for key, value in record.items() if key not in named and (self.id or key != "id")},
        )


def _id(record: Record, number: int) -> str:
    return str(record["id"]) if record.get("id") not in (None, "") else str(number)


def _rest(record: Record, *taken: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in taken}


def _mwptoolkit(record: Record, where: str, number: int) -> RawRecord:
    """Math23K, Ape210K and MWPToolkit: the equation as text, the answer as text or number."""
    extra = _rest(record, "id", "original_text", "segmented_text", "equation", "ans")
    return RawRecord(
        _id(record, number), record["original_text"], where, _text(record["equation"]), record["ans"], extra=extra
    )


def _mawps_original(record: Record, where: str, number: int) -> RawRecord:
    """The first MAWPS release: lists of equations and solutions."""
    equations, solutions = record["lEquations"], record["lSolutions"]
    equation = "; ".join(map(str, equations)) if isinstance(equations, list) else _text(equations)
    answer = solutions[0] if isinstance(solutions, list) and solutions else None
    extra = _rest(record, "iIndex", "sQuestion", "lEquations", "lSolutions")
    return RawRecord(str(record.get("iIndex", number)), record["sQuestion"], where, equation, answer, extra=extra)


def joined_text(body: Any, question: Any) -> str:
    """Body and question as one text; a body without a full stop ("If …") goes on with a comma."""
    body, question = str(body or "").strip(), str(question or "").strip()
    return f"{body}{' ' if body[-1:] in '.?!;:,' else ', '}{question}" if body and question else body or question


def _svamp(record: Record, where: str, number: int) -> RawRecord:
    extra = _rest(record, "ID", "Body", "Question", "Equation", "Answer")
    text = joined_text(record["Body"], record["Question"])
    return RawRecord(
        str(record.get("ID", number)), text, where, _text(record["Equation"]), record["Answer"], extra=extra
    )


def _svamp_csv(record: Record, where: str, number: int) -> RawRecord:
    """SVAMP-style CSV: `number0` in text and (prefix) equation, its value in another column."""
    try:
        values = [format_number(Fraction(value)) for value in str(record["Numbers"]).split()]
    except (ValueError, ZeroDivisionError) as error:
        raise DamagedRecord(f"numbers {str(record['Numbers'])[:80]}: {error}") from error
    pieces: list[str] = []
    starts: dict[str, int] = {}  # where each number stands in the text
    template, position, length = str(record["Question"]), 0, 0
    for match in _NUMBER_NAME.finditer(template):
        if int(match[1]) >= len(values):
            raise DamagedRecord(f"{match[0]} in the text, but only {len(values)} numbers")
        before = template[position : match.start()]
        starts.setdefault(match[1], length + len(before))
        pieces += [before, values[int(match[1])]]
        length += len(before) + len(pieces[-1])
        position = match.end()
    text = "".join([*pieces, template[position:]])
    quantities = {quantity.start: quantity for quantity in get_language("en").quantities(text)}

    def reference(match: re.Match[str]) -> str:
        if int(match[1]) >= len(values):
            return match[0]  # no operand, as the parser will say
        value = values[int(match[1])]
        quantity = quantities.get(starts.get(match[1], -1))
        same = quantity is not None and quantity.value == Fraction(value)  # `number0 %` is another value
        return f"N{quantity.index}" if quantity and same else value

    equation = _NUMBER_NAME.sub(reference, str(record["Equation"]))
    extra = _rest(record, "Question", "Numbers", "Equation", "Answer", "")
    return RawRecord(_id(record, number), text, where, equation, record["Answer"], notation="prefix", extra=extra)


def _gsm8k(record: Record, where: str, number: int) -> RawRecord:
    solution = str(record["answer"])
    equation, reason = None, ""
    try:
        equation = compose_steps(solution)
    except ExpressionError as error:
        reason = str(error)
    return RawRecord(
        _id(record, number),
        record["question"],
        where,
        equation,
        final_answer(solution),
        number_words="auto",
        no_expression=reason,
        extra=_rest(record, "id", "question", "answer"),
    )


def _asdiv(record: Record, where: str, number: int) -> RawRecord:
    """ASDiv: `9 (apples)` and `7+2=9`; numbers in the text may be words."""
    formula = str(record.get("Formula") or "")
    left, _, _ = formula.partition("=")
    has_unknown = bool(re.search(r"[A-Za-z]", formula))
    several = formula.count("=") > 1 or ";" in formula
    answer = _ANSWER_NUMBER.fullmatch(str(record.get("Answer") or ""))
    extra = _rest(record, "ID", "Body", "Question", "Formula", "Answer")
    return RawRecord(
        str(record.get("ID", number)),
        joined_text(record.get("Body"), record.get("Question")),
        where,
        formula if has_unknown or several else left or None,
        answer[1] if answer else record.get("Answer"),
        number_words="auto",
        extra=extra,
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


MWPTOOLKIT = Shape("MWPToolkit (Math23K, Ape210K, MAWPS)", frozenset(["original_text", "equation", "ans"]), _mwptoolkit)
MAWPS = Shape("MAWPS, first release", frozenset(["sQuestion", "lEquations", "lSolutions"]), _mawps_original)
SVAMP_CSV = Shape("SVAMP-style CSV", frozenset(["Question", "Numbers", "Equation", "Answer"]), _svamp_csv)
SVAMP = Shape("SVAMP", frozenset(["Body", "Question", "Equation", "Answer"]), _svamp)
ASDIV = Shape("ASDiv", frozenset(["Body", "Question", "Formula", "Answer"]), _asdiv)
GSM8K = Shape("GSM8K", frozenset(["question", "answer"]), _gsm8k, lambda record: "####" in str(record["answer"]))


def detect_shape(record: Record, where: str) -> Shape:
    """The shape of a record by its keys; an unknown one is an error that says how to name the columns."""
    for _, shape in FORMATS.items():
        if shape.fits(record):
            return shape
    raise ComdivError(
        f"{where}: no known shape; its columns are {', '.join(map(str, record))}. "
        "Name them with --text, --equation and --answer"
    )
