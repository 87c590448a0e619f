"""Values written as another number is."""

from fractions import Fraction

import pytest

from comdiv.language.numbers import write_like
from comdiv.reading import read_text


@pytest.mark.parametrize(
    ("value", "model", "written"),
    [
        ("12", "7", "12"),
        ("7/2", "7", None),  # a count that is no integer
        ("1200", "3,400", "1,200"),
        ("7/2", "2.5", "3.5"),
        ("12", "2.5", "12"),
        ("120/7", "2.5", None),  # 17.142…
        ("1/16", "2.5", None),  # more decimals than a schoolbook writes
        ("3/5", "(1/3)", "(3/5)"),
        ("3/5", "1/3", "3/5"),
        ("7/5", "(1/3)", None),
        ("2", "(1/3)", None),
        ("3/2", "2(1/3)", "1(1/2)"),
        ("4/5", "20%", "80%"),
        ("1/3", "20%", None),
    ],
)
def test_a_value_is_written_in_the_models_form_or_not_at_all(value: str, model: str, written: str | None) -> None:
    quantity = read_text(f"有{model}，", "zh").quantities[0]
    assert write_like(Fraction(value), quantity) == written
