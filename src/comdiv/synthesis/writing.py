"""Writing a value the way another number of a text is written: as a fraction, percent, decimal or integer."""

import re
from fractions import Fraction

from comdiv.expression import format_number
from comdiv.expression.evaluation import decimal_places
from comdiv.problem import Quantity

MOST_DECIMALS = 3  # schoolbooks write 0.125, hardly 0.0625
MOST_DENOMINATOR = 1000
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_VULGAR = re.compile(r"[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")


def write_like(value: Fraction, model: Quantity) -> str | None:
    """The value in the model's form, exactly; None where that form cannot hold it."""
    match model.form:
        case "integer" | "decimal":
            return _plain(value, model)
        case "percent":
            hundredfold = _decimal(value * 100)
            return None if hundredfold is None else hundredfold + _sign_of_percent(model.text)
        case "fraction" if not _VULGAR.search(model.text) and 0 < value < 1:
            return _fraction(value, model.text)
        case "mixed" if not _VULGAR.search(model.text) and value > 1 and value.denominator > 1:
            whole, rest = divmod(value, 1)
            written = _fraction(rest, model.text)
            return None if written is None else f"{whole}{'' if '(' in model.text else ' '}{written}"
        case _:  # words are not written: "thirty-four" is another skill
            return None


def _plain(value: Fraction, model: Quantity) -> str | None:
    """An integer stays one: a count of 3.5 apples is none. A decimal may come out whole."""
    if model.form == "integer" and value.denominator != 1:
        return None
    written = _decimal(value)
    if written is not None and _THOUSANDS.search(model.text) and value.denominator == 1:
        return f"{int(value):,}"
    return written


def _decimal(value: Fraction) -> str | None:
    places = decimal_places(value.denominator)
    return None if places is None or places > MOST_DECIMALS else format_number(value)


def _fraction(value: Fraction, model: str) -> str | None:
    if value.denominator == 1 or value.denominator > MOST_DENOMINATOR:
        return None
    written = f"{value.numerator}/{value.denominator}"
    return f"({written})" if "(" in model else written


def _sign_of_percent(text: str) -> str:
    return text[len(text.rstrip("%％ ")) :]
