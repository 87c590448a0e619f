"""From trees to text: no bracket too many, none too few."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from comdiv.expression import Constant, Expression, Operation, Reference
from comdiv.expression.parsing import parse, parse_postfix, parse_prefix
from comdiv.expression.printing import (
    constant_text,
    leaf_text,
    postfix_tokens,
    prefix_tokens,
    to_infix,
    to_latex,
    to_postfix,
    to_prefix,
)
from comdiv.expression.tree import MAX_DIGITS
from strategies import trees

N0, N1 = Reference(0), Reference(1)


@pytest.mark.parametrize(
    "text",
    [
        "N0+N1+N2", "N0+(N1+N2)", "N0-N1+N2", "N0-(N1+N2)", "N0-(N1-N2)", "N0*N1/N2", "N0/(N1*N2)", "N0/(N1/N2)",
        "N0*(N1*N2)", "(N0+N1)*N2", "N0+N1*N2", "N0*(1-N1)", "N0^N1^N2", "(N0^N1)^N2", "(N0*N1)^2", "N0*N1^2",
        "N0^(N1+1)", "N0*(-2)", "(-2)^N0", "-2", "0-N0", "N0*0(1/3)", "N0+(-0(1/3))",
    ],
)  # fmt: skip
def test_infix_has_exactly_the_brackets_that_the_tree_needs(text: str) -> None:
    assert to_infix(parse(text)) == text


@given(trees())
def test_taking_any_pair_of_brackets_away_changes_the_tree(tree: Expression) -> None:
    text = to_infix(tree)
    depths: list[int] = []
    for end, character in enumerate(text):
        if character == "(":
            depths.append(end)
        elif character == ")":
            start = depths.pop()
            mixed_fraction = start > 0 and text[start - 1].isdigit()
            negative = text[start + 1] == "-"  # -2 in brackets: plain to the reader, though the parser could do without
            if not mixed_fraction and not negative:
                assert parse(f"{text[:start]}{text[start + 1 : end]}{text[end + 1 :]}") != tree


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("3.14", "3.14"), ("100", "100"), ("-0.5", "-0.5"), ("1/3", "0(1/3)"), ("7/3", "2(1/3)"),
        ("-7/3", "-2(1/3)"), ("1/1024", "0.0009765625"),
    ],
)  # fmt: skip
def test_a_constant_is_one_token_that_parses_back(value: str, text: str) -> None:
    assert constant_text(Fraction(value)) == text
    assert parse(text) == parse_prefix(text) == Constant(Fraction(value))


def digits(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, 10**count - 1)


@given(st.builds(Fraction, digits(MAX_DIGITS), digits(MAX_DIGITS).map(lambda below: below + (below == 0))))
@example(Fraction(1, 2**300))
@example(Fraction(1, 10 ** (MAX_DIGITS - 1)))
@example(Fraction(-(10**MAX_DIGITS) + 1))
@example(Fraction(10**MAX_DIGITS - 1, 2))
def test_constants_of_the_greatest_length_parse_back_too(value: Fraction) -> None:
    constant = Constant(value)
    assert (
        parse(to_infix(constant))
        == parse_prefix(to_prefix(constant))
        == parse_postfix(to_postfix(constant))
        == constant
    )


def test_how_a_constant_was_written_does_not_show() -> None:
    assert to_infix(parse("N0*20%")) == "N0*0.2"


def test_prefix_and_postfix_are_tokens_with_spaces() -> None:
    tree = parse("N0*(1-N1)")
    assert prefix_tokens(tree) == ["*", "N0", "-", "1", "N1"]
    assert postfix_tokens(tree) == ["N0", "1", "N1", "-", "*"]
    assert to_prefix(tree) == "* N0 - 1 N1"
    assert to_postfix(tree) == "N0 1 N1 - *"
    assert to_prefix(parse("N0-(-0.5)")) == "- N0 -0.5"


def test_quantities_are_named_as_asked_in_every_notation() -> None:
    tree = parse("N0/N1+2")

    def name(index: int) -> str:
        return "ab"[index]

    assert to_infix(tree, name) == "a/b+2"
    assert to_prefix(tree, name) == "+ / a b 2"
    assert to_postfix(tree, name) == "a b / 2 +"
    assert to_latex(tree, name) == r"\frac{a}{b} + 2"
    assert leaf_text(N1, name) == "b"


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("N0", "N_{0}"), ("N12*N3", r"N_{12} \times N_{3}"), ("N0/N1", r"\frac{N_{0}}{N_{1}}"),
        ("(N0+1)/(N1-1)", r"\frac{N_{0} + 1}{N_{1} - 1}"), ("N0*(1-N1)", r"N_{0} \times \left(1 - N_{1}\right)"),
        ("N0-(N1-N2)", r"N_{0} - \left(N_{1} - N_{2}\right)"), ("N0-N1-N2", "N_{0} - N_{1} - N_{2}"),
        ("N0-N1*N2", r"N_{0} - N_{1} \times N_{2}"),
        ("N0*(N1*N2)", r"N_{0} \times \left(N_{1} \times N_{2}\right)"),
        ("N0*(N1/N2)", r"N_{0} \times \frac{N_{1}}{N_{2}}"), ("N0^(N1+1)", "N_{0}^{N_{1} + 1}"),
        ("(N0^N1)^2", r"\left(N_{0}^{N_{1}}\right)^{2}"), ("N0^N1^2", "N_{0}^{N_{1}^{2}}"),
        ("(N0/N1)^2", r"\left(\frac{N_{0}}{N_{1}}\right)^{2}"), ("(N0+N1)^2", r"\left(N_{0} + N_{1}\right)^{2}"),
        ("0(1/3)^2", r"\left(\frac{1}{3}\right)^{2}"), ("N0*0(1/3)", r"N_{0} \times \frac{1}{3}"),
        ("-2(1/3)", r"-\frac{7}{3}"), ("N0+(-2)", r"N_{0} + \left(-2\right)"), ("(-2)^2", r"\left(-2\right)^{2}"),
        ("2^(-2)", "2^{-2}"), ("N0/(-2)", r"\frac{N_{0}}{-2}"), ("3.14*N0", r"3.14 \times N_{0}"),
    ],
)  # fmt: skip
def test_latex_has_brackets_where_a_reader_needs_them(text: str, latex: str) -> None:
    assert to_latex(parse(text)) == latex


@given(trees())
def test_latex_brackets_and_braces_are_balanced(tree: Expression) -> None:
    latex = to_latex(tree)
    assert latex.count(r"\left(") == latex.count(r"\right)")
    depth = 0
    for character in latex:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0


@given(trees(max_leaves=6), trees(max_leaves=6))
def test_different_trees_are_printed_differently(first: Expression, second: Expression) -> None:
    for tree in (first, Operation("-", first, second)):
        other = Operation("-", second, first)
        for spell in (to_infix, to_prefix, to_postfix, to_latex):
            assert (spell(tree) == spell(other)) == (tree == other)
