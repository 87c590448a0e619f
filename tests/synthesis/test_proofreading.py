"""The proofreader: what it learns from a corpus of two templates, and what the numbers tell it."""

from fractions import Fraction

import pytest

from comdiv.language import get_language
from comdiv.synthesis.proofreading import Proofreader, story_features
from comdiv.synthesis.tale import Given, Sign, Tale, tell
from synthesis.handmade import problem

ZH = get_language("zh")
THINGS = ["苹果", "梨", "桃", "橘子", "足球", "皮球", "铅笔", "钢笔", "图书", "积木", "纽扣", "卡片"]


def tales(size: int = 12) -> list[Tale]:
    stories = [
        *((f"小明有{thing}{12 + n}个，吃了{3 + n}个，还剩多少个？", "N0-N1") for n, thing in enumerate(THINGS[:size])),
        *(
            (f"小明有{thing}{12 + n}个，又买来{3 + n}个，一共有多少个？", "N0+N1")
            for n, thing in enumerate(THINGS[:size])
        ),
    ]
    told = [tell(problem(str(number), *story), ZH) for number, story in enumerate(stories)]
    return [tale for tale in told if tale is not None]


def probability(reader: Proofreader, tale: Tale, template: str) -> float:
    features = story_features(tale.givens, tale.roles, tale.asked_unit_name, tale.question.text, tale.story)
    return reader.probability([clause.text for clause in tale.clauses], features, template)


def test_a_text_is_given_the_template_that_the_corpus_suggests() -> None:
    reader = Proofreader(tales(), ZH)
    taken = tell(problem("new", "小红有糖30个，吃了10个，还剩多少个？", "N0-N1"), ZH)
    assert taken is not None
    assert probability(reader, taken, "n1-n2") > 0.9
    assert probability(reader, taken, "n1-n2") + probability(reader, taken, "n1+n2") == pytest.approx(1, abs=1e-5)


def test_a_template_that_the_corpus_hardly_has_is_not_judged() -> None:
    assert probability(Proofreader(tales(), ZH), tales()[0], "n1*n2") == 1.0


def test_a_small_corpus_teaches_nothing() -> None:
    reader = Proofreader(tales(9), ZH)
    assert reader.templates == []
    assert probability(reader, tales()[0], "n1+n2") == 1.0


def given(value: str, unit: str | None, kind: str = "measure", per: bool = False) -> Given:
    return Given(Fraction(value), unit, Sign(kind, per))


def features(*givens: Given, asked: str | None = None, question: str = "", **roles: str) -> list[str]:
    return story_features(givens, roles, asked, question, ZH.story)


def test_features_tell_kinds_units_sizes_and_divisibility() -> None:
    assert features(given("12", "个", per=True), given("4", "箱"), asked="个") == [
        "#kinds measure!/measure",
        "#asked 0",
        "#kinds measure!/measure asked 0",
        "#larger first",
        "#kinds measure!/measure asked 0 larger first",
        "#same unit False asked 0",
        "#divides [True, False]",
    ]


def test_a_unit_of_both_quantities_or_of_none_is_said_so() -> None:
    assert "#asked 0+1" in features(given("12", "个"), given("4", "个"), asked="个")
    assert "#asked none" in features(given("12", "个"), given("4", "个"), asked="元")
    assert "#asked share" in features(given("12", "个"), given("4", "个"), asked="share")


def test_the_side_of_a_comparison_that_is_asked_for_is_a_feature() -> None:
    known = given("12", "只"), given("3/4", None, "share")
    sides = {"reference1": "鸡", "compared1": "鸭"}
    assert "#frame 1 share: reference False compared True" in features(*known, question="鸭有多少只？", **sides)
    less = features(*known, question="鸡有多少只？", less1="少", **sides)
    assert "#frame 1 less: reference True compared False" in less


def test_what_is_asked_for_each_of_is_a_feature() -> None:
    boxes = given("12", "apple"), given("4", "box")
    question = "How many apples are in each box?"
    assert "#for each 1" in story_features(boxes, {}, "apple", question, get_language("en").story)
