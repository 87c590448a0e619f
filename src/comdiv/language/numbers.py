"""Numbers written with digits, the same in every language: `1,200`, `3.5`, `20%`, `3/5`, `(1/3)`, `1 1/2`, `1½`."""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from comdiv.expression import format_number
from comdiv.expression.evaluation import decimal_places
from comdiv.problem import NumberForm, Quantity

MOST_DECIMALS = 3  # in numbers that comdiv writes: schoolbooks have 0.125 but hardly 0.0625
MOST_DENOMINATOR = 1000
MAX_DIGITS = 30  # a longer run of digits is a telephone number or an attack, not a quantity

# Full-width forms, one character for one, so that offsets refer to the text.
_FULL_WIDTH = str.maketrans("０１２３４５６７８９％／（）", "0123456789%/()")
_ANY_FULL_WIDTH = re.compile("[０１２３４５６７８９％／（）．]")  # a search is faster than a translation
_FULL_WIDTH_POINT = re.compile(r"(?<=[0-9])．(?=[0-9])")  # elsewhere it is a full stop

_INTEGER = r"\s*(?:\(\d+\)|\d+)\s*"
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_ANY_VULGAR = re.compile(f"[{_VULGAR}]")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_DIGITS = r"\d{1,3}(?:,\d{3})+(?!\d)|\d+"
_PATTERN = re.compile(
    rf"""
    (?<![A-Za-z_\d])(?<!\d\.)                  # not inside a word such as A4, nor inside another number
    (?P<sign>(?<!\d[ ])(?<![)%])-(?=\d))?      # a sign, not a minus between two numbers
    (?:
        (?P<vulgar>\d*[{_VULGAR}])
      | (?P<mixed>\d+\s*\({_INTEGER}/{_INTEGER}\) | \d+[ ]+\d+/\d+(?![\d/]))
      | (?P<bracketed>\({_INTEGER}/{_INTEGER}\))
      | (?P<fraction>\d+\s?/\s?\d+(?![\d/]|\.\d))
      | (?P<percent>(?:{_DIGITS})(?:\.\d+)?\s?%)
      | (?P<decimal>(?:{_DIGITS})\.\d+ | (?<!\.)\.\d+)
      | (?P<integer>(?>{_DIGITS}))(?!(?:st|nd|rd|th)\b)  # a 21st is neither 21 nor 2
    )
    """,
    re.VERBOSE | re.ASCII,
)
# A whole number before a word, the most common case: matched without trying all other forms first.
_PLAIN = re.compile(
    rf"(?<![A-Za-z_\d])(?<!\d\.)\d{{1,15}}(?=[^\sA-Za-z\d.,/%({_VULGAR}]|\s[^\s\d/%(])",
    re.ASCII,
)
_BEGINNING = re.compile(rf"[-(.\d{_VULGAR}]", re.ASCII)  # of a number: skips most of a text
_OPERATOR_BEFORE = frozenset("-+*×÷/=")
_OPERATOR_AFTER = re.compile(r"[+*×÷/=]|-(?![A-Za-z])")  # 1/2-inch is a fraction
_QUOTIENT = re.compile(r"\s*(?:的?商|与|再|加|减|乘|除)")
_INTEGERS = re.compile(r"\d+", re.ASCII)


class NumberSpan(NamedTuple):
    """A number in a text, by its character offsets."""

    start: int
    end: int
    value: Fraction
    form: NumberForm


def half_width(text: str) -> str:
    """The text with full-width digits, points, percent signs, slashes and brackets in plain form, same length."""
    if text.isascii() or not _ANY_FULL_WIDTH.search(text):
        return text
    return _FULL_WIDTH_POINT.sub(".", text.translate(_FULL_WIDTH))


def number_spans(text: str) -> Iterator[NumberSpan]:
    """The numbers of a text from left to right. What is not a number (1/0, 50 digits) is skipped.

    The result is that of `_PATTERN.finditer`, several times faster.
    """
    text = half_width(text)
    position = 0
    while beginning := _BEGINNING.search(text, position):
        start = beginning.start()
        if plain := _PLAIN.match(text, start):
            position = plain.end()
            yield NumberSpan(start, position, _whole(plain[0]), "integer")
        elif match := _PATTERN.match(text, start):
            position = match.end()
            yield from _spans_of(text, match)
        else:
            position = start + 1


def _spans_of(text: str, match: re.Match[str]) -> Iterator[NumberSpan]:
    """The number of a match; both numbers if it is a division; nothing if it is not a number."""
    form = str(match.lastgroup)
    if len(match[0]) > MAX_DIGITS and sum(character.isdecimal() for character in match[0]) > MAX_DIGITS:
        return
    if form == "fraction" and _is_division(text, match):
        for part in _INTEGERS.finditer(text, match.start(), match.end()):
            yield NumberSpan(part.start(), part.end(), Fraction(int(part[0])), "integer")
        return
    value = _value(form, match[form])
    if value is not None:
        yield NumberSpan(match.start(), match.end(), -value if match["sign"] else value, _form(form, match[form]))


def _is_division(text: str, match: re.Match[str]) -> bool:
    """Whether `168/6` is an exercise, not a fraction: beside an operator; in Chinese also improper or before 的商."""
    if text[match.start() - 1 : match.start()] in _OPERATOR_BEFORE or _OPERATOR_AFTER.match(text, match.end()):
        return True
    top, bottom = (int(digits) for digits in _INTEGERS.findall(match[0]))
    return not text.isascii() and (top >= bottom or bool(_QUOTIENT.match(text, match.end())))


_FORMS: dict[str, NumberForm] = {
    "vulgar": "fraction",
    "mixed": "mixed",
    "bracketed": "fraction",
    "fraction": "fraction",
    "percent": "percent",
    "decimal": "decimal",
    "integer": "integer",
}


def _form(form: str, text: str) -> NumberForm:
    return "mixed" if form == "vulgar" and len(text) > 1 else _FORMS[form]


@lru_cache(maxsize=4096)  # the same few numbers occur everywhere
def _whole(digits: str) -> Fraction:
    return Fraction(int(digits))


@lru_cache(maxsize=4096)
def _value(form: str, text: str) -> Fraction | None:
    if form == "vulgar":
        return int(text[:-1] or 0) + Fraction(unicodedata.numeric(text[-1])).limit_denominator(10)
    if form in ("mixed", "bracketed", "fraction"):
        parts = [int(part) for part in _INTEGERS.findall(text)]
        if not parts[-1]:
            return None
        return (parts[0] if form == "mixed" else 0) + Fraction(parts[-2], parts[-1])
    plain = text.rstrip("% ").replace(",", "")
    value = Fraction(int(plain)) if form == "integer" else Fraction(plain)
    return value / 100 if form == "percent" else value


def write_like(value: Fraction, model: Quantity) -> str | None:
    """The value in the model's form, exactly; None if that form cannot represent it."""
    match model.form:
        case "integer" | "decimal":
            return _written_plainly(value, model)
        case "percent":
            hundredfold = _written_decimal(value * 100)
            sign = model.text[len(model.text.rstrip("%％ ")) :]
            return None if hundredfold is None else hundredfold + sign
        case "fraction" if not _ANY_VULGAR.search(model.text) and 0 < value < 1:
            return _written_fraction(value, model.text)
        case "mixed" if not _ANY_VULGAR.search(model.text) and value > 1 and value.denominator > 1:
            whole, rest = divmod(value, 1)
            fraction = _written_fraction(rest, model.text)
            return None if fraction is None else f"{whole}{'' if '(' in model.text else ' '}{fraction}"
        case _:  # number words such as "thirty-four" are not generated
            return None


def _written_plainly(value: Fraction, model: Quantity) -> str | None:
    """An integer stays an integer, because nobody has 3.5 apples. A decimal may become whole."""
    if model.form == "integer" and value.denominator != 1:
        return None
    decimal = _written_decimal(value)
    if decimal is not None and _THOUSANDS.search(model.text) and value.denominator == 1:
        return f"{int(value):,}"
    return decimal


def _written_decimal(value: Fraction) -> str | None:
    places = decimal_places(value.denominator)
    return None if places is None or places > MOST_DECIMALS else format_number(value)


def _written_fraction(value: Fraction, model: str) -> str | None:
    if value.denominator == 1 or value.denominator > MOST_DENOMINATOR:
        return None
    fraction = f"{value.numerator}/{value.denominator}"
    return f"({fraction})" if "(" in model else fraction
