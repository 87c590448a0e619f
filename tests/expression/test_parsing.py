"""From text to trees: infix, prefix, postfix."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from comdiv.expression import Constant, Expression, ExpressionError, Operation, Reference, value_of
from comdiv.expression.parsing import parse, parse_postfix, parse_prefix
from comdiv.expression.printing import postfix_tokens, prefix_tokens, to_infix, to_postfix, to_prefix
from strategies import attempt, infix_with_value, texts, trees

N0, N1, N2 = Reference(0), Reference(1), Reference(2)


def number(value: int | str) -> Constant:
    return Constant(Fraction(value))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("N0", N0),
        ("(((N0)))", N0),
        ("N0-N1-N2", Operation("-", Operation("-", N0, N1), N2)),
        ("N0-(N1-N2)", Operation("-", N0, Operation("-", N1, N2))),
        ("N0+N1*N2", Operation("+", N0, Operation("*", N1, N2))),
        ("N0*N1+N2", Operation("+", Operation("*", N0, N1), N2)),
        ("N0/N1*N2", Operation("*", Operation("/", N0, N1), N2)),
        ("N0^N1^N2", Operation("^", N0, Operation("^", N1, N2))),
        ("N0**N1", Operation("^", N0, N1)),
        ("N0*N1^N2", Operation("*", N0, Operation("^", N1, N2))),
        ("[N0+{N1}]×N2", Operation("*", Operation("+", N0, N1), N2)),
        ("N0÷N1−N2", Operation("-", Operation("/", N0, N1), N2)),
        ("２（３＋４）", Operation("*", number(2), Operation("+", number(3), number(4)))),
        ("6/2(3)", Operation("*", Operation("/", number(6), number(2)), number(3))),
        ("(N0)(N1)", Operation("*", N0, N1)),
        ("5(1/2)", number("11/2")),
        ("(1/2)", Operation("/", number(1), number(2))),
        ("N0*20%", Operation("*", N0, number("1/5"))),
        ("(N0+N1)%", Operation("/", Operation("+", N0, N1), number(100))),
        ("N0^N1%", Operation("^", N0, Operation("/", N1, number(100)))),
    ],
)
def test_infix_is_read_as_school_taught_it(text: str, tree: Expression) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("-3", number(-3)), ("+3", number(3)), ("--3", number(3)), ("-N0", Operation("-", number(0), N0)),
        ("-2^2", Operation("-", number(0), Operation("^", number(2), number(2)))),
        ("(-2)^2", Operation("^", number(-2), number(2))), ("2^-3", Operation("^", number(2), number(-3))),
        ("2^-3*4", Operation("*", Operation("^", number(2), number(-3)), number(4))),
        ("N0*-2", Operation("*", N0, number(-2))), ("N0--2", Operation("-", N0, number(-2))),
        ("-N0*N1", Operation("*", Operation("-", number(0), N0), N1)), ("-20%", number("-1/5")),
    ],
)  # fmt: skip
def test_a_sign_is_weaker_than_a_power_and_stronger_than_a_product(text: str, tree: Expression) -> None:
    assert parse(text) == tree


def test_a_constant_remembers_how_it_was_written() -> None:
    tree = parse("N0*20%+(1/3)", fractions_are_leaves=True)
    assert isinstance(tree, Operation)
    assert isinstance(tree.left, Operation)
    assert tree.left.right.written == "20%"  # type: ignore[union-attr]
    assert tree.right.written == "1/3"  # type: ignore[union-attr]


def test_a_bracketed_fraction_is_a_division_unless_asked_otherwise() -> None:
    assert parse("N0*(1/3)") == Operation("*", N0, Operation("/", number(1), number(3)))
    assert parse("N0*(1/3)", fractions_are_leaves=True) == Operation("*", N0, number("1/3"))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("* N0 - 1 N1", Operation("*", N0, Operation("-", number(1), N1))),
        ("- - N0 N1 -3.5", Operation("-", Operation("-", N0, N1), number("-3.5"))),
        ("** N0 0(1/3)", Operation("^", N0, number("1/3"))),
        (" 20%\n", number("1/5")),
    ],
)
def test_prefix_puts_the_operator_first(text: str, tree: Expression) -> None:
    assert parse_prefix(text) == parse_prefix(text.replace("**", "^").split()) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("N0 1 N1 - *", Operation("*", N0, Operation("-", number(1), N1))),
        ("N0 N1 - -3.5 -", Operation("-", Operation("-", N0, N1), number("-3.5"))),
        ("N0 -1(1/3) **", Operation("^", N0, number("-4/3"))),
    ],
)
def test_postfix_puts_the_operator_last(text: str, tree: Expression) -> None:
    assert parse_postfix(text) == parse_postfix(text.replace("**", "^").split()) == tree


@given(trees())
@example(Operation("^", number(-2), Operation("-", number(0), number(2))))
@example(Operation("*", number(2), Operation("/", number(1), number(2))))
@example(Operation("-", N0, number("-1/3")))
def test_what_is_printed_parses_back_to_the_same_tree_in_all_three_notations(tree: Expression) -> None:
    assert parse(to_infix(tree)) == tree
    assert parse_prefix(to_prefix(tree)) == parse_prefix(prefix_tokens(tree)) == tree
    assert parse_postfix(to_postfix(tree)) == parse_postfix(postfix_tokens(tree)) == tree


@given(trees())
def test_one_notation_turns_into_the_next_and_back(tree: Expression) -> None:
    infix = to_infix(tree)
    postfix = to_postfix(parse_prefix(to_prefix(parse(infix))))
    assert to_infix(parse_postfix(postfix)) == infix


@given(infix_with_value())
def test_infix_has_the_value_that_school_arithmetic_gives_it(text_and_value: tuple[str, Fraction]) -> None:
    text, value = text_and_value
    assert value_of(parse(text)) == value
    assert value_of(parse(text, fractions_are_leaves=True)) == value


@pytest.mark.parametrize("read", [parse, parse_prefix, parse_postfix])
@given(text=texts())
def test_any_text_is_a_tree_that_prints_and_parses_back_or_our_error(
    read: Callable[[str], Expression], text: str
) -> None:
    found = attempt(read, text)
    if isinstance(found, ExpressionError):
        assert found.position is None or 0 <= found.position <= len(text)
    else:
        assert parse(to_infix(found)) == found


@given(st.lists(st.one_of(st.text(max_size=3), st.sampled_from(["+", "-", "*", "N0", "1", "-2", "20%", "0(1/3)"]))))
def test_any_list_of_tokens_is_a_tree_of_that_many_nodes_or_our_error(tokens: list[str]) -> None:
    for read, spell in ((parse_prefix, prefix_tokens), (parse_postfix, postfix_tokens)):
        found = attempt(read, tokens)
        if isinstance(found, ExpressionError):
            assert found.position is None or 0 <= found.position <= len(tokens)
        else:
            assert len(spell(found)) == len(tokens)


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "an operand is missing", 0), ("   ", "an operand is missing", 3), ("N0+", "an operand is missing", 3),
        ("N0+*N1", r"operator '\*' lacks its left operand", 3), ("/N0", "operator '/' lacks its left operand", 0),
        ("(N0+N1", r"'\(' is never closed", 0), ("N0+(N1", r"'\(' is never closed", 3),
        ("N0)", r"'\)' closes nothing", 2), ("(N0]", r"'\]' closes '\('", 3),
        ("()", r"an operand is missing before '\)'", 1), ("(N0-)", r"an operand is missing before '\)'", 4),
        ("%", "a percent sign without a number", 0), ("N0 N1", "an operator is missing before 'N1'", 3),
        ("(3)4", "an operator is missing before '4'", 3), ("N0+apples", "unknown name 'apples'", 3),
        ("N0=3", "unexpected character '='", 2), ("３＋４？", "unexpected character '？'", 3),
        ("1+.", "a decimal point without digits", 2),
    ],
)  # fmt: skip
def test_an_error_in_infix_says_what_and_where(text: str, message: str, position: int) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        parse(text)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("read", "text", "message", "position"),
    [
        (parse_prefix, "", "an expression is missing", 0),
        (parse_prefix, "+ N0", r"operator '\+' lacks an operand", 0),
        (parse_prefix, "N0 + N1 N2", "2 expressions where one is expected", 0),
        (parse_prefix, "+ N0 - N1", "operator '-' lacks an operand", 2),
        (parse_prefix, "+ N0 -N1", "'-N1' is not an operand", 2),
        (parse_prefix, "+ N0 (1/3)", "is not an operand", 2),
        (parse_prefix, "+ N0 x", "'x' is not an operand", 2),
        (parse_prefix, "+ N0 $", r"'\$' is not an operand", 2),
        (parse_postfix, "", "an expression is missing", 0),
        (parse_postfix, "N0 + N1", r"operator '\+' lacks an operand", 1),
        (parse_postfix, "N0 N1", "2 expressions where one is expected", 0),
        (parse_postfix, "N0 1+2 -", r"'1\+2' is not an operand", 1),
        (parse_postfix, "N0 --2 -", "'--2' is not an operand", 1),
    ],
)
def test_an_error_in_prefix_or_postfix_says_which_token(
    read: Callable[[str], Expression], text: str, message: str, position: int
) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        read(text)
    assert caught.value.position == position
