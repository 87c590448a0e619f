"""Corpus formats: the forms of the public corpora, recognised by content rather than by file name.

A format says how it is recognised and how one of its records becomes a `RawRecord`. Most are JSON or CSV records,
recognised by their keys; a format with a syntax of its own (ASDiv's XML) also reads the files. Packages add formats
with an entry point of the group `comdiv.formats` that names a subclass of `Format`.
"""

import io
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from comdiv.corpora.record_files import Complain, Record, Records, read_text_file, text_records
from comdiv.corpora.steps import final_answer
from comdiv.errors import ComdivError, disk_errors
from comdiv.expression import TOLERANCE, ExpressionError, answers_agree, format_number, parse, parse_answer, value_of
from comdiv.expression.scanning import plain_signs
from comdiv.reading import read_text
from comdiv.registry import FORMATS

Notation = Literal["infix", "prefix", "steps"]  # steps: a solution with GSM8K's calculator steps
NumberWords = Literal["never", "auto", "always"]
_BEGINNING = 65_536  # bytes that decide how a file is read
_NUMBER_NAME = re.compile(r"\bnumber([0-9]{1,4})\b")
# ASDiv's formulas: a unit in brackets or after a number, functions, remainders, several formulas.
_UNIT = re.compile(
    r"\s*\(\s*[A-Za-z][A-Za-z. ]+(?:/[A-Za-z. ]+)?\)|(?<=\d)\([a-w]\)"
    r"|(?<=[\d)%])\s*(?!r\b|rem)[A-Za-z]{2,}\.?(?:\s+[A-Za-z]{2,}\.?)*",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"\b([A-Za-z]{2,})\s*\(")
_REMAINDER = re.compile(r"\s*(?:r|R|rem|remainder|\.{3}|…)\.?\s*=?\s*(\d+)\s*$")
_CLOCK = re.compile(r"\b\d{1,2}:00\b|=\s*\d{1,2}:[0-5]\d\s*$")
_LIST = re.compile(r";|,\s+|,(?!\d{3}\b)|\n|\band\b")
_LIKELY = {  # what people call their columns
    "text": ("text", "question", "problem", "prompt", "input", "body"),
    "equation": ("equation", "expression", "expr", "formula"),
    "answer": ("answer", "ans", "result", "gold", "solution", "output"),
}
_ASDIV_FIELDS = ("Body", "Question", "Solution-Type", "Answer", "Formula")


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as its corpus has it; `where` names the file and line or place, for messages.

    Equation and answer may be texts, numbers or lists; a list of one counts as its item.
    """

    id: str
    text: str
    where: str
    equation: Any = None
    answer: Any = None
    notation: Notation = "infix"
    number_words: NumberWords = "never"
    no_expression: str = ""  # why the record has an answer but no readable equation
    extra: Mapping[str, Any] = field(default_factory=dict)


class DamagedRecord(ComdivError):  # noqa: N818  (it is counted and skipped; reading goes on)
    """A record whose text cannot be completed; the message says why."""


class Format(ABC):
    """A corpus format: how it is recognised, and what its records mean.

    `keys` are the columns by which a record is recognised; where several formats recognise a record, the one with the
    most keys reads it.
    """

    keys: frozenset[str] = frozenset()

    def opens(self, path: Path, beginning: bytes) -> bool:
        """Whether a file has a syntax that only this format reads, neither JSON nor CSV."""
        return False

    def records(self, path: Path, complain: Complain) -> Records:
        """The records of a file that the format opens, with their places; `complain` is told what cannot be read."""
        return text_records(path, complain)

    def detects(self, record: Record) -> bool:
        """Whether a record (the first of a corpus) is in this format."""
        return bool(self.keys) and self.keys <= record.keys()

    @abstractmethod
    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        """The raw record of a record; `number` counts them. A `DamagedRecord` or `KeyError` leaves the record out."""


def read_records(path: Path, complain: Complain | None = None) -> Records:
    """The records of a file with their places ("mine.csv, line 7"); the content decides the syntax.

    A line that cannot be read is an error unless `complain` is given to take note of it.
    """
    beginning = _beginning(path)
    if beginning.startswith((b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")):
        raise ComdivError(f"{path}: a compressed file: unpack it first")
    for known in _formats():
        if known.opens(path, beginning):
            return known.records(path, complain or _refuse)
    return text_records(path, complain or _refuse)


def detect_format(record: Record, where: str) -> Format:
    """The format of a record; an unknown one is an error that says how to name the columns."""
    candidates = [known for known in _formats() if known.detects(record)]
    if candidates:
        return max(candidates, key=lambda known: len(known.keys))
    guesses = {
        option: next((str(name) for name in record if str(name).lower() in names), option.upper())
        for option, names in _LIKELY.items()
    }
    raise ComdivError(
        f"{where}: unknown format; its columns are {', '.join(map(str, record))}. "
        f"Name them: {' '.join(f'--{option} {shlex.quote(name)}' for option, name in guesses.items())}"
    )


def _formats() -> list[Format]:
    return [make() for _, make in FORMATS.items()]


def _beginning(path: Path) -> bytes:
    with disk_errors(path), path.open("rb") as stream:
        return stream.read(_BEGINNING)


def _refuse(where: str, reason: str) -> None:
    raise ComdivError(f"{where}: {reason}")


@dataclass(frozen=True, slots=True)
class Columns:
    """A user's own column names. Only the text is required: a problem without an equation can still be solved."""

    text: str
    equation: str | None = None
    answer: str | None = None
    id: str | None = None
    number_words: NumberWords = "auto"

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        """The raw record of a mapping; a column that the first one lacks is an error that lists its columns."""
        named = [name for name in (self.text, self.equation, self.answer, self.id) if name is not None]
        missing = [name for name in named if name not in record]
        if missing and number == 1:
            raise ComdivError(f"{where}: no column '{missing[0]}'; there are: {', '.join(map(str, record))}")
        name = record.get(self.id) if self.id else None
        return RawRecord(
            id=_id(record, number, self.id if self.id and name not in (None, "") else "id"),
            text=record[self.text],
            where=where,
            equation=record.get(self.equation) if self.equation else None,
            answer=record.get(self.answer) if self.answer else None,
            number_words=self.number_words,
            extra={key: value for key, value in record.items() if key not in named and (self.id or key != "id")},
        )


class MwpToolkit(Format):
    """Math23K, Ape210K and MAWPS as MWPToolkit has them: equation and answer as text, number or list of these."""

    keys = frozenset(["original_text"])

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        extra = _rest(record, "id", "original_text", "segmented_text", "equation", "ans")
        equation, answer = record.get("equation"), record.get("ans")
        return RawRecord(_id(record, number), record["original_text"], where, equation, answer, extra=extra)


class Mawps(Format):
    """The first MAWPS release: lists of equations and solutions."""

    keys = frozenset(["sQuestion", "lEquations", "lSolutions"])

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        extra = _rest(record, "iIndex", "sQuestion", "lEquations", "lSolutions")
        equations, solutions = record["lEquations"], record["lSolutions"]
        return RawRecord(_id(record, number, "iIndex"), record["sQuestion"], where, equations, solutions, extra=extra)


class Svamp(Format):
    """SVAMP: body and question in separate columns, the equation over the numbers."""

    keys = frozenset(["Body", "Question", "Equation", "Answer"])

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        extra = _rest(record, "ID", "Body", "Question", "Equation", "Answer")
        text, equation = joined_text(record["Body"], record["Question"]), record["Equation"]
        return RawRecord(_id(record, number, "ID"), text, where, equation, record["Answer"], extra=extra)


class SvampCsv(Format):
    """SVAMP-style CSV: `number0` in text and (prefix) equation, its value in another column."""

    keys = frozenset(["Question", "Numbers", "Equation", "Answer"])

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        try:
            values = [format_number(parse_answer(value)) for value in str(record["Numbers"]).split()]
        except ExpressionError as error:
            raise DamagedRecord(f"numbers {str(record['Numbers'])[:80]}: {error}") from error
        text, starts = self._filled(str(record["Question"]), values)
        quantities = {quantity.start: quantity for quantity in read_text(text, "en").plain_quantities}

        def reference(match: re.Match[str]) -> str:
            if int(match[1]) >= len(values):
                return match[0]  # not an operand, as the parser will say
            value = values[int(match[1])]
            quantity = quantities.get(starts.get(match[1], -1))
            same = quantity is not None and quantity.value == Fraction(value)  # `number0 %` has another value
            return f"N{quantity.index}" if quantity and same else value

        equation = _NUMBER_NAME.sub(reference, str(record["Equation"]))
        extra = _rest(record, "Question", "Numbers", "Equation", "Answer", "")
        return RawRecord(_id(record, number), text, where, equation, record["Answer"], notation="prefix", extra=extra)

    @staticmethod
    def _filled(question: str, values: list[str]) -> tuple[str, dict[str, int]]:
        """The text with its numbers, and where each of them first appears."""
        pieces: list[str] = []
        starts: dict[str, int] = {}
        position = length = 0
        for match in _NUMBER_NAME.finditer(question):
            if int(match[1]) >= len(values):
                raise DamagedRecord(f"{match[0]} in the text, but only {len(values)} numbers")
            before = question[position : match.start()]
            starts.setdefault(match[1], length + len(before))
            pieces += [before, values[int(match[1])]]
            length += len(before) + len(pieces[-1])
            position = match.end()
        return "".join([*pieces, question[position:]]), starts


class Asdiv(Format):
    """ASDiv, an XML file: `9 (apples)` and `7+2=9`; numbers in the text may be words."""

    keys = frozenset(["Body", "Question", "Formula", "Answer"])

    def opens(self, path: Path, beginning: bytes) -> bool:
        """XML is the only syntax that begins with `<`."""
        return beginning.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")

    def records(self, path: Path, complain: Complain) -> Records:
        """The `Problem` elements as mappings. Entity definitions are refused: they could expand without bound."""
        content = read_text_file(path)
        if "<!DOCTYPE" in content or "<!ENTITY" in content:
            raise ComdivError(f"{path}: an XML file must not define entities")
        try:
            for _, element in ElementTree.iterparse(io.StringIO(content)):
                if element.tag == "Problem":
                    record = {**element.attrib, **{name: element.findtext(name) for name in _ASDIV_FIELDS}}
                    yield f"{path.name}, problem {element.get('ID', '?')}", record
                    element.clear()
        except ElementTree.ParseError as error:
            raise ComdivError(f"{path}: not valid XML: {error}") from error

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        formula, reason = calculation(str(record.get("Formula") or ""))
        return RawRecord(
            _id(record, number, "ID"),
            joined_text(record.get("Body"), record.get("Question")),
            where,
            formula,
            record.get("Answer"),
            number_words="auto",
            no_expression=reason,
            extra=_rest(record, "ID", "Body", "Question", "Formula", "Answer"),
        )


def calculation(formula: str) -> tuple[str | None, str]:
    """The calculating side of an ASDiv formula, `7+2` of `7+2=9`, or an equation with an unknown; else the reason.

    Units are left out, `3(feet)*12=36 inches`; a remainder, a GCD or a list of formulas has no expression.
    """
    plain = _UNIT.sub("", plain_signs(formula)).strip()
    if not plain:
        return None, ""
    if function := _FUNCTION.search(plain):
        return None, f"formula {formula[:80]}: {function[1]}(…) is not one of the five operators"
    if remainder := _REMAINDER.search(plain):
        if any(map(int, remainder[1])):  # digit by digit: there may be thousands
            return None, f"formula {formula[:80]}: a division with remainder"
        plain = plain[: remainder.start()].rstrip()
    if _CLOCK.search(formula):
        return None, f"formula {formula[:80]}: times of day"
    if re.search(r"[<>≤≥≠]", plain):
        return None, f"formula {formula[:80]}: a comparison"
    parts = [part for part in _LIST.split(plain) if part.strip()]
    if len(parts) > 1:
        return None, f"formula {formula[:80]}: more than one equation"
    if re.search(r"[A-Za-z]", plain):
        return plain, ""
    sides = [side.strip() for side in plain.split("=")]
    calculating = [side for side in sides if re.search(r"[\d)]\s*[-+*/^(]", side)] or sides
    return (calculating[0], "") if _all_equal(sides) else (plain if len(sides) > 2 else calculating[0], "")


def _all_equal(sides: list[str]) -> bool:
    """Whether the sides have one value: `(3+4)*2=7*2=14` is one calculation."""
    try:
        values = [value_of(parse(side)) for side in sides if side]
    except ExpressionError:
        return False
    return all(answers_agree(value, values[0], TOLERANCE) for value in values)


class Gsm8k(Format):
    """GSM8K: calculator steps, `<<48/2=24>>`, composed into one expression where they chain."""

    keys = frozenset(["question", "answer"])

    def detects(self, record: Record) -> bool:
        """Other corpora have these two columns too, but not `####` before the answer."""
        return super().detects(record) and "####" in str(record["answer"])

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        solution = str(record["answer"])
        return RawRecord(
            _id(record, number),
            record["question"],
            where,
            solution,
            final_answer(solution),
            notation="steps",
            number_words="auto",
            extra=_rest(record, "id", "question", "answer"),
        )


class ReadersQueue(Format):
    """What `comdiv synthesize --queue` writes for readers: a key, the text, the expression in numbers, the answer."""

    keys = frozenset(["id", "text", "expression", "answer"])

    def detects(self, record: Record) -> bool:
        """Only with nothing else: in a table of more columns, who knows what they mean."""
        return record.keys() == self.keys

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        equation, answer = record["expression"], record["answer"]
        return RawRecord(_id(record, number), record["text"], where, equation, answer, number_words="auto")


def joined_text(body: Any, question: Any) -> str:
    """Body and question as one text; a body without a full stop ("If …") is continued with a comma."""
    body, question = str(body or "").strip(), str(question or "").strip()
    return f"{body}{' ' if body[-1:] in '.?!;:,' else ', '}{question}" if body and question else body or question


def _id(record: Record, number: int, key: str = "id") -> str:
    """The id of a record, whatever its type; the number of the record where there is none."""
    name = record.get(key)
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    return str(number) if name is None or not str(name).strip() else str(name)


def _rest(record: Record, *taken: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in taken}
