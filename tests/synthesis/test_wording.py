"""A donor's clause in the seed's words: names by role, each place once, and the unit of x."""

import pytest

from comdiv.language import get_language
from comdiv.synthesis.donors import Surroundings
from comdiv.synthesis.sense import referent_of_x
from comdiv.synthesis.tale import Seed, Tale, find_seed, tell
from comdiv.synthesis.wording import match_names, product_roles, rewrite, rewrite_unit
from synthesis.handmade import RULES, SEEDS, problem


def tale(text: str, expression: str, language: str = "zh") -> Tale:
    result = tell(problem("p", text, expression, language), get_language(language))
    assert result is not None
    return result


def seed(rule: str) -> Seed:
    result = find_seed(RULES[rule], tale(*SEEDS[rule]))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("text", "names", "result"),
    [
        ("苹果比梨多", {"苹果": "足球", "梨": "排球"}, "足球比排球多"),
        ("苹果树比苹果多", {"苹果": "梨", "苹果树": "桃树"}, "桃树比梨多"),  # the longer name first
        ("甲比乙多", {"甲": "乙", "乙": "甲"}, "乙比甲多"),  # what was put in is not replaced again
        ("梨和梨", {"梨": "桃"}, "桃和桃"),
        ("苹果", {"苹果": "苹果", "果": "树"}, "苹树"),  # a name that stays protects nothing
    ],
)
def test_names_are_replaced_longest_first_and_each_place_once(text: str, names: dict[str, str], result: str) -> None:
    assert rewrite(text, names) == result


@pytest.mark.parametrize(
    ("text", "first", "result"),
    [
        ("还剩多少本？", False, "还剩多少页？"),
        ("本书共有多少本？", False, "本书共有多少页？"),  # the last one is asked for
        ("本，", True, "页，"),
        ("书本，", True, None),  # after a number the unit comes at once
        ("还剩多少？", False, None),
    ],
)
def test_a_chinese_unit_is_exchanged_where_it_is_written(text: str, first: bool, result: str | None) -> None:
    book = tale(*SEEDS["6"])
    around = Surroundings(book, book.clauses)
    assert rewrite_unit(text, "本", "页", around, book.language, first=first) == result


def test_an_english_unit_is_written_as_the_story_writes_it() -> None:
    cups = tale("Oscar has 12 cups. He buys 3 cups. How many cups has he?", "N0+N1", "en")
    around = Surroundings(cups, cups.clauses)
    asked = "How many apples are there?"
    assert rewrite_unit(asked, "apple", "cup", around, cups.language, first=False) == "How many cups are there?"
    assert rewrite_unit(asked, "apple", "plate", around, cups.language, first=False) is None  # not in the story
    assert rewrite_unit(asked, None, "cup", around, cups.language, first=False) is None


def test_a_products_quantities_bring_their_roles_along() -> None:
    """Rule 5 states x in the place of n2: 比苹果少(1/5) gives its two sides to 是苹果的(4/5)."""
    roles = product_roles(seed("5"), RULES["5"].products[0])
    assert roles["reference1"] == "苹果"
    assert "reference0" not in roles
    assert product_roles(seed("5"), RULES["5"].products[1])["reference0"] == "苹果"  # n2 is the other half's n1


def test_a_donors_names_become_the_seeds_with_the_same_role() -> None:
    pears, oranges = seed("5"), tale("商店有橘子30千克，是香蕉的(3/4)，香蕉有多少千克？", "N0/N1")
    product = RULES["5"].products[0]
    names = match_names(oranges, pears, product, product_roles(pears, product), None)
    assert names["香蕉"] == "苹果"
    assert names["商店"] == "水果店"


def test_the_side_that_a_donor_asks_for_becomes_what_x_is_the_number_of() -> None:
    trees, plums = seed("8"), tale("果园有李树48棵，是杏树的(2/3)，杏树有多少棵？", "N0/N1")
    product = RULES["8"].products[0]
    names = match_names(plums, trees, product, product_roles(trees, product), referent_of_x(trees))
    assert rewrite("杏树有多少棵？", names) == "梨树有多少棵？"


def test_of_a_pair_each_takes_the_name_of_its_own_quantity() -> None:
    balls, others = seed("10"), tale("学校有篮球40个，有皮球30个，皮球比篮球少多少个？", "N0-N1")
    product = RULES["10"].products[0]
    names = match_names(others, balls, product, product_roles(balls, product), None)
    assert (names["篮球"], names["皮球"]) == ("足球", "排球")
