"""Both operations on texts short enough to check by hand; quantities are followed by occurrence, never by value."""

from fractions import Fraction

import pytest

from augmentation.small import view
from comdiv.augmentation.composition import (
    Composition,
    can_ask,
    exchange,
    find_fragment,
    identity,
    replaceable_clauses,
)
from comdiv.expression import to_infix

SHELLS = view("Joan found 70 seashells . She gave Sam 27 . How many seashells does Joan have ?", "N0-N1", name="shells")
TOM = view("Ann has 5 pens . Tom has 9 seashells . He lost 3 . How many seashells does Tom have ?", "N1-N2", name="tom")


def test_operation_1_puts_a_narrative_in_the_place_of_a_clause() -> None:
    draft = Composition(SHELLS, TOM, 1)
    assert draft.text == (
        "Ann has 5 pens . Joan found 70 seashells . She gave Sam 27 . He lost 3 . How many seashells does Tom have ?"
    )
    assert to_infix(draft.expression) == "N1-N2-N3"
    assert draft.values == (5, 70, 27, 3)


def test_operation_1_in_chinese_keeps_the_sign_of_the_clause_that_it_replaces() -> None:
    asking = view("甲有12个苹果，乙有30个苹果。一共有多少个苹果？", "N0+N1", "zh")
    stating = view("筐里有20个苹果，吃了5个，还剩多少个苹果？", "N0-N1", "zh")
    draft = Composition(asking, stating, 0)
    assert draft.text == "甲有12个苹果，乙有30个苹果，吃了5个，还剩多少个苹果？"
    assert to_infix(draft.expression) == "N0+N1-N2"


def test_equal_numbers_in_both_problems_are_told_apart_by_where_they_stand() -> None:
    asking = view("Ann has 3 pens . Bob has 3 pens . How many pens are there ?", "N1+N0")
    stating = view("Cid has 3 pens . He lost 3 . Dan has 3 caps . How many pens has Cid ?", "N0-N1")
    draft = Composition(asking, stating, 0)
    assert to_infix(draft.expression) == "N1+N0-N2"
    assert draft.values == (3, 3, 3, 3)


def test_a_quantity_used_twice_is_replaced_at_both_leaves() -> None:
    asking = view("Ann has 2 pens . She buys 4 . How many pens has she ?", "N0+N1")
    stating = view("A side is 6 pens . How large is the square ?", "N0*N0")
    assert to_infix(Composition(asking, stating, 0).expression) == "(N0+N1)*(N0+N1)"


def test_constants_and_percents_stay_what_they_are() -> None:
    asking = view("Ann has 20 pens . She lost 25% . How many pens has she ?", "N0*(1-N1)")
    stating = view("Bob has 8 pens . Each has 12 parts . How many parts are there ?", "N0*12+N1")
    draft = Composition(asking, stating, 0)
    assert to_infix(draft.expression) == "N0*(1-N1)*12+N2"
    assert draft.values == (20, Fraction(1, 4), 12)


def test_unused_quantities_of_a_narrative_come_along() -> None:
    asking = view("In 1999 Ann had 20 pens . She lost 5 . How many pens has she ?", "N1-N2")
    draft = Composition(asking, TOM, 1)
    assert to_infix(draft.expression) == "N2-N3-N4"
    assert draft.values == (5, 1999, 20, 5, 3)


@pytest.mark.parametrize(
    ("text", "expression", "can"),
    [
        ("Ann has 2 pens . How many pens has she ?", "N0", True),
        ("How many are 2 and 3 ?", "N0+N1", False),  # no narrative
        ("Ann has 2 pens . How many has she after buying 3 ?", "N0+N1", False),  # the question adds a quantity
        ("Ann has 2 pens . How many has she in 2024 ?", "N0", True),  # one that the expression does not use
        ("Ann has pens . How many days has a week ?", "7", False),  # nothing of the text is in the expression
    ],
)
def test_who_can_ask(text: str, expression: str, can: bool) -> None:
    assert can_ask(view(text, expression)) is can


def test_a_replaceable_clause_has_one_quantity_and_the_expression_uses_it() -> None:
    problem = view("In 1999 it rained . Ann has 2 red and 3 blue pens . Bob has 4 pens . How many pens ?", "N1+N2+N3")
    assert replaceable_clauses(problem) == [2]


def test_operation_2_exchanges_a_fragment_everywhere_and_keeps_the_expression() -> None:
    draft = exchange(SHELLS, 0, ["seashells"], "marbles", TOM)
    assert draft.text == "Joan found 70 marbles . She gave Sam 27 . How many marbles does Joan have ?"
    assert draft.expression == SHELLS.expression
    assert draft.tokens == sum(len(clause.tokens) for clause in SHELLS.clauses)


def test_operation_2_writes_a_capital_where_a_sentence_begins() -> None:
    problem = view("Red pens cost 3 dollars . Tom buys 2 red pens . What does he pay ?", "N0*N1")
    draft = exchange(problem, 0, ["red", "pens"], "blue caps", TOM)
    assert draft.text == "Blue caps cost 3 dollars . Tom buys 2 blue caps . What does he pay ?"


def test_fragments_are_found_without_overlaps_and_within_clauses() -> None:
    problem = view("go go go 3 . go 2 now ?", "N0+N1")
    assert [tokens[0].start for tokens in find_fragment(problem, ["go", "go"])] == [0]
    assert find_fragment(problem, [".", "go"]) == []


def test_an_id_depends_on_text_and_parents_alone() -> None:
    one, again, other = Composition(SHELLS, TOM, 1), Composition(SHELLS, TOM, 1), Composition(TOM, SHELLS, 0)
    assert identity(one, one.text, 1) == identity(again, again.text, 1)
    assert identity(one, one.text, 1) != identity(other, other.text, 1)
