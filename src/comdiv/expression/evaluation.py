"""Exact values: evaluating expressions, reading answers, comparing the two.

All values are `fractions.Fraction`; a value that would exceed `MAX_BITS` is an error before it is computed.
"""

import math
import re
from collections.abc import Sequence
from fractions import Fraction

from comdiv.expression.parsing import parse
from comdiv.expression.scanning import plain_signs
from comdiv.expression.tree import MAX_DIGITS, TOO_LONG, Constant, Expression, ExpressionError, Reference, is_writable

MAX_BITS = 4096  # of a numerator and denominator together
MAX_EXPONENT = 64
TOLERANCE = Fraction(1, 10_000)  # relative: the corpora round their answers

_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?")


def value_of(expression: Expression, quantities: Sequence[Fraction] = ()) -> Fraction:
    """The exact value of an expression, given the values of `N0`, `N1`…"""
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Reference):
        if expression.index >= len(quantities):
            raise ExpressionError(f"there is no quantity N{expression.index}: the text has {len(quantities)}")
        return _bounded(quantities[expression.index])
    return apply_operator(
        expression.operator, value_of(expression.left, quantities), value_of(expression.right, quantities)
    )


def apply_operator(operator: str, left: Fraction, right: Fraction) -> Fraction:
    """The value of one operation on two values."""
    return _bounded(_apply(operator, left, right))


def _apply(operator: str, left: Fraction, right: Fraction) -> Fraction:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            if not right:
                raise ExpressionError("division by zero")
            return left / right
        case _:
            return _power(left, right)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        written = format_number(exponent)[:40]
        raise ExpressionError(f"the exponent {written} is not a whole number: the value is not rational")
    if abs(exponent.numerator) > MAX_EXPONENT or _bits(base) * abs(exponent.numerator) > 2 * MAX_BITS:
        raise ExpressionError("a power is too large")
    if not base and exponent < 0:
        raise ExpressionError("division by zero")
    return Fraction(base**exponent.numerator)


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _bounded(value: Fraction) -> Fraction:
    if _bits(value) > MAX_BITS:
        raise ExpressionError(f"a value has more than {MAX_BITS} bits")
    return value


def parse_answer(answer: str | int | float) -> Fraction:
    """The exact value of an answer as corpora write it: `9`, `20%`, `2/3`, `((2)/(3))`, `5((1)/(2))`, `1,200`.

    A value too long to be written and read again is refused: the answer of a record survives a round trip.
    """
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise ExpressionError(f"an answer is a number or a text, not {type(answer).__name__}")
    if isinstance(answer, float) and not math.isfinite(answer):
        raise ExpressionError(f"the answer {answer} is not a number")
    if isinstance(answer, int) and answer.bit_length() > MAX_BITS:
        raise ExpressionError(f"a value has more than {MAX_BITS} bits")
    text = repr(float(answer)) if isinstance(answer, float) else plain_signs(str(answer)).strip()
    is_plain = len(text) <= MAX_DIGITS and _PLAIN_NUMBER.fullmatch(text)
    return _writable(Fraction(text) if is_plain else value_of(parse(text)))


def answer_of(expression: Expression, quantities: Sequence[Fraction]) -> Fraction:
    """The value of an expression as the answer of a record, which can be written and read again."""
    return _writable(value_of(expression, quantities))


def _writable(answer: Fraction) -> Fraction:
    if not is_writable(answer):
        raise ExpressionError(f"the answer is too long: {TOO_LONG}")
    return answer


def answers_agree(value: Fraction, gold: Fraction, tolerance: Fraction | None = None) -> bool:
    """Whether a value is the gold answer: a whole number exactly, any other within `TOLERANCE`, because corpora round.

    An explicit tolerance also applies to whole numbers: 224007 is within 10⁻⁴ of 224000, but not the same answer.
    """
    if tolerance is None:
        tolerance = Fraction(0) if gold.denominator == 1 else TOLERANCE
    return abs(value - gold) <= tolerance * abs(gold)


def agrees_as_printed(value: Fraction, printed: Fraction) -> bool:
    """Whether a printed answer is this value rounded or truncated to as many decimals as it shows: 10/3 as 3.33.

    Schoolbooks do both, and no relative tolerance separates them from wrong labels: 13 for 13.51 is fine but further
    off than a wrong 134 for 136. This is for inspecting corpora; solvers are scored by `Reading.accepts`.
    """
    decimals = decimal_places(printed.denominator)
    if decimals is None:
        return value == printed
    scale = 10**decimals
    shown, exact = abs(printed) * scale, abs(value) * scale
    signs_agree = value == 0 or printed == 0 or (value > 0) == (printed > 0)
    return signs_agree and shown in (math.floor(exact), math.floor(exact + Fraction(1, 2)))


def format_number(value: Fraction) -> str:
    """A value as people write it, exactly: `9`, `39.76`, `2/3`; with too many decimals it is a fraction, too."""
    if value.denominator == 1:
        return str(value.numerator)
    decimals = decimal_places(value.denominator)
    digits = "" if decimals is None else str(abs(value.numerator) * 10**decimals // value.denominator)
    if decimals is None or max(len(digits), decimals + 1) > MAX_DIGITS:
        return f"{value.numerator}/{value.denominator}"
    digits = digits.zfill(decimals + 1)
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"


def decimal_places(denominator: int) -> int | None:
    """How many decimals a fraction with this denominator needs; None if they never end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest = denominator >> twos
    fives = 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    return max(twos, fives) if rest == 1 else None
