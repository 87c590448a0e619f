"""Who may ask about what: matches by unit, by environment and by frame, and the drafts that come of them."""

import random

import pytest

from augmentation.small import english, options, view
from comdiv.augmentation.composition import Composition, Draft, Refused
from comdiv.augmentation.engine import LocalEngine
from comdiv.augmentation.environments import ClauseTable
from comdiv.augmentation.proposals import Indexes, build_workshop
from comdiv.augmentation.structural import TwoHoleHashes, match_by_environment, match_by_unit, structural_drafts
from comdiv.augmentation.view import ProblemView, view_of

PEACHES = view("Ann picks 5 peaches . Bob picks 9 peaches . How many peaches are there ?", "N0+N1", name="peaches")
BASKET = view("There are 36 peaches here . 4 boys share them . What does each get ?", "N0/N1", name="basket")
PENS = view("Cid has 7 pens . Dan has 2 pens . How many pens are there ?", "N0+N1", name="pens")


def pairs(views: list[ProblemView], match: str) -> set[tuple[str, str, int]]:
    """Everything that may be drawn: (asking, stating, clause)."""
    if match == "unit":
        matches = match_by_unit(views, None)
    else:
        matches = match_by_environment(views, TwoHoleHashes(ClauseTable()), LocalEngine())
    return {
        (view.problem.id, views[place].problem.id, clause)
        for number, view in enumerate(views)
        for place, clause, *_ in matches.drawn(number, random.Random(0), 10_000)
    }


def test_by_unit_the_question_asks_for_what_the_clause_counts() -> None:
    assert pairs([PEACHES, BASKET, PENS], "unit") == {("peaches", "basket", 0)}


def environment_pairs_by_hand(views: list[ProblemView]) -> set[tuple[str, str, int]]:
    from augmentation.test_environments import environment_by_hand, holes_by_hand
    from comdiv.augmentation.composition import can_ask, replaceable_clauses

    def environments(masked: tuple[str, ...]) -> set[tuple[str, ...]]:
        return {environment_by_hand(masked, holes) for holes in holes_by_hand(len(masked), 2)}

    return {
        (asking.problem.id, stating.problem.id, clause)
        for asking in views
        if can_ask(asking)
        for stating in views
        if stating is not asking
        for clause in replaceable_clauses(stating)
        if environments(asking.question.masked) & environments(stating.clauses[clause].masked)
    }


def test_by_environment_the_paper_s_example_matches() -> None:
    found = pairs([PEACHES, BASKET, PENS], "environment")
    assert ("peaches", "basket", 0) in found
    assert found == environment_pairs_by_hand([PEACHES, BASKET, PENS])


def test_matches_by_environment_equal_a_search_by_hand() -> None:
    views = [found for problem in english(18) if (found := view_of(problem)) is not None]
    found = pairs(views, "environment")
    assert found == environment_pairs_by_hand(views)
    assert len(found) > 5


def drafts(views: list[ProblemView], asking: int, more_operators: int | None = None) -> list[Draft | Refused]:
    matches = match_by_unit(views, None)
    return list(structural_drafts(views, asking, matches, None, random.Random(0), 10, more_operators))


def test_operators_are_capped_at_the_greater_parents_plus_some() -> None:
    deep = view("Ann has 9 pens . She lost 5 . She lost 2 . How many pens has she ?", "N0-N1-N2", name="deep")
    other = view("Bob has 30 pens . He buys 2 . He buys 3 . How many caps ?", "N0+N1+N2", name="other")
    assert [type(found) for found in drafts([deep, other], 0)] == [Composition]
    assert [type(found) for found in drafts([deep, other], 0, 2)] == [Composition]
    refused = drafts([deep, other], 0, 1)
    assert refused == [Refused("too many operators", ("deep", "other"))]


def test_a_quantity_used_twice_counts_twice_among_the_operators() -> None:
    square = view("A row has 6 pens . It is a square . How many caps are there ?", "N0*N0", name="square")
    assert isinstance(drafts([PENS, square], 0, 2)[0], Draft)
    assert isinstance(drafts([PENS, square], 0, 1)[0], Refused)


@pytest.mark.parametrize("sizes", [(36,), (1, 35), (7, 7, 7, 15)])
def test_shards_of_any_size_propose_the_same_problems(sizes: tuple[int, ...]) -> None:
    views = [found for problem in english() if (found := view_of(problem)) is not None]
    workshop = build_workshop(views, frozenset(), options(checks="paper"), 1, Indexes())
    whole, tally = workshop.propose(range(36))
    first = 0
    parts = []
    for size in sizes:
        parts += workshop.propose(range(first, first + size))[0]
        first += size
    assert parts == whole
    assert tally.counts[1]["passed"] + tally.counts[2]["passed"] == len(whole) > 36


def test_questions_matched_by_environment_give_no_fragments_to_operation_2() -> None:
    views = [
        view("Tom has 3 red pens . How many red pens has Tom now ?", "N0", name="a"),
        view("Tom has 5 red pens . How many blue pens has Tom now ?", "N0", name="b"),
    ]
    indexes = Indexes()
    workshop = build_workshop(views, frozenset(), options("paper"), 1, indexes)
    assert sorted({row for rows in indexes.rows for row in rows}) == list(range(len(indexes.fragments.table.by_row)))
    workshop.propose(range(2))
