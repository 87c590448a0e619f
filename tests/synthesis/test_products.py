"""Each rule on a seed made by hand, with the products that a reader expects, and the invariants of the rule table."""

from dataclasses import replace
from fractions import Fraction

import pytest

from comdiv.expression import template, value_of
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.review import Decision
from comdiv.synthesis.products import Family, as_reviewed, make_family, product_id
from synthesis.handmade import RULES, SEEDS, family, made, problem, seed_of, table

EXPECTED = {
    "1": ["一堆煤重100吨，用去一部分，还剩全部的(3/5)，还剩多少吨？", "一堆煤，用去(2/5)，还剩几分之几？"],
    "2": ["食堂运来5袋大米，每袋20千克，一共运来大米多少千克？",
          "食堂运来大米100千克，这些大米吃了4天，平均每天吃多少千克？"],
    "3": ["学校买来6箱图书，每箱30本，买来图书多少本？", "学校买来图书180本，又买来50本连环画，一共买来书多少本？"],
    "4": ["商店运来3车苹果，每车20箱，一共运来苹果多少箱？", "商店运来苹果60箱，每箱苹果15千克，一共有苹果多少千克？"],
    "5": ["水果店有梨80千克，是苹果的(4/5)，苹果有多少千克？", "梨的质量比苹果少(1/5)，梨的质量是苹果的几分之几？"],
    "6": ["一本书有120页，小明已经看了30页，还剩多少页没有看？",
          "一本书，小明已经看了一部分，还剩90页没有看，剩下的每天看15页，还要看几天？"],
    "7": ["商店上午卖出25箱苹果，下午卖出15箱苹果，一共卖出多少箱苹果？",
          "商店上午和下午一共卖出40箱苹果，每箱苹果30元，一共卖了多少元？"],
    "8": ["果园有桃树60棵，是梨树的(3/4)，有梨树多少棵？", "果园有梨树80棵，苹果树是梨树的(1/2)，苹果树有多少棵？"],
    "9": ["水果店运来20箱梨，每箱25千克，一共运来梨多少千克？", "水果店运来梨500千克，卖出300千克，还剩多少千克？"],
    "10": ["三年级有男生90人，女生60人，男生比女生多多少人？"],
    "11": ["一支钢笔8元，一支铅笔2元，买一支钢笔和一支铅笔一共要多少元？"],
    "12": ["一个长方形，长12厘米，宽4厘米，长是宽的多少倍？"],
    "13": ["有36朵红花，平均分给4个小朋友，如果每个小朋友都分到这么多朵，一共需要多少朵红花？"],
}  # fmt: skip
DECOMPOSITIONS = [rule.id for rule in RULES.values() if rule.kind == "decomposition"]


def texts(result: Family) -> list[str]:
    return [product.tale.text for product in result.products]


@pytest.mark.parametrize("rule", SEEDS)
def test_every_rule_makes_the_products_that_a_reader_expects(rule: str) -> None:
    assert texts(made(rule)) == EXPECTED[rule]


@pytest.mark.parametrize("rule", SEEDS)
def test_every_product_evaluates_to_its_answer_over_its_own_text(rule: str) -> None:
    for product, wanted in zip(made(rule).products, RULES[rule].products, strict=True):
        given = product.tale.problem
        assert given.expression is not None
        assert template(given.expression) == wanted.template == product.tale.template
        assert value_of(given.expression, read(given).values) == given.answer
        assert given.answer is not None
        assert given.answer > 0


@pytest.mark.parametrize("rule", DECOMPOSITIONS)
def test_one_product_asks_for_x_the_other_states_it_and_keeps_the_seeds_answer(rule: str) -> None:
    products, asking = made(rule).products, RULES[rule].asking
    stating = products[1 - asking].tale
    rank = RULES[rule].products[1 - asking].rank
    assert rank is not None
    assert stating.values[rank] == products[asking].tale.problem.answer
    assert stating.problem.answer == problem("seed", *SEEDS[rule]).answer


@pytest.mark.parametrize("rule", SEEDS)
def test_provenance_names_rule_seed_and_frame(rule: str) -> None:
    for product in made(rule).products:
        origin = product.tale.problem.provenance
        assert (origin.rule, origin.operation, origin.parents) == (rule, RULES[rule].kind, (f"seed-{rule}",))
        assert origin.details["seed"] == f"seed-{rule}"
        assert origin.details["frame"] in {frame.name for frame in table().frames}
        assert Problem.from_json(product.tale.problem.to_json()) == product.tale.problem


def test_an_id_follows_from_seed_rule_role_and_text() -> None:
    first, second = (product.id for product in made("6").products)
    assert first.startswith("seed-6-r6a-")
    assert second.startswith("seed-6-r6b-")
    assert first == product_id("seed-6", "6", "a", EXPECTED["6"][0])
    assert made("10").product.id.startswith("seed-10-r10-")
    assert product_id("1", "6", "a", "one text") != product_id("1", "6", "a", "another")


def test_what_no_frame_recognises_is_not_made() -> None:
    assert family("6", "跑道长400米，已经走了80米，每步走2米，还要走几步？", "(N0-N1)/N2") == "no frame fits"


def test_a_seed_whose_corpus_gives_another_answer_is_abandoned() -> None:
    wrong = replace(problem("p", *SEEDS["6"]), answer=Fraction(7))
    assert make_family(seed_of(RULES["6"], wrong), table()) == "the corpus's answer is another one"


def test_nobody_has_half_a_tree() -> None:
    text = "果园有桃树50棵，是梨树的(3/4)，苹果树是梨树的(3/5)，苹果树有多少棵？"
    assert family("8", text, "N0/N1*N2") == "not whole"


def test_a_difference_that_is_not_positive_is_not_asked_for() -> None:
    assert family("10", "一堆煤，第一次运走3吨，第二次运走5吨，两次一共运走多少吨？", "N0+N1") == "not positive"


def test_where_the_order_does_not_matter_the_larger_number_comes_first() -> None:
    result = made("10", "三年级有男生60人，女生90人，三年级一共有多少人？", "N0+N1")
    assert texts(result) == ["三年级有女生90人，男生60人，女生比男生多多少人？"]
    assert result.product.tale.problem.answer == 30


def test_a_share_is_written_like_the_seeds_and_an_amount_as_it_comes() -> None:
    percent = made("1", "一堆煤重100吨，用去40%，还剩多少吨？", "N0*(1-N1)")
    assert "60%" in texts(percent)[0]
    assert "百分之几" in texts(percent)[1]
    decimal = made("9", "水果店运来3箱梨，每箱2.5千克，卖出1.2千克，还剩多少千克？", "N0*N1-N2")
    assert "7.5千克" in texts(decimal)[1]
    fraction = made("3", "一根电线长(3/7)米，第一次用去(1/2)，第二次用去(1/7)米，两次一共用去多少米？", "N0*N1+N2")
    assert "第一次用去(3/14)米" in texts(fraction)[1]


def test_an_odd_price_is_not_asked_for() -> None:
    text = "一件雨衣原价60元，现在打{}出售，现价是多少元？"
    assert family("12", text.format("0.85"), "N0*N1") == "odd answer"  # 70.588… yuan
    assert made("12", text.format("0.8"), "N0*N1").product.tale.problem.answer == 75


@pytest.mark.parametrize(
    ("rule", "text", "expression", "expected"),
    [
        ("6", "The cafeteria had 75 apples. For lunch they handed out 19 to students and decided to use the rest to "
              "make pies. If each pie takes 8 apples, how many pies could they make?", "(N0-N1)/N2",
         "The cafeteria had 56 apples to make pies. If each pie takes 8 apples, how many pies could they make?"),
        ("10", "Tim has 22 books. Mike has 20 books. How many books do they have together?", "N0+N1",
         "Tim has 22 books. Mike has 20 books. How many more books does Tim have than Mike?"),
        ("13", "Lori has 30 marbles. If she shares them among 5 friends, how many marbles does each friend get?",
         "N0/N1", "Lori has 30 marbles. Lori has 5 friends. If she wanted to give that many marbles to each friend, "
                  "how many marbles would she need?"),
    ],
)  # fmt: skip
def test_english_has_frames_of_its_own(rule: str, text: str, expression: str, expected: str) -> None:
    assert texts(made(rule, text, expression, language="en"))[-1] == expected


def test_a_review_drops_products_and_an_edit_takes_a_products_place() -> None:
    six = made("6")
    first, second = (product.id for product in six.products)
    dropped = as_reviewed(six, {first: Decision(first, "rejected")}, only_accepted=False)
    assert isinstance(dropped, Family)
    assert [product.id for product in dropped.products] == [second]
    edit = Decision(first, "edited", "书120页，看了30页，剩几页？", "N0-N1")
    edited = as_reviewed(six, {first: edit}, only_accepted=False)
    assert isinstance(edited, Family)
    assert edited.products[0].tale.text == "书120页，看了30页，剩几页？"
    assert as_reviewed(six, {"seed-6": Decision("seed-6", "rejected")}, only_accepted=False) == "rejected in the review"
    assert as_reviewed(six, {}, only_accepted=True) == "the seed is not accepted"
    seed_alone = {"seed-6": Decision("seed-6", "accepted")}
    assert as_reviewed(six, seed_alone, only_accepted=True) == "no product is accepted"
    assert as_reviewed(six, {}, only_accepted=False) is six
