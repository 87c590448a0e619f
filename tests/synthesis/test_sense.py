"""What x is counted in and the number of, and whether a clause speaks of it: on single sentences."""

import pytest

from comdiv.language import get_language
from comdiv.synthesis.sense import (
    AskedUnits,
    Referent,
    UnitOfX,
    is_neutral,
    is_sound,
    referent_of_x,
    speaks_of_x,
    unit_of_x,
    whole_units,
)
from comdiv.synthesis.tale import Seed, Tale, find_seed, tell
from synthesis.handmade import RULES, SEEDS, problem

ZH = get_language("zh")
NO_CORPUS = AskedUnits(())


def tale(text: str, expression: str) -> Tale:
    result = tell(problem("p", text, expression), ZH)
    assert result is not None
    return result


def seed(rule: str, text: str = "", expression: str = "") -> Seed:
    result = find_seed(RULES[rule], tale(text or SEEDS[rule][0], expression or SEEDS[rule][1]))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("rule", "unit", "per"),
    [
        ("1", "share", False),  # 1 - (2/5) of the coal
        ("2", "千克", False),  # 5袋 of 每袋20千克
        ("6", "页", False),  # 120页 - 30页
        ("7", "箱", False),  # 25箱 + 15箱
        ("8", "棵", False),  # 60棵 / (3/4)
        ("9", "千克", False),
    ],
)
def test_the_unit_of_x_follows_from_its_operator(rule: str, unit: str, per: bool) -> None:
    assert unit_of_x(seed(rule), NO_CORPUS) == UnitOfX(unit, per)


def test_divided_among_others_x_is_said_of_each() -> None:
    driving = seed("8", "汽车行了120千米，用了2小时，照这样又行了3小时，又行了多少千米？", "N0/N1*N2")
    assert unit_of_x(driving, NO_CORPUS) == UnitOfX("千米", per=True)


def test_a_sum_of_two_kinds_of_things_has_no_unit() -> None:
    mixed = seed("7", "商店卖出苹果25箱，卖出梨15千克，每份30元，一共卖了多少元？", "(N0+N1)*N2")
    assert unit_of_x(mixed, NO_CORPUS) is None


FIELD = "长方形的长是8米，宽是5米，它的面积是多少平方米？"


@pytest.mark.parametrize(
    ("questions", "unit"),
    [
        (["平方米", "平方米"], "平方米"),
        (["平方米"], None),  # once is no majority
        (["平方米", "平方米", "平方米", "米"], "平方米"),  # three of four
        (["平方米", "平方米", "米"], None),
    ],
)
def test_where_the_operator_does_not_tell_nearly_all_of_the_corpus_must_agree(
    questions: list[str], unit: str | None
) -> None:
    tales = [tale(FIELD.replace("平方米", asked), "N0*N1") for asked in questions]
    assert AskedUnits(tales).majority("n1*n2", tales[0].givens) == unit


def test_units_that_only_count_are_those_of_whole_numbers() -> None:
    tales = [
        tale("有3个苹果，又买来4个，一共有几个？", "N0+N1"),
        tale("买米2千克，买面1.5千克，一共多少千克？", "N0+N1"),
    ]
    assert whole_units(tales) == {"个"}


@pytest.mark.parametrize(
    ("rule", "text", "expression", "referent"),
    [
        ("8", "果园有桃树60棵，是梨树的(3/4)，苹果树是梨树的(1/2)，苹果树有多少棵？", "N0/N1*N2", "梨树"),
        ("9", "养鸡12只，鸭是鸡的(3/4)，卖出鸭2只，还剩鸭多少只？", "N0*N1-N2", "鸭"),
        ("6", "一本书有120页，已经看了30页，剩下的每天看15页，还要看几天？", "(N0-N1)/N2", None),  # nothing is compared
    ],
)
def test_x_is_the_number_of_the_side_that_is_not_given(
    rule: str, text: str, expression: str, referent: str | None
) -> None:
    result = referent_of_x(seed(rule, text, expression))
    assert (result and result.wanted) == referent


def test_a_referent_knows_the_other_side() -> None:
    assert referent_of_x(seed("9", "养鸡12只，鸭是鸡的(3/4)，卖出鸭2只，还剩鸭多少只？", "N0*N1-N2")) == Referent(
        "鸭", "鸡"
    )


@pytest.mark.parametrize(
    ("text", "expression", "neutral"),
    [
        ("学校有足球90个，有排球60个，一共有多少个？", "N0+N1", True),
        ("学校有足球90个，排球比足球多60个，排球有多少个？", "N0+N1", False),  # a comparison
        ("学校有足球90个，又买来60个，一共有多少个？", "N0+N1", False),  # a change
        ("学校有足球90个，每班有60个，一共有多少个？", "N0+N1", False),  # a rate
    ],
)
def test_only_a_neutral_story_carries_another_question(text: str, expression: str, neutral: bool) -> None:
    assert is_neutral(seed("10", text, expression)) == neutral


@pytest.mark.parametrize(
    ("rule", "product", "delta", "meant"),
    [
        ("1", 1, "还剩几分之几？", True),  # two fifths were used: the rest is asked for
        ("1", 1, "用去几分之几？", False),  # that is given
        ("1", 0, "还剩(3/5)，", True),
        ("1", 0, "用去(3/5)，", False),  # what was used is not what is left
        ("2", 0, "还剩多少千克？", False),  # a product leaves nothing over
        ("6", 0, "还剩多少页没看？", True),  # a difference does
        ("6", 1, "一本书还剩90页，", True),  # 剩下的每天看15页 goes on about the rest
        ("6", 1, "一本书有90页，", False),
        ("8", 0, "梨树有多少棵？", True),
        ("8", 0, "桃树有多少棵？", False),  # 60棵 is given
        ("5", 0, "是苹果的(4/5)，", True),
        ("5", 0, "比苹果少(4/5)，", False),  # still a comparison by more or less
        ("5", 1, "梨是苹果的几分之几？", True),
        ("5", 1, "梨比苹果少几分之几？", False),
    ],
)
def test_a_new_clause_must_speak_of_x(rule: str, product: int, delta: str, meant: bool) -> None:
    assert speaks_of_x(seed(rule), RULES[rule].products[product], delta) == meant


@pytest.mark.parametrize(
    ("rule", "delta", "names", "sound"),
    [
        ("10", "足球比排球多多少个？", ["足球", "排球"], True),
        ("10", "足球比足球多多少个？", ["足球"], False),  # one name twice
        ("10", "已经有多少个？", [], False),  # a time that the story does not speak of
    ],
)
def test_a_clause_that_cannot_be_said_is_refused(rule: str, delta: str, names: list[str], sound: bool) -> None:
    assert is_sound(seed(rule), RULES[rule].products[0], delta, names) == sound


def test_a_question_for_a_sum_does_not_name_only_one_of_the_two() -> None:
    roads = seed("7", "甲队修路25米，乙队修路15米，每米30元，一共多少元？", "(N0+N1)*N2")
    assert is_sound(roads, RULES["7"].products[0], "一共修路多少米？", [])
    assert not is_sound(roads, RULES["7"].products[0], "甲队修路多少米？", [])


def test_a_question_does_not_ask_for_what_is_given() -> None:
    numbers = seed("12")
    assert not is_sound(numbers, RULES["12"].products[0], "甲数是多少？", [])
    assert is_sound(numbers, RULES["12"].products[0], "甲数除以乙数的商=？", [])
