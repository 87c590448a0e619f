"""Tokens: the many ways in which corpora write the same thing, and positions."""

import dataclasses
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.expression import ExpressionError
from comdiv.expression.scanning import MAX_LENGTH, plain_signs, scan
from comdiv.expression.tree import MAX_DIGITS
from strategies import EXPRESSION_ALPHABET, attempt, texts


def spelled(text: str, *, fractions_are_leaves: bool = False) -> list[str]:
    return [token.text for token in scan(text, fractions_are_leaves=fractions_are_leaves)]


def test_typographic_and_full_width_signs_are_the_plain_ones() -> None:
    assert plain_signs("（１＋２）×３÷４−５％＝［６．０］【７】｛８｝，＿＾") == "(1+2)*3/4-5%=[6.0][7]{8},_^"


@given(st.text())
def test_plain_signs_keep_every_position(text: str) -> None:
    assert len(plain_signs(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("9", 9, ""), ("007", 7, ""), ("3.14", Fraction(314, 100), ""), ("5.", 5, ""), (".5", Fraction(1, 2), ""),
        ("1,200", 1200, ""), ("12,345,678.9", Fraction(123456789, 10), ""), ("20%", Fraction(1, 5), "20%"),
        ("2.5%", Fraction(1, 40), "2.5%"), ("1(1/2)", Fraction(3, 2), "1(1/2)"),
        ("5((1)/(2))", Fraction(11, 2), "5(1/2)"), ("5 ( ( 1 ) / 2 )", Fraction(11, 2), "5(1/2)"),
        ("１２．５％", Fraction(1, 8), "12.5%"),
    ],
)  # fmt: skip
def test_a_number_is_one_token_with_its_exact_value(text: str, value: Fraction, written: str) -> None:
    (token,) = scan(text)
    assert (token.kind, token.value, token.written) == ("number", value, written)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("N0*(1-N1)", ["N0", "*", "(", "1", "-", "N1", ")"]), ("2**3", ["2", "^", "3"]),
        ("2 * * 3", ["2", "*", "*", "3"]), ("1(1/0)", ["1", "(", "1", "/", "0", ")"]),
        ("1(N0/2)", ["1", "(", "N0", "/", "2", ")"]), ("(5)%", ["(", "5", ")", "%"]),
        ("7\t+\n8\u3000", ["7", "+", "8"]), ("", []),
    ],
)  # fmt: skip
def test_what_is_no_single_number_is_several_tokens(text: str, tokens: list[str]) -> None:
    assert spelled(text) == tokens


def test_a_bracketed_fraction_is_one_number_only_when_asked() -> None:
    assert spelled("5*(1/3)") == ["5", "*", "(", "1", "/", "3", ")"]
    _, _, fraction = scan("5*(1/3)", fractions_are_leaves=True)
    assert (fraction.value, fraction.written, fraction.position) == (Fraction(1, 3), "1/3", 2)
    (nested,) = scan("((2)/(3))", fractions_are_leaves=True)
    assert (nested.value, nested.written) == (Fraction(2, 3), "2/3")
    assert spelled("(1/0)", fractions_are_leaves=True) == ["(", "1", "/", "0", ")"]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [("N0", "quantity", 0), ("N9999", "quantity", 9999), ("N10000", "name", 0), ("n1", "name", 0), ("N1a", "name", 0)],
)
def test_only_a_capital_n_with_up_to_four_digits_is_a_quantity(text: str, kind: str, value: int) -> None:
    (token,) = scan(text)
    assert (token.kind, token.value) == (kind, value)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("12+$", 3), ("12 + a.b", 6), ("1,20", 1), ("1,2345", 1), ("5!", 1), ("'1'", 0), ("1=2", 1),
        ("（３）？", 3),
    ],
)  # fmt: skip
def test_a_character_without_a_meaning_is_an_error_at_its_position(text: str, position: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        scan(text)
    assert caught.value.position == position
    assert f"at position {position + 1}" in str(caught.value)


@pytest.mark.parametrize(
    "form",
    [
        "{}", "0.{}", "{}%", "1({}/2)", "1(1/{})", "5(({})/(3))",
    ],
)  # fmt: skip
def test_a_number_has_a_greatest_length(form: str) -> None:
    with pytest.raises(ExpressionError, match=f"at most {MAX_DIGITS} digits") as caught:
        scan("  " + form.format("1" * (MAX_DIGITS + 1)))
    assert caught.value.position == 2


def test_the_longest_number_is_still_one() -> None:
    (token,) = scan("9" * MAX_DIGITS)
    assert token.value == 10**MAX_DIGITS - 1


def test_a_text_has_a_greatest_length() -> None:
    assert scan(" " * MAX_LENGTH) == []
    with pytest.raises(ExpressionError, match=f"at most {MAX_LENGTH} characters, this one has {MAX_LENGTH + 1}"):
        scan(" " * (MAX_LENGTH + 1))


@given(texts(), st.booleans())
def test_tokens_stand_where_they_say_and_nothing_but_space_between(text: str, fractions_are_leaves: bool) -> None:
    found = attempt(partial(scan, fractions_are_leaves=fractions_are_leaves), text)
    if isinstance(found, ExpressionError):
        assert found.position is None or 0 <= found.position < len(text)
        return
    end, plain = 0, plain_signs(text).replace("**", "^ ")
    for token in found:
        assert plain[end : token.position].strip() == ""
        assert plain.startswith(token.text, token.position)
        end = token.position + len(token.text)
    assert plain[end:].strip() == ""


@given(st.text(EXPRESSION_ALPHABET, max_size=30))
def test_spaces_around_the_text_change_no_token(text: str) -> None:
    alone, around = attempt(scan, text), attempt(scan, f"   {text} ")
    if isinstance(alone, ExpressionError):
        assert isinstance(around, ExpressionError)
    else:
        assert around == [dataclasses.replace(token, position=token.position + 3) for token in alone]
