"""English number words: three, twenty-five, two hundred and six, a dozen, half, two thirds, two and a half, twice."""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from comdiv.language.numbers import NumberSpan

_ONES = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_TEENS = {
    "zero": 0, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90
}  # fmt: skip
_SMALL = {**_ONES, **_TEENS, **_TENS}
_SCALES = {"thousand": 1000, "million": 10**6}
_MULTIPLES = {"twice": Fraction(2), "double": Fraction(2), "triple": Fraction(3)}
_ORDINAL_PARTS = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10
}  # fmt: skip
_PARTS = {"half": 2, "halve": 2, "quarter": 4, **_ORDINAL_PARTS}


def _any(words: Iterable[str]) -> str:
    return rf"(?:{'|'.join(words)})\b"


_BELOW_HUNDRED = rf"(?:{_any(_TENS)}(?:[ -]{_any(_ONES)})?|{_any(_TEENS)}|{_any(_ONES)})"
_BELOW_THOUSAND = rf"(?:(?:(?:{_BELOW_HUNDRED}|a)[ -])?hundred\b(?:\s+(?:and\s+)?{_BELOW_HUNDRED})?|{_BELOW_HUNDRED})"
_SCALED = rf"(?:(?:{_BELOW_THOUSAND}|a)[ -])?{_any(_SCALES)}"
# "and" joins only below a hundred, thousand or million: "five and six" are two numbers.
_CARDINAL = (
    rf"(?>{_SCALED}(?:\s+(?:and\s+)?{_SCALED})*(?:\s+(?:and\s+)?{_BELOW_THOUSAND})?|{_BELOW_THOUSAND})"
    rf"(?!-(?:first|second|{'|'.join(_ORDINAL_PARTS)})\b)"  # twenty-third
)
_PATTERN = re.compile(
    rf"\b(?:(?:(?P<whole>{_CARDINAL})\s+and\s+)?"
    rf"(?:(?P<top>{_any(_ONES)})[ -](?P<part>{'|'.join(_PARTS)})s?\b"
    rf"|a[ -](?P<one_part>half\b|quarter\b|(?:{'|'.join(_ORDINAL_PARTS)})(?=\s+of\b))"  # not "a third friend"
    rf"|(?P<half>half)\b)"
    rf"|(?P<cardinal>{_CARDINAL})"
    rf"|(?P<multiple>{_any(_MULTIPLES)})"
    rf"|(?:a\s+)?(?=dozen\b))"
    rf"(?P<dozen>\s*\b(?:a\s+)?dozen\b)?",
    re.IGNORECASE,
)


def number_word_spans(text: str) -> Iterator[NumberSpan]:
    """The number words of a text: "two fifths" is one, an ordinal such as "the fifth grade" is not."""
    for match in _PATTERN.finditer(text):
        yield NumberSpan(match.start(), match.end(), _value(match) * (12 if match["dozen"] else 1), "word")


def _value(match: re.Match[str]) -> Fraction:
    whole = _cardinal(match["whole"] or "")
    if match["part"]:
        return whole + Fraction(_ONES[match["top"].lower()], _PARTS[match["part"].lower()])
    if match["one_part"] or match["half"]:
        return whole + Fraction(1, _PARTS[(match["one_part"] or match["half"]).lower()])
    if match["multiple"]:
        return _MULTIPLES[match["multiple"].lower()]
    return Fraction(_cardinal(match["cardinal"]) if match["cardinal"] else 1)  # 1 of "a dozen"


def _cardinal(text: str) -> int:
    total = current = 0
    for word in re.split(r"[\s-]+", text.lower()):
        if word in _SMALL:
            current += _SMALL[word]
        elif word == "hundred":
            current = max(1, current) * 100
        elif word in _SCALES:
            total += max(1, current) * _SCALES[word]
            current = 0
    return total + current
