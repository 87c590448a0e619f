"""Divergence (§III-A): worked out by hand on four-word sentences, and its properties."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.splitting.divergence import ALPHA_PRESETS, Alphas, alphas_named, count_divergence, divergence

counters = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 1000), min_size=1)
alphas = st.floats(0.05, 0.95)


def words(*sentences: str) -> Counter[str]:
    return Counter(word for sentence in sentences for word in sentence.split())


def test_four_word_sentences_by_hand() -> None:
    train = words("the cat eats fish")
    assert divergence(train, words("the cat eats fish"), 0.5) == 0.0
    assert divergence(train, words("a dog drinks milk"), 0.5) == 1.0
    # One of four words is shared: (1/4)^α (1/4)^(1-α) = 1/4 at every α.
    assert divergence(train, words("the dog drinks milk"), 0.1) == pytest.approx(0.75)
    # p = (1/2, 1/2), q = (1/8, 7/8) over "the" and the rest: Σ √(pq) = (√1 + √7) / 4.
    assert divergence(Counter(a=2, b=2), Counter(a=1, b=7), 0.5) == pytest.approx(1 - (1 + 7**0.5) / 4)


def test_alpha_weighs_train() -> None:
    """p = (1, 0), q = (1/4, 3/4): D = 1 - (1/4)^(1-α), whatever only test has."""
    train, test = Counter(a=4), Counter(a=1, b=3)
    assert divergence(train, test, 0.5) == pytest.approx(0.5)
    assert divergence(train, test, 0.1) == pytest.approx(1 - 0.25**0.9)


def test_presets_are_those_of_the_literature() -> None:
    assert ALPHA_PRESETS["paper"] == Alphas(atoms=0.1, compounds=0.5)
    assert alphas_named("keysers2020") == Alphas(atoms=0.5, compounds=0.1)
    with pytest.raises(ComdivError, match="Did you mean 'paper'"):
        alphas_named("papr")


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.5, float("nan")])
def test_alpha_outside_its_range_is_refused(alpha: float) -> None:
    with pytest.raises(ComdivError, match="between 0 and 1"):
        divergence(Counter(a=1), Counter(a=1), alpha)


def test_an_empty_side_is_one_clear_line() -> None:
    with pytest.raises(ComdivError, match="test side is empty"):
        divergence(Counter(a=1), Counter(), 0.5)
    with pytest.raises(ComdivError, match="train side is empty"):
        count_divergence(np.array([0, 0]), np.array([1, 2]), 0.5)
    with pytest.raises(ComdivError, match="negative"):
        count_divergence(np.array([2, -1]), np.array([1, 2]), 0.5)


@given(counters, alphas, st.integers(1, 50))
def test_equal_distributions_have_divergence_exactly_0(counts: dict[str, int], alpha: float, times: int) -> None:
    assert divergence(counts, {key: times * count for key, count in counts.items()}, alpha) == 0.0


@given(counters, counters, alphas)
def test_disjoint_distributions_have_divergence_1(train: dict[str, int], test: dict[str, int], alpha: float) -> None:
    assert divergence(train, {key.upper(): count for key, count in test.items()}, alpha) == 1.0


@given(counters, counters, alphas)
def test_divergence_lies_within_0_and_1(train: dict[str, int], test: dict[str, int], alpha: float) -> None:
    assert 0.0 <= divergence(train, test, alpha) <= 1.0


@given(counters, counters, alphas, st.permutations("abcdefgh"))
def test_divergence_ignores_names(train: dict[str, int], test: dict[str, int], alpha: float, names: list[str]) -> None:
    renamed = dict(zip("abcdefgh", names, strict=True))
    expected = divergence(train, test, alpha)
    again = divergence({renamed[k]: v for k, v in train.items()}, {renamed[k]: v for k, v in test.items()}, alpha)
    assert again == pytest.approx(expected, abs=1e-12)


@given(counters, counters, alphas)
def test_swapping_sides_mirrors_alpha(train: dict[str, int], test: dict[str, int], alpha: float) -> None:
    assert divergence(train, test, alpha) == pytest.approx(divergence(test, train, 1.0 - alpha), abs=1e-9)


@given(counters, counters, alphas)
def test_only_equal_distributions_have_divergence_0(train: dict[str, int], test: dict[str, int], alpha: float) -> None:
    frequency = [{k: v / sum(side.values()) for k, v in side.items()} for side in (train, test)]
    assume(any(abs(frequency[0].get(k, 0) - frequency[1].get(k, 0)) > 1e-3 for k in "abcdefgh"))
    assert divergence(train, test, alpha) > 0.0


@pytest.mark.parametrize("module", ["divergence", "search"])
def test_importing_loads_no_compiler(module: str) -> None:
    code = f"import sys, comdiv.splitting.{module}; sys.exit('numba' in sys.modules or 'sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
