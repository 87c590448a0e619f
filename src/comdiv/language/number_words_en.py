"""English number words: three, twenty-five, two hundred and six, a dozen, half, two thirds, twice."""

import re
from collections.abc import Iterator
from fractions import Fraction

from comdiv.language.numbers import NumberSpan

_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6}
_OTHERS = {
    "dozen": Fraction(12), "half": Fraction(1, 2), "twice": Fraction(2), "double": Fraction(2), "triple": Fraction(3)
}  # fmt: skip
_PARTS = {
    "half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip

_CARDINAL = "|".join(sorted([*_SMALL, *_SCALES], key=len, reverse=True))
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))
_PATTERN = re.compile(
    rf"\b(?:(?P<top>a|one|two|three|four|five|six|seven|eight|nine)[ -](?P<part>{_PART})s?"
    rf"|(?P<cardinal>(?:{_CARDINAL})(?:(?:[ -]|\s+and\s+)(?:{_CARDINAL}))*)(?P<dozen>\s+dozen)?"
    rf"|(?P<other>{'|'.join(_OTHERS)}))\b",
    re.IGNORECASE,
)


def number_word_spans(text: str) -> Iterator[NumberSpan]:
    """The number words of a text; an ordinal such as "the fifth grade" is none, "two fifths" is."""
    for match in _PATTERN.finditer(text):
        yield NumberSpan(match.start(), match.end(), _value(match), "word")


def _value(match: re.Match[str]) -> Fraction:
    if match["part"]:
        top = match["top"].lower()
        return Fraction(1 if top == "a" else _SMALL[top], _PARTS[match["part"].lower()])
    if match["other"]:
        return _OTHERS[match["other"].lower()]
    total = current = 0
    for word in re.split(r"[\s-]+", match["cardinal"].lower()):
        if word in _SMALL:
            current += _SMALL[word]
        elif word == "hundred":
            current = max(1, current) * 100
        elif word in _SCALES:
            total += max(1, current) * _SCALES[word]
            current = 0
    return Fraction((total + current) * (12 if match["dozen"] else 1))
