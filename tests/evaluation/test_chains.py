"""Compositional pairs: what the parts promise, what was observed, worked out by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.evaluation import Prediction, evaluate_predictions
from comdiv.evaluation.chains import Chain, ChainResult, evaluate_chains, read_chains, write_chains
from comdiv.problem import Problem


def evaluate_pairs(chains: list[Chain], right: dict[str, bool], **options: int) -> ChainResult:
    (result,) = evaluate_chains(chains, right, **options)
    return result


FOUR = [Chain((f"a{number}", f"b{number}"), f"c{number}") for number in range(4)]


def right(*rows: str) -> dict[str, bool]:
    """`+` is right: a row for each of first, second and composed, a sign for each triple."""
    return {
        f"{name}{place}": sign == "+" for name, row in zip("abc", rows, strict=True) for place, sign in enumerate(row)
    }


def test_the_parts_promise_their_product() -> None:
    result = evaluate_pairs(FOUR, right("+++-", "++-+", "+---"))
    assert (result.parts[0].accuracy, result.parts[1].accuracy) == (0.75, 0.75)
    assert result.expected == 0.5625
    assert result.composed.accuracy == 0.25
    assert result.difference == 0.25 - 0.5625
    assert (result.all_parts.correct, result.all_parts.n) == (2, 4)
    assert (result.after_all.correct, result.after_all.n) == (1, 2)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_intervals_lie_in_their_ranges_and_about_the_values(rows: list[tuple[bool, bool, bool]]) -> None:
    triples = [Chain((f"a{place}", f"b{place}"), f"c{place}") for place in range(len(rows))]
    marks = {f"{name}{place}": row[column] for place, row in enumerate(rows) for column, name in enumerate("abc")}
    result = evaluate_pairs(triples, marks, resamples=500)
    low, high = result.expected_interval
    assert 0 <= low <= high <= 1
    low, high = result.difference_interval
    assert -1 <= low <= high <= 1
    assert result.difference == pytest.approx((result.composed.accuracy or 0) - result.expected)
    assert result.after_all.n == result.all_parts.correct


def test_a_solver_that_composes_as_it_solves_is_within_the_interval_and_one_that_does_not_is_below() -> None:
    many = [Chain((f"a{n}", f"b{n}"), f"c{n}") for n in range(400)]
    first, second = (
        {t.parts[0]: n % 2 == 0 for n, t in enumerate(many)},
        {t.parts[1]: n % 4 < 2 for n, t in enumerate(many)},
    )
    composing = {t.composed: first[t.parts[0]] and second[t.parts[1]] for t in many}
    low, high = evaluate_pairs(many, {**first, **second, **composing}).difference_interval
    assert low <= 0 <= high
    failing = dict.fromkeys(composing, False)
    assert evaluate_pairs(many, {**first, **second, **failing}).difference_interval[1] < 0


def test_the_same_seed_gives_the_same_interval() -> None:
    marks = right("+++-", "++-+", "+---")
    assert evaluate_pairs(FOUR, marks, seed=3) == evaluate_pairs(FOUR, marks, seed=3)


def test_triples_are_written_and_read_back(tmp_path: Path) -> None:
    assert write_chains(tmp_path / "pairs.jsonl", FOUR) == 4
    assert read_chains(tmp_path / "pairs.jsonl") == tuple(FOUR)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"id": "c", "first": "a"}', "line 1: a chain needs the ids of two or more 'parts'"),
        ("[1]", "line 1: a chain needs the ids"),
        ('{"id": "c", "first": "a", "second": "a"}', "line 1: the problem 'a' is already in a chain of that length"),
        (
            '{"id":"c","first":"a","second":"b"}\n{"id":"d","first":"e","second":"b"}',
            "line 2: the problem 'b' is already in a chain",
        ),
    ],
)
def test_what_is_no_pair_is_one_line_with_its_place(lines: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(lines)
    with pytest.raises(ComdivError) as error:
        read_chains(tmp_path / "pairs.jsonl")
    assert message in str(error.value)


def test_pairs_of_other_problems_are_refused_by_name() -> None:
    with pytest.raises(ComdivError, match=r"no test problem has the id 'a0' of a chain \(12 such ids\)"):
        evaluate_pairs(FOUR, {})
    with pytest.raises(ComdivError, match="there are no composed problems"):
        evaluate_pairs([], {})


def test_an_evaluation_has_its_pairs() -> None:
    problems = [Problem.from_json({"id": name, "language": "en", "text": "?", "answer": 1}) for name in "abc"]
    predictions = [
        Prediction.from_json({"id": name, "answer": answer}) for name, answer in zip("abc", "112", strict=True)
    ]
    evaluation = evaluate_predictions(problems, predictions, chains=[Chain(("a", "b"), "c")])
    assert [result.difference for result in evaluation.chains] == [-1]
    assert evaluation.to_json()["chains"][0]["expected"] == 1
    assert "chains" not in evaluate_predictions(problems, predictions).to_json()


def test_longer_chains_promise_the_product_of_all_parts_and_distractors_the_first() -> None:
    chains = [Chain((f"a{n}", f"b{n}", f"d{n}"), f"c{n}") for n in range(4)]
    chains += [Chain((f"a{n}", "x", "y"), f"e{n}", "distractor") for n in range(4)]
    marks = {**right("+++-", "++++", "+---"), **{f"d{n}": n < 2 for n in range(4)}, **{f"e{n}": True for n in range(4)}}
    longer, distracted = evaluate_chains(chains, marks)
    assert longer.expected == 0.75 * 1 * 0.5
    assert (longer.length, longer.after_all.n) == (3, 2)
    assert (distracted.expected, distracted.difference) == (0.75, 0.25)
