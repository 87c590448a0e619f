"""Annealing: what it returns is legal, exact, deterministic, and as good as trying everything."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.splitting import anneal_loop
from comdiv.splitting.anneal import AnnealSettings, _blocks, anneal
from comdiv.splitting.anneal_loop import call, divergence_of, length_off, recompute, run_slice
from comdiv.splitting.anneal_state import TEST, Goal, Walk, make_level, start_walk
from comdiv.splitting.divergence import ALPHA_PRESETS, PAPER, Alphas
from comdiv.splitting.encoding import Encoded, Mask, encode
from comdiv.splitting.sides import SearchSpace, atom_divergence, compound_divergence, length_ratio, random_split

# (atoms, compounds, length, twin group): few letters, so that they recur.
Toy = tuple[str, str, int, int]
toys = st.tuples(
    st.text("abc", min_size=1, max_size=3),
    st.text("uvwxyz", min_size=1, max_size=3),
    st.integers(1, 9),
    st.integers(0, 9),
)
corpora = st.lists(toys, min_size=6, max_size=24)
presets = st.sampled_from(list(ALPHA_PRESETS.values()))


def encode_toys(corpus: Sequence[Toy], *, twins: bool = True) -> Encoded:
    return encode(
        list(enumerate(corpus)),
        lambda pair: pair[1][0],
        lambda pair: pair[1][1],
        length_of=lambda pair: pair[1][2],
        group_of=lambda pair: pair[1][3] if twins else pair[0],
    )


def random_corpus(count: int, seed: int = 0) -> list[Toy]:
    """Four atoms and sixteen compounds that go with them, in uneven shares."""
    generator = np.random.default_rng(seed)
    letters = ["abcd"[i] for i in generator.choice(4, size=2 * count, p=[0.4, 0.3, 0.2, 0.1])]
    pairs = ["".join(letters[2 * i : 2 * i + 2]) for i in range(count)]
    names = {pair: "ABCDEFGHIJKLMNOP"[n] for n, pair in enumerate(a + b for a in "abcd" for b in "abcd")}
    marks = generator.integers(4, size=count)
    return [
        (
            pair,
            names[pair] + "wxyz"[mark],
            int(generator.integers(5, 15)),
            int(generator.integers(10 * count)),
        )
        for pair, mark in zip(pairs, marks, strict=True)
    ]


def anneal_toys(
    encoded: Encoded,
    size: int,
    *,
    alphas: Alphas = PAPER,
    bound: float | None = None,
    target: float | None = None,
    seed: int = 0,
    weight: float = 0.5,
    steps: int = 150,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Mask, int]:
    space = SearchSpace.of([encoded], alphas, bound)
    return anneal(space, size, AnnealSettings(weight, target, steps, seed), progress)


def walk_from(encoded: Encoded, test_mask: Mask, alphas: Alphas, seed: int, bound: float) -> Walk:
    goal = Goal(-1.0, np.array([bound]), 10.0, 0.5)
    level = make_level(SearchSpace.of([encoded], alphas, bound), encoded.groups)
    walk = start_walk(level, test_mask, goal, seed)
    recompute(walk.compounds)
    recompute(walk.atoms)
    return walk


@given(corpora, presets, st.integers(0, 2**32), st.floats(0.001, 1.0))
@settings(deadline=None)
def test_incremental_sums_equal_recomputation(corpus: list[Toy], alphas: Alphas, seed: int, temperature: float) -> None:
    encoded = encode_toys(corpus)
    try:
        start = random_split(encoded, len(corpus) // 3, seed)
    except ComdivError:
        return
    walk = walk_from(encoded, start, alphas, seed, 0.05)
    run_slice(walk, temperature, 500, False)
    test_mask = (walk.units.side == TEST)[encoded.groups]
    assert test_mask.sum() == start.sum()
    exact = compound_divergence(encoded, test_mask, alphas), atom_divergence(encoded, test_mask, alphas)
    assert divergence_of(walk.compounds, 0, 0.0) == pytest.approx(exact[0], abs=1e-9)
    assert divergence_of(walk.atoms, 0, 1.0) == pytest.approx(exact[1], abs=1e-9)
    assert length_off(walk.units, 0.0) == pytest.approx(abs(np.log(length_ratio(encoded, test_mask))), abs=1e-9)
    assert recompute(walk.compounds) < 1e-9
    train_first = walk.units.side[walk.units.order]
    assert np.all(np.diff(train_first) >= 0)
    assert np.array_equal(walk.units.order[walk.units.place], np.arange(len(walk.units.side)))


def test_drift_stays_small_over_many_steps() -> None:
    encoded = encode_toys(random_corpus(400))
    walk = walk_from(encoded, random_split(encoded, 80), PAPER, 1, 2.0)
    exchanges = run_slice(walk, 0.5, 200_000, False)
    assert exchanges > 10_000
    assert recompute(walk.compounds) < 1e-9
    assert recompute(walk.atoms) < 1e-9


@given(corpora, presets, st.integers(0, 100), st.sampled_from([None, 0.3, 0.05, 0.0]))
@settings(deadline=None, max_examples=40)
def test_what_is_returned_keeps_size_groups_and_bound(
    corpus: list[Toy], alphas: Alphas, seed: int, bound: float | None
) -> None:
    encoded = encode_toys(corpus)
    try:
        start = random_split(encoded, len(corpus) // 3, seed)
    except ComdivError:
        return
    message = None
    try:
        test_mask, _ = anneal_toys(encoded, len(corpus) // 3, alphas=alphas, bound=bound, steps=20, seed=seed)
    except ComdivError as error:
        message = str(error)
    if message is not None:
        assert bound is not None
        assert f"at most {bound:g}: the lowest reached is" in message
        return
    assert test_mask.sum() == start.sum()
    for group in range(len(encoded.group_sizes)):
        assert len(set(test_mask[encoded.groups == group])) == 1
    if bound is not None:
        assert atom_divergence(encoded, test_mask, alphas) <= bound


@pytest.mark.parametrize("corpus_seed", range(6))
def test_ten_items_are_split_as_well_as_by_trying_all(corpus_seed: int) -> None:
    encoded = encode_toys(random_corpus(10, corpus_seed), twins=False)
    best = 0.0
    for chosen in itertools.combinations(range(10), 3):
        best = max(best, compound_divergence(encoded, np.isin(np.arange(10), chosen), PAPER))
    found = max(
        compound_divergence(encoded, anneal_toys(encoded, 3, seed=seed, weight=0.0)[0], PAPER) for seed in range(5)
    )
    assert found == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("corpus_seed", range(4))
def test_ten_items_within_a_bound_are_split_as_well_as_by_trying_all(corpus_seed: int) -> None:
    encoded = encode_toys(random_corpus(10, corpus_seed), twins=False)
    masks = [np.isin(np.arange(10), chosen) for chosen in itertools.combinations(range(10), 4)]
    bound = float(np.median([atom_divergence(encoded, mask, PAPER) for mask in masks]))
    legal = [mask for mask in masks if atom_divergence(encoded, mask, PAPER) <= bound]
    best = max(compound_divergence(encoded, mask, PAPER) for mask in legal)
    found = max(
        compound_divergence(encoded, anneal_toys(encoded, 4, seed=seed, weight=0.0, bound=bound)[0], PAPER)
        for seed in range(5)
    )
    assert found == pytest.approx(best, abs=1e-9)


def test_equal_seeds_give_equal_splits_and_others_differ() -> None:
    encoded = encode_toys(random_corpus(300))
    first, again, other = (anneal_toys(encoded, 60, bound=0.02, seed=seed)[0] for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_divergence_is_high_and_lengths_and_atoms_are_held() -> None:
    corpus = [(*toy[:3], position) for position, toy in enumerate(random_corpus(1500))]
    twins = [corpus[i] for i in np.random.default_rng(1).integers(1500, size=500)]
    encoded = encode_toys(corpus + twins)
    test_mask, _ = anneal_toys(encoded, 400, bound=0.01)
    by_chance = compound_divergence(encoded, random_split(encoded, 400), PAPER)
    assert compound_divergence(encoded, test_mask, PAPER) > by_chance + 0.2
    assert atom_divergence(encoded, test_mask, PAPER) <= 0.01
    assert length_ratio(encoded, test_mask) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("target", [0.1, 0.2, 0.3])
def test_a_target_is_met_within_its_tolerance(target: float) -> None:
    encoded = encode_toys(random_corpus(1000))
    test_mask, _ = anneal_toys(encoded, 200, bound=0.01, target=target)
    assert compound_divergence(encoded, test_mask, PAPER) == pytest.approx(target, abs=0.005)
    assert atom_divergence(encoded, test_mask, PAPER) <= 0.01
    assert length_ratio(encoded, test_mask) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("target", [0.0, 0.999])
def test_a_target_out_of_reach_names_the_range(target: float) -> None:
    encoded = encode_toys(random_corpus(300))
    with pytest.raises(ComdivError, match=r"targets from 0\.\d+ \(a random split\) to 0\.\d+ are within reach"):
        anneal_toys(encoded, 60, bound=0.01, target=target)


def test_a_bound_out_of_reach_says_what_was_reached() -> None:
    """Seven atoms for every side of three items: no two distributions can be equal."""
    corpus = [(letter, letter, 1, number) for number, letter in enumerate("abcdefg")]
    with pytest.raises(ComdivError, match=r"at most 0\.01: the lowest reached is 1"):
        anneal_toys(encode_toys(corpus), 3, bound=0.01)


def test_progress_runs_up_to_its_total() -> None:
    encoded = encode_toys(random_corpus(100))
    for target in (None, 0.3):
        reports: list[tuple[int, int]] = []
        _, steps = anneal_toys(
            encoded,
            20,
            target=target,
            progress=lambda done, total, r=reports: r.append((done, total)),  # type: ignore[misc]
        )
        assert reports == sorted(reports)
        assert reports[-1] == (15_000, 15_000)
        assert 0 < steps <= 15_000


def test_an_interruption_between_slices_gets_through() -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        anneal_toys(encode_toys(random_corpus(50)), 10, progress=interrupt)


def test_without_a_place_for_the_cache_the_loop_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_locator(**options: bool) -> Callable[[Callable[[], int]], Callable[[], int]]:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(anneal_loop.numba, "njit", without_locator)
    assert anneal_loop.compiled(lambda: 3)() == 3


def test_a_block_is_led_by_the_most_frequent_compound() -> None:
    """`u` occurs three times, `v` twice, `w` and `x` once: they lead in that order."""
    corpus = [
        ("a", "u", 1, 0),
        ("a", "uv", 1, 1),
        ("a", "v", 1, 2),
        ("a", "uw", 1, 3),
        ("a", "x", 1, 4),
        ("a", "", 1, 5),
    ]
    blocks = _blocks(encode_toys(corpus))
    assert blocks[0] == blocks[1] == blocks[3]
    assert len({*blocks[[0, 2, 4, 5]]}) == 4


def test_a_cache_that_another_process_is_writing_costs_a_second_call_and_no_more() -> None:
    faults = [RuntimeError("no compiled object yet for <Library 'run_slice'>")]

    def first_compiled_now(value: int) -> int:
        if faults:
            raise faults.pop()
        return value + 1

    assert call(first_compiled_now, 1) == 2

    def broken(value: int) -> int:
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match="something else"):
        call(broken, 1)
