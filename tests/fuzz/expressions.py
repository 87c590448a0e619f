"""Expressions and equations, as corpora write them, damaged, and as attackers would write them."""

import random
import zlib
from fractions import Fraction

from comdiv.expression import (
    Expression,
    ExpressionError,
    canonical,
    draw_svg,
    draw_text,
    equation_holds,
    format_number,
    in_text_order,
    mathen_normal_form,
    parse,
    parse_answer,
    parse_equation,
    parse_postfix,
    parse_prefix,
    postfix_tokens,
    prefix_tokens,
    shape,
    template,
    to_infix,
    to_latex,
    used_quantities,
    value_of,
)
from comdiv.expression.tree import MAX_DIGITS
from fuzz.damage import damaged_text
from strategies import attempt

VALUES = tuple(Fraction(value) for value in ("7", "3/4", "-2", "0", "1000000", "0.125"))  # of N0 to N5
NUMBERS = ("0", "1", "2", "7", "12", "100", "3.14", ".5", "20%", "1(1/2)", "(1/3)", "1,200", "0.000001", "99999999999")
LEAVES = (*NUMBERS, "N0", "N1", "N2", "N3", "N4", "N5", "N9")
OPERATORS = ("+", "-", "*", "/", "+", "-", "*", "/", "^", "**", "×", "÷", "−", ":", " + ", " / ")
BRACKETS = ("()", "()", "()", "[]", "{}", "（）")
SOUP = (*LEAVES, *OPERATORS, *"()[]{}=;%.,_ \tεNxe٣½²", "x", "N0N1", "x=", "=x", "1e9", "N10000", "\ud800", "-", "--")


def draw(source: random.Random) -> str:
    """Expressions and equations, a third of them damaged; prefix and postfix notation; tokens in any order."""
    kind = source.random()
    if kind < 0.1:
        return "".join(source.choices(SOUP, k=source.randrange(1, 25)))
    if kind < 0.2:
        return " ".join(_polish(source, 3)[:: source.choice((1, -1))])
    text = _infix(source, source.choice((1, 2, 2, 3, 3, 4)))
    if kind < 0.4:
        text = f"x={text}" if kind < 0.3 else f"{text}{source.choice('+-*/')}x={_infix(source, 1)}"
    return text if source.random() < 0.65 else damaged_text(text, source, SOUP)


def _infix(source: random.Random, depth: int) -> str:
    if depth == 0 or source.random() < 0.15:
        return source.choice(LEAVES)
    text = f"{_infix(source, depth - 1)}{source.choice(OPERATORS)}{_infix(source, depth - 1)}"
    if source.random() < 0.4:
        pair = source.choice(BRACKETS)
        text = f"{pair[0]}{text}{pair[1]}"
    return text


def _polish(source: random.Random, depth: int) -> list[str]:
    """Tokens in prefix order; backwards they are in postfix order."""
    if depth == 0 or source.random() < 0.2:
        return [source.choice(SOUP if source.random() < 0.05 else LEAVES)]
    return [source.choice("+-*/^"), *_polish(source, depth - 1), *_polish(source, depth - 1)]


def examine(text: str) -> None:
    """Read the text in every notation; what becomes a tree has the properties that a tree has."""
    choice = zlib.crc32(text.encode("utf-8", "surrogatepass"))  # spreads what costs much over the cases
    readers = [parse, (parse_answer, _parse_with_fractions)[choice & 1]]
    if " " in text:
        readers += [parse_prefix, parse_postfix]
    for read in readers:
        tree = attempt(read, text)
        if not isinstance(tree, ExpressionError | Fraction):
            _examine_tree(tree, choice)
    if "=" in text:
        _examine_equation(text)


def _parse_with_fractions(text: str) -> Expression:
    return parse(text, fractions_are_leaves=True)


def _examine_equation(text: str) -> None:
    solution = attempt(lambda: parse_equation(text, fractions_are_leaves=True))
    if not isinstance(solution, ExpressionError) and not used_quantities(solution):
        root = attempt(value_of, solution)
        if isinstance(root, Fraction):
            assert attempt(lambda: equation_holds(text, root)) is not False, "the solution does not solve the equation"


def _examine_tree(tree: Expression, choice: int) -> None:
    """Printing is the inverse of parsing; no normal form changes the value."""
    assert parse(to_infix(tree)) == tree
    value = attempt(value_of, tree, VALUES)
    if isinstance(value, Fraction):
        written = format_number(value)
        if sum(map(str.isdigit, written)) <= MAX_DIGITS:
            assert parse_answer(written) == value
        normal_form = (canonical, in_text_order, mathen_normal_form)[choice % 3]
        other = attempt(lambda: value_of(normal_form(tree), VALUES))
        assert other == value or isinstance(other, ExpressionError), f"{normal_form.__name__} changes the value"
    match choice % 8:
        case 0:
            assert parse_prefix(prefix_tokens(tree)) == tree
        case 1:
            assert parse_postfix(postfix_tokens(tree)) == tree
        case 2:
            normal = attempt(canonical, tree)
            assert isinstance(normal, ExpressionError) or canonical(normal) == normal
        case 3:
            assert attempt(template, tree)
        case 4:
            assert attempt(shape, tree)
        case 5:
            assert to_latex(tree)
        case 6:
            assert draw_text(tree)
        case 7:
            assert draw_svg(tree).startswith("<svg")
