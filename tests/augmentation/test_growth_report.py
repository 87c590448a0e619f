"""What reports and cards say of an augmentation, number by number."""

from typing import Any, Literal

import pytest

from augmentation.small import options, problem
from comdiv.augmentation.growth_report import (
    card_paragraphs,
    make_report,
    operations_of,
    repairs_of,
    report_markdown,
    round_facts,
)
from comdiv.augmentation.source import AugmentationSource
from comdiv.problem import Problem, Provenance

OLD = problem("old", "A 6 and 3 , 2 ?", "N0+N1")


def new(name: str, expression: str, operation: int) -> Problem:
    origin = Provenance(operation=f"operation {operation}", round=1, parents=("old",))
    return problem(name, "B 6 and 3 , 2 ?", expression, provenance=origin)


CANDIDATES = [new("a", "N0-N1", 1), new("b", "N0+N1-N2", 1), new("c", "N0-N2", 1), new("d", "N0+N1", 2)]
CHECKS = {
    "operation 1": {"passed": 3, "no positive value": 5, "a clause twice": 2},
    "operation 2": {"passed": 1},
    "drawn": {"of": 4, "chosen": 4},
}


def facts_of(kept: list[Problem], scores: dict[str, float] | None = None) -> dict[str, Any]:
    return round_facts(1, CHECKS, CANDIDATES, kept, [OLD], scores)


def report_of(kept: list[Problem], **more: Any) -> dict[str, Any]:
    source = AugmentationSource((OLD,), (OLD,), {}, {"dataset": "small"})
    return make_report(source, options(), [facts_of(kept, **more)], kept, 1 + len(kept))


def test_a_round_counts_drafts_candidates_and_what_is_new_to_the_set() -> None:
    facts = facts_of([CANDIDATES[0], CANDIDATES[2], CANDIDATES[3]])
    assert facts["drawn"] == {"of": 4, "chosen": 4}
    assert facts["operation 1"] == {
        "drafts": 10,
        "passed": 3,
        "candidates": 3,
        "kept": 2,
        "new_templates": 1,  # N0-N1 and N0-N2 are one template
        "new_shapes": 1,
        "repaired": {},
        "refused": {"a clause twice": 2, "no positive value": 5},
    }
    assert (facts["operation 2"]["kept"], facts["operation 2"]["new_templates"]) == (1, 0)
    assert "least_score_kept" not in facts


def test_scores_are_told_as_one_of_them_and_not_where_the_ranker_cannot_spell() -> None:
    scores = {"a": -1.0, "b": -2.0, "c": -3.0, "d": float("-inf")}
    facts = facts_of(CANDIDATES[:2], scores)
    assert facts["least_score_kept"] == -2.0
    assert facts["operation 1"]["median_score"] == -2.0
    assert facts["operation 2"]["median_score"] is None


def test_the_card_says_what_came_of_each_operation() -> None:
    first, last = card_paragraphs(report_of(CANDIDATES))
    assert first == (
        "1 problems became 5 in 1 round: 3 new ones by operation 1 (structural), 1 by operation 2 (lexical). "
        "New to the training set are 2 templates and 2 shapes."
    )
    assert last == "Match by unit, checks paper, no ranker, seed 0."


@pytest.mark.parametrize(
    ("compose", "told"),
    [
        ("unify", "Compounds of one story, checks paper"),
        ("both", "Half of the compounds of one story, half pasted (match by environment), checks paper"),
        ("paste", "Match by environment, checks paper"),
    ],
)
def test_the_card_says_how_compounds_were_made(compose: Literal["unify", "both", "paste"], told: str) -> None:
    report = report_of([])
    report["options"] |= {"compose": compose, "match": "environment"}
    assert card_paragraphs(report)[-1].startswith(told)


def test_the_page_has_a_row_per_round_and_operation_and_a_row_per_fate() -> None:
    page = report_markdown(report_of(CANDIDATES[:1], scores={"a": -1.0, "b": -2.0, "c": -3.0, "d": -4.0}))
    assert "| 1 | 1 | 10 | 3 | 3 | 1 | 1 | 1 | -2.0000 |" in page
    assert "| 1 | 2 | 1 | 1 | 1 | 0 | 0 | 0 | -4.0000 |" in page
    assert "| 1 | refused: no positive value | 5 | 50.0% |" in page
    assert "| 1 | kept | 1 | 10.0% |" in page
    assert "| 1 | left out: ranked lower, or beyond the greatest size | 2 | 20.0% |" in page
    assert "| 2 | left out: ranked lower, or beyond the greatest size | 1 | 100.0% |" in page
    assert "left out: text of another draft" not in page
    assert "- B 6 and 3 , 2 ? — `N0-N1` = 3" in page
    assert page.endswith("## Samples of operation 2\n\nNone.\n")


def test_what_passed_is_kept_or_told_to_be_left_out() -> None:
    twice = {**CHECKS, "operation 1": {"passed": 8, "a clause twice": 2}}
    facts = round_facts(1, twice, CANDIDATES, CANDIDATES[:1], [OLD], None)
    source = AugmentationSource((OLD,), (), {}, {})
    page = report_markdown(make_report(source, options(), [facts], CANDIDATES[:1], 2))
    assert "| 1 | passed | 8 | 80.0% |" in page
    assert "| 1 | left out: text of another draft, or beyond a quota or the growth of a round | 5 | 50.0% |" in page
    assert "| 1 | left out: ranked lower, or beyond the greatest size | 2 | 20.0% |" in page
    assert "| 1 | kept | 1 | 10.0% |" in page


def test_twelve_samples_of_each_operation_are_shown_or_all_that_there_are() -> None:
    many = [new(f"n{number}", "N0-N1", 1) for number in range(30)]
    page = report_markdown(report_of([*many, CANDIDATES[3]]))
    first, second = page.split("## Samples of operation 1")[1].split("## Samples of operation 2")
    assert (first.count("- B 6"), second.count("- B 6")) == (12, 1)


def test_a_report_knows_its_operations_by_name_and_label() -> None:
    assert operations_of(report_of([])) == [("1", "operation 1"), ("2", "operation 2")]


def test_a_part_of_the_validation_that_was_composed_is_told() -> None:
    source = AugmentationSource((OLD,), (OLD,), {}, {})
    report = make_report(source, options(), [facts_of([])], [], 1, compounds=CANDIDATES[:2])
    assert report["validation"] == {"given": 1, "new": 2}
    assert "Validation has 2 more, by operation 1 from its own 1 problems alone" in card_paragraphs(report)[1]


def test_repairs_are_told_by_the_provenance() -> None:
    def repaired(**details: object) -> list[str]:
        return repairs_of(Problem("p", "en", "text", provenance=Provenance(details=details)))

    assert repaired(clause=1) == []
    assert repaired(sequel="more", numbers="kept") == ["the host's step told again about the story"]
    assert repaired(sequel="more", numbers="drawn")[1:] == ["numbers drawn anew"]
    assert repaired(exchanged={"Tom": "Bob"}) == ["people or things exchanged throughout"]
