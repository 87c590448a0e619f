"""Scenario data: what the checks on load refuse, and what the bundled scenarios promise."""

import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest

from comdiv.corpora.demo import scenarios as module
from comdiv.corpora.demo.scenarios import DEMO_LANGUAGES, Scenario, Step, check_frames, load_scenarios, parse_kind
from comdiv.errors import ComdivError
from comdiv.expression import Reference, map_leaves, template

RULE_TEMPLATES = [
    "n1+n2", "n1-n2", "n1*n2", "n1/n2", "1-n1", "n1*(1-n2)", "n1/(1-n2)", "n1*n2/n3", "n1*n2+n3", "n1*n2*n3",
    "(n1-n2)/n3", "(n1+n2)*n3", "n1/n2*n3", "n1*n2-n3",
]  # fmt: skip


def a_scenario(**changes: Any) -> dict[str, Any]:
    step = {
        "id": "rows",
        "quantities": {"rows": "whole 4..18", "each": "whole 6..20"},
        "value": "rows * each",
        "tell": ["{who} plants {rows} rows of {each} trees."],
        "ask": ["How many trees does {who} plant?"],
    }
    return {"id": "orchard", "slots": {"who": ["Ann", "Ben"]}, "steps": [{**step, **changes}]}


def load(data: dict[str, Any]) -> Scenario:
    return module._scenario(data, {}, "test.yaml")


def test_a_sound_scenario_has_its_paths() -> None:
    (path,) = load(a_scenario()).paths(4)
    assert [step.id for step in path] == ["rows"]
    assert path[0].operators == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tell": ["{who} plants {rows} rows."]}, "each quantity must be told exactly once"),
        (
            {"tell": ["{who} plants {rows} rows of {each} trees, {rows} in all."]},
            "each quantity must be told exactly once",
        ),
        ({"ask": ["How many of the {rows} rows?"]}, "not in the question"),
        ({"tell": ["{whom} plants {rows} rows of {each} trees."]}, "unknown slot 'whom'. Did you mean 'who'"),
        ({"tell": ["{who.he} plants {rows} rows of {each} trees."]}, "no form 'he'"),
        ({"tell": ["In 2 fields {who} plants {rows} rows of {each} trees."]}, "a digit that is not a quantity"),
        ({"value": "rows * eech"}, "unknown name 'eech'"),
        ({"value": "rows * it"}, "unknown name 'it'"),
        ({"after": ["nothing"]}, "unknown step 'nothing'"),
        ({"where": ["rows ? each"]}, "not a comparison"),
        ({"quantities": {"rows": "whole", "each": "whole 6..20"}}, "lacks a range"),
        ({"askk": []}, "askk"),
    ],
)
def test_a_mistake_in_a_scenario_is_named_with_file_and_scenario(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ComdivError, match=r"test\.yaml, scenario 'orchard'") as caught:
        load(a_scenario(**changes))
    assert message in str(caught.value)


def test_two_scenarios_may_not_share_a_sentence_frame() -> None:
    first = load(a_scenario())
    second = load({**a_scenario(tell=["In spring {who} sets {rows} rows of {each} bushes."]), "id": "garden"})
    with pytest.raises(ComdivError, match="share the sentence 'how many trees does _ plant"):
        check_frames((first, second))


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
def test_there_are_at_least_forty_scenarios_with_several_wordings_for_each_step(language: str) -> None:
    scenarios = load_scenarios(language)
    assert len(scenarios) >= 40
    assert len({scenario.id for scenario in scenarios}) == len(scenarios)
    for scenario in scenarios:
        for step in scenario.steps.values():
            assert len(set(step.tell)) >= 3
            assert not step.ask or len(set(step.ask)) >= 3


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
def test_every_scenario_can_be_extended_by_a_further_step(language: str) -> None:
    for scenario in load_scenarios(language):
        longest = max(len(path) for path in scenario.paths(4))
        assert longest >= 3, scenario.id


@pytest.mark.parametrize("language", DEMO_LANGUAGES)
def test_every_template_of_the_rule_table_comes_from_several_scenarios(language: str) -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for scenario in load_scenarios(language):
        for path in scenario.paths(4):
            owners[template(composed_in_told_order(path))].add(scenario.id)
    assert len(owners) >= 25
    assert {name: len(owners[name]) for name in RULE_TEMPLATES if len(owners[name]) < 4} == {}


def composed_in_told_order(path: tuple[Step, ...]) -> Any:
    """The expression of a path whose quantities are told in the order in which they are declared."""
    expression: Any = Reference(0)
    told = 0
    for step in path:
        before, first = expression, told
        expression = map_leaves(
            step.value,
            lambda leaf, before=before, first=first: (
                leaf
                if not isinstance(leaf, Reference)
                else before
                if leaf.index == 0
                else Reference(first + leaf.index - 1)
            ),
        )
        told += len(step.quantities)
    return expression


def test_an_unknown_demo_language_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ComdivError, match="Known: en, zh"):
        load_scenarios("eo")


# Kinds of numbers: what is drawn, what is accepted, how it is printed.


def test_whole_numbers_step_from_the_lower_end() -> None:
    assert parse_kind("whole 4..11 step 3").choices == (4, 7, 10)


def test_shares_are_proper_reduced_fractions_within_the_range() -> None:
    choices = parse_kind("share 1/3..1/2").choices
    assert choices[0] == Fraction(1, 3)
    assert choices[-1] == Fraction(1, 2)
    assert Fraction(2, 5) in choices
    assert all(value.denominator <= 10 for value in choices)


def test_percents_are_worth_hundredths() -> None:
    assert parse_kind("percent 10..20 step 5").choices == (Fraction(1, 10), Fraction(3, 20), Fraction(1, 5))


@pytest.mark.parametrize(
    ("kind", "value", "thousands", "text"),
    [
        ("whole 1..9999", Fraction(1200), ",", "1,200"),
        ("whole 1..9999", Fraction(1200), "", "1200"),
        ("money 1..9 step 0.25", Fraction(9, 2), ",", "4.50"),
        ("money 1..9 step 0.25", Fraction(4), ",", "4"),
        ("decimal 0.1..3 step 0.1", Fraction(5, 2), "", "2.5"),
        ("share", Fraction(2, 5), ",", "2/5"),
        ("percent 5..95", Fraction(3, 10), ",", "30%"),
    ],
)
def test_numbers_are_written_as_in_a_schoolbook(kind: str, value: Fraction, thousands: str, text: str) -> None:
    assert parse_kind(kind).write(value, thousands) == text


def test_a_result_must_lie_in_its_range_and_be_of_its_kind() -> None:
    whole = parse_kind("whole 2..10")
    assert whole.accepts(Fraction(10))
    assert not whole.accepts(Fraction(5, 2))
    assert not whole.accepts(Fraction(11))
    assert not parse_kind("share").accepts(Fraction(1))
    assert parse_kind("money 1..9").accepts(Fraction(301, 100))
    assert not parse_kind("money 1..9").accepts(Fraction(3001, 1000))


def test_draws_come_from_the_choices() -> None:
    kind = parse_kind("whole 3..5")
    assert {kind.draw(random.Random(seed)) for seed in range(50)} == {3, 4, 5}


@pytest.mark.parametrize("text", ["whole", "whole 5..4", "number 1..2", "whole one..two", "share 91/100..92/100"])
def test_a_wrong_kind_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ComdivError, match=text.split()[0]):
        parse_kind(text)
