"""Examples as arrays: counts survive, ids are deterministic, groups merge."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.splitting.encoding import Encoded, Incidence, encode, side_by_side


def encode_words(sentences: list[str], **options: object) -> Encoded:
    return encode(sentences, str.split, lambda s: list(zip(s.split(), s.split()[1:], strict=False)), **options)  # type: ignore[arg-type]


def row(incidence: Incidence, index: int) -> dict[object, int]:
    span = slice(incidence.offsets[index], incidence.offsets[index + 1])
    return {incidence.names[i]: int(n) for i, n in zip(incidence.ids[span], incidence.counts[span], strict=True)}


def test_counts_of_a_small_corpus() -> None:
    encoded = encode_words(["a b a", "b c"], length_of=lambda s: len(s.split()))
    assert encoded.atoms.names == ("a", "b", "c")
    assert row(encoded.atoms, 0) == {"a": 2, "b": 1}
    assert row(encoded.compounds, 0) == {("a", "b"): 1, ("b", "a"): 1}
    assert encoded.lengths.tolist() == [3.0, 2.0]
    assert encoded.groups.tolist() == [0, 1]
    assert encoded.atoms.totals(np.array([False, True])).tolist() == [0, 1, 1]


def test_counters_sets_and_any_hashable_will_do() -> None:
    encoded = encode([0, 1], lambda i: {("x", i): 2, None: 0}, lambda i: {3.5, "y", frozenset({i})})
    assert row(encoded.atoms, 0) == {("x", 0): 2}
    assert row(encoded.compounds, 1) == {3.5: 1, "y": 1, frozenset({1}): 1}


def test_ids_do_not_depend_on_the_order_of_sets() -> None:
    code = (
        "from comdiv.splitting.encoding import encode;"
        "e = encode(['the cat sat down', 'a dog ran'], lambda s: set(s.split()), lambda s: set(s));"
        "print(e.atoms.names, e.compounds.names)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_groups_are_numbered_by_first_appearance_and_merge() -> None:
    encoded = encode_words(["a b", "c", "a d"], group_of=lambda s: s[0], length_of=len)
    assert encoded.groups.tolist() == [0, 1, 0]
    assert encoded.group_sizes.tolist() == [2, 1]
    merged = encoded.atoms.merged(encoded.groups, 2)
    assert row(merged, 0) == {"a": 2, "b": 1, "d": 1}
    assert row(merged, 1) == {"c": 1}


def test_some_of_the_items_keep_their_groups_and_counts() -> None:
    encoded = encode_words(["a b", "c", "a d"], group_of=lambda s: s[0], length_of=len)
    some = encoded.only(np.array([True, False, True]))
    assert some.groups.tolist() == [0, 0]
    assert some.lengths.tolist() == [3.0, 3.0]
    assert [row(some.atoms, 0), row(some.atoms, 1)] == [{"a": 1, "b": 1}, {"a": 1, "d": 1}]


def test_tables_side_by_side_keep_their_ids_apart() -> None:
    encoded = encode_words(["a b", "b a a"])
    both = side_by_side([encoded.atoms, encoded.compounds, encoded.atoms])
    assert both.names == ("a", "b", ("a", "b"), ("b", "a"), ("a", "a"), "a", "b")
    assert both.ids.tolist() == [0, 1, 2, 5, 6, 0, 1, 3, 4, 5, 6]
    assert both.row_totals().tolist() == [5, 8]


@given(st.lists(st.tuples(st.lists(st.sampled_from("abcde"), max_size=6), st.integers(0, 3)), min_size=1, max_size=12))
def test_encoding_loses_nothing(examples: list[tuple[list[str], int]]) -> None:
    encoded = encode(examples, lambda e: e[0], lambda e: Counter(e[0]), group_of=lambda e: e[1])
    for position, (letters, _) in enumerate(examples):
        assert row(encoded.atoms, position) == row(encoded.compounds, position) == Counter(letters)
    merged = encoded.atoms.merged(encoded.groups, len(encoded.group_sizes))
    for group in range(len(encoded.group_sizes)):
        members = [letters for (letters, _), g in zip(examples, encoded.groups, strict=True) if g == group]
        assert row(merged, group) == Counter(letter for letters in members for letter in letters)


def test_nothing_at_all_can_be_encoded() -> None:
    encoded = encode([], str.split, str.split)
    assert (encoded.items, encoded.atoms.width, encoded.atoms.rows) == (0, 0, 0)


@pytest.mark.parametrize("length", [-1.0, float("nan"), float("inf")])
def test_an_impossible_length_names_its_example(length: float) -> None:
    with pytest.raises(ComdivError, match="example 1 has length"):
        encode_words(["a", "b"], length_of=lambda s: length if s == "b" else 1.0)


def test_no_length_at_all_is_refused() -> None:
    with pytest.raises(ComdivError, match="length 0"):
        encode_words(["a", "b"], length_of=lambda s: 0)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ComdivError, match="example 0 counts atom 'x' -1 times"):
        encode(["x"], lambda s: {"x": -1}, str.split)
