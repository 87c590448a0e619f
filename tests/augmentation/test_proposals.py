"""What one round proposes: checked whatever the operation, the same for any sharding, with the fates of all drafts."""

import gc
import json
import random
from collections.abc import Iterator

import pytest

from augmentation.small import english, options, problem, reading
from comdiv.augmentation.operations import CurrentSet, Draft, PlainDraft, ProblemOperation, Refusal, draft_of
from comdiv.augmentation.proposals import (
    EXAMPLES,
    Fates,
    Proposer,
    draw_ids,
    draw_within_quota,
    index_round,
    new_problem,
    no_collection,
    read_lines,
    usable_readings,
)
from comdiv.expression import parse, to_infix
from comdiv.problem import Problem
from comdiv.reading import read, read_text

PENS = reading("Ann has 20 pens . She lost 5 . How many pens has she ?", "N0-N1", name="pens")
CAPS = reading("Bob has 7 caps . He lost 3 . How many caps has he ?", "N0-N1", name="caps", number_words=True)


class Given(ProblemOperation):
    """An operation whose drafts a test says."""

    given: tuple[Draft | Refusal, ...] = ()

    def index(self, current: CurrentSet) -> None:
        """Nothing to look at."""

    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        yield from self.given


def proposed(
    *drafts: Draft | Refusal, known: tuple[str, ...] = (), wanted: int = 9, **changes: object
) -> tuple[list[Problem], Fates]:
    """What a round makes of these drafts."""
    chosen = options(operations=(1,), per_problem=(wanted, 0), **changes)
    operation = Given(chosen)
    operation.given = drafts
    proposals, fates = Proposer([PENS], chosen, 4, frozenset(known), {"1": operation}).propose([0])
    return [proposal.problem for proposal in proposals], fates


def fate(draft: Draft, **changes: object) -> str:
    """What becomes of a single draft."""
    (reason,) = proposed(draft, **changes)[1].counts["1"]  # type: ignore[arg-type]
    return reason


def written(text: str, expression: str = "N0-N1") -> PlainDraft:
    return draft_of([PENS, CAPS], text, parse(expression), note="kept")


def test_a_new_problem_has_everything_and_says_where_it_came_from() -> None:
    (new,), fates = proposed(written("Eve has 9 hats . She lost 4 . How many hats has she ?"))
    assert new.expression is not None
    assert (to_infix(new.expression), new.answer) == ("N0-N1", 5)
    origin = new.provenance
    assert (origin.operation, origin.round, origin.parents) == ("operation 1", 4, ("pens", "caps"))
    assert origin.details == {"note": "kept"}
    assert new.number_words  # as one of its parents
    assert fates.counts == {"1": {"passed": 1}}


@pytest.mark.parametrize(
    ("text", "expression", "changes", "reason"),
    [
        (
            "Eve has 3 hats . She gets 1 and 2 and 4 . How many ?",
            "N0+N1",
            {"most_quantities": 3},
            "too many quantities",
        ),
        (
            "Eve has 3 hats . She gets 1 . How many ?",
            "N0+N1",
            {"most_quantities": 1},
            "passed",
        ),  # no more than a parent
        ("Eve has 3 hats . She gets 1 . How many ?", "N0+N1", {"most_tokens": 8}, "text too long"),
        ("Eve has 3 hats . She lost 3 . How many ?", "N0-N1", {}, "no positive value"),
        ("Eve has 3 hats . She lost 1 . How many ?", "N0-N2", {}, "no positive value"),  # the text has no N2
        ("Eve has 99 hats . She gets 9 . How many ?", "N0^60+N1", {}, "answer too long"),  # 120 digits
    ],
)
def test_sizes_and_values(text: str, expression: str, changes: dict[str, object], reason: str) -> None:
    assert fate(written(text, expression), **changes) == reason


def test_a_text_that_has_other_numbers_than_its_draft_does_not_re_parse() -> None:
    assert PENS.expression is not None
    draft = PlainDraft((PENS,), "Ann has 20 4 pens . She lost 5 ?", PENS.expression, PENS.values, 9, PENS.value)
    assert fate(draft) == "quantities do not re-parse"


def test_a_known_text_does_not_come_again_whatever_its_numbers() -> None:
    text = "Eve has 9 hats . She lost 4 . How many hats has she ?"
    twin = read_text(text.replace("9", "99"), "en")
    assert fate(written(text), known=(twin.mask_hash,)) == "text is there already"
    _, fates = proposed(written(text), written(text.replace("9", "8")))
    assert fates.counts["1"] == {"passed": 1, "text is there already": 1}


def test_nothing_more_is_asked_for_when_enough_drafts_have_passed() -> None:
    texts = [f"Eve has 9 {thing} . She lost 4 . How many has she ?" for thing in ("hats", "caps", "pens")]
    problems, fates = proposed(*map(written, texts), wanted=2)
    assert [problem.text for problem in problems] == texts[:2]
    assert fates.counts["1"].total() == 2


def test_refusals_are_counted_as_often_as_they_stand_for_and_some_are_shown() -> None:
    text = "Eve has 3 hats . She lost 3 . How many ?"
    _, fates = proposed(*[Refusal("too dull", ("a", "b"), 7)] * (EXAMPLES + 5), written(text))
    assert fates.counts["1"] == {"too dull": 7 * (EXAMPLES + 5), "no positive value": 1}
    assert len(fates.refusals) == EXAMPLES + 1
    assert fates.refusals[-1] == ("1", Refusal("no positive value", ("pens", "caps"), 1, text, "N0-N1"))


def test_fates_of_shards_add_up_and_survive_the_way_from_another_process() -> None:
    whole = Fates()
    for number in range(3):
        fates = Fates()
        fates.count("1", "passed", number)
        for _ in range(EXAMPLES - 10):
            fates.count("shuffle", "too dull")
            fates.show("shuffle", Refusal("too dull", ("a",), text=f"{number}"))
        copy = Fates.from_json(json.loads(json.dumps(fates.to_json())))
        assert (copy.counts, copy.refusals) == (fates.counts, fates.refusals)
        whole.add(copy)
    assert whole.counts == {"1": {"passed": 3}, "shuffle": {"too dull": 3 * (EXAMPLES - 10)}}
    assert [refusal.text for _, refusal in whole.refusals] == ["0"] * (EXAMPLES - 10) + ["1"] * 10


def test_an_id_depends_on_operation_round_text_and_parents_alone() -> None:
    draft = written("Eve has 9 hats ?", "N0")
    assert new_problem(draft, "1", 1).id == new_problem(written("Eve has 9 hats ?", "N0"), "1", 1).id
    others = [
        new_problem(draft, "shuffle", 1),
        new_problem(draft, "1", 2),
        new_problem(written("Eve has 8 hats ?", "N0"), "1", 1),
        new_problem(draft_of([CAPS, PENS], "Eve has 9 hats ?", parse("N0")), "1", 1),
    ]
    assert len({new.id for new in (new_problem(draft, "1", 1), *others)}) == 5
    assert others[0].id.startswith("r1-opshuffle-")


def test_problems_whose_expression_does_not_fit_their_text_are_not_used() -> None:
    fitting = problem("a", "Ann has 2 pens ?", "N0")
    bare = Problem("b", "en", "Ann has 2 pens ?")
    beyond = Problem("c", "en", "Ann has 2 pens ?", parse("N0+N3"))
    assert [reading.problem.id for reading in usable_readings([fitting, bare, beyond])] == ["a"]


@pytest.mark.parametrize("sizes", [(36,), (1, 35), (7, 7, 7, 15)])
def test_shards_of_any_size_propose_the_same_problems(sizes: tuple[int, ...]) -> None:
    proposer = index_round(usable_readings(english()), frozenset(), options(checks="paper"), 1)
    whole, fates = proposer.propose(range(36))
    first = 0
    parts = []
    for size in sizes:
        parts += proposer.propose(range(first, first + size))[0]
        first += size
    assert parts == whole
    assert fates.counts["1"]["passed"] + fates.counts["2"]["passed"] == len(whole) > 36


def test_proposals_as_lines_are_the_problems_as_files_have_them() -> None:
    proposer = index_round(usable_readings(english()), frozenset(), options(), 1)
    proposals, fates = proposer.propose(range(9))
    lines, same_fates = read_lines(proposer.propose_lines(range(9)))
    assert [(name, text) for name, text, _ in lines] == [(new.problem.id, new.text_hash) for new in proposals]
    assert [json.loads(line)["text"] for _, _, line in lines] == [new.problem.text for new in proposals]
    assert [read(new.problem).mask_hash for new in proposals] == [text for _, text, _ in lines]
    assert (same_fates.counts, same_fates.refusals) == (fates.counts, fates.refusals)


def test_the_collector_is_as_it_was_afterwards_even_after_an_error() -> None:
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), no_collection():
        1 / 0  # noqa: B018
    assert gc.isenabled()


def test_ids_are_drawn_by_seed_and_stay_in_their_order() -> None:
    ids = [f"p{number}" for number in range(1_000)]
    chosen = draw_ids(ids, 100, 0)
    assert len(chosen) == 100
    assert chosen == [name for name in ids if name in set(chosen)]
    assert chosen == draw_ids(ids, 100, 0) != draw_ids(ids, 100, 1)
    assert set(draw_ids(ids[::-1], 100, 0)) == set(chosen)
    assert draw_ids(ids, None, 0) == draw_ids(ids, 5_000, 0) == ids


def test_a_quota_limits_every_stratum_and_leaves_thin_ones_alone() -> None:
    strata = {f"a{number}": "often" for number in range(9)} | {"b": "rare"}
    chosen = draw_within_quota(strata, 3, seed=1)
    assert len(chosen) == 4
    assert "b" in chosen
    assert chosen == [name for name in strata if name in chosen]
    assert draw_within_quota(strata, 9, seed=1) == list(strata)
