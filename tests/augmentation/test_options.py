"""The options of an augmentation: presets, operations of packages, and mistakes in one line."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from augmentation.small import options
from comdiv.augmentation import AugmentationOptions
from comdiv.augmentation.operations import CurrentSet, Draft, ProblemOperation, Refusal
from comdiv.errors import ComdivError
from comdiv.registry import OPERATIONS


class Idle(ProblemOperation):
    """An operation that makes nothing."""

    per_problem = 7

    def index(self, current: CurrentSet) -> None:
        """Nothing to look at."""

    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        yield from ()


@pytest.fixture(autouse=True)
def two_more() -> Iterator[None]:
    """Two operations of this process: `a` and `b`."""
    for name in ("a", "b"):
        OPERATIONS.add(name, Idle)
    yield
    for name in ("a", "b"):
        OPERATIONS.remove(name)


@pytest.mark.parametrize(
    ("operations", "per_problem", "wanted"),
    [
        ((1, 2), (12, 2), {"1": 12, "2": 2}),
        ((2, 1), (12, 2), {"1": 12, "2": 2}),
        (("2",), (12, 2), {"2": 2}),
        ((1, 2), (5,), {"1": 5, "2": 5}),
        ((1, "b", "a"), (5,), {"1": 5, "b": 5, "a": 5}),
        (("b", 2, "a"), (12, 3, 4, 5), {"2": 3, "b": 4, "a": 5}),
        ((1, "b", "a"), (12, 3, 4), {"1": 12, "b": 4, "a": 7}),  # what the operation itself says
        (("a",), (0, 0, 4), {"a": 4}),
    ],
)
def test_numbers_belong_to_operations_1_and_2_and_then_to_the_others_as_named(
    operations: tuple[int | str, ...], per_problem: tuple[int, ...], wanted: dict[str, int]
) -> None:
    chosen = options(operations=operations, per_problem=per_problem)
    assert chosen.wanted == wanted
    assert list(chosen.wanted) == list(wanted)


def test_the_paper_s_operations_are_numbers_in_records_however_they_were_typed() -> None:
    assert options(operations=("a", "2", "1")).facts()["operations"] == [1, 2, "a"]
    assert options(per_problem=(4,)).facts()["per_problem"] == [4, 4]
    assert AugmentationOptions(**options(operations=(1, "a")).model_dump(mode="json")).operations == (1, "a")


def test_reports_tell_of_the_paper_s_operations_even_where_they_are_not_used() -> None:
    assert options(operations=("b", "a")).operation_names == ("1", "2", "b", "a")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operations": ()}, "option operations: name at least one operation"),
        ({"operations": (1, "1")}, "option operations: name at least one operation, each once"),
        ({"operations": (1, "shufle")}, "option operations: unknown operation 'shufle'"),
        ({"per_problem": (1, 2, 3)}, "option per_problem: give one number for all operations"),
        ({"operations": ("a",), "per_problem": (1, 2, 3, 4)}, "option per_problem: give one number"),
        ({"per_problem": (1, -1)}, "option per_problem: a number of new problems must not be negative"),
        ({"ban": ("a text",)}, "option ban: 'a text' is not a SHA-256"),
        ({"keep": 0}, "option keep"),
        ({"max_growth": 1}, "option max_growth"),
        ({"round": 3}, "unknown option 'round'. Did you mean 'rounds'?"),
    ],
)
def test_a_mistake_is_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ComdivError) as caught:
        options(**changes)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_presets_can_be_changed_and_an_unknown_one_is_answered_with_the_nearest() -> None:
    paper = AugmentationOptions.preset("paper", rounds=2)
    assert (paper.rounds, paper.match, paper.per_problem, paper.ranker) == (2, "environment", (5, 5), "gts")
    assert AugmentationOptions.preset() == AugmentationOptions.preset("sense")  # one story each, unless asked otherwise
    assert AugmentationOptions.preset("comdiv") == AugmentationOptions.preset("structure") == AugmentationOptions()
    with pytest.raises(ComdivError, match="Did you mean 'paper'"):
        AugmentationOptions.preset("papre")


def test_facts_tell_of_bans_their_number_and_one_hash_whatever_their_order() -> None:
    hashes = [f"{number:064x}" for number in range(3)]
    facts = options(ban=hashes).facts()
    assert facts["ban"]["texts"] == 3
    assert facts["ban"] == options(ban=[*hashes[::-1], hashes[0]]).facts()["ban"]
    assert facts["ban"] != options(ban=hashes[:2]).facts()["ban"]
    assert options().facts()["ban"] is None
