"""Splits, seeds and problems told apart, on tables that can be worked out by hand."""

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comdiv.evaluation.variance import nested_mean


def test_the_mean_counts_every_split_alike() -> None:
    found = nested_mean([[[1, 1, 1, 1]], [[0, 0]]], resamples=10)
    assert (found.mean, found.splits, found.seeds) == (0.5, 2, 1)


def test_with_two_splits_of_one_mind_each_the_interval_reaches_from_one_to_the_other() -> None:
    """One split is drawn of two: every draw is 0 or 1."""
    assert nested_mean([[[1, 1]], [[0, 0]]]).interval == (0, 1)


def test_what_all_have_in_common_is_certain() -> None:
    found = nested_mean([[[1, 1], [1, 1]], [[1, 1], [1, 1]], [[1, 1], [1, 1]]])
    assert (found.interval, found.from_problems, found.from_seeds, found.from_splits) == ((1, 1), 0, 0, 0)
    assert found.excludes_zero


def test_three_splits_that_disagree_about_the_sign_decide_nothing() -> None:
    """Two of three are drawn: one time in nine the split that lost is drawn twice."""
    gain, loss = [[1.0] * 4] * 3, [[-1.0] * 4] * 3
    found = nested_mean([gain, gain, loss])
    assert found.mean == pytest.approx(1 / 3)
    assert found.interval == (-1, 1)
    assert not found.excludes_zero


def test_deviations_are_those_of_the_textbook() -> None:
    """Two seeds on the same four problems: 3 and 1 of 4 right."""
    found = nested_mean([[[1, 1, 1, 0], [1, 0, 0, 0]]])
    # By problem 1, ½, ½, 0: variance 1/6, of a mean of four 1/24. By seed ¾ and ¼: variance 1/8.
    assert found.from_problems == pytest.approx(sqrt(1 / 24))
    assert found.from_seeds == pytest.approx(sqrt(1 / 8))
    assert found.from_splits is None


def test_splits_vary_beyond_what_problems_and_seeds_explain() -> None:
    """Means ¾ and ¼, variance 1/8; problems explain 1/16 of it (variance ¼ of one problem, four of them)."""
    found = nested_mean([[[1, 1, 1, 0]], [[1, 0, 0, 0]]])
    assert found.from_seeds is None
    assert found.from_splits == pytest.approx(sqrt(1 / 8 - 1 / 16))


def test_the_same_seed_gives_the_same_interval() -> None:
    tables = [[[1, 0, 1], [0, 0, 1]], [[1, 1, 0], [0, 1, 0]]]
    assert nested_mean(tables, seed=3) == nested_mean(tables, seed=3)


@pytest.mark.parametrize("splits", [[], [[]], [[[]]], [[[1, 0], [1]]]])
def test_what_is_no_table_is_refused(splits: list[list[list[int]]]) -> None:
    with pytest.raises(ValueError, match=r"problem|shape|sequence"):
        nested_mean(splits)


def test_without_draws_there_is_no_interval() -> None:
    with pytest.raises(ValueError, match="resamples"):
        nested_mean([[[1]]], resamples=0)


tables = st.integers(1, 3).flatmap(
    lambda seeds: st.integers(1, 5).flatmap(
        lambda problems: st.lists(
            st.lists(st.sampled_from([-1, 0, 1]), min_size=problems, max_size=problems), min_size=seeds, max_size=seeds
        )
    )
)


@settings(deadline=None)
@given(st.lists(tables, min_size=1, max_size=4))
def test_the_interval_lies_within_the_values_and_turns_with_their_sign(splits: list[list[list[int]]]) -> None:
    found = nested_mean(splits, resamples=200)
    values = [value for table in splits for row in table for value in row]
    assert min(values) - 1e-9 <= found.interval[0] <= found.interval[1] <= max(values) + 1e-9
    turned = nested_mean([[[-value for value in row] for row in table] for table in splits], resamples=200)
    assert turned.mean == pytest.approx(-found.mean)
    assert turned.interval == pytest.approx((-found.interval[1], -found.interval[0]))
    assert (turned.from_problems, turned.from_splits) == pytest.approx((found.from_problems, found.from_splits))
