"""One prediction at one problem: right, or why not."""

from fractions import Fraction

import pytest

from comdiv.errors import ComdivError
from comdiv.evaluation.outcomes import gold_answer, outcome_of, outcomes_of, resolve
from comdiv.evaluation.predictions import Prediction
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import read

BAGS = Problem("bags", "en", "Tom has 3 bags of 12 apples. How many apples?", parse("N0*N1"), Fraction(36))
DISCOUNT = Problem("discount", "en", "A coat of 80 dollars is 25% off. Its price?", parse("N0*(1-N1)"), Fraction(60))


def said(**record: object) -> Prediction:
    return Prediction.from_json({"id": "any", **record})


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"expression": "N1*N0"}, "right"),
        ({"expression": "12*3"}, "right"),
        ({"expression": "N0+N1"}, "wrong"),
        ({"expression": "N0+N1", "answer": "36"}, "wrong"),  # the expression decides
        ({"expression": "N0*N2"}, "ill_formed"),
        ({"expression": "N0**"}, "ill_formed"),
        ({"expression": "N1/(N0-3)"}, "undefined"),
        ({"expression": "2^(1/2)"}, "undefined"),
        ({"expression": None, "undefined": True}, "undefined"),
        ({"answer": "36"}, "right"),
        ({"answer": "36.003"}, "wrong"),  # a whole number is compared exactly
        ({"answer": "36.0"}, "right"),
        ({"answer": "-36"}, "wrong"),
        ({"text": "no idea"}, "unreadable"),
    ],
)
def test_a_prediction_is_right_or_has_one_reason_for_being_wrong(record: dict[str, object], kind: str) -> None:
    outcome = outcome_of(BAGS, said(**record))
    assert outcome.kind == kind
    assert outcome.right == (kind == "right")


def test_no_prediction_is_missing() -> None:
    assert outcome_of(BAGS, None).kind == "missing"
    assert outcome_of(BAGS, None).expression_right is False
    assert outcome_of(problem_with("2"), None).expression_right is None


def problem_with(answer: str) -> Problem:
    return Problem("share", "en", "What share of 50 is 10?", None, Fraction(answer))


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("20%", "1/5", True), ("20%", "20", True), ("20", "1/5", False), ("0.2", "20", False), ("20%", "2", False),
    ],
)  # fmt: skip
def test_a_percentage_may_be_meant_either_way_and_a_plain_number_one_way(answer: str, gold: str, right: bool) -> None:
    assert outcome_of(problem_with(gold), said(answer=answer)).right is right


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("224007", "224000", False), ("224000", "224000", True), ("3.3333", "10/3", True), ("3.33", "10/3", False),
        ("39.7604", "39.76", True), ("39.8", "39.76", False), ("23.998", "24", False),
    ],
)  # fmt: skip
def test_whole_answers_are_compared_exactly_and_others_within_a_tolerance(answer: str, gold: str, right: bool) -> None:
    assert outcome_of(problem_with(gold), said(answer=answer)).right is right


def test_the_expression_whose_value_a_corpus_rounded_to_a_whole_answer_is_right() -> None:
    rounded = Problem("r", "en", "He drives 11999 miles in 500 hours.", parse("N0/N1"), Fraction(24))
    assert outcome_of(rounded, said(expression="N0/N1")).right
    assert not outcome_of(rounded, said(answer="23.997")).right
    wrong = Problem("w", "en", "He drives 11000 miles in 500 hours.", parse("N0/N1"), Fraction(24))
    assert not outcome_of(wrong, said(expression="N0/N1")).right


def test_a_gold_answer_of_zero_needs_zero() -> None:
    assert outcome_of(problem_with("0"), said(answer="0.0")).right
    assert not outcome_of(problem_with("0"), said(answer="0.00001")).right


def test_the_gold_answer_is_the_corpuss_own_even_where_its_expression_disagrees() -> None:
    rounded = Problem("r", "en", "10 apples for 3 boys?", parse("N0/N1"), Fraction("3.33333"))
    assert gold_answer(rounded) == Fraction("3.33333")
    assert outcome_of(rounded, said(expression="N0/N1")).right


def test_without_a_gold_answer_it_is_the_value_of_the_gold_expression() -> None:
    problem = Problem("p", "zh", "有３袋苹果，每袋12个，一共多少个？", parse("N0*N1"))
    assert gold_answer(problem) == 36
    assert outcome_of(problem, said(answer="36")).right


@pytest.mark.parametrize("expression", [None, "N0/0"])
def test_a_problem_without_any_gold_is_never_answered_right(expression: str | None) -> None:
    problem = Problem("p", "en", "12 apples?", parse(expression) if expression else None)
    assert gold_answer(problem) is None
    assert outcome_of(problem, said(answer="12")).kind == "wrong"


@pytest.mark.parametrize(
    ("problem", "expression", "right"),
    [
        (BAGS, "N1*N0", True), (BAGS, "12*3", True), (BAGS, "36", False), (BAGS, "N0+N0+N0", False),
        (DISCOUNT, "(1-N1)*N0", True), (DISCOUNT, "80*(1-0.25)", True), (DISCOUNT, "80*(1-1/4)", True),
        (DISCOUNT, "80*(1-25%)", True), (DISCOUNT, "N0-N0*N1", False), (DISCOUNT, "80*0.75", False),
        (DISCOUNT, "60", False), (DISCOUNT, "N0*(1-N5)", False),
    ],
)  # fmt: skip
def test_expressions_are_compared_up_to_order_over_quantities_or_numbers(
    problem: Problem, expression: str, right: bool
) -> None:
    assert outcome_of(problem, said(expression=expression)).expression_right is right


def test_an_answer_alone_has_no_right_expression_and_a_problem_without_one_none_at_all() -> None:
    assert outcome_of(BAGS, said(answer=36)).expression_right is False
    assert outcome_of(problem_with("2"), said(expression="1+1")).expression_right is None


def test_resolving_fills_in_the_exact_value_or_the_reason() -> None:
    assert resolve(said(expression="N1/N0"), read(BAGS).values).answer == 4
    assert resolve(said(expression="N0/N1", answer="0.3"), read(BAGS).values).answer == Fraction(1, 4)
    beyond = resolve(said(expression="N7"), read(BAGS).values)
    assert (beyond.ill_formed, beyond.undefined, beyond.reason) == (
        True,
        False,
        "there is no quantity N7: the text has 2",
    )
    by_zero = resolve(said(expression="N0/0"), read(BAGS).values)
    assert (by_zero.ill_formed, by_zero.undefined, by_zero.reason) == (False, True, "division by zero")


def test_number_words_are_quantities_where_the_problem_says_so() -> None:
    problem = Problem("w", "en", "Tom has three bags of 12 apples.", parse("N0*N1"), number_words=True)
    assert outcome_of(problem, said(expression="N0*N1")).right


def test_predictions_of_another_test_set_are_refused_with_examples_of_both() -> None:
    with pytest.raises(ComdivError, match="ids there are like 'elsewhere', here like 'bags'"):
        outcomes_of([BAGS, DISCOUNT], [Prediction("elsewhere")])


def test_no_problems_and_no_predictions_are_refused() -> None:
    with pytest.raises(ComdivError, match="no problems"):
        outcomes_of([], [Prediction("bags")])
    with pytest.raises(ComdivError, match="no predictions"):
        outcomes_of([BAGS], [])
