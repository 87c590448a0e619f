"""Intervals against numbers from textbooks and worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.evaluation.intervals import mean_over_seeds, wilson_interval


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
