"""Numbers written with digits, which are the same in every language."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comdiv.language import numbers
from comdiv.language.numbers import half_width, number_spans


def found(text: str) -> list[tuple[str, str, str]]:
    return [(text[span.start : span.end], str(span.value), span.form) for span in number_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", ("7", "7", "integer")), ("007", ("007", "7", "integer")), ("3.50", ("3.50", "7/2", "decimal")),
        (".5", (".5", "1/2", "decimal")), ("1,000", ("1,000", "1000", "integer")),
        ("1,234,567.8", ("1,234,567.8", "6172839/5", "decimal")), ("20%", ("20%", "1/5", "percent")),
        ("12.5 %", ("12.5 %", "1/8", "percent")), ("1,000%", ("1,000%", "10", "percent")),
        ("3/5", ("3/5", "3/5", "fraction")), ("5 / 8", ("5 / 8", "5/8", "fraction")),
        ("(1/3)", ("(1/3)", "1/3", "fraction")), ("((2)/(3))", ("((2)/(3))", "2/3", "fraction")),
        ("1(1/2)", ("1(1/2)", "3/2", "mixed")), ("1 1/2", ("1 1/2", "3/2", "mixed")),
        ("5((1)/(2))", ("5((1)/(2))", "11/2", "mixed")), ("½", ("½", "1/2", "fraction")),
        ("3¾", ("3¾", "15/4", "mixed")), ("-11", ("-11", "-11", "integer")),
        ("-1/2", ("-1/2", "-1/2", "fraction")), ("１２．５", ("１２．５", "25/2", "decimal")),
        ("２０％", ("２０％", "1/5", "percent")), ("（１／３）", ("（１／３）", "1/3", "fraction")),
    ],
)  # fmt: skip
def test_each_way_of_writing_a_number_is_read(text: str, expected: tuple[str, str, str]) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "", "A4", "x2", "the 5th", "the 21st of May", "2nd", "3rd", "N0", "2/0", "٣",
    ],
)  # fmt: skip
def test_what_is_no_quantity_gives_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3:5", [3, 5]), ("3：5", [3, 5]), ("10-3", [10, 3]), ("10 - 3", [10, 3]), ("(5)-3", [5, 3]), ("a-5", [5]),
        ("3 + -4", [3, -4]), ("2,5 and 7", [2, 5, 7]), ("1,0000", [1, 0]), ("No.5", [5]), ("wait...5", [5]),
        ("He ate 5. 6 are left", [5, 6]), ("1.2.3", [Fraction("1.2")]),
    ],
)  # fmt: skip
def test_signs_around_numbers_are_no_part_of_them(text: str, values: list[Fraction]) -> None:
    assert [span.value for span in number_spans(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("He ate 3/5.", ["3/5"]), ("a 1/2-inch nail", ["1/2"]), ("1/5th of it", ["1/5"]),
        ("1/2/3", ["1", "2", "3"]), ("1-2/3", ["1", "2", "3"]), ("168/6+2", ["168", "6", "2"]),
        ("计算168/6", ["168", "6"]), ("6/8与2的和", ["6", "8", "2"]), ("6/8米", ["3/4"]),
    ],
)  # fmt: skip
def test_a_slash_is_a_fraction_unless_it_is_an_exercise(text: str, values: list[str]) -> None:
    assert [str(span.value) for span in number_spans(text)] == values


@pytest.mark.parametrize("digits", [31, 5_000, 200_000])
@pytest.mark.parametrize(
    "around",
    [
        "{}", "{}/2", "2/{}", "{}.5", "{}%", "1({}/3)",
    ],
)  # fmt: skip
def test_a_run_of_digits_without_end_is_passed_over(digits: int, around: str) -> None:
    assert found(around.format("9" * digits) + " 7")[-1] == ("7", "7", "integer")
    assert all(len(text) < 40 for text, _, _ in found(around.format("9" * digits) + " 7"))


@given(st.text(alphabet="０１２９．％／（）0129.%/() 米a"))
def test_half_width_keeps_every_offset(text: str) -> None:
    assert len(half_width(text)) == len(text)


@given(st.text(alphabet="0123456789.,%/()-½ ：:a米"))
def test_spans_are_in_order_and_do_not_overlap(text: str) -> None:
    spans = list(number_spans(text))
    assert all(span.start < span.end for span in spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))


@given(st.fractions(min_value=0, max_value=9_999, max_denominator=99))
def test_a_proper_or_mixed_fraction_is_read_back(value: Fraction) -> None:
    whole, rest = divmod(value, 1)
    written = f"{whole}({rest.numerator}/{rest.denominator})"
    assert [span.value for span in number_spans(f"有{written}米")] == [value]


@given(st.text(alphabet="0123456789.,-(/)%½ Ath棵\n", max_size=30))
@settings(max_examples=1000)
def test_looking_for_beginnings_first_finds_the_same(text: str) -> None:
    wanted = [span for match in numbers._PATTERN.finditer(text) for span in numbers._spans_of(text, match)]
    assert list(number_spans(text)) == wanted
