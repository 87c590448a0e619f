"""Operation 2 with `--compose unify`: people and things change throughout, the arithmetic stays."""

import random

from comdiv.augmentation import AugmentationOptions
from comdiv.augmentation.operations import Draft, Refusal
from comdiv.augmentation.operations.recasting import Recaster, rename_all
from comdiv.augmentation.proposals import index_round
from comdiv.expression import parse, to_infix
from comdiv.language import sequels_of
from comdiv.problem import Problem
from comdiv.reading import read_all

STORY = "{name} has {n} {things}. {name} gives 3 {things} to Anna. How many {things} does {name} have left?"


def story(name: str, things: str, expression: str = "N0-N1") -> Problem:
    return Problem(f"{name}-{things}", "en", STORY.format(name=name, things=things, n=9), parse(expression))


CORPUS = [
    story("Tom", "pears"), story("Tom", "plums"), story("Bob", "pears"), story("Bob", "plums"),
    *[Problem(f"{name}-{n}", "en", f"A dog saw {name}. {who} saw {name}. How many?")
      for name, who in (("Tom", "He"), ("Bob", "He"), ("Anna", "She"), ("Mary", "She"))
      for n in range(3)],
]  # fmt: skip


def drafts(problems: list[Problem], place: int = 0, language: str = "en") -> list[Draft]:
    readings = read_all(problems)
    recaster = Recaster.learn(readings, range(len(readings)), sequels_of(language))
    return [one for one in recaster.drafts(place, random.Random(0)) if not isinstance(one, Refusal)]


def test_a_thing_is_exchanged_wherever_it_is_named() -> None:
    texts = {draft.text for draft in drafts(CORPUS)}
    assert STORY.format(name="Tom", things="plums", n=9) in texts
    assert all("pears" not in text or "plums" not in text for text in texts)


def test_people_are_exchanged_for_people_of_their_gender() -> None:
    renamed = [draft.details["exchanged"] for draft in drafts(CORPUS)]
    people = {(old, new) for pairs in renamed for old, new in pairs.items() if old.istitle()}  # type: ignore[attr-defined]
    assert people == {("Tom", "Bob"), ("Anna", "Mary")}


def test_a_place_is_nobody() -> None:
    texts = [f"A dog saw {name} in Ashford. She ran." for name in ("Anna", "Mary", "Anna")]
    cast = sequels_of("en").cast(read_all([Problem(str(n), "en", text) for n, text in enumerate(texts)]))
    assert cast == [{"Anna": "f"}, {"Mary": "f"}, {"Anna": "f"}]


def test_expression_and_answer_stay() -> None:
    for draft in drafts(CORPUS):
        assert to_infix(draft.expression) == "N0-N1"
        assert draft.answer == 6


def test_a_thing_that_a_constant_may_depend_on_stays() -> None:
    dozens = story("Tom", "pears", "N0*12-N1")
    assert all("plums" not in draft.text for draft in drafts([dozens, *CORPUS[1:]]))


def test_a_thing_must_have_been_seen_with_every_word_of_the_problem() -> None:
    eaten = Problem("e", "en", "Tom has 9 pears. Tom eats 3 pears. How many pears does Tom have left?", parse("N0-N1"))
    assert all("plums" not in draft.text for draft in drafts([eaten, *CORPUS[1:]]))


def test_coins_and_measures_stay() -> None:
    assert sequels_of("en").exchangeable(read_all([story("Tom", "dimes")])[0]) == frozenset()
    assert sequels_of("en").exchangeable(read_all([story("Tom", "miles")])[0]) == frozenset()


def test_chinese_things_are_exchanged_for_things_of_their_kind() -> None:
    def orchard(trees: str) -> Problem:
        return Problem(trees, "zh", f"果园里有{trees}20棵，死了5棵，{trees}还有多少棵？", parse("N0-N1"))

    texts = {draft.text for draft in drafts([orchard("梨树"), orchard("桃树"), orchard("苹果")], language="zh")}
    assert "果园里有桃树20棵，死了5棵，桃树还有多少棵？" in texts
    assert all("苹果" not in text for text in texts)


def test_all_people_are_renamed_at_once() -> None:
    assert rename_all("Tom saw Bob. Tommy ran.", {"Tom": "Bob", "Bob": "Tom"}, spaced=True) == "Bob saw Tom. Tommy ran."
    assert rename_all("小明比小红多", {"小明": "小丽"}, spaced=False) == "小丽比小红多"


def test_the_operation_recasts_where_stories_are_unified() -> None:
    options = AugmentationOptions.checked(compose="unify", operations=(2,), per_problem=(0, 3))
    readings = [reading for reading in read_all(CORPUS) if reading.is_grounded]
    proposals, _ = index_round(readings, frozenset(), options, 1).propose(range(len(readings)))
    assert proposals
    assert all("exchanged" in proposal.problem.provenance.details for proposal in proposals)


def test_a_text_with_a_flaw_of_its_own_is_not_recast() -> None:
    flawed = Problem("p", "en", "Tom has 9 pears. If Tom eats 3 pears. How many pears does Tom have?", parse("N0-N1"))
    assert drafts([flawed, *CORPUS]) == []
