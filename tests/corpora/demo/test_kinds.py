"""Kinds of numbers: what is drawn, what is accepted, how it is printed."""

import random
from fractions import Fraction

import pytest

from comdiv.corpora.demo.kinds import parse_kind
from comdiv.errors import ComdivError


def test_whole_numbers_step_from_the_lower_end() -> None:
    assert parse_kind("whole 4..11 step 3").choices == (4, 7, 10)


def test_shares_are_proper_reduced_fractions_within_the_range() -> None:
    choices = parse_kind("share 1/3..1/2").choices
    assert choices[0] == Fraction(1, 3)
    assert choices[-1] == Fraction(1, 2)
    assert Fraction(2, 5) in choices
    assert all(value.denominator <= 10 for value in choices)


def test_percents_are_worth_hundredths() -> None:
    assert parse_kind("percent 10..20 step 5").choices == (Fraction(1, 10), Fraction(3, 20), Fraction(1, 5))


@pytest.mark.parametrize(
    ("kind", "value", "thousands", "text"),
    [
        ("whole 1..9999", Fraction(1200), ",", "1,200"),
        ("whole 1..9999", Fraction(1200), "", "1200"),
        ("money 1..9 step 0.25", Fraction(9, 2), ",", "4.50"),
        ("money 1..9 step 0.25", Fraction(4), ",", "4"),
        ("decimal 0.1..3 step 0.1", Fraction(5, 2), "", "2.5"),
        ("share", Fraction(2, 5), ",", "2/5"),
        ("percent 5..95", Fraction(3, 10), ",", "30%"),
    ],
)
def test_numbers_are_written_as_in_a_schoolbook(kind: str, value: Fraction, thousands: str, text: str) -> None:
    assert parse_kind(kind).write(value, thousands) == text


def test_a_result_must_lie_in_its_range_and_be_of_its_kind() -> None:
    whole = parse_kind("whole 2..10")
    assert whole.accepts(Fraction(10))
    assert not whole.accepts(Fraction(5, 2))
    assert not whole.accepts(Fraction(11))
    assert not parse_kind("share").accepts(Fraction(1))
    assert parse_kind("money 1..9").accepts(Fraction(301, 100))
    assert not parse_kind("money 1..9").accepts(Fraction(3001, 1000))


def test_draws_come_from_the_choices() -> None:
    kind = parse_kind("whole 3..5")
    assert {kind.draw(random.Random(seed)) for seed in range(50)} == {3, 4, 5}


@pytest.mark.parametrize("text", ["whole", "whole 5..4", "number 1..2", "whole one..two", "share 91/100..92/100"])
def test_a_wrong_kind_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ComdivError, match=text.split()[0]):
        parse_kind(text)
