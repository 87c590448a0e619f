"""Operation 2 on texts short enough to check by hand: which fragments are exchanged, where, and which are not."""

import random

from augmentation.small import options, reading
from comdiv.augmentation.operations import CurrentSet, PlainDraft, Refusal
from comdiv.augmentation.operations.lexical import Lexical, exchange, find_fragment
from comdiv.engine import LocalEngine
from comdiv.reading import Reading

SHELLS = reading(
    "Joan found 70 seashells . She gave Sam 27 . How many seashells does Joan have ?", "N0-N1", name="shells"
)
TOM = reading(
    "Ann has 5 pens . Tom has 9 seashells . He lost 3 . How many seashells does Tom have ?", "N1-N2", name="tom"
)


def test_operation_2_exchanges_a_fragment_everywhere_and_keeps_the_expression() -> None:
    draft = exchange(SHELLS, 0, ["seashells"], "marbles", TOM, 1)
    assert draft.text == "Joan found 70 marbles . She gave Sam 27 . How many marbles does Joan have ?"
    assert draft.expression == SHELLS.expression
    assert draft.tokens == sum(len(clause.tokens) for clause in SHELLS.clauses)


def test_operation_2_writes_a_capital_where_a_sentence_begins() -> None:
    problem = reading("Red pens cost 3 dollars . Tom buys 2 red pens . What does he pay ?", "N0*N1")
    draft = exchange(problem, 0, ["red", "pens"], "blue caps", TOM, 2)
    assert draft.text == "Blue caps cost 3 dollars . Tom buys 2 blue caps . What does he pay ?"


def test_fragments_are_found_without_overlaps_and_within_clauses() -> None:
    problem = reading("go go go 3 . go 2 now ?", "N0+N1")
    assert [tokens[0].start for tokens in find_fragment(problem, ["go", "go"])] == [0]
    assert find_fragment(problem, [".", "go"]) == []


def drafts(readings: list[Reading], place: int = 0, **changes: object) -> list[PlainDraft | Refusal]:
    operation = Lexical(options(**changes))
    operation.index(CurrentSet(readings, LocalEngine()))
    return [
        draft for draft in operation.drafts(place, random.Random(0), 100) if isinstance(draft, PlainDraft | Refusal)
    ]


def texts(readings: list[Reading], place: int = 0, **changes: object) -> set[str]:
    """The texts that come of the problem at a place."""
    return {draft.text for draft in drafts(readings, place, **changes) if isinstance(draft, PlainDraft)}


RED = reading("Tom has 3 red pens . How many pens has Tom ?", "N0", name="red")
BLUE = reading("Tom has 5 blue pens . How many pens has Tom ?", "N0", name="blue")


def test_what_stands_in_the_same_hole_is_exchanged_with_its_neighbours_or_without() -> None:
    assert texts([RED, BLUE]) == {"Tom has 3 blue pens . How many pens has Tom ?"}
    details = {draft.details["fragment"] for draft in drafts([RED, BLUE]) if isinstance(draft, PlainDraft)}
    assert {"red", "red pens", "red pens ."} <= details


def test_numbers_are_never_part_of_a_fragment() -> None:
    fragments = [draft.details["fragment"] for draft in drafts([RED, BLUE]) if isinstance(draft, PlainDraft)]
    assert fragments
    assert not any("NUM" in str(fragment) for fragment in fragments)


def test_questions_give_no_fragments() -> None:
    other = reading("Tom has 5 red pens . How many caps has Tom ?", "N0", name="other")
    assert texts([RED, other]) == set()


def test_a_draft_keeps_expression_values_and_answer_of_its_problem() -> None:
    draft = next(draft for draft in drafts([RED, BLUE]) if isinstance(draft, PlainDraft))
    assert (draft.expression, draft.values, draft.answer) == (RED.expression, RED.values, 3)
    assert draft.parents == (RED, BLUE)


def test_later_rounds_add_to_what_earlier_ones_indexed() -> None:
    operation = Lexical(options())
    operation.index(CurrentSet([RED], LocalEngine()))
    assert list(operation.drafts(0, random.Random(0), 10)) == []
    operation.index(CurrentSet([RED, BLUE], LocalEngine()))
    later = {draft.text for draft in operation.drafts(0, random.Random(0), 100) if isinstance(draft, PlainDraft)}
    assert later == texts([RED, BLUE])


# --- the full checks ---

FULL = {"checks": "full"}


def story(thing: str, name: str, verb: str = "found", place: str = "beach") -> Reading:
    text = f"Joan {verb} 70 {thing} on the sunny {place} . She gave Sam 27 . How many {thing} does Joan have ?"
    return reading(text, "N0-N1", name=name)


def test_the_full_checks_ask_for_two_shared_environments() -> None:
    shells, stones = story("seashells", "a"), story("stones", "b")
    reasons = {draft.reason for draft in drafts([shells, stones], **FULL) if isinstance(draft, Refusal)}
    assert reasons == {"one shared environment only"}
    assert texts([shells, stones], **FULL) == set()
    more = [story(thing, f"{thing}2", place="island") for thing in ("seashells", "stones")]
    assert {shells.text.replace("seashells", "stones")} <= texts([shells, stones, *more], **FULL)


def test_the_full_checks_refuse_words_that_the_problem_has_already() -> None:
    shells = reading(
        "Joan found 70 seashells on the sunny beach . She lost 2 stones . How many seashells does Joan have ?", "N0-N1"
    )
    stones = [story("stones", "b"), story("stones", "c", place="island"), story("seashells", "d", place="island")]
    reasons = {draft.reason for draft in drafts([shells, *stones], **FULL) if isinstance(draft, Refusal)}
    assert "the new words are there already" in reasons
    assert not any("stones on the" in text for text in texts([shells, *stones], **FULL))
