"""What the ranker keeps: an exact share, ties by id, jointly or within strata."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augmentation.small import problem
from comdiv.augmentation.rounds import best_ids, confidence, stratum
from comdiv.problem import Problem, Provenance
from comdiv.solver import Score, Solution


def candidate(name: str, expression: str = "N0+N1", operation: str = "operation 1") -> Problem:
    return problem(name, "A 6 and 3 , 2 ?", expression, provenance=Provenance(operation=operation))


TEN = [candidate(f"c{number}") for number in range(10)]


@pytest.mark.parametrize(("share", "kept"), [(0.2, 2), (0.29, 2), (0.3, 3), (0.05, 1), (1.0, 10)])
def test_the_share_is_exact_and_at_least_one(share: float, kept: int) -> None:
    scores = [-float(number) for number in range(10)]
    assert best_ids(TEN, scores, share, "joint") == [f"c{number}" for number in range(kept)]


def test_nothing_of_nothing_is_kept() -> None:
    assert best_ids([], [], 0.2, "joint") == best_ids([], [], 0.2, "stratum") == []


def test_ties_are_broken_by_id_and_what_cannot_be_spelled_comes_last() -> None:
    problems = [candidate(name) for name in ("d", "b", "a", "c")]
    assert best_ids(problems, [-1.0, -1.0, -math.inf, -1.0], 0.75, "joint") == ["b", "c", "d"]
    assert best_ids(problems, [-1.0, math.nan, -5.0, -2.0], 0.75, "joint") == ["d", "c", "a"]


def test_strata_keep_their_share_each_where_one_ranking_would_keep_one_kind_only() -> None:
    easy = [candidate(f"easy{number}", "N0+N1", "operation 2") for number in range(10)]
    hard = [candidate(f"hard{number}", "N0+N1-N2") for number in range(10)]
    scores = [-0.1] * 10 + [-9.0] * 10
    joint = best_ids([*easy, *hard], scores, 0.5, "joint")
    assert all(name.startswith("easy") for name in joint)
    strata = Counter(name[:4] for name in best_ids([*easy, *hard], scores, 0.5, "stratum"))
    assert strata == {"easy": 5, "hard": 5}


@given(st.lists(st.tuples(st.sampled_from(["N0+N1", "N0-N1", "N0*N1"]), st.integers(-5, 0)), min_size=1, max_size=40),
       st.sampled_from([0.1, 0.2, 0.5, 0.9]))  # fmt: skip
def test_strata_together_keep_exactly_the_share(rows: list[tuple[str, int]], share: float) -> None:
    problems = [candidate(f"c{number:02}", expression) for number, (expression, _) in enumerate(rows)]
    kept = best_ids(problems, [float(score) for _, score in rows], share, "stratum")
    exact = Fraction(share).limit_denominator(100)
    assert len(kept) == max(1, math.floor(exact * len(rows)))
    sizes, chosen = Counter(map(stratum, problems)), Counter(stratum(p) for p in problems if p.id in set(kept))
    assert all(abs(chosen[name] - exact * size) < 1 or len(kept) == 1 for name, size in sizes.items())


class Known:
    """A solver that knows what it is asked."""

    def solve(self, problems: list[Problem], *, beam: int = 1) -> list[Solution]:
        return [Solution(None, None, -float(number)) for number, _ in enumerate(problems)]

    def score(self, problems: list[Problem]) -> list[Score]:
        return [Score(-6.0, 3) for _ in problems]


def test_prediction_is_the_product_over_tokens_and_given_the_mean() -> None:
    assert confidence(Known(), TEN[:3], "prediction") == [0.0, -1.0, -2.0]  # type: ignore[arg-type]
    assert confidence(Known(), TEN[:2], "given") == [-2.0, -2.0]  # type: ignore[arg-type]
