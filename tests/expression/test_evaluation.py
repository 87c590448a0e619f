"""Exact values, answers, and when the two agree."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from comdiv.expression import (
    Constant,
    Expression,
    ExpressionError,
    Reference,
    agrees_as_printed,
    answers_agree,
    format_number,
    parse,
    parse_answer,
    value_of,
)
from comdiv.expression.evaluation import MAX_BITS, MAX_EXPONENT, decimal_places
from strategies import attempt, quantity_values, rationals, texts, trees

ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}


class Undefined(Exception):  # noqa: N818
    """The oracle's word for what has no rational value, or one past the limits."""


def oracle(tree: Expression, quantities: list[Fraction]) -> Fraction:
    """The value by Python's own operators on fractions."""
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Reference):
        return quantities[tree.index]
    left, right = oracle(tree.left, quantities), oracle(tree.right, quantities)
    if tree.operator == "^" and (right.denominator != 1 or abs(right) > MAX_EXPONENT):
        raise Undefined
    try:
        value = ARITHMETIC[tree.operator](left, right)
    except ZeroDivisionError as error:
        raise Undefined from error
    if value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
        raise Undefined
    return Fraction(value)


@given(trees(), quantity_values())
@example(parse("N0^N1"), [Fraction(0)] * 6)
@example(parse("N0^(0-2)"), [Fraction(2, 3)] * 6)
@example(parse("N0^(0-2)"), [Fraction(0)] * 6)
@example(parse("(2^64)^64"), [])
@example(parse("(2^64)^63"), [])
def test_a_value_is_the_one_that_fractions_give_or_our_error(tree: Expression, quantities: list[Fraction]) -> None:
    try:
        expected = oracle(tree, quantities)
    except Undefined:
        with pytest.raises(ExpressionError):
            value_of(tree, quantities)
    else:
        assert value_of(tree, quantities) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1+0.2", Fraction(3, 10)), ("1/3*3", 1), ("7-10", -3), ("2^10", 1024), ("2^(-2)", Fraction(1, 4)),
        ("0^0", 1), ("N0*(1-N1)", 8),
    ],
)  # fmt: skip
def test_values_are_exact(text: str, value: Fraction) -> None:
    assert value_of(parse(text), [Fraction(10), Fraction(1, 5)]) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "division by zero"), ("N0/(N0-N0)", "division by zero"), ("0^(-1)", "division by zero"),
        ("2^0.5", "the exponent 0.5 is not a whole number"), ("2^65", "a power is too large"),
        ("2^(-65)", "a power is too large"), ("N7", "there is no quantity N7: the text has 2"),
        ("N2", "there is no quantity N2: the text has 2"),
    ],
)  # fmt: skip
def test_what_has_no_value_says_why(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        value_of(parse(text), [Fraction(10), Fraction(1, 5)])


def test_a_value_may_grow_to_the_limit_and_no_further() -> None:
    largest = Fraction(2 ** (MAX_BITS - 3))  # MAX_BITS - 2 bits, and one for the denominator
    assert value_of(parse("N0*2"), [largest]) == 2 * largest
    with pytest.raises(ExpressionError, match=f"more than {MAX_BITS} bits"):
        value_of(parse("N0*4"), [largest])
    with pytest.raises(ExpressionError, match=f"more than {MAX_BITS} bits"):
        value_of(parse("1/N0/4"), [largest])


def test_a_quantity_past_the_limit_is_refused_before_anything_is_computed_with_it() -> None:
    with pytest.raises(ExpressionError, match="bits"):
        value_of(Reference(0), [Fraction(2**MAX_BITS)])
    with pytest.raises(ExpressionError, match="bits"):
        value_of(parse("N0*0"), [Fraction(2**MAX_BITS)])


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("9", 9), ("-7", -7), ("−7", -7), (" 9 ", 9), ("+5", 5), ("20%", Fraction(1, 5)),
        ("２０％", Fraction(1, 5)), ("2/3", Fraction(2, 3)), ("-2/3", Fraction(-2, 3)), ("(2/3)", Fraction(2, 3)),
        ("((2)/(3))", Fraction(2, 3)), ("5((1)/(2))", Fraction(11, 2)), ("5(1/2)", Fraction(11, 2)),
        ("1,200", 1200), ("1,200.50", Fraction(2401, 2)), ("504.0", 504), ("5.", 5), (".5", Fraction(1, 2)),
        ("1e-05", Fraction(1, 100_000)), ("1.5E3", 1500), ("9e99", 9 * 10**99), (504.0, 504),
        (0.1, Fraction(1, 10)), (-2.5, Fraction(-5, 2)), (1e-07, Fraction(1, 10_000_000)), (-7, -7), (0, 0),
        (12345678901234567890, 12345678901234567890), (np.float64(3.5), Fraction(7, 2)),
    ],
)  # fmt: skip
def test_answers_are_read_as_corpora_write_them(answer: str | float, value: Fraction) -> None:
    assert parse_answer(answer) == value


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "an operand is missing"), ("nine", "unknown name 'nine'"), ("N0", "there is no quantity N0"),
        ("1/0", "division by zero"), ("9 apples", "unknown name 'apples'"),
        (float("nan"), "the answer nan is not a number"), (float("inf"), "the answer inf is not a number"),
        (float("-inf"), "the answer -inf is not a number"), (1e300, "unknown name 'e'"), (True, "not bool"),
        (None, "not NoneType"), (["9"], "not list"), (1j, "not complex"),
    ],
)  # fmt: skip
def test_what_is_no_answer_says_why(answer: object, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse_answer(answer)  # type: ignore[arg-type]


@pytest.mark.parametrize("exponent", [200, 5000, 1_000_000])
def test_a_whole_number_past_all_limits_is_no_answer(exponent: int) -> None:
    with pytest.raises(ExpressionError, match=r"at most|more than"):
        parse_answer(1 << (4 * exponent))


@given(st.one_of(texts(), st.integers(), st.floats()))
def test_any_text_or_number_is_an_answer_or_our_error(answer: str | float) -> None:
    value = attempt(parse_answer, answer)
    if isinstance(answer, str):
        assert isinstance(value, Fraction | ExpressionError)
    elif isinstance(value, ExpressionError):
        assert not 1e-80 <= abs(answer) < 1e100
    else:
        assert value == answer or float(value) == answer


@given(rationals(largest=10**12))
def test_a_number_is_read_back_as_it_was_written(value: Fraction) -> None:
    assert parse_answer(format_number(value)) == value


@pytest.mark.parametrize("value", [Fraction(7, 2**300), Fraction(10**99, 3), Fraction(1, 10**99), -Fraction(1, 5**140)])
def test_the_longest_numbers_are_read_back_as_they_were_written(value: Fraction) -> None:
    assert parse_answer(format_number(value)) == value


@pytest.mark.parametrize("answer", ["9^64*9^64", "1/(9^64*9^64)", "1e99*10"])
def test_an_answer_that_could_not_be_read_back_is_refused(answer: str) -> None:
    with pytest.raises(ExpressionError):
        parse_answer(answer)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(9), "9"), (Fraction(-9), "-9"), (Fraction(0), "0"), (Fraction(3976, 100), "39.76"),
        (Fraction(1, 8), "0.125"), (Fraction(-1, 1000), "-0.001"), (Fraction(5, 1) / 2, "2.5"),
        (Fraction(2, 3), "2/3"), (Fraction(-7, 6), "-7/6"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_do_and_exactly(value: Fraction, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("denominator", "places"),
    [
        (1, 0), (2, 1), (8, 3), (5, 1), (25, 2), (10, 1), (400, 4), (3, None), (30, None),
    ],
)  # fmt: skip
def test_decimal_places_are_counted_where_decimals_end(denominator: int, places: int | None) -> None:
    assert decimal_places(denominator) == places


@pytest.mark.parametrize(
    ("value", "gold", "agree"),
    [
        (Fraction(2, 3), Fraction(2, 3), True),
        (Fraction(0), Fraction(0), True),
        (Fraction(1, 10**9), Fraction(0), False),
        (Fraction(100_000), Fraction(100_000), True),
        (Fraction(224_007), Fraction(224_000), False),  # a whole number exactly
        (Fraction(100_010), Fraction(100_000), False),
        (Fraction(100_010, 3), Fraction(100_000, 3), True),  # any other within 10⁻⁴ relative
        (Fraction(99_990, 3), Fraction(100_000, 3), True),
        (Fraction(100_011, 3), Fraction(100_000, 3), False),
        (Fraction(99_989, 3), Fraction(100_000, 3), False),
        (Fraction(2, 3), Fraction(6667, 10_000), True),
        (Fraction(2, 3), Fraction(67, 100), False),
        (Fraction(-5), Fraction(5), False),
        (Fraction(-100_010, 3), Fraction(-100_000, 3), True),
    ],
)
def test_a_whole_answer_agrees_exactly_and_others_nearly(value: Fraction, gold: Fraction, agree: bool) -> None:
    assert answers_agree(value, gold) is agree


@pytest.mark.parametrize(
    ("value", "printed", "same"),
    [
        ("10/3", "3.33", True), ("10/3", "3.34", False), ("500/37", "13", True), ("500/37", "14", True),
        ("500/37", "13.5", True), ("500/37", "13.6", False), ("-50/3", "-16.7", True), ("-50/3", "16.7", False),
        ("136", "134", False), ("2/3", "2/3", True), ("0.667", "2/3", False), ("0.04", "0", True),
    ],
)  # fmt: skip
def test_answers_as_printed_are_rounded_or_cut_to_their_own_decimals(value: str, printed: str, same: bool) -> None:
    assert agrees_as_printed(Fraction(value), Fraction(printed)) is same


def test_a_tolerance_that_is_given_counts_for_whole_numbers_too() -> None:
    assert answers_agree(Fraction(224_007), Fraction(224_000), Fraction(1, 10_000))
    assert not answers_agree(Fraction(224_023), Fraction(224_000), Fraction(1, 10_000))


def test_without_tolerance_answers_agree_only_exactly() -> None:
    assert answers_agree(Fraction(2, 3), Fraction(2, 3), Fraction(0))
    assert not answers_agree(Fraction(2, 3), Fraction(666_666_667, 10**9), Fraction(0))
