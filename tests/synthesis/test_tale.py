"""A problem as rules see it: where its quantities are, how clauses are joined, who is who."""

import pytest

from comdiv.expression import parse
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.synthesis.filling import learn_language
from comdiv.synthesis.tale import Seed, Tale, find_seed, tell
from synthesis.handmade import RULES, problem


def tale(text: str, expression: str, language: str = "zh") -> Tale:
    result = tell(problem("p", text, expression, language), get_language(language))
    assert result is not None
    return result


def seed(rule: str, text: str, expression: str) -> Seed | None:
    return find_seed(RULES[rule], tale(text, expression))


def test_leading_clauses_without_a_quantity_join_the_next() -> None:
    found = seed("1", "为了过冬，村里买来一批煤，这批煤重100吨，烧了(2/5)，还剩多少吨？", "N0*(1-N1)")
    assert found is not None
    assert [clause.text for clause in found.clauses] == [
        "为了过冬，村里买来一批煤，这批煤重100吨，",
        "烧了(2/5)，",
        "还剩多少吨？",
    ]


@pytest.mark.parametrize(
    ("rule", "text", "expression"),
    [
        ("1", "烧了(2/5)，这批煤重100吨，还剩多少吨？", "N1*(1-N0)"),  # another template: n2*(1-n1)
        ("1", "一批煤重100吨烧了(2/5)，村里很冷，还剩多少吨？", "N0*(1-N1)"),  # both in one clause
        ("1", "一批煤重100吨，烧了(2/5)还剩多少吨？", "N0*(1-N1)"),  # the question carries a quantity
        ("2", "运来5袋大米，每袋20千克吃了4天，大家吃得很香，平均每天吃多少千克？", "N0*N1/N2"),  # n3 not alone
        ("6", "一本书有120页，还要看几天？", "N0*1"),
    ],
)
def test_a_rule_does_not_apply_where_quantities_lie_elsewhere(rule: str, text: str, expression: str) -> None:
    assert seed(rule, text, expression) is None


def test_two_quantities_of_one_place_may_share_a_clause() -> None:
    found = seed("2", "食堂很大，运来5袋大米每袋20千克，吃了4天，平均每天吃多少千克？", "N0*N1/N2")
    assert found is not None
    assert len(found.clauses) == 4


def test_the_first_word_of_a_sentence_names_nobody() -> None:
    problems = [
        problem("opener", "By noon 12 cups are gone, 3 more than Maya has. How many cups has Maya?", "N0-N1", "en"),
        problem("name", "At noon Oscar has 12 cups by the door. Oscar has 3 cups more than Maya. "
                        "How many cups has Maya?", "N0-N1", "en"),
    ]  # fmt: skip
    language, names = learn_language("en", [given.text for given in problems])
    opener, name = (tell(given, language, names) for given in problems)
    assert opener is not None
    assert name is not None
    assert "By" not in opener.roles.values()
    assert name.roles["compared1"] == "Oscar"
    assert name.roles["reference1"] == "Maya"


@pytest.mark.parametrize(
    ("text", "expression", "language", "signs"),
    [
        ("运来5袋大米，每袋20千克，一共多少千克？", "N0*N1", "zh", [("measure", False), ("measure", True)]),
        ("一堆煤重100吨，用去(2/5)，用去多少吨？", "N0*N1", "zh", [("measure", False), ("share", False)]),
        (
            "每袋20千克运来5袋，一共多少千克？",
            "N0*N1",
            "zh",
            [("measure", True), ("measure", False)],
        ),  # 每 of the first
        (
            "There are 5 boxes. There are 12 pens in each box. How many pens are there?",
            "N0*N1",
            "en",
            [("measure", False), ("measure", True)],  # in English the word may follow
        ),
    ],
)
def test_a_quantity_has_a_kind_and_may_be_said_of_each(
    text: str, expression: str, language: str, signs: list[tuple[str, bool]]
) -> None:
    assert tale(text, expression, language).signs == signs


def test_words_are_nouns_verbs_and_units_with_synonyms_as_one() -> None:
    pears = tale("商店有梨90公斤，卖出30公斤，还剩多少公斤？", "N0-N1")
    assert pears.clause_words == ({"商店", "梨", "千克"}, {"卖出", "千克"}, {"剩", "千克"})
    assert pears.words == {"商店", "梨", "千克", "卖出", "剩"}
    assert [given.unit for given in pears.givens] == ["千克", "千克"]
    assert (pears.asked_unit, pears.asked_unit_name) == ("公斤", "千克")


def test_joined_clauses_have_the_words_of_all() -> None:
    joined = seed("2", "食堂很大，运来5袋大米每袋20千克，吃了4天，平均每天吃多少千克？", "N0*N1/N2")
    assert joined is not None
    coal = seed("1", "为了过冬，村里买来一批煤，这批煤重100吨，烧了(2/5)，还剩多少吨？", "N0*(1-N1)")
    assert coal is not None
    assert coal.tale.words_in(coal.clauses[:1]) == frozenset[str]().union(*coal.tale.clause_words[:3])
    assert {"过冬", "村里", "100"} <= coal.tale.tokens_in(coal.clauses[0])
    assert coal.clause_with(1).text == "烧了(2/5)，"


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        (
            "果园有桃树60棵，梨树比桃树多(1/4)，梨树有多少棵？",
            {"object0": "桃树", "compared1": "梨树", "reference1": "桃树"},
        ),
        ("甲数是30，乙数是6，甲数是乙数的几倍？", {"measured0": "甲数", "pair0": "甲数", "pair1": "乙数"}),
        ("小红有邮票30张，小明有6张，小明的邮票比小红的邮票少多少张？", {"pair0": "小红", "pair1": "小明的邮票"}),
    ],
)
def test_roles_say_who_and_what_a_clause_speaks_of(text: str, roles: dict[str, str]) -> None:
    found = tale(text, "N0/N1").roles
    assert {role: found.get(role) for role in roles} == roles


@pytest.mark.parametrize("expression", ["3+4", "N0*N5"])
def test_a_problem_whose_text_does_not_carry_its_expression_has_no_tale(expression: str) -> None:
    given = Problem("p", "zh", "有3个苹果，又买来4个，一共有几个？", parse(expression))
    assert tell(given, get_language("zh")) is None


def test_a_person_and_a_place_are_named_in_english() -> None:
    language, names = learn_language("en", ["In Boston Ann sees Tom. Tom has 3 cups and Ann none. Is Boston near?"])
    given = problem("p", "Tom lives near Boston. He has 3 cups and buys 2 cups. How many cups has he?", "N0+N1", "en")
    story = tell(given, language, names)
    assert story is not None
    assert (story.roles["person"], story.roles["place"]) == ("Tom", "Boston")
