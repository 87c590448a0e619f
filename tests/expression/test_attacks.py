"""A corpus of attacks: whatever the input, it ends soon, and with an error of ours in one short line."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from comdiv.expression import (
    Expression,
    ExpressionError,
    Operation,
    Reference,
    canonical,
    draw_svg,
    draw_text,
    mathen_normal_form,
    parse,
    parse_answer,
    parse_equation,
    parse_postfix,
    parse_prefix,
    shape,
    template,
    to_infix,
    to_latex,
    to_postfix,
    to_prefix,
    value_of,
)
from comdiv.expression.scanning import MAX_LENGTH
from comdiv.expression.tree import MAX_DEPTH, MAX_NODES

MEGA = 1_000_000

READERS: dict[str, Callable[[str], object]] = {
    "infix": lambda text: value_of(parse(text)),
    "infix with fractions": lambda text: value_of(parse(text, fractions_are_leaves=True)),
    "prefix": lambda text: value_of(parse_prefix(text)),
    "prefix tokens": lambda text: value_of(parse_prefix(text.split(" "))),
    "postfix": lambda text: value_of(parse_postfix(text)),
    "postfix tokens": lambda text: value_of(parse_postfix(text.split(" "))),
    "equation": lambda text: value_of(parse_equation(text)),
    "equation for x": lambda text: value_of(parse_equation(f"x={text}")),
    "equation around x": lambda text: value_of(parse_equation(f"x+{text}={text}-x")),
    "answer": parse_answer,
}

CODE = {
    "call": "__import__('os').system('true')",
    "bare call": "exit()",
    "call of a number": "int(5)",
    "attribute": "N0.real",
    "attribute of a number": "(1).__class__",
    "dunder name": "__builtins__",
    "index": "N0[0]",
    "lambda": "(lambda: 1)()",
    "walrus": "(a:=1)",
    "comprehension": "[1 for x in N0]",
    "format string": "f'{1}'",
    "string": "'1'",
    "statement": "1; import os",
    "comment": "1 # 2",
    "backslash": "1\\\n+2",
    "comparison": "1<2",
    "boolean": "1 and 2",
    "bitwise": "1|2",
    "shift": "1<<99999999",
    "modulo": "7%%3",
    "floor division": "7//2",
    "factorial": "99999!",
    "complex number": "1j",
    "hexadecimal": "0x10",
    "underscores": "1_000",
    "scientific tower": "1e999999999",
}
LOOK_ALIKES = {
    "Cyrillic х": "2+х",
    "Greek capital Nu": "Ν0+1",
    "full-width N": "Ｎ0+1",
    "Arabic digits": "٣+٤",
    "Devanagari digits": "३+४",
    "mathematical digits": "𝟑+𝟒",
    "superscript": "2²",
    "subscript": "N₀",
    "vulgar fraction": "½+1",
    "Roman numeral": "Ⅷ+1",
    "circled digit": "①+1",
    "Chinese numeral": "三+四",
    "square root": "√4",
    "zero-width space": "1\u200b+2",
    "right-to-left override": "1\u202e+2",
    "byte-order mark": "\ufeff1+2",
    "combining stroke": "1+\u03382",
    "null byte": "1+\x002",
    "null byte alone": "\x00",
    "escape sequence": "\x1b[31m1",
    "lone surrogate": "1+\ud800",
    "lone surrogate first": "\udfff1",
    "emoji": "🍎+1",
}
BOMBS = {
    "power tower": "9**9**9",
    "power tower with carets": "10^10^10",
    "power tower in brackets": "((9^9)^9)^9^9",
    "power of a power": "(((2^64)^64)^64)^64",
    "huge exponent": "2^99999999999999999999",
    "huge negative exponent": "2^(-99999999999999999999)",
    "tiny base": "0.0000000001^64^2",
    "squares of squares": "((((((9^64)^64)^64)^64)^64)^64)",
    "root": "2^(1/3)",
    "exponent with a thousand digits": "2^((1/3)^64^1*(1/7)^64*(1/11)^64*(1/13)^64)",
    "division by zero": "1/(2-2)",
    "zero to a negative power": "0^(-1)",
    "huge index": "N99999999",
    "huge index with zeros": "N" + "0" * 5000 + "1",
    "greatest index": "N9999+1",
    "two long names": "a" * 4000 + "=" + "b" * 4000,
    "long name": "a" * 9000,
    "long look-alike": "х" * 9000,
    "percent signs": "1" + "%" * 9000,
    "signs before a quantity": "-" * 9000 + "N0",
    "long sum": "+".join("1" * 4000),
    "long power": "^".join("1" * 4000),
    "long product of brackets": "(1)" * 3000,
    "unclosed brackets": "(" * 9000,
    "unopened brackets": "1" + ")" * 9000,
    "wrong brackets": "([" * 2000 + "1" + ")]" * 2000,
    "nested fractions": "(1/" * 2000 + "1" + ")" * 2000,
    "nested mixed fractions": "1(" * 2000 + "1/2" + ")" * 2000,
    "blanks in a fraction": "1(" + " " * 9000 + "1",
    "digits within the length": "9" * 9000,
    "decimals within the length": "0." + "9" * 9000,
    "digits with separators": "1" + ",000" * 2000,
    "digits of a denominator": "1(1/" + "9" * 9000 + ")",
    "points": "." * 9000,
    "equals signs": "=" * 9000,
}
MEGABYTES = {
    "nested brackets": "(" * 100_000 + "1" + ")" * 100_000,
    "megabyte of brackets": "(" * MEGA,
    "megabyte of digits": "9" * MEGA,
    "megabyte of decimals": "0." + "1" * MEGA,
    "megabyte of minus": "-" * MEGA,
    "megabyte of minus before a number": "-" * MEGA + "1",
    "megabyte of spaces": " " * MEGA,
    "megabyte of a name": "x" * MEGA,
    "megabyte of a sum": "1+" * (MEGA // 2) + "1",
    "megabyte of percent": "1" + "%" * MEGA,
    "megabyte of equals": "=" * MEGA,
    "megabyte of nulls": "\x00" * MEGA,
    "megabyte of surrogates": "\ud800" * MEGA,
    "million prefix operators": "+ " * MEGA + "1",
    "million postfix operators": "1" + " +" * MEGA,
    "million operands": "1 " * MEGA,
    "million right nested": "+ 1 " * MEGA + "1",
}
ATTACKS = {**CODE, **LOOK_ALIKES, **BOMBS, **MEGABYTES}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_ends_in_one_short_line(attack: str, reader: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        READERS[reader](ATTACKS[attack])
    message = str(caught.value)
    assert 0 < len(message.encode()) < 300  # encodable, too: no lone surrogate is passed on
    assert message.isprintable()


@pytest.mark.parametrize("attack", LOOK_ALIKES)
def test_a_look_alike_is_named_at_its_position(attack: str) -> None:
    text = LOOK_ALIKES[attack]
    with pytest.raises(ExpressionError, match="unexpected character") as caught:
        parse(text)
    position = caught.value.position
    assert position is not None
    assert repr(text[position]) in str(caught.value)
    assert not text[position].isascii() or not text[position].isprintable()


@pytest.mark.parametrize("answer", [math.nan, math.inf, -math.inf, 1e308, 5e-324], ids=str)
def test_a_number_that_is_no_answer_is_refused(answer: float) -> None:
    with pytest.raises(ExpressionError):
        parse_answer(answer)


@pytest.mark.parametrize(
    "token",
    [
        "+", "1", "N0", "(", "\x00", "",
    ],
)  # fmt: skip
def test_a_million_tokens_are_too_many(token: str) -> None:
    for read in (parse_prefix, parse_postfix):
        with pytest.raises(ExpressionError, match=f"at most {MAX_NODES} nodes"):
            read([token] * MEGA)


def test_what_is_long_but_harmless_is_still_read() -> None:
    half = (MAX_LENGTH - 1) // 2
    assert parse("(" * half + "7" + ")" * half) == parse("7")
    assert parse("-" * (MAX_LENGTH - 2) + "7") == parse("7")
    assert parse("7".center(MAX_LENGTH)) == parse("7")
    assert parse("+".join(["N0"] * MAX_DEPTH)) == parse_postfix("N0 " + "N0 + " * (MAX_DEPTH - 1))


def leaning(operator: str, *, left: bool) -> Expression:
    tree: Expression = Reference(0)
    for index in range(MAX_DEPTH):
        leaf = Reference(index % 3)
        tree = Operation(operator, tree, leaf) if left else Operation(operator, leaf, tree)
    return tree


@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("operator", "+-*/^")
def test_every_function_takes_the_deepest_tree_that_there_is(operator: str, left: bool) -> None:
    tree = leaning(operator, left=left)
    assert parse(to_infix(tree)) == parse_prefix(to_prefix(tree)) == parse_postfix(to_postfix(tree)) == tree
    assert hash(tree) == hash(leaning(operator, left=left))
    assert repr(tree).count("Operation") == MAX_DEPTH
    assert len(draw_text(tree)) == 2 * MAX_DEPTH + 1
    assert draw_svg(tree).count("<circle") == MAX_DEPTH
    assert to_latex(tree).count("N_") == MAX_DEPTH + 1
    assert value_of(tree, [Fraction(1)] * 3) in (0, 1, MAX_DEPTH + 1, 1 - MAX_DEPTH)
    assert value_of(canonical(tree), [Fraction(1)] * 3) == value_of(tree, [Fraction(1)] * 3)
    assert value_of(mathen_normal_form(tree), [Fraction(1)] * 3) == value_of(tree, [Fraction(1)] * 3)
    assert template(tree).count("n") == shape(tree).count("n") == MAX_DEPTH + 1
