"""Operation 1 on texts short enough to check by hand: who may ask about what, what comes of it, what is refused."""

import random
from fractions import Fraction

import pytest

from augmentation.small import english, options, reading
from augmentation.test_environments import environment_by_hand, holes_by_hand
from comdiv.augmentation.environments import EnvironmentIndex
from comdiv.augmentation.operations import CurrentSet, Draft, Refusal
from comdiv.augmentation.operations.structural import (
    Component,
    CompositionDraft,
    Structural,
    can_ask,
    match_by_environment,
    match_by_unit,
    replaceable_clauses,
)
from comdiv.augmentation.proposals import usable_readings
from comdiv.engine import LocalEngine
from comdiv.expression import to_infix
from comdiv.reading import Reading

SHELLS = reading(
    "Joan found 70 seashells . She gave Sam 27 . How many seashells does Joan have ?", "N0-N1", name="shells"
)
TOM = reading(
    "Ann has 5 pens . Tom has 9 seashells . He lost 3 . How many seashells does Tom have ?", "N1-N2", name="tom"
)


def composition(asking: Reading, stating: Reading, clause: int) -> CompositionDraft:
    return CompositionDraft(Component(asking), Component(stating), clause)


def test_operation_1_puts_a_narrative_in_the_place_of_a_clause() -> None:
    draft = composition(SHELLS, TOM, 1)
    assert draft.text == (
        "Ann has 5 pens . Joan found 70 seashells . She gave Sam 27 . He lost 3 . How many seashells does Tom have ?"
    )
    assert to_infix(draft.expression) == "N1-N2-N3"
    assert draft.values == (5, 70, 27, 3)


def test_operation_1_in_chinese_keeps_the_sign_of_the_clause_that_it_replaces() -> None:
    asking = reading("甲有12个苹果，乙有30个苹果。一共有多少个苹果？", "N0+N1", "zh")
    stating = reading("筐里有20个苹果，吃了5个，还剩多少个苹果？", "N0-N1", "zh")
    draft = composition(asking, stating, 0)
    assert draft.text == "甲有12个苹果，乙有30个苹果，吃了5个，还剩多少个苹果？"
    assert to_infix(draft.expression) == "N0+N1-N2"


def test_equal_numbers_in_both_problems_are_told_apart_by_where_they_stand() -> None:
    asking = reading("Ann has 3 pens . Bob has 3 pens . How many pens are there ?", "N1+N0")
    stating = reading("Cid has 3 pens . He lost 3 . Dan has 3 caps . How many pens has Cid ?", "N0-N1")
    draft = composition(asking, stating, 0)
    assert to_infix(draft.expression) == "N1+N0-N2"
    assert draft.values == (3, 3, 3, 3)


def test_a_quantity_used_twice_is_replaced_at_both_leaves() -> None:
    asking = reading("Ann has 2 pens . She buys 4 . How many pens has she ?", "N0+N1")
    stating = reading("A side is 6 pens . How large is the square ?", "N0*N0")
    assert to_infix(composition(asking, stating, 0).expression) == "(N0+N1)*(N0+N1)"


def test_constants_and_percents_stay_what_they_are() -> None:
    asking = reading("Ann has 20 pens . She lost 25% . How many pens has she ?", "N0*(1-N1)")
    stating = reading("Bob has 8 pens . Each has 12 parts . How many parts are there ?", "N0*12+N1")
    draft = composition(asking, stating, 0)
    assert to_infix(draft.expression) == "N0*(1-N1)*12+N2"
    assert draft.values == (20, Fraction(1, 4), 12)


def test_unused_quantities_of_a_narrative_come_along() -> None:
    asking = reading("In 1999 Ann had 20 pens . She lost 5 . How many pens has she ?", "N1-N2")
    draft = composition(asking, TOM, 1)
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
    assert can_ask(reading(text, expression)) is can


def test_a_replaceable_clause_has_one_quantity_and_the_expression_uses_it() -> None:
    problem = reading(
        "In 1999 it rained . Ann has 2 red and 3 blue pens . Bob has 4 pens . How many pens ?", "N1+N2+N3"
    )
    assert replaceable_clauses(problem) == [2]


PEACHES = reading("Ann picks 5 peaches . Bob picks 9 peaches . How many peaches are there ?", "N0+N1", name="peaches")
BASKET = reading("There are 36 peaches here . 4 boys share them . What does each get ?", "N0/N1", name="basket")
PENS = reading("Cid has 7 pens . Dan has 2 pens . How many pens are there ?", "N0+N1", name="pens")


def pairs(readings: list[Reading], match: str) -> set[tuple[str, str, int]]:
    """Everything that may be drawn: (asking, stating, clause)."""
    if match == "unit":
        matches = match_by_unit(readings, None)
    else:
        matches = match_by_environment(CurrentSet(readings, LocalEngine()), EnvironmentIndex(2))
    return {
        (asking.problem.id, readings[place].problem.id, clause)
        for number, asking in enumerate(readings)
        for place, clause, *_ in matches.draw(number, random.Random(0), 10_000)
    }


def test_by_unit_the_question_asks_for_what_the_clause_counts() -> None:
    assert pairs([PEACHES, BASKET, PENS], "unit") == {("peaches", "basket", 0)}


def environment_pairs_by_hand(readings: list[Reading]) -> set[tuple[str, str, int]]:
    def environments(masked: tuple[str, ...]) -> set[tuple[str, ...]]:
        return {environment_by_hand(masked, holes) for holes in holes_by_hand(len(masked), 2)}

    return {
        (asking.problem.id, stating.problem.id, clause)
        for asking in readings
        if can_ask(asking)
        for stating in readings
        if stating is not asking
        for clause in replaceable_clauses(stating)
        if environments(asking.question.masked) & environments(stating.clauses[clause].masked)
    }


def test_by_environment_the_paper_s_example_matches() -> None:
    found = pairs([PEACHES, BASKET, PENS], "environment")
    assert ("peaches", "basket", 0) in found
    assert found == environment_pairs_by_hand([PEACHES, BASKET, PENS])


def test_matches_by_environment_equal_a_search_by_hand() -> None:
    readings = usable_readings(english(18))
    found = pairs(readings, "environment")
    assert found == environment_pairs_by_hand(readings)
    assert len(found) > 5


def test_after_an_interruption_between_rounds_the_matches_are_the_same_in_the_same_order() -> None:
    later = [reading(f"Here are {n} of how many caps now . What is it ?", "N0", name=f"later{n}") for n in (4, 5)]
    readings = [*usable_readings(english(6)), *later, *usable_readings(english(24))[6:]]
    sizes = (6, 12, len(readings))

    def lists(current: CurrentSet, index: EnvironmentIndex) -> list[list[int]]:
        return [members.tolist() for members in match_by_environment(current, index).lists]

    index = EnvironmentIndex(2)
    for number, size in enumerate(sizes, start=1):
        uninterrupted = lists(CurrentSet(readings[:size], LocalEngine(), sizes[:number]), index)
    assert lists(CurrentSet(readings, LocalEngine(), sizes), EnvironmentIndex(2)) == uninterrupted
    assert lists(CurrentSet(readings, LocalEngine()), EnvironmentIndex(2)) != uninterrupted  # all seen at once


def drafts(readings: list[Reading], asking: int, more_operators: int | None = None) -> list[Draft | Refusal]:
    operation = Structural(options(more_operators=more_operators))
    operation.index(CurrentSet(readings, LocalEngine()))
    return list(operation.drafts(asking, random.Random(0), 10))


def test_operators_are_capped_at_the_greater_parents_plus_some() -> None:
    deep = reading("Ann has 9 pens . She lost 5 . She lost 2 . How many pens has she ?", "N0-N1-N2", name="deep")
    other = reading("Bob has 30 pens . He buys 2 . He buys 3 . How many caps ?", "N0+N1+N2", name="other")
    assert [type(draft) for draft in drafts([deep, other], 0)] == [CompositionDraft]
    assert [type(draft) for draft in drafts([deep, other], 0, 2)] == [CompositionDraft]
    assert drafts([deep, other], 0, 1) == [Refusal("too many operators", ("deep", "other"))]


def test_refusals_for_the_same_reason_in_a_row_are_told_as_one() -> None:
    deep = reading("Ann has 9 pens . She lost 5 . She lost 2 . How many pens has she ?", "N0-N1-N2", name="deep")
    others = [
        reading(f"Bob has {count} pens . He buys 2 . He buys 3 . How many caps ?", "N0+N1+N2", name=f"o{count}")
        for count in (30, 40, 50)
    ]
    (refusal,) = drafts([deep, *others], 0, 1)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.times, refusal.parents[0]) == ("too many operators", 3, "deep")


def test_a_quantity_used_twice_counts_twice_among_the_operators() -> None:
    square = reading("A row has 6 pens . It is a square . How many caps are there ?", "N0*N0", name="square")
    assert isinstance(drafts([PENS, square], 0, 2)[0], CompositionDraft)
    assert isinstance(drafts([PENS, square], 0, 1)[0], Refusal)


def test_problems_of_different_languages_are_never_joined() -> None:
    chinese = reading("筐里有20个梨，吃了5个，还剩多少个梨？", "N0-N1", "zh", name="zh")
    twin = reading("甲有12个梨，乙有30个梨，一共有多少个梨？", "N0+N1", "zh", name="twin")
    parents = {
        tuple(parent.problem.id for parent in draft.parents)
        for place in range(4)
        for draft in drafts([chinese, PEACHES, twin, BASKET], place)
        if not isinstance(draft, Refusal)
    }
    assert {"zh", "twin"} in map(set, parents)
    assert {"peaches", "basket"} in map(set, parents)
    assert all(pair in ({"zh", "twin"}, {"peaches", "basket"}) for pair in map(set, parents))


# --- its checks ---

ASKING = reading("Ann has 20 pens . She lost 5 . How many pens has she ?", "N0-N1", name="asking")


def fate(stating: Reading, **changes: object) -> str | None:
    """Why the operation refuses the story of `ASKING` in the place of the first clause."""
    return Structural(options(**changes)).check(composition(ASKING, stating, 0))


@pytest.mark.parametrize(
    ("text", "expression", "reason"),
    [
        ("Bob has 30 pens . He lost 20 . How many pens has he ?", "N0-N1", "no positive value"),
        ("Bob has 32 pens . 4 boys share them . How many each ?", "N0/N1", "a whole number became a fraction"),
        ("Bob has 0.5 pens . He buys 2 . How many pens ?", "N0+N1", "a share became a number"),
        ("Bob has 30 pens . She lost 5 . How many pens ?", "N0-N1", "a clause twice"),
        ("Bob has 30 pens . He has 1 box . How many pens ?", "1*N0", "degenerate expression"),
        ("Bob has 30 pens . He buys 2 . How many pens ?", "N0+N1", None),
    ],
)
def test_values_and_clauses(text: str, expression: str, reason: str | None) -> None:
    assert fate(reading(text, expression)) == reason


def test_a_story_whose_own_value_is_a_fraction_stands_for_no_whole_number() -> None:
    halves = reading("Ann has 5 pens . 2 girls share them . How many pens each ?", "N0/N1")
    stating = reading("Bob has 30 pens . He buys 2 . How many pens ?", "N0+N1")
    reason = Structural(options()).check(composition(halves, stating, 0))
    assert reason == "a whole number became a fraction"


def test_only_the_full_checks_refuse_what_is_overdrawn() -> None:
    other = reading("Bob has 40 pens . He lost 30 . He bought 35 . How many pens has he ?", "N0+N2-N1")
    assert fate(other, checks="paper") is None
    assert fate(other, checks="full") == "more is taken than there is"
