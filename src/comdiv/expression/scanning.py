"""From the characters of an infix expression to tokens.

Corpora write the same thing in many ways: `×÷−`, `3:4` for 3/4, full-width signs, `[ ] { }`, `20%`, `1(1/2)`,
`((2)/(3))`. The scanner reduces them to seven kinds of token. Only the characters listed here are accepted: a
look-alike from another script, a dunder name or a call is an error with its position.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from comdiv.expression.tree import MAX_DIGITS, MAX_REFERENCE, TOO_LONG, ExpressionError

MAX_LENGTH = 10_000  # characters; the longest expression of any known corpus has under 200

TokenKind = Literal["number", "quantity", "name", "operator", "open", "close", "percent"]


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One token with its offset; numbers have a `value`, and `written` for forms like `20%`, `(1/3)` and `1(1/2)`."""

    kind: TokenKind
    text: str
    position: int
    value: Fraction = Fraction(0)
    written: str = ""


# One character for one character, so that positions refer to the user's text.
_TRANSLATION = str.maketrans(
    "０１２３４５６７８９＋－−–—＊×·⋅∙／÷∕:：∶（）［］【】｛｝＝．％＾，＿　\xa0",
    "0123456789+----*****//////()[][]{}=.%^,_  ",
)
_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?![0-9])|[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
_BRACKETED_INTEGER = r"\s*(?:\(\s*[0-9]+\s*\)|[0-9]+)\s*"  # `(2)` or `2`, as in `((2)/(3))`
_FRACTION = rf"\({_BRACKETED_INTEGER}/{_BRACKETED_INTEGER}\)"
_NUMBER_PATTERN = re.compile(_NUMBER)
_MIXED_PATTERN = re.compile(rf"[0-9]+\s*{_FRACTION}")
_FRACTION_PATTERN = re.compile(_FRACTION)
_INTEGER_PATTERN = re.compile(r"[0-9]+")
_NAME_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUANTITY_PATTERN = re.compile(r"N([0-9]{1,4})")
_SINGLE: dict[str, TokenKind] = {
    **dict.fromkeys("([{", "open"),
    **dict.fromkeys(")]}", "close"),
    **dict.fromkeys("+-*/^", "operator"),
    "%": "percent",
}


def plain_signs(text: str) -> str:
    """The text with full-width and typographic digits, signs and brackets replaced by the plain ones, same length."""
    return text.translate(_TRANSLATION)


def scan(text: str, *, fractions_are_leaves: bool = False) -> list[Lexeme]:
    """The tokens of an infix expression.

    With `fractions_are_leaves`, a bracketed `(1/3)` is one number, which is what corpora mean if the text has that
    fraction; otherwise it is a division. A mixed fraction `1(1/2)` is always one number.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH} characters, this one has {len(text)}")
    text = plain_signs(text)
    tokens: list[Lexeme] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character.isspace():
            position += 1
            continue
        token, position = _next_token(text, position, fractions_are_leaves)
        tokens.append(token)
    return tokens


def _next_token(text: str, position: int, fractions_are_leaves: bool) -> tuple[Lexeme, int]:
    character = text[position]
    if character in "0123456789.":
        return _number(text, position)
    if character == "(" and fractions_are_leaves and (match := _FRACTION_PATTERN.match(text, position)):
        numerator, denominator = _integers(match)
        if denominator:
            written = f"{numerator}/{denominator}"
            return Lexeme("number", match[0], position, Fraction(numerator, denominator), written), match.end()
    if text.startswith("**", position):
        return Lexeme("operator", "^", position), position + 2
    if character in _SINGLE:
        return Lexeme(_SINGLE[character], character, position), position + 1
    if match := _NAME_PATTERN.match(text, position):
        quantity = _QUANTITY_PATTERN.fullmatch(match[0])
        if quantity and int(quantity[1]) <= MAX_REFERENCE:
            return Lexeme("quantity", match[0], position, Fraction(int(quantity[1]))), match.end()
        return Lexeme("name", match[0], position), match.end()
    raise ExpressionError(f"unexpected character {character!r}", position)


def _number(text: str, position: int) -> tuple[Lexeme, int]:
    """A number together with the fraction of a mixed number or a percent sign."""
    if match := _MIXED_PATTERN.match(text, position):
        whole, numerator, denominator = _integers(match)
        if denominator:
            value = whole + Fraction(numerator, denominator)
            return Lexeme("number", match[0], position, value, f"{whole}({numerator}/{denominator})"), match.end()
    number = _NUMBER_PATTERN.match(text, position)
    if number is None:
        raise ExpressionError("a decimal point without digits", position)
    value = _decimal(number[0], position)
    end = number.end()
    if text.startswith("%", end):
        return Lexeme("number", number[0] + "%", position, value / 100, f"{number[0]}%"), end + 1
    return Lexeme("number", number[0], position, value), end


def _integers(match: re.Match[str]) -> list[int]:
    return [_integer(digits, match.start()) for digits in _INTEGER_PATTERN.findall(match[0])]


def _integer(digits: str, position: int) -> int:
    if len(digits) > MAX_DIGITS:
        raise ExpressionError(TOO_LONG, position)
    return int(digits)


def _decimal(text: str, position: int) -> Fraction:
    """The exact value of digits with an optional point and thousands separators."""
    whole, _, decimals = text.replace(",", "").partition(".")
    digits = whole + decimals
    return Fraction(_integer(digits, position), 10 ** len(decimals))
