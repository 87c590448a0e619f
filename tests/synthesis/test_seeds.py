"""Where a rule applies, and how a seed's clauses read with their numbers marked."""

import pytest

from comdiv.expression import parse
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.synthesis.seeds import Seed, Tale, find_seed, tell
from synthesis.handmade import RULES, SEEDS, problem, seed_of


def seed(rule: str, text: str, expression: str) -> Seed | None:
    return find_seed(RULES[rule], tale(text, expression))


def tale(text: str, expression: str) -> Tale:
    result = tell(problem("p", text, expression), get_language("zh"))
    assert result is not None
    return result


def test_leading_clauses_without_a_quantity_join_the_next() -> None:
    coal = seed("1", "为了过冬，村里买来一批煤，这批煤重100吨，烧了(2/5)，还剩多少吨？", "N0*(1-N1)")
    assert coal is not None
    assert [clause.text for clause in coal.clauses] == [
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
    rice = seed("2", "食堂很大，运来5袋大米每袋20千克，吃了4天，平均每天吃多少千克？", "N0*N1/N2")
    assert rice is not None
    assert len(rice.clauses) == 4


def test_marked_clauses_have_a_mark_for_each_used_number_and_no_closing_sign() -> None:
    assert seed_of(RULES["6"], problem("p", *SEEDS["6"])).marked == (
        "一本书有①页|小明已经看了②页|剩下的每天看③页|还要看几天"
    )


def test_a_number_that_the_expression_does_not_use_stays_as_it_is() -> None:
    given = problem("p", "5（1）班有男生90人，女生60人，一共有多少人？", "N2+N3")
    assert seed_of(RULES["10"], given).marked == "5（1）班有男生①人|女生②人|一共有多少人"


def test_words_are_nouns_verbs_and_units_with_synonyms_as_one() -> None:
    assert tale("商店有梨90公斤，卖出30公斤，还剩多少公斤？", "N0-N1").words == {"商店", "梨", "千克", "卖出", "剩"}


@pytest.mark.parametrize("expression", ["3+4", "N0*N5"])
def test_a_problem_whose_text_does_not_carry_its_expression_has_no_tale(expression: str) -> None:
    given = Problem("p", "zh", "有3个苹果，又买来4个，一共有几个？", parse(expression))
    assert tell(given, get_language("zh")) is None
