"""German number words: drei, fünfundzwanzig, zweihundert, ein Drittel, ein halber, zwei Dutzend."""

import re
from collections.abc import Iterator
from fractions import Fraction

from comdiv.language.numbers import NumberSpan

_ONES = {"ein": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9}
_TEENS = {
    "zehn": 10, "elf": 11, "zwölf": 12, "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17,
    "achtzehn": 18, "neunzehn": 19,
}  # fmt: skip
_TENS = {
    "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80,
    "neunzig": 90,
}  # fmt: skip
_PARTS = {"halb": 2, "Drittel": 3, "Viertel": 4, "Fünftel": 5, "Sechstel": 6, "Achtel": 8, "Zehntel": 10}
_ONE, _TEEN, _TEN = ("|".join(sorted(words, key=len, reverse=True)) for words in (_ONES, _TEENS, _TENS))
_BELOW_HUNDRED = rf"(?:(?P<one>{_ONE})und(?P<ten>{_TEN})|(?P<teen>{_TEEN})|(?P<tens>{_TEN})|(?P<single>{_ONE}))"
_PATTERN = re.compile(
    rf"\b(?:(?P<top>{_ONE})e?\s+(?P<part>halbe?[nrs]?|Drittel|Viertel|Fünftel|Sechstel|Achtel|Zehntel)"
    rf"|(?:(?P<hundreds>{_ONE})?(?P<hundred>hundert)(?:und)?)?{_BELOW_HUNDRED}?)(?P<dozen>\s+Dutzend)?\b",
)


def number_word_spans(text: str) -> Iterator[NumberSpan]:
    """The number words of a text; "ein" and its forms alone are an article, not a number."""
    for match in _PATTERN.finditer(text):
        if match[0] and (match[0] != "ein" or match["dozen"]):
            yield NumberSpan(match.start(), match.end(), _value(match), "word")


def _value(match: re.Match[str]) -> Fraction:
    if match["part"]:
        part = "halb" if match["part"].startswith("halb") else match["part"]
        return Fraction(_ONES[match["top"]], _PARTS[part])
    value = 100 * _ONES.get(match["hundreds"] or "ein", 1) if match["hundred"] else 0
    value += _ONES.get(match["one"] or "", 0) + _TENS.get(match["ten"] or "", 0)
    value += (
        _TEENS.get(match["teen"] or "", 0) + _TENS.get(match["tens"] or "", 0) + _ONES.get(match["single"] or "", 0)
    )
    return Fraction(value * (12 if match["dozen"] else 1))
