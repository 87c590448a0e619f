"""Numbers written as words: an option, for corpora that have them."""

from fractions import Fraction

import pytest

from comdiv.language import get_language
from comdiv.language.zh.numbers import numeral_value


def words(code: str, text: str) -> list[tuple[str, str]]:
    quantities = get_language(code).quantities(text, number_words=True)
    return [(quantity.text, str(quantity.value)) for quantity in quantities]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seven cats", ("seven", "7")),
        ("zero cats", ("zero", "0")),
        ("twenty-five apples", ("twenty-five", "25")),
        ("Twenty five apples", ("Twenty five", "25")),
        ("fourteen", ("fourteen", "14")),
        ("one hundred", ("one hundred", "100")),
        ("a hundred", ("a hundred", "100")),
        ("two hundred and six boys", ("two hundred and six", "206")),
        ("twelve hundred", ("twelve hundred", "1200")),
        ("one thousand two hundred", ("one thousand two hundred", "1200")),
        ("two hundred thousand people", ("two hundred thousand", "200000")),
        ("one million two hundred thousand and five", ("one million two hundred thousand and five", "1200005")),
        ("a dozen eggs", ("a dozen", "12")),
        ("three dozen eggs", ("three dozen", "36")),
        ("half a dozen", ("half a dozen", "6")),
        ("half of them", ("half", "1/2")),
        ("one half", ("one half", "1/2")),
        ("two thirds of", ("two thirds", "2/3")),
        ("three-quarters", ("three-quarters", "3/4")),
        ("a third of", ("a third", "1/3")),
        ("a quarter of", ("a quarter", "1/4")),
        ("two and a half hours", ("two and a half", "5/2")),
        ("one and three quarters", ("one and three quarters", "7/4")),
        ("twice as many", ("twice", "2")),
        ("triple the number", ("triple", "3")),
    ],
)
def test_english_number_words_have_their_value(text: str, expected: tuple[str, str]) -> None:
    assert words("en", text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "someone", "tone", "the fifth grade", "a third friend", "the twenty-third day", "a second", "dozens",
        "often", "",
    ],
)  # fmt: skip
def test_english_ordinals_and_other_words_are_no_numbers(text: str) -> None:
    assert words("en", text) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("five and six", ["5", "6"]),
        ("one two three", ["1", "2", "3"]),
        ("two cats and 3 dogs", ["2", "3"]),
        ("one hundred and one or two", ["101", "2"]),
    ],
)
def test_english_numbers_side_by_side_stay_apart(text: str, values: list[str]) -> None:
    assert [value for _, value in words("en", text)] == values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("有三本书", ("三", "3")), ("有二十五个", ("二十五", "25")), ("十个", ("十", "10")),
        ("十五个", ("十五", "15")), ("一百零八只", ("一百零八", "108")), ("两百五十米", ("两百五十", "250")),
        ("两千元", ("两千", "2000")), ("一万二千人", ("一万二千", "12000")),
        ("一亿五千万元", ("一亿五千万", "150000000")), ("三分之二", ("三分之二", "2/3")),
        ("百分之二十", ("百分之二十", "1/5")), ("半小时", ("半", "1/2")), ("半个", ("半", "1/2")),
        ("还剩一半", ("一半", "1/2")),
    ],
)  # fmt: skip
def test_chinese_numerals_have_their_value(text: str, expected: tuple[str, str]) -> None:
    assert words("zh", text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "一共", "第一天", "第三本", "一样多", "一些", "万一", "三角形", "几十个", "十几个", "二〇〇八年", "",
        "百货",
    ],
)  # fmt: skip
def test_chinese_words_with_a_numeral_in_them_are_no_numbers(text: str) -> None:
    assert words("zh", text) == []


@pytest.mark.parametrize("numeral", ["万万", "十百", "二十五十", "二〇〇八", "一二三"])
def test_signs_that_make_no_numeral_have_no_value(numeral: str) -> None:
    assert numeral_value(numeral) is None


def test_every_chinese_numeral_below_ten_thousand_is_read_back() -> None:
    for value in range(1, 10_000):
        assert numeral_value(chinese_numeral(value)) == Fraction(value), chinese_numeral(value)


def chinese_numeral(value: int) -> str:
    """An independent writer: 1008 → 一千零八, 15 → 十五."""
    written, zero = "", False
    for digit, sign in zip(f"{value:04}", ["千", "百", "十", ""], strict=True):
        if digit == "0":
            zero = bool(written)
            continue
        written += ("零" if zero else "") + "〇一二三四五六七八九"[int(digit)] + sign
        zero = False
    return written.removeprefix("一") if written.startswith("一十") else written


@pytest.mark.parametrize(("code", "text"), [("en", "Ann has two cats and 3 dogs"), ("zh", "有两只猫和3只狗")])
def test_number_words_count_only_where_they_are_asked_for(code: str, text: str) -> None:
    language = get_language(code)
    assert [quantity.value for quantity in language.quantities(text)] == [3]
    assert [quantity.value for quantity in language.quantities(text, number_words=True)] == [2, 3]
    assert [quantity.index for quantity in language.quantities(text, number_words=True)] == [0, 1]
