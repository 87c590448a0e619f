"""The index of environments finds exactly what a search over all pairs of clauses finds."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.augmentation import environments
from comdiv.augmentation.environments import (
    ClauseTable,
    EnvironmentIndex,
    Groups,
    find_occurrences,
    group,
    group_on,
    hole_positions,
)
from comdiv.augmentation.operations.lexical import Alternatives, environment_counts
from comdiv.augmentation.proposals import usable_readings
from comdiv.corpora.demo import generate
from comdiv.engine import LocalEngine

Clause = tuple[str, ...]
Member = tuple[Clause, tuple[int, ...]]  # a clause and its holes


def holes_by_hand(length: int, holes: int) -> list[tuple[int, ...]]:
    """Spans of one to four tokens; two must not touch; something must stay."""
    spans = [(a, b) for a in range(length) for b in range(a + 1, length + 1) if b - a <= 4 and b - a < length]
    if holes == 1:
        return spans
    return [(*first, *second) for first, second in combinations(sorted(spans), 2) if second[0] > first[1]]


def environment_by_hand(clause: Clause, holes: Sequence[int]) -> tuple[str, ...]:
    pieces: list[str] = []
    position = 0
    for start, end in zip(holes[::2], holes[1::2], strict=True):
        pieces += [*clause[position:start], "<hole>"]
        position = end
    return (*pieces, *clause[position:])


def groups_by_hand(clauses: Iterable[Clause], holes: int, without: str | None) -> set[frozenset[Member]]:
    """Environments that occur more than once, as sets of (clause, holes)."""
    found = defaultdict(set)
    for clause in set(clauses):
        for where in holes_by_hand(len(clause), holes):
            fragment = [token for a, b in zip(where[::2], where[1::2], strict=True) for token in clause[a:b]]
            if without not in fragment:
                found[environment_by_hand(clause, where)].add((clause, where))
    return {frozenset(members) for members in found.values() if len(members) > 1}


def as_sets(groups: Groups, table: ClauseTable) -> set[frozenset[Member]]:
    words = table.words()
    members = [
        (tuple(words[token] for token in table.by_row[row]), tuple(holes))
        for row, holes in zip(groups.members.clauses.tolist(), groups.members.holes.tolist(), strict=True)
    ]
    return {frozenset(members[a:b]) for a, b in zip(groups.starts[:-1], groups.starts[1:], strict=True)}


def indexed(clauses: Iterable[Clause], holes: int, without: str | None = None) -> tuple[Groups, ClauseTable]:
    table = ClauseTable()
    rows = sorted({table.add(clause) for clause in clauses})
    return group(find_occurrences(table, rows, holes, without=without), table), table


@pytest.mark.parametrize("length", range(1, 9))
@pytest.mark.parametrize("holes", [1, 2])
def test_holes_are_all_spans_that_leave_something(length: int, holes: int) -> None:
    assert [tuple(row) for row in hole_positions(length, holes).tolist()] == holes_by_hand(length, holes)


clauses_of_few_words = st.lists(
    st.lists(st.sampled_from(["a", "b", "NUM"]), min_size=1, max_size=7).map(tuple), min_size=1, max_size=12
)


@given(clauses_of_few_words, st.sampled_from([1, 2]), st.sampled_from([None, "NUM"]))
def test_groups_equal_a_search_by_hand(clauses: list[Clause], holes: int, without: str | None) -> None:
    groups, table = indexed(clauses, holes, without)
    assert as_sets(groups, table) == groups_by_hand(clauses, holes, without)


@given(clauses_of_few_words, st.sampled_from([1, 2]))
def test_hash_collisions_make_no_wrong_pair(clauses: list[Clause], holes: int) -> None:
    table = ClauseTable()
    rows = sorted({table.add(clause) for clause in clauses})
    found = find_occurrences(table, rows, holes)
    crowded = environments.Occurrences(found.hashes % np.uint64(3), found.clauses, found.holes)
    assert as_sets(group(crowded, table), table) == groups_by_hand(clauses, holes, None)


def demo_clauses(code: str, size: int) -> list[Clause]:
    return [clause.masked for reading in usable_readings(generate(code, size)) for clause in reading.narrative]


def index_of(clauses: Iterable[Clause]) -> EnvironmentIndex:
    index = EnvironmentIndex(1, without="NUM")
    for clause in clauses:
        index.add(clause)
    return index


@pytest.mark.parametrize("code", ["en", "zh"])
def test_alternatives_of_a_corpus_equal_a_dictionary_of_environments(code: str) -> None:
    clauses = demo_clauses(code, 60)
    index = index_of(clauses)
    alternatives = Alternatives.of(index, LocalEngine())
    words = index.table.words()
    numbers = {alternatives.words(number, words): number for number in range(len(alternatives.fragments))}
    wanted: dict[frozenset[tuple[str, ...]], int] = defaultdict(int)
    for members in groups_by_hand(clauses, 1, "NUM"):
        for pair in combinations({clause[a:b] for clause, (a, b) in members}, 2):
            wanted[frozenset(pair)] += 1
    assert len(wanted) > 5
    for first, second in combinations(numbers, 2):
        assert alternatives.shared(numbers[first], numbers[second]) == wanted.get(frozenset([first, second]), 0)


def test_clauses_added_later_are_hashed_alone_and_give_the_same_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    clauses = list(dict.fromkeys(demo_clauses("en", 40)))
    hashed: list[int] = []

    def counting(table: ClauseTable, rows: Sequence[int], *arguments: int, without: str | None) -> object:
        hashed.append(len(rows))
        return find_occurrences(table, rows, *arguments, without=without)

    monkeypatch.setattr(environments, "find_occurrences", counting)
    later = index_of(clauses[:30])
    later.occurrences()
    for clause in clauses:
        later.add(clause)
    found = later.occurrences()
    assert later.occurrences() is found
    assert hashed == [30, len(clauses) - 30]
    at_once = index_of(clauses)
    assert as_sets(group(found, later.table), later.table) == as_sets(
        group(at_once.occurrences(), at_once.table), at_once.table
    )


def test_tokens_of_environments_are_counted_without_the_hole() -> None:
    index = index_of([("tom", "has", "NUM", "red", "pens"), ("tom", "has", "NUM", "blue", "pens")])
    groups = group(index.occurrences(), index.table)
    counts = environment_counts(groups, index.table, str.isalpha)
    # Holes of "red", "red pens", and those of "has", "tom has" and "tom" only where the colours are equal: not here.
    assert sorted(counts.tolist()) == [3, 4]


class ThreePartitions(LocalEngine):
    partitions = 3


@pytest.mark.parametrize("holes", [1, 2])
def test_the_number_of_partitions_changes_nothing_not_even_the_order(holes: int) -> None:
    table = ClauseTable()
    rows = sorted({table.add(clause) for clause in demo_clauses("en", 80)})
    found = find_occurrences(table, rows, holes)
    whole, parted = group(found, table), group_on(ThreePartitions(), found, table)
    np.testing.assert_array_equal(whole.starts, parted.starts)
    np.testing.assert_array_equal(whole.members.clauses, parted.members.clauses)
    np.testing.assert_array_equal(whole.members.holes, parted.members.holes)
    assert len(whole) > 5


def test_shared_environments_are_counted() -> None:
    index = index_of(
        [("tom", "has", "NUM", "red", "pens"), ("tom", "has", "NUM", "blue", "pens"), ("ann", "lost", "red", "caps"),
         ("ann", "lost", "blue", "caps"), ("ann", "lost", "green", "caps")]
    )  # fmt: skip
    alternatives = Alternatives.of(index, LocalEngine())
    words = index.table.words()
    numbers = {alternatives.words(number, words): number for number in range(len(alternatives.fragments))}
    assert alternatives.shared(numbers["red",], numbers["blue",]) == 2
    assert alternatives.shared(numbers["red",], numbers["green",]) == 1
    assert alternatives.shared(numbers["red", "pens"], numbers["blue", "pens"]) == 1


def test_random_order_of_clauses_gives_the_same_groups() -> None:
    clauses = demo_clauses("en", 30)
    shuffled = random.Random(3).sample(clauses, len(clauses))
    assert as_sets(*indexed(clauses, 1)) == as_sets(*indexed(shuffled, 1))
