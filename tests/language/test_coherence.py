"""What the full checks know of English: what questions ask for, which clauses state it, how a story is told again."""

import random
from dataclasses import replace
from functools import cache

import pytest

from augmentation.small import options, reading
from comdiv.augmentation.operations import CurrentSet, Refusal
from comdiv.augmentation.operations.structural import Structural
from comdiv.corpora.demo import generate
from comdiv.engine import LocalEngine
from comdiv.language.coherence import Actors
from comdiv.language.en.coherence import EnglishCoherence
from comdiv.language.en.people import find_people
from comdiv.reading import Reading, read

PEOPLE = Actors({"Ann": "f", "Bob": "m", "Cid": "m", "Eve": "f", "Sam": "m"})
HAS_SHELLS = (("shell",), "have", frozenset())


def asked(text: str) -> tuple[object, ...] | None:
    """What the question of a text asks for."""
    frame = EnglishCoherence().question_frame(reading(text, "N0"), PEOPLE)
    return frame and frame.key


def stated(text: str, clause: int = 0) -> tuple[object, ...] | None:
    """What a clause of a text states."""
    frame = EnglishCoherence().clause_frame(reading(text, "N0"), clause, PEOPLE)
    return frame and frame.key


def composed(asking: Reading, stating: Reading) -> list[str]:
    """The texts that come of the first problem's story in the second, with the full checks' wording."""
    current = CurrentSet([asking, stating], LocalEngine())
    current.actors = {"en": PEOPLE}
    operation = Structural(options(checks="full", more_operators=None))
    operation.index(current)
    return [draft.text for draft in operation.drafts(0, random.Random(0), 5) if not isinstance(draft, Refusal)]


@pytest.mark.parametrize(
    "question",
    [
        "How many shells does Ann have now ?",
        "How many shells does she now have ?",
        "How many shells would she have ?",
        "How many shells did Ann end up with ?",
    ],
)
def test_questions_for_what_somebody_has(question: str) -> None:
    assert asked(f"Ann had 9 shells . She lost 2 . {question}") == HAS_SHELLS


def test_a_finished_event_is_no_having() -> None:
    found = asked("Ann made 9 dollars . If she made 4 dollars more , how much money would she have made ?")
    assert found == (("dollar",), "mak", frozenset())


def test_a_condition_before_the_question_becomes_a_sentence_of_the_story() -> None:
    asking = reading(
        "Bob had 9 shells . If he sold 4 of them , how many shells would he have ?", "N0-N1", name="asking"
    )
    stating = reading("Ann has 7 shells . She finds 3 more . How many shells does Ann have ?", "N0+N1", name="stating")
    assert composed(asking, stating) == [
        "Ann had 9 shells . She sold 4 of them . She finds 3 more . How many shells does Ann have ?"
    ]


@pytest.mark.parametrize("condition", ["When the boys are gone ,", "After she gave 2 away ,"])
def test_other_conditions_belong_to_the_question(condition: str) -> None:
    assert asked(f"Ann had 9 shells . {condition} how many shells does Ann have ?") is None


@pytest.mark.parametrize(
    "text",
    [
        "Ann has 9 shells . She lost 2 . How many shells does she have ?",
        "Ann found 9 shells on the beach . She lost 2 . How many shells does she have ?",
        "At the beach Ann found 9 shells . She lost 2 . How many shells does she have ?",
        "During the summer she found 9 shells . Bob met Ann . He took 2 . How many shells does Ann have ?",
    ],
)
def test_who_found_something_has_it(text: str) -> None:
    assert stated(text) == HAS_SHELLS


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Ann found 9 shells . Bob found 2 shells . How many shells did Ann find ?", 0),
        ("Ann bought 9 shells . A shell costs 2 dollars . How much money does she need ?", 0),
        ("Ann has some shells . Ann found 9 shells . How many shells has she now ?", 1),
        ("Ann found 9 shells . She has 12 now . How many did she start with ?", 0),
    ],
)
def test_where_the_finding_matters_it_is_no_having(text: str, clause: int) -> None:
    assert stated(text, clause) != HAS_SHELLS


def test_an_amount_told_before_forbids_another_beginning_of_the_same_things_only() -> None:
    assert stated("Ann has 3 shells . She has 9 shells . How many shells does she have ?", 1) is None
    assert stated("Ann has 3 hats . She has 9 shells . How many shells does she have ?", 1) == HAS_SHELLS


def test_a_story_is_told_of_the_other_person_with_pronouns_turned() -> None:
    asking = reading("Bob has 9 pens . Sam gave him 4 . How many pens does Bob have ?", "N0+N1", name="asking")
    stating = reading("Eve has 7 pens . She lost 3 . How many pens does Eve have ?", "N0-N1", name="stating")
    assert composed(asking, stating) == []  # whom "him" means is not certain beside Sam
    alone = reading("Bob has 9 pens . He found 4 in his room . How many pens does Bob have ?", "N0+N1", name="alone")
    assert composed(alone, stating) == [
        "Eve has 9 pens . She found 4 in her room . She lost 3 . How many pens does Eve have ?"
    ]


def test_one_name_for_two_people_gives_nothing() -> None:
    asking = reading("Bob has 9 pens . Ann took 4 . How many pens does Bob have ?", "N0-N1", name="asking")
    stating = reading("Cid has 7 pens . Ann gave Cid 3 . How many pens does Cid have ?", "N0+N1", name="stating")
    assert composed(asking, stating) == []


# People in corpora without capitals

LOWER = [
    "amy had 9 shells . she lost 2 . how many shells does amy have ?",
    "mark bought 4 pens . the teacher put a red mark on 2 of them . how many pens did mark keep ?",
    "will the shop sell 5 kites ? it has 9 kites . how many kites are left ?",
    "wenzel has 3 cats . how many legs ? wenzel has 4 dogs .",
    "wenzel found 3 coins and lost 1 . how many coins are left ?",
    "a rose costs 3 dollars . rose bought 4 . how much money did rose pay ?",
    "the school has 9 desks . school starts at 8 . how many desks did school buy ?",
    "each box holds 5 cups . there are 3 boxes . how many cups are there ?",
]


def people_of(texts: list[str]) -> dict[str, str]:
    return find_people([reading(text, "N0", name=str(number)) for number, text in enumerate(texts)]).gender


def test_people_without_capitals_are_found_by_name_and_place() -> None:
    assert people_of(LOWER) == {"amy": "f", "mark": "m", "rose": "f", "wenzel": ""}


def test_with_capitals_only_capitals_count() -> None:
    texts = ["Amy had 9 shells . How many shells does Amy have ?", "amber and will are words . Does Amber have 3 ?"]
    assert people_of(texts) == {"Amy": ""}


def test_a_lower_cased_corpus_is_composed_like_the_cased_one() -> None:
    problems = [read(problem) for problem in generate("en", 300)]
    lowered = [read(replace(one.problem, text=one.text.lower())) for one in problems]
    made = [
        sum(
            not isinstance(draft, Refusal)
            for place in range(len(readings))
            for draft in _operation(readings).drafts(place, random.Random(place), 2)
        )
        for readings in (problems, lowered)
    ]
    assert made[0] > 20
    assert 0.7 * made[0] <= made[1] <= 1.3 * made[0]


@cache
def _indexed(readings: tuple[Reading, ...]) -> Structural:
    current = CurrentSet(readings, LocalEngine())
    operation = Structural(options(checks="full", more_operators=None))
    operation.index(current)
    return operation


def _operation(readings: list[Reading]) -> Structural:
    return _indexed(tuple(readings))


def test_dollars_are_not_added_to_cents() -> None:
    asking = "Ann had 9 dollars . She found 4 dollars . How much money does she have ?"
    assert asked(asking) == (("dollar",), "have", frozenset())
    assert asked("Ann had 9 dollars . She found 40 cents . How much money does she have ?") is None
    assert asked("Ann had 9 dimes . She found 4 dollars . How much money does she have ?") is None
