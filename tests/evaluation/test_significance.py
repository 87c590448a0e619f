"""Intervals against numbers from textbooks and worked out by hand."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.evaluation.predictions import Prediction
from comdiv.evaluation.significance import (
    _drawn_times,
    compare_predictions,
    mcnemar,
    mean_over_seeds,
    paired_bootstrap,
    wilson_interval,
)
from comdiv.problem import Problem


def test_wilson_interval_of_eight_in_ten_is_the_textbooks() -> None:
    assert wilson_interval(8, 10) == pytest.approx((0.49016, 0.94331), abs=1e-5)


def test_wilson_interval_of_none_in_ten_begins_at_zero_and_ends_at_z_squared_over_n_plus_z_squared() -> None:
    z_squared = 1.959964**2
    assert wilson_interval(0, 10) == pytest.approx((0, z_squared / (10 + z_squared)), abs=1e-6)


def test_wilson_interval_at_the_papers_size_is_about_two_standard_errors_wide() -> None:
    low, high = wilson_interval(356, 474)  # 75.1 %; the spec: one standard error is about 2 points at n = 474
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.751 * 0.249 / 474), rel=0.01)


def test_of_no_trials_nothing_is_known() -> None:
    assert wilson_interval(0, 0) == (0, 1)


@pytest.mark.parametrize(("successes", "n", "confidence"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 0.0), (1, 2, 95)])
def test_impossible_counts_and_confidences_are_refused(successes: int, n: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"successes|confidence"):
        wilson_interval(successes, n, confidence)


counts = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.floats(0.01, 0.999))
def test_wilson_interval_contains_the_share_and_lies_in_zero_to_one(count: tuple[int, int], confidence: float) -> None:
    successes, n = count
    low, high = wilson_interval(successes, n, confidence)
    assert 0 <= low <= successes / n <= high <= 1
    assert low < high


@given(counts)
def test_wilson_interval_of_failures_is_that_of_successes_mirrored(count: tuple[int, int]) -> None:
    successes, n = count
    low, high = wilson_interval(n - successes, n)
    assert wilson_interval(successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_three_seeds_have_the_t_interval_of_two_degrees_of_freedom() -> None:
    result = mean_over_seeds([0.70, 0.72, 0.74])
    assert result.mean == pytest.approx(0.72)
    assert result.deviation == pytest.approx(0.02)
    half = 4.302653 * 0.02 / math.sqrt(3)  # Student's 97.5 % quantile with two degrees of freedom
    assert result.interval == pytest.approx((0.72 - half, 0.72 + half), abs=1e-7)
    assert result.to_json()["seeds"] == 3


def test_a_single_seed_has_a_mean_and_no_interval() -> None:
    assert mean_over_seeds([0.7]).to_json() == {"mean": 0.7, "deviation": None, "interval": None, "seeds": 1}


def test_a_mean_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        mean_over_seeds([])


# Paired tests against tables worked out by hand.


PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


def sides(both: int, only_a: int, only_b: int, neither: int) -> tuple[list[bool], list[bool]]:
    a = [True] * both + [True] * only_a + [False] * only_b + [False] * neither
    b = [True] * both + [False] * only_a + [True] * only_b + [False] * neither
    return a, b


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 2 / 32),  # five heads in five tosses, either way round
        (0, 5, 2 / 32),
        (1, 5, 2 * (1 + 6) / 64),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
        (3, 3, 1.0),
    ],
)
def test_mcnemar_is_the_exact_binomial_test_of_the_differing_problems(only_a: int, only_b: int, p: float) -> None:
    result = mcnemar(*sides(7, only_a, only_b, 4))
    assert (result.both, result.only_a, result.only_b, result.neither) == (7, only_a, only_b, 4)
    assert result.p == pytest.approx(p)


def test_mcnemar_of_thousands_of_differing_problems_is_a_number() -> None:
    p = mcnemar(*sides(0, 2100, 1900, 0)).p
    z = (200 - 1) / math.sqrt(4000)  # the normal approximation, with continuity correction
    assert p == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.01)


def test_the_bootstrap_of_one_sided_differences_is_a_binomial_worked_out_by_hand() -> None:
    # Ten problems, A alone right on five: the difference of a draw is Binomial(10, 1/2) / 10.
    difference, interval, p = paired_bootstrap(*sides(0, 5, 0, 5), resamples=20_000)
    assert difference == 0.5
    assert interval == (0.2, 0.8)  # P(X ≤ 1) = 0.011 < 0.025 < P(X ≤ 2) = 0.055
    assert p == pytest.approx(2 / 1024, abs=0.0012)  # twice the probability that a draw has none of the five


def test_equal_predictions_have_no_difference_and_p_one() -> None:
    assert paired_bootstrap(*sides(3, 0, 0, 2), resamples=500) == (0, (0, 0), 1)


def test_a_bootstrap_p_is_never_zero() -> None:
    assert paired_bootstrap(*sides(0, 50, 0, 0), resamples=999)[2] == pytest.approx(2 / 1000)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    pair = sides(40, 13, 8, 40)
    assert paired_bootstrap(*pair, seed=1) == paired_bootstrap(*pair, seed=1)
    assert paired_bootstrap(*pair, seed=1)[2] != paired_bootstrap(*pair, seed=2)[2]


def test_the_interval_agrees_with_the_normal_one_of_a_large_sample() -> None:
    difference, (low, high), p = paired_bootstrap(*sides(600, 150, 110, 140))
    error = math.sqrt((260 / 1000 - difference**2) / 1000)
    assert difference == pytest.approx(0.04)
    assert (low, high) == pytest.approx((0.04 - 1.96 * error, 0.04 + 1.96 * error), abs=0.002)
    assert p == pytest.approx(math.erfc(0.04 / error / math.sqrt(2)), abs=0.005)


def test_many_problems_are_drawn_in_pieces_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = sides(4, 3, 2, 1)
    whole = paired_bootstrap(*pair, resamples=101)
    monkeypatch.setattr("comdiv.evaluation.significance._CELLS", 70)
    _drawn_times.cache_clear()
    assert paired_bootstrap(*pair, resamples=101) == whole
    monkeypatch.setattr("comdiv.evaluation.significance._KEPT", 0)  # too many to keep: each comparison draws anew
    assert paired_bootstrap(*pair, resamples=101) == whole


def test_draws_that_are_kept_are_those_of_their_seed_and_size() -> None:
    pairs = [sides(4, 3, 2, 1), sides(1, 3, 2, 4), sides(40, 3, 20, 1)]
    numbers = [paired_bootstrap(*pair, seed, 101) for pair in pairs for seed in (0, 1)]
    _drawn_times.cache_clear()
    assert [paired_bootstrap(*pair, seed, 101) for pair in pairs for seed in (0, 1)] == numbers
    assert len(set(numbers)) == len(numbers)


@given(PAIRS, st.integers(0, 5))
def test_exchanging_a_and_b_changes_the_sign_and_nothing_else(pairs: list[tuple[bool, bool]], seed: int) -> None:
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    difference, (low, high), p = paired_bootstrap(a, b, seed, 200)
    mirrored, (mirrored_low, mirrored_high), mirrored_p = paired_bootstrap(b, a, seed, 200)
    assert mirrored == -difference
    assert (-mirrored_high, -mirrored_low) == pytest.approx((low, high))
    assert mirrored_p == p
    assert mcnemar(a, b).p == mcnemar(b, a).p


@given(PAIRS)
def test_intervals_and_ps_stay_in_their_ranges(pairs: list[tuple[bool, bool]]) -> None:
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    _, (low, high), p = paired_bootstrap(a, b, resamples=100)
    assert -1 <= low <= high <= 1
    assert 0 < p <= 1
    assert 0 < mcnemar(a, b).p <= 1


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ComdivError, match="at least one"):
        paired_bootstrap([True], [False], resamples=0)


def test_predictions_are_compared_on_all_problems_missing_ones_as_wrong() -> None:
    problems = [Problem(str(n), "en", f"{n} apples?", None, Fraction(n)) for n in range(4)]
    a = [Prediction(str(n), answer=Fraction(n)) for n in range(3)]  # 0, 1, 2 right, 3 missing
    b = [Prediction("0", answer=Fraction(0)), Prediction("1", answer=Fraction(9))]  # 0 right
    comparison = compare_predictions(problems, a, b, resamples=100)
    record = comparison.to_json()
    assert (record["n"], record["a"]["accuracy"], record["b"]["accuracy"]) == (4, 0.75, 0.25)
    assert record["difference"] == 0.5
    assert record["mcnemar"] == {"both": 1, "only_a": 2, "only_b": 0, "neither": 1, "p": 0.5}
    assert (record["seed"], record["resamples"]) == (0, 100)
