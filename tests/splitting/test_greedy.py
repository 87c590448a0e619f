"""The published swap search: its constraint, its rises, and its equality with the procedure that rescans."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.splitting.divergence import ALPHA_PRESETS, PAPER, Alphas, count_divergence
from comdiv.splitting.encoding import Encoded, encode
from comdiv.splitting.greedy import _Sums, greedy
from comdiv.splitting.sides import SearchSpace, atom_divergence, compound_divergence, random_split

# (atoms, compounds, twin group): few letters, so that they recur.
Toy = tuple[str, str, int]
toys = st.tuples(st.text("abc", min_size=1, max_size=3), st.text("uvwxyz", min_size=1, max_size=3), st.integers(0, 9))
corpora = st.lists(toys, min_size=6, max_size=24)


def encode_toys(corpus: Sequence[Toy], *, twins: bool = True) -> Encoded:
    return encode(
        list(enumerate(corpus)),
        lambda pair: pair[1][0],
        lambda pair: pair[1][1],
        group_of=lambda pair: pair[1][2] if twins else pair[0],
    )


def load_benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "splitting.py"
    spec = importlib.util.spec_from_file_location("benchmark_splitting", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(3))
def test_swaps_are_those_of_the_published_procedure(seed: int) -> None:
    benchmark = load_benchmark()
    items = benchmark.synthetic_items(300, seed=seed, clusters=4, shapes=40)
    encoded = benchmark.encode_items(items)
    start = random_split(encoded, 60, seed)
    rescanned, _, finished = benchmark.rescanning_swaps(items, start, PAPER, target=2.0, cap=60.0)
    swapped, swaps = greedy(SearchSpace.of([encoded], PAPER, None), 60, seed=seed)
    assert finished
    assert swaps > 10
    assert np.array_equal(rescanned, swapped)


@given(corpora, st.integers(0, 5), st.sampled_from(list(ALPHA_PRESETS.values())))
@settings(deadline=None)
def test_what_is_returned_keeps_size_groups_and_atoms(corpus: list[Toy], seed: int, alphas: Alphas) -> None:
    encoded = encode_toys(corpus)
    try:
        start = random_split(encoded, len(corpus) // 3, seed)
        test_mask, _ = greedy(SearchSpace.of([encoded], alphas, None), len(corpus) // 3, seed=seed)
    except ComdivError:
        return  # too few groups, or an atom that only one side can have
    assert test_mask.sum() == start.sum()
    for group in range(len(encoded.group_sizes)):
        assert len(set(test_mask[encoded.groups == group])) == 1
    in_train, in_test = encoded.atoms.totals(~test_mask), encoded.atoms.totals(test_mask)
    assert np.all(in_train[in_test > 0] > 0)


@given(corpora, st.integers(0, 5))
@settings(deadline=None)
def test_swaps_never_lower_the_compound_divergence(corpus: list[Toy], seed: int) -> None:
    encoded = encode_toys([("a", compounds, group) for _, compounds, group in corpus])  # one atom: nothing to balance
    try:
        start = random_split(encoded, len(corpus) // 3, seed)
    except ComdivError:
        return
    test_mask, swaps = greedy(SearchSpace.of([encoded], PAPER, None), len(corpus) // 3, seed=seed)
    before, after = (compound_divergence(encoded, mask, PAPER) for mask in (start, test_mask))
    assert after > before if swaps else after == before


@given(corpora, st.lists(st.tuples(st.integers(0, 23), st.sampled_from([1, -1])), max_size=30), st.floats(0.1, 0.9))
@settings(deadline=None)
def test_incremental_sums_equal_recomputation(corpus: list[Toy], moves: list[tuple[int, int]], alpha: float) -> None:
    compounds = encode_toys(corpus, twins=False).compounds
    in_test = np.arange(len(corpus)) < 2
    sums = _Sums(compounds, in_test, alpha)
    for unit, sign in moves:
        if unit < len(corpus) and in_test[unit] == (sign == -1) and sum(in_test != (sign == 1)) > 1:
            expected = sums.divergence(unit, sign)
            sums.move(unit, sign)
            in_test[unit] = sign == 1
            exact = count_divergence(compounds.totals(~in_test), compounds.totals(in_test), alpha)
            assert sums.divergence() == pytest.approx(exact, abs=1e-9)
            assert expected == pytest.approx(exact, abs=1e-9)


def test_atoms_that_chance_put_into_test_only_are_brought_into_train() -> None:
    """Seeds differ in what they draw; no split may have an atom in test that train lacks."""
    corpus = [("ab", "u", 0), ("ab", "v", 1), ("ac", "w", 2), ("ac", "x", 3), ("a", "y", 4), ("a", "z", 5)]
    for seed in range(20):
        test_mask, _ = greedy(SearchSpace.of([encode_toys(corpus)], PAPER, None), 2, seed=seed)
        test_atoms = {atom for toy, in_test in zip(corpus, test_mask, strict=True) if in_test for atom in toy[0]}
        train_atoms = {atom for toy, in_test in zip(corpus, test_mask, strict=True) if not in_test for atom in toy[0]}
        assert test_atoms <= train_atoms


def test_atoms_that_cannot_be_balanced_are_one_clear_line() -> None:
    corpus = [("a", "u", 0), ("b", "v", 1), ("c", "w", 2)]
    with pytest.raises(ComdivError, match="1 atoms occur in test only"):
        greedy(SearchSpace.of([encode_toys(corpus)], PAPER, None), 1)


def test_a_bound_holds_or_is_an_error_that_says_what_was_reached() -> None:
    benchmark = load_benchmark()
    encoded = benchmark.encode_items(benchmark.synthetic_items(400, clusters=6, shapes=60))
    for bound in (0.02, 0.005):
        test_mask, _ = greedy(SearchSpace.of([encoded], PAPER, bound), 80)
        assert atom_divergence(encoded, test_mask, PAPER) <= bound
    with pytest.raises(ComdivError, match=r"at most 0: the lowest reached is \d"):
        greedy(SearchSpace.of([encoded], PAPER, 0.0), 80)


def test_a_target_ends_the_search_once_it_is_passed() -> None:
    benchmark = load_benchmark()
    encoded = benchmark.encode_items(benchmark.synthetic_items(2000, clusters=6, shapes=200))
    reports: list[tuple[int, int]] = []
    space = SearchSpace.of([encoded], PAPER, None)
    test_mask, swaps = greedy(space, 400, target=0.5, progress=lambda done, total: reports.append((done, total)))
    assert compound_divergence(encoded, test_mask, PAPER) == pytest.approx(0.5, abs=0.005)
    assert reports[-1] == (swaps, swaps)
    with pytest.raises(ComdivError, match=r"compound divergence 0\.99 .* are within reach"):
        greedy(space, 400, target=0.99)
