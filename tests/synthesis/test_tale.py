"""A problem as rules see it: where its quantities are, how clauses are joined, who is who."""

import pytest

from comdiv.language import get_language
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
