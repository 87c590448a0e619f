"""Equations: the expression for the unknown, wherever it stands, or a reason why there is none."""

from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from comdiv.expression import (
    Expression,
    ExpressionError,
    NotExpressible,
    equation_holds,
    parse,
    parse_equation,
    to_infix,
    used_quantities,
    value_of,
)
from comdiv.expression.scanning import MAX_LENGTH
from strategies import attempt, constants, rationals, references, texts, trees

UNKNOWN_OR_NUMBER = st.one_of(references(count=1), constants())  # N0 stands for the unknown


@pytest.mark.parametrize(
    "left",
    [
        "x=", "X =", "hours=", "x＝", " total_cost = ", "n1=",
    ],
)  # fmt: skip
def test_a_name_alone_on_the_left_says_nothing(left: str) -> None:
    assert parse_equation(f"{left}N0*(1-N1)") == parse("N0*(1-N1)")


def test_a_name_alone_on_the_right_says_nothing_either() -> None:
    assert parse_equation("N0+N1=x") == parse("N0+N1")


def test_a_text_without_equals_sign_is_an_expression_already() -> None:
    assert parse_equation("N0*3") == parse("N0*3")
    with pytest.raises(ExpressionError, match="unknown name 'x'") as caught:
        parse_equation("2*x")
    assert caught.value.position == 2


@pytest.mark.parametrize(
    ("equation", "solution", "value"),
    [
        ("X-9=4", "4+9", 13), ("7=3+x", "7-3", 4), ("7=x+3", "7-3", 4), ("9-x=4", "9-4", 5), ("-x=5", "0-5", -5),
        ("3*x=12", "12/3", 4), ("x*3=12", "12/3", 4), ("x/3=4", "4*3", 12), ("12/x=3", "12/3", 4),
        ("2x+3=11", "(11-3)/2", 4), ("2(x+3)=14", "14/2-3", 4), ("hours=4.0*0.5/3.0", "4*0.5/3", Fraction(2, 3)),
        ("20-(x-5)*2=4", "(20-4)/2+5", 13), ("x+20%=1", "1-0.2", Fraction(4, 5)),
    ],
)  # fmt: skip
def test_operations_around_the_only_unknown_are_undone_in_their_roles(
    equation: str, solution: str, value: Fraction
) -> None:
    tree = parse_equation(equation)
    assert to_infix(tree) == solution
    assert value_of(tree) == value


def test_quantities_keep_their_roles_too() -> None:
    assert parse_equation("x-N1=N0") == parse("N0+N1")
    assert parse_equation("N0*x+N1=N2") == parse("(N2-N1)/N0")


@pytest.mark.parametrize(
    ("equation", "solution", "value"),
    [
        ("(7.0*x)+4.0=(3.0*x)-20.0", "(4+20)/(3-7)", -6),
        ("2000.0/(760.0+x)=1800.0/(760.0-x)", "(760*2000-760*1800)/(2000+1800)", 40), ("x+x=10", "10/(1+1)", 5),
        ("x=2*x-3", "3/(2-1)", 3), ("3*(x-1)=x+5", "(3+5)/(3-1)", 4), ("x/2+x/3=5", "5/(1/2+1/3)", 6),
        ("x-(3-x)=7", "(3+7)/(1+1)", 5), ("x+5=5-x", "(5-5)/(1+1)", 0),
    ],
)  # fmt: skip
def test_an_unknown_that_stands_more_than_once_is_collected(equation: str, solution: str, value: Fraction) -> None:
    tree = parse_equation(equation)
    assert to_infix(tree) == solution
    assert value_of(tree) == value


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("x*x=9", "not linear"), ("x*(x+1)=x", "not linear"), ("12/x=x", "not linear"), ("x+2^x=3", "not linear"),
        ("x^2=9", "base of a power"), ("2^x=8", "an exponent"), ("x+y=10", "more than one unknown: x, y"),
        ("X=x+1", "more than one unknown: X, x"), ("x=3=3", "more than one equation"),
        ("x==3", "more than one equation"), ("x+y=10;x-y=2", "more than one equation"),
    ],
)  # fmt: skip
def test_an_equation_without_an_expression_is_not_expressible(equation: str, reason: str) -> None:
    with pytest.raises(NotExpressible, match=reason):
        parse_equation(equation)


@pytest.mark.parametrize(
    "equation",
    [
        "x=x", "x+1=x+2", "2*x=x+x", "x/x=2/1", "1/x=2/x", "3/(x-1)=x*3/(x-1)", "0*x=5", "0/x=3", "x/0=5",
        "12/x=0",
    ],
)  # fmt: skip
def test_an_equation_without_exactly_one_solution_is_not_expressible(equation: str) -> None:
    with pytest.raises(NotExpressible, match=r"no single solution: division by zero|not linear"):
        parse_equation(equation)


def test_what_stands_after_x_equals_is_taken_as_it_is_even_without_a_value() -> None:
    assert parse_equation("x=5/0") == parse("5/0")
    assert parse_equation("x=2^0.5") == parse("2^0.5")


def test_an_equation_without_an_unknown_is_an_error_at_its_equals_sign() -> None:
    with pytest.raises(ExpressionError, match="without an unknown") as caught:
        parse_equation("3+4=7")
    assert caught.value.position == 3
    assert not isinstance(caught.value, NotExpressible)


@pytest.mark.parametrize(
    ("equation", "position"),
    [
        ("x=3+$", 4), ("x$=3", 1), ("x=3+", 4), ("x+=3", 2), ("x=(3", 2), ("x = 3)", 5), ("x=", 2), ("（x=3", 0),
    ],
)  # fmt: skip
def test_positions_are_those_of_the_whole_equation(equation: str, position: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_equation(equation)
    assert caught.value.position == position


@pytest.mark.parametrize("index", [0, 9999])
def test_no_quantity_is_taken_for_the_unknown(index: int) -> None:
    assert parse_equation(f"x=N{index}+1") == parse(f"N{index}+1")
    assert parse_equation(f"x-1=N{index}") == parse(f"N{index}+1")
    assert parse_equation(f"x+x=N{index}") == parse(f"N{index}/(1+1)")


def test_fractions_are_leaves_on_both_sides_when_asked() -> None:
    assert to_infix(parse_equation("(1/3)*x=(2/7)", fractions_are_leaves=True)) == "0(2/7)/0(1/3)"
    assert to_infix(parse_equation("(1/3)*x=(2/7)")) == "2/7/(1/3)"


def test_an_equation_has_a_greatest_length() -> None:
    assert parse_equation("x=" + "3".rjust(MAX_LENGTH - 2)) == parse("3")
    with pytest.raises(ExpressionError, match="at most"):
        parse_equation("x=" + "3".rjust(MAX_LENGTH - 1))


@given(rationals(), rationals(), rationals(), rationals())
def test_every_linear_equation_is_solved(slope: Fraction, intercept: Fraction, other: Fraction, root: Fraction) -> None:
    assume(slope != other)
    right = slope * root + intercept - other * root
    equation = f"({slope})*x+({intercept})=({right})+x*({other})"
    assert value_of(parse_equation(equation)) == root


@given(trees(max_leaves=5, leaves=UNKNOWN_OR_NUMBER), trees(max_leaves=3, leaves=UNKNOWN_OR_NUMBER))
def test_a_number_that_is_given_as_the_solution_solves_the_equation(left: Expression, right: Expression) -> None:
    assume(used_quantities(left) or used_quantities(right))
    solution = attempt(parse_equation, f"{to_infix(left, lambda _: 'x')}={to_infix(right, lambda _: 'x')}")
    root = solution if isinstance(solution, ExpressionError) else attempt(value_of, solution)
    assume(isinstance(root, Fraction))
    assert value_of(left, [root]) == value_of(right, [root])


@given(trees())
def test_any_expression_after_x_equals_is_that_expression(tree: Expression) -> None:
    assert parse_equation(f"x={to_infix(tree)}") == tree


@given(texts())
@example("x=x")
@example("=")
def test_any_text_is_an_expression_that_prints_and_parses_back_or_our_error(text: str) -> None:
    for equation in (text, f"x={text}", f"{text}=x", f"x+{text}=5"):
        found = attempt(parse_equation, equation)
        if isinstance(found, ExpressionError):
            assert found.position is None or 0 <= found.position <= len(equation)
        else:
            assert parse(to_infix(found)) == found


@pytest.mark.parametrize(
    ("equation", "answer", "holds"),
    [
        ("x+(1.0/x)=3.3333", "3", True), ("x+(1.0/x)=3.3", "3", False), ("(6.0+x)*(x-6.0)=189.0", "15", True),
        ("(6.0+x)*(x-6.0)=189.0", "-15", True), ("x^2=2", "1.41", False), ("7=3+x", "4", True),
    ],
)  # fmt: skip
def test_an_equation_holds_for_an_answer_that_makes_its_sides_equal(equation: str, answer: str, holds: bool) -> None:
    assert equation_holds(equation, Fraction(answer)) is holds


def test_an_equation_holds_within_the_tolerance() -> None:
    assert equation_holds("x^2=2", Fraction("1.41"), Fraction(1, 100))


@pytest.mark.parametrize(
    "equation",
    [
        "3+4", "x=N0", "x=1=2", "x+y=3", "1/x=5", "3=3", "x=", "x" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_equation_over_numbers_is_our_error(equation: str) -> None:
    with pytest.raises(ExpressionError):
        equation_holds(equation, Fraction(0))
