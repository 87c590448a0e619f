"""The answer in a model's text, on the forms that models write."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.evaluation.answers import ModelAnswer, extract_answer
from comdiv.exchange.lm_eval_scoring import answer_in, readings_of
from comdiv.expression import ExpressionError, format_number, to_infix


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("36", "36"),
        ("-5", "-5"),
        ("−5", "-5"),
        ("1,200", "1200"),
        ("3.5", "7/2"),
        ("2/3", "2/3"),
        ("-2/3", "-2/3"),
        ("1 1/2", "3/2"),
        ("1.2e3", "1200"),
        ("３６", "36"),
        ("２．５", "5/2"),
        ("She has 3 bags of 12, so 36 apples.", "36"),
        ("3 + 4 = 7", "7"),
        ("x = 36", "36"),
        ("The change is $1,200.50.", "2401/2"),
        ("He is left with -$5.", "-5"),
        ("It is 12 - 5, that is 7", "7"),
        ("between 3-5", "5"),
        ("**36**", "36"),
        ("答案是7/2", "7/2"),
        ("所以x=7/2。", "7/2"),
        ("答：一共有３６个苹果。", "36"),
        ("共3，120元", "120"),
        ("The area is 36 cm^2.", "36"),
        ("The area is $36\\text{ cm}^{2}$", "36"),
        ("36 on the 15th day", "36"),
        ("12 of room A4", "12"),
        ("so the answer is...36", "36"),
        ("12, then 1/0", "12"),
        ("half of it is .5 kg", "1/2"),
        ("It is −5 degrees", "-5"),
        ("It is –5 degrees", "-5"),
        ("答：－5度", "-5"),
        ("He paused — and said —5", "5"),
    ],
)
def test_the_last_number_of_a_text_is_its_answer(text: str, value: str) -> None:
    assert extract_answer(text) == ModelAnswer(Fraction(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"so \boxed{36} of 40", "36"),
        (r"\boxed{12} no, \boxed{36}, checked 3 times", "36"),
        (r"\boxed{\frac{2}{3}} of 9", "2/3"),
        (r"\boxed{-\dfrac{2}{3}}", "-2/3"),
        (r"\boxed{\frac{-2}{3}}", "-2/3"),
        (r"\boxed{1\frac{1}{2}}", "3/2"),
        (r"\boxed{\frac12}", "1/2"),
        (r"\boxed{1{,}200}", "1200"),
        (r"\boxed{1,\!200}", "1200"),
        (r"\boxed{\$36} in 2 days", "36"),
        (r"\boxed{36\text{ apples}}", "36"),
        (r"\boxed{x = 36}", "36"),
        (r"\boxed{36", "36"),
        (r"\boxed{none}, so 36", "36"),
    ],
)
def test_what_is_boxed_comes_before_everything_else(text: str, value: str) -> None:
    assert extract_answer(text) == ModelAnswer(Fraction(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3*12=<<3*12=36>>36\n#### 36", 36),
        ("#### 1,200 apples for 3 days\nThat was 1 sum.", 1200),
        ("#### -5", -5),
        ("#### **36**\nin 2 days", 36),
        ("#### 1. Multiply\nThat gives 36", 36),
        ("#### Step 2\nThat gives 36", 36),
    ],
)
def test_a_number_after_four_hashes_comes_before_the_last_number(text: str, value: int) -> None:
    assert extract_answer(text) == ModelAnswer(Fraction(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The answer is 460. I checked this in 2 steps.", "460"),
        ("So the final answer is $1,200.50, after 3 days.", "2401/2"),
        ("The answer is: **36** (3 bags of 12)", "36"),
        ("**Answer:**\n\n36\n\nThat took 2 steps.", "36"),
        ("Answer: 36\nConfidence: 90", "36"),
        ("Final answer 36 apples, checked 2 times", "36"),
        ("Ans: 7/2 of 3", "7/2"),
        ("The answer would be about 36 for 2 days", "36"),
        ("The answer is 3 * 12 = 36 apples, in 1 step? Yes, 1.", "36"),
        ("The answer is 3 * 12 = 36 apples. I used 2 numbers.", "36"),
        ("The answer is that 3 bags of 12 are 36. It took 2 steps.", "36"),
        ("The answer is not 12. The answer is 36, as 12 has 2 digits.", "36"),
        ("The answer is not 12. It is 36", "36"),
        ("First the answer is 12. Corrected: the answer is 36. I tried 2 times.", "36"),
        ("The answer is -5. It fell 3 times.", "-5"),
        ("The answer is unclear. It may be 36", "36"),
        ("答案是460。我检查了2遍。", "460"),
        ("答案为：36个，共2步", "36"),
        ("答：一共有36个苹果。检查了2遍。", "36"),
        ("最终结果是３６。用了2步。", "36"),
        ("答案应该是3*12=36元。检查了2遍。", "36"),
        (r"The answer is 12, no, \boxed{36}", "36"),
        ("The answer is 12\n#### 36", "36"),
        ("The result is 12. Adding 24 gives 36", "36"),
        ("To answer this we add 12 and 24, which is 36", "36"),
    ],
)
def test_the_number_after_an_answer_phrase_comes_before_the_last_one(text: str, value: str) -> None:
    assert extract_answer(text) == ModelAnswer(Fraction(value))
    assert readings_of(answer_in(text)) == [Fraction(value)]


@pytest.mark.parametrize("text", ["20%", "20 %", "２０％", r"\boxed{20\%}", "about 20%", "#### 20%", "-1, no: 20%."])
def test_a_percentage_is_its_exact_value_and_remembers_its_sign(text: str) -> None:
    assert extract_answer(text) == ModelAnswer(Fraction(1, 5), percent=True)


@pytest.mark.parametrize(
    ("text", "infix"),
    [
        ("3*12", "3*12"),
        ("12 -5", "12-5"),
        ("N0", "N0"),
        ("N0*(1-N1)", "N0*(1-N1)"),
        ("x = 3 × 12", "3*12"),
        ("$3 \\times 12$", "3*12"),
        (r"that is \boxed{10^6} in 2 days", "10^6"),
    ],
)
def test_a_text_that_is_one_expression_is_that_expression(text: str, infix: str) -> None:
    found = extract_answer(text)
    assert found.answer is None
    assert found.expression is not None
    assert to_infix(found.expression) == infix


def test_lines_of_working_are_not_one_expression() -> None:
    assert extract_answer("40\n-4") == ModelAnswer(Fraction(-4))


@pytest.mark.parametrize("text", ["", "I do not know.", "many", "1/0", "9" * 500, "#### ", r"\boxed{}"])
def test_a_text_without_a_number_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(ExpressionError, match="no number in the text"):
        extract_answer(text)


def test_of_a_model_that_repeats_itself_for_ever_the_end_is_read() -> None:
    assert extract_answer("The answer is " * 20_000 + "7") == ModelAnswer(Fraction(7))
    assert answer_in("The answer is " * 20_000 + "7") == "7"
    assert answer_in("7 " + "The answer is " * 20_000) == ""
    with pytest.raises(ExpressionError, match="no number"):
        extract_answer("7 " + "The answer is " * 20_000)  # each time up to the end: minutes, if all are looked at


@given(st.text())
def test_any_text_gives_an_answer_an_expression_or_our_error(text: str) -> None:
    try:
        found = extract_answer(text)
    except ExpressionError:
        return
    assert (found.answer is None) != (found.expression is None)


@given(st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=1000))
def test_every_number_that_we_write_is_read_back_alone_and_in_a_sentence(value: Fraction) -> None:
    written = format_number(value)
    assert extract_answer(written) == ModelAnswer(value)
    assert extract_answer(f"With 7 more it is {written}.") == ModelAnswer(value)
    assert extract_answer(f"答案是{written}。") == ModelAnswer(value)
