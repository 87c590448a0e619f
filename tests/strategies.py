"""Hypothesis strategies for expressions: what the tests of every package draw random trees and values from.

An import by its plain name works in every test: `from strategies import trees`.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from hypothesis import strategies as st

from comdiv.expression import OPERATORS, Constant, Expression, ExpressionError, Leaf, Operation, Reference

Result = TypeVar("Result")

QUANTITIES = 6  # N0…N5: enough for every order, few enough to meet the same one twice
EXPRESSION_ALPHABET = "0123456789Nx_e+-*/^()[]{}%., =;×÷−（）１２％"


def rationals(*, largest: int = 60) -> st.SearchStrategy[Fraction]:
    """Whole numbers, decimals and fractions whose decimals never end; either sign, zero included."""
    numerators = st.integers(-largest, largest)
    return st.one_of(
        numerators.map(Fraction),
        st.builds(Fraction, numerators, st.sampled_from([2, 4, 5, 10, 100, 1000])),
        st.builds(Fraction, numerators, st.sampled_from([3, 6, 7, 9, 11, 365])),
    )


def references(*, count: int = QUANTITIES) -> st.SearchStrategy[Reference]:
    """One of `N0`, `N1`… up to `count` of them."""
    return st.builds(Reference, st.integers(0, count - 1))


def constants() -> st.SearchStrategy[Constant]:
    """A constant of any of the forms that we print."""
    return st.builds(Constant, rationals())


LEAVES: st.SearchStrategy[Leaf] = st.one_of(references(), constants())


def trees(
    *,
    max_leaves: int = 12,
    operators: Sequence[str] = OPERATORS,
    leaves: st.SearchStrategy[Leaf] = LEAVES,
) -> st.SearchStrategy[Expression]:
    """Trees of every shape with up to `max_leaves` leaves."""
    return st.recursive(
        leaves,
        lambda operands: st.builds(Operation, st.sampled_from(operators), operands, operands),
        max_leaves=max_leaves,
    )


def quantity_values(*, count: int = QUANTITIES) -> st.SearchStrategy[list[Fraction]]:
    """A value for each quantity that a tree of `trees` may use."""
    return st.lists(rationals(), min_size=count, max_size=count)


def attempt(read: Callable[..., Result], *arguments: object) -> Result | ExpressionError:
    """What a function returns, or the error of ours that it raises; any other exception passes, and fails the test."""
    try:
        return read(*arguments)
    except ExpressionError as error:
        return error


def texts() -> st.SearchStrategy[str]:
    """Any text at all, and texts of nothing but the characters that expressions are written with."""
    return st.one_of(st.text(), st.text(EXPRESSION_ALPHABET, max_size=40))


@st.composite
def infix_with_value(draw: st.DrawFn, depth: int = 2) -> tuple[str, Fraction]:
    """An infix text as corpora write it, with its value by the rules of school arithmetic.

    The value is computed while the text is written, so that it knows nothing of our parser; a sum whose value would
    be a division by zero is drawn without that divisor.
    """
    text, value = draw(_product(depth))
    for _ in range(draw(st.integers(0, 2))):
        following, operand = draw(_product(depth))
        if draw(st.booleans()):
            text, value = f"{text}{draw(st.sampled_from(['+', ' + ', '＋']))}{following}", value + operand
        else:
            text, value = f"{text}{draw(st.sampled_from(['-', ' - ', '−', '－']))}{following}", value - operand
    return text, value


@st.composite
def _product(draw: st.DrawFn, depth: int) -> tuple[str, Fraction]:
    text, value = draw(_power(depth))
    for _ in range(draw(st.integers(0, 2))):
        following, operand = draw(_power(depth))
        if draw(st.booleans()) or not operand:
            text, value = f"{text}{draw(st.sampled_from(['*', ' * ', '×', '·']))}{following}", value * operand
        else:
            text, value = f"{text}{draw(st.sampled_from(['/', ' / ', '÷', '／']))}{following}", value / operand
    return text, value


@st.composite
def _power(draw: st.DrawFn, depth: int) -> tuple[str, Fraction]:
    text, value = draw(_number() if depth == 0 or draw(st.booleans()) else _bracketed(depth - 1))
    sign = draw(st.sampled_from(["", "", "", "-", "--", "+"]))
    exponent = draw(st.sampled_from([1, 1, 1, 2]))
    if exponent > 1:
        text, value = f"{text}{draw(st.sampled_from(['^', '**', ' ^ ', '＾']))}{exponent}", value**exponent
    return sign + text, -value if sign == "-" else value  # a sign is weaker than a power: -2^2 is -4


@st.composite
def _bracketed(draw: st.DrawFn, depth: int) -> tuple[str, Fraction]:
    inner, value = draw(infix_with_value(depth))
    brackets = draw(st.sampled_from(["()", "[]", "{}", "（）", "【】"]))
    return f"{brackets[0]}{inner}{brackets[1]}", value


@st.composite
def _number(draw: st.DrawFn) -> tuple[str, Fraction]:
    whole, part, below = draw(st.integers(0, 99)), draw(st.integers(0, 99)), draw(st.integers(1, 20))
    return draw(
        st.sampled_from(
            [
                (f"{whole}", Fraction(whole)),
                (f"{whole}.{part:02}", whole + Fraction(part, 100)),
                (f".{part:02}", Fraction(part, 100)),
                (f"{whole}%", Fraction(whole, 100)),
                (f"{whole}({part}/{below})", whole + Fraction(part, below)),
                (f"{whole}(({part})/({below}))", whole + Fraction(part, below)),
                (f"{whole},{part:03}", Fraction(1000 * whole + part)),
                (f"({part}/{below})", Fraction(part, below)),
            ]
        )
    )
