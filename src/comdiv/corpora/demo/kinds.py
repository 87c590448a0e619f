"""Kinds of numbers in a scenario: what may be drawn, what a result must be, and how it is written.

`whole 4..18`, `whole 20..400 step 20`, `decimal 0.5..3 step 0.1`, `money 2..20 step 0.25`, `share 1/6..5/6`,
`percent 10..60 step 5`.
"""

import math
import random
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

from comdiv.errors import ComdivError
from comdiv.expression import format_number

KindName = Literal["whole", "decimal", "money", "share", "percent"]
_PATTERN = re.compile(
    r"(?P<name>[a-z]+)(?:\s+(?P<low>[\d./]+)\.\.(?P<high>[\d./]+)(?:\s+step\s+(?P<step>[\d.]+))?)?", re.ASCII
)
_DENOMINATORS = range(2, 11)
_DEFAULT_STEP = {
    "whole": Fraction(1), "decimal": Fraction(1, 10), "money": Fraction(1, 4), "percent": Fraction(5),
}  # fmt: skip


@dataclass(frozen=True)
class NumberKind:
    """A range of numbers of one kind; `choices` are all of them."""

    name: KindName
    low: Fraction
    high: Fraction
    step: Fraction

    @cached_property
    def choices(self) -> tuple[Fraction, ...]:
        if self.name == "share":
            fractions = {Fraction(top, bottom) for bottom in _DENOMINATORS for top in range(1, bottom)}
            return tuple(sorted(value for value in fractions if self.low <= value <= self.high))
        scale = 100 if self.name == "percent" else 1
        count = (self.high - self.low) // self.step
        return tuple((self.low + self.step * index) / scale for index in range(int(count) + 1))

    def draw(self, random_source: random.Random) -> Fraction:
        """One of the choices, uniformly."""
        return random_source.choice(self.choices)

    def accepts(self, value: Fraction) -> bool:
        """Whether a computed value is a sensible result of this kind; the step binds only what is drawn."""
        if self.name == "share":
            return 0 < value < 1 and value.denominator <= 100
        if self.name == "percent":
            return self.low <= value * 100 <= self.high
        places = {"whole": 0, "decimal": 2, "money": 2}[self.name]
        return self.low <= value <= self.high and (value * 10**places).denominator == 1

    def write(self, value: Fraction, thousands: str) -> str:
        """The number as a schoolbook prints it; `thousands` separates groups of digits (English), or is empty."""
        if self.name == "percent":
            return f"{format_number(value * 100)}%"
        if self.name == "share":
            return f"{value.numerator}/{value.denominator}"
        if self.name == "money" and value.denominator != 1:
            return f"{math.floor(value)}.{round(value % 1 * 100):02d}"
        if value.denominator == 1 and thousands:
            return f"{value.numerator:,}"
        return format_number(value)


def parse_kind(text: str) -> NumberKind:
    """A kind from its text; raises `ComdivError` that says what is wrong."""
    match = _PATTERN.fullmatch(text.strip())
    if match is None or match["name"] not in get_args(KindName):
        raise ComdivError(f"'{text}' is no kind of number such as 'whole 4..18 step 2'")
    name: KindName = match["name"]  # type: ignore[assignment]
    if match["low"] is None and name != "share":
        raise ComdivError(f"'{text}' lacks a range such as '4..18'")
    low, high = Fraction(match["low"] or "0"), Fraction(match["high"] or "1")
    kind = NumberKind(name, low, high, Fraction(match["step"] or _DEFAULT_STEP.get(name, Fraction(1))))
    if not low < high or not kind.choices:
        raise ComdivError(f"'{text}' is an empty range")
    return kind
