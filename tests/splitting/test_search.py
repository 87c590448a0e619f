"""The one function in front of both searches, random splits of exact size, and what they refuse."""

import doctest
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import comdiv.splitting.search
from comdiv.errors import ComdivError
from comdiv.splitting.divergence import ALPHA_PRESETS
from comdiv.splitting.encoding import Encoded, encode
from comdiv.splitting.search import Bounded, Search, SplitResult, find_split, random_split
from comdiv.splitting.sides import atom_divergence, compound_divergence

SEARCHES: tuple[Search, ...] = ("anneal", "greedy")


def sentences(count: int = 200, seed: int = 0) -> list[str]:
    generator = np.random.default_rng(seed)
    words = ["".join(generator.choice(list("abcdefgh"), size=3)) for _ in range(count)]
    return [" ".join(word) for word in words]


def encode_sentences(corpus: list[str], group_of: Callable[[str], str] | None = None) -> Encoded:
    return encode(corpus, str.split, lambda s: list(zip(s.split(), s.split()[1:], strict=False)), group_of=group_of)


def groups_of_sizes(sizes: list[int]) -> Encoded:
    items = [group for group, size in enumerate(sizes) for _ in range(size)]
    return encode(items, lambda _: ["a"], lambda group: [group % 3], group_of=lambda group: group)


def test_the_example_in_the_documentation_runs() -> None:
    results = doctest.testmod(comdiv.splitting.search)
    assert results.attempted > 5
    assert results.failed == 0


@pytest.mark.parametrize("search", SEARCHES)
def test_a_result_says_what_its_mask_says(search: Search) -> None:
    encoded = encode_sentences(sentences())
    result = find_split(encoded, test_size=40, search=search, atom_bound=0.05)
    assert isinstance(result, SplitResult)
    assert result.test_size == result.test_mask.sum() == 40
    assert result.exact_size
    assert result.atom_divergence <= 0.05
    assert result.length_ratio == 1.0
    assert result.steps > 0
    again = find_split(encoded, test_size=40, search=search, atom_bound=0.05)
    assert np.array_equal(result.test_mask, again.test_mask)


def test_anneal_reaches_more_than_greedy_and_greedy_more_than_chance() -> None:
    encoded = encode_sentences(sentences(1000))
    masks = [random_split(encoded, 200, seed) for seed in range(3)]
    by_chance = max(compound_divergence(encoded, m, ALPHA_PRESETS["paper"]) for m in masks)
    greedy, anneal = (
        find_split(encoded, test_size=200, search=search).compound_divergence for search in ("greedy", "anneal")
    )
    assert by_chance < greedy < anneal


@pytest.mark.parametrize("search", SEARCHES)
def test_both_presets_can_be_searched_by(search: Search) -> None:
    encoded = encode_sentences(sentences(300))
    found = {
        name: find_split(encoded, test_size=60, search=search, alphas=alphas, atom_bound=0.1)
        for name, alphas in ALPHA_PRESETS.items()
    }
    assert not np.array_equal(found["paper"].test_mask, found["keysers2020"].test_mask)


@pytest.mark.parametrize("search", SEARCHES)
def test_groups_that_do_not_add_up_give_the_nearest_smaller_size(search: Search) -> None:
    result = find_split(groups_of_sizes([3] * 10), test_size=8, search=search, atom_bound=None)
    assert result.test_size == 6
    assert not result.exact_size


@given(st.lists(st.integers(1, 6), min_size=2, max_size=12), st.data())
def test_random_splits_have_the_largest_size_that_groups_add_up_to(sizes: list[int], data: st.DataObject) -> None:
    encoded = groups_of_sizes(sizes)
    wanted = data.draw(st.integers(1, sum(sizes) - 1))
    sums = {0}
    for size in sizes:
        sums |= {total + size for total in sums}
    attainable = max(total for total in sums if total <= wanted)
    if attainable == 0:
        with pytest.raises(ComdivError, match="smallest group of twins"):
            random_split(encoded, wanted)
        return
    test_mask = random_split(encoded, wanted, data.draw(st.integers(0, 1000)))
    assert test_mask.sum() == attainable
    for group in range(len(sizes)):
        assert len(set(test_mask[encoded.groups == group])) == 1


def test_random_splits_draw_every_item_equally_often() -> None:
    encoded = groups_of_sizes([1] * 16 + [2] * 4)
    drawn = sum(random_split(encoded, 6, seed).astype(int) for seed in range(2000))
    assert drawn / 2000 == pytest.approx(6 / 24, abs=0.06)


def test_what_cannot_be_split_is_one_clear_line() -> None:
    encoded = encode_sentences(["a b", "b a", "a a", "b b"])
    wrong: list[tuple[str, Callable[[], object]]] = [
        ("nothing to split: 0 examples", lambda: find_split(encode_sentences([]), test_size=1)),
        ("nothing to split: 1 examples", lambda: random_split(encode_sentences(["a b"]), 1)),
        ("test size of 0 leaves one side empty", lambda: find_split(encoded, test_size=0)),
        ("test size of 4 leaves one side empty", lambda: find_split(encoded, test_size=4)),
        ("all 4 examples are twins", lambda: find_split(encode_sentences(["a b"] * 4, str), test_size=2)),
        ("smaller than the smallest group", lambda: find_split(groups_of_sizes([3, 3]), test_size=2)),
        ("no example has any atom", lambda: find_split(encode([1, 2], lambda _: [], lambda i: [i]), test_size=1)),
        ("no example has any compound", lambda: find_split(encode([1, 2], lambda i: [i], lambda _: []), test_size=1)),
        ("atom bound of 2", lambda: find_split(encoded, test_size=1, atom_bound=2)),
        ("target of -1", lambda: find_split(encoded, test_size=1, target=-1)),
        ("length weight of -1", lambda: find_split(encoded, test_size=1, length_weight=-1)),
        ("0 steps per item", lambda: find_split(encoded, test_size=1, steps_per_item=0)),
        ("the seed is -1", lambda: find_split(encoded, test_size=1, seed=-1)),
        ("unknown search 'aneal'. Did you mean 'anneal'", lambda: find_split(encoded, test_size=1, search="aneal")),  # type: ignore[arg-type]
    ]
    for message, attempt in wrong:
        with pytest.raises(ComdivError) as error:
            attempt()
        assert message in str(error.value)
        assert "\n" not in str(error.value)


def test_a_side_without_compounds_is_avoided() -> None:
    """Only two of ten examples have a compound; a split needs one of them on each side."""
    encoded = encode(range(10), lambda i: ["a"], lambda i: [i] if i < 2 else [])
    result = find_split(encoded, test_size=2, atom_bound=None)
    assert result.test_mask[:2].sum() == 1


def two_views() -> tuple[list[str], list[Encoded]]:
    """Words of three letters: compounds are pairs of neighbours in the one view, of first and last in the other."""
    corpus = sentences(300)
    ends = encode(corpus, lambda s: [s[0], s[-1]], lambda s: [(s[0], s[-1])] * 2)
    return corpus, [encode_sentences(corpus), ends]


@pytest.mark.parametrize("search", SEARCHES)
def test_several_views_diverge_together_and_atoms_are_held_in_each(search: Search) -> None:
    _, views = two_views()
    alphas = ALPHA_PRESETS["paper"]
    result = find_split(views, test_size=60, search=search, atom_bound=0.02)
    own = [compound_divergence(view, result.test_mask, alphas) for view in views]
    assert result.compound_divergence == pytest.approx(np.mean(own))
    assert max(atom_divergence(view, result.test_mask, alphas) for view in views) <= 0.02
    first_only = find_split(views[0], test_size=60, search=search, atom_bound=0.02).test_mask
    assert own[1] > compound_divergence(views[1], first_only, alphas) + 0.1


@pytest.mark.parametrize("search", SEARCHES)
def test_whatever_else_is_bounded_stays_alike(search: Search) -> None:
    corpus, views = two_views()
    starts = encode(corpus, lambda s: [s[:3]], lambda s: [s]).atoms  # what a search would rather separate
    bounded = Bounded("start", starts, 0.5, 0.2)
    result = find_split(views, test_size=60, search=search, atom_bound=0.05, also_bounded=[bounded])
    assert bounded.divergence(result.test_mask) <= 0.2
    without = find_split(views, test_size=60, search=search, atom_bound=0.05)
    assert bounded.divergence(without.test_mask) > 0.2


def test_the_error_names_the_distribution_that_could_not_be_held() -> None:
    corpus, views = two_views()
    unequal = encode(corpus, lambda s: [s], lambda s: [s]).atoms
    with pytest.raises(ComdivError, match=r"no split found with word divergence at most 0\.01: .* a higher word bound"):
        find_split(views, test_size=60, atom_bound=0.05, also_bounded=[Bounded("word", unequal, 0.5, 0.01)])
