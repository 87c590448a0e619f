"""Each rule on a seed made by hand, with the products that a reader expects, and the invariants of the rule table."""

from dataclasses import replace
from fractions import Fraction

import pytest

from comdiv.expression import template, value_of
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.synthesis.families import Family, make_family
from comdiv.synthesis.filling import Product
from synthesis.handmade import DONORS, RULES, SEEDS, corpus, problem, seed_of, workshop, workshop_of

EXPECTED = {
    "1": ["一堆煤重100吨，还剩(3/5)，还剩多少吨？", "用去(2/5)，还剩几分之几？"],
    "2": ["食堂运来5袋大米，每袋20千克，一共运来多少千克？",
          "食堂有大米100千克，这些大米吃了4天，平均每天吃多少千克？"],
    "3": ["学校买来6箱图书，每箱30本，一共有图书多少本？", "学校有图书180本，原有图书50本，一共有图书多少本？"],
    "4": ["商店运来3车苹果，每车20箱，一共有苹果多少箱？", "商店有苹果60箱，每箱苹果15千克，一共有苹果多少千克？"],
    "5": ["水果店有梨80千克，是苹果的(4/5)，苹果有多少千克？", "比苹果少(1/5)，梨是苹果的几分之几？"],
    "6": ["一本书有120页，已经看了30页，还剩多少页没看？", "一本书还剩90页，剩下的每天看15页，还要看几天？"],
    "7": ["商店上午卖出苹果25箱，下午卖出苹果15箱，一共卖出多少箱？",
          "商店一共卖出苹果40箱，每箱苹果30元，一共卖了多少元？"],
    "8": ["果园有桃树60棵，是梨树的(3/4)，梨树有多少棵？", "果园有梨树80棵，苹果树是梨树的(1/2)，苹果树有多少棵？"],
    "9": ["水果店运来20箱梨，每箱25千克，一共运来多少千克？", "水果店有梨500千克，卖出300千克，还剩多少千克？"],
    "10": ["学校有足球90个，有排球60个，足球比排球多多少个？"],
    "11": ["一支钢笔8元，一支铅笔2元，一共要多少元？"],
    "12": ["甲数是12，乙数是4，甲数除以乙数的商=？"],
    "13": ["甲数是30，乙数是6，甲数与乙数的积=？"],
}  # fmt: skip
DECOMPOSITIONS = [rule for rule in RULES.values() if rule.kind == "decomposition"]


def products(rule: str) -> tuple[Product, ...]:
    family = make_family(seed_of(RULES[rule], workshop(), f"seed-{rule}"), workshop())
    assert isinstance(family, Family), family
    return family.products


def family_of(problems: list[Problem], rule: str = "6") -> Family | str:
    bench = workshop_of(problems)
    return make_family(seed_of(RULES[rule], bench, f"seed-{rule}"), bench)


@pytest.mark.parametrize("rule", SEEDS)
def test_every_rule_makes_the_products_that_a_reader_expects(rule: str) -> None:
    assert [product.tale.problem.text for product in products(rule)] == EXPECTED[rule]


@pytest.mark.parametrize("rule", SEEDS)
def test_every_product_evaluates_to_its_answer_over_its_own_text(rule: str) -> None:
    for product, wanted in zip(products(rule), RULES[rule].products, strict=True):
        given = product.tale.problem
        assert given.expression is not None
        assert template(given.expression) == wanted.template == product.tale.template
        assert value_of(given.expression, read(given).values) == given.answer
        assert given.answer is not None
        assert given.answer > 0


@pytest.mark.parametrize("rule", DECOMPOSITIONS, ids=lambda rule: rule.id)
def test_one_product_asks_for_x_the_other_states_it_and_keeps_the_seeds_answer(rule: object) -> None:
    name = rule.id  # type: ignore[attr-defined]
    text, expression = SEEDS[name]
    seed = problem("seed", text, expression)
    asking, stating = (products(name)[i] for i in (RULES[name].asking, 1 - RULES[name].asking))
    x = asking.tale.problem.answer
    assert stating.tale.problem.answer == seed.answer
    assert stating.tale.problem.expression is not None
    rank = RULES[name].products[1 - RULES[name].asking].rank
    assert rank is not None
    assert stating.tale.values[rank] == x


@pytest.mark.parametrize("rule", SEEDS)
def test_provenance_names_rule_seed_and_donor(rule: str) -> None:
    for product in products(rule):
        origin = product.tale.problem.provenance
        assert origin.rule == rule
        assert origin.operation == RULES[rule].kind
        assert origin.parents == (f"seed-{rule}", product.donor)
        assert origin.details["seed"] == f"seed-{rule}"
        assert origin.details["donor"] == product.donor != f"seed-{rule}"
        assert Problem.from_json(product.tale.problem.to_json()) == product.tale.problem


def test_a_seed_without_a_similar_donor_is_abandoned() -> None:
    text, expression = SEEDS["6"]
    strangers = [
        problem("d1", "动物园里猴子12只，狮子5只，猴子比狮子多几只？", "N0-N1"),
        problem("d2", "跑道长400米，分成8段，每段长几米？", "N0/N1"),
    ]
    assert family_of([problem("seed-6", text, expression), *strangers]) == "a: similarity 0"


def test_a_donor_who_tells_of_other_things_is_refused() -> None:
    text, expression = SEEDS["6"]
    donors = [
        problem("d1", "妈妈有书90页，撕了40页，还剩妈妈的钢琴曲谱多少页？", "N0-N1"),
        problem("d2", "一本书还剩60页，每天看12页，还要看几天？", "N0/N1"),
    ]
    assert family_of([problem("seed-6", text, expression), *donors]) == "a: foreign words"


def test_a_seed_is_abandoned_whole_if_one_product_fails() -> None:
    text, expression = SEEDS["6"]
    assert family_of([problem("seed-6", text, expression), problem("d1", *DONORS[8])]) == "b: similarity 0"


def test_what_cannot_be_written_as_the_donors_number_is_refused() -> None:
    seed = problem("seed-6", "一本书有120页，已经看了30.5页，剩下的每天看10页，还要看几天？", "(N0-N1)/N2")
    result = family_of([seed, problem("d1", *DONORS[8]), problem("d2", *DONORS[9])])
    assert isinstance(result, str)
    assert result in ("a: not whole", "b: x cannot be written so")


def test_a_seed_whose_corpus_gives_another_answer_is_abandoned() -> None:
    wrong = [replace(given, answer=Fraction(7)) if given.id == "seed-6" else given for given in corpus()]
    assert family_of(wrong) == "the corpus's answer is another one"


@pytest.mark.parametrize(
    ("rule", "text", "expression"),
    [
        ("10", "学校有足球90个，排球比足球多60个，排球有多少个？", "N0+N1"),
        ("11", "学校有足球90个，借出足球60个，还剩多少个？", "N0-N1"),
    ],
)
def test_a_comparison_or_a_change_carries_no_other_question(rule: str, text: str, expression: str) -> None:
    bench = workshop_of([*corpus(), problem("stated", text, expression)])
    result = make_family(seed_of(RULES[rule], bench, "stated"), bench)
    assert result == "states a comparison, a change, a rate or a share"


def test_a_difference_that_is_not_positive_is_refused() -> None:
    bench = workshop_of([*corpus(), problem("small", "学校有足球60个，有排球90个，一共有多少个？", "N0+N1")])
    assert make_family(seed_of(RULES["10"], bench, "small"), bench) == "not positive"


def test_ties_go_to_the_lowest_id() -> None:
    text, expression = SEEDS["6"]
    twins = [problem(name, *DONORS[8]) for name in ("d2", "d1", "d3")]
    result = family_of([problem("seed-6", text, expression), *twins, problem("d9", *DONORS[9])])
    assert isinstance(result, Family)
    assert result.products[0].donor == "d1"
