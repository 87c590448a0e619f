"""Atoms and compounds of expressions, worked out by hand."""

from collections import Counter
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.expression import Expression, parse
from comdiv.splitting.compounds import CompoundKind, atoms_of, compounds_of, lay_out
from comdiv.splitting.encoding import Incidence

CLUSTERS = [3, 1, 3]  # of N0, N1, N2


def test_atoms_are_the_clusters_of_the_leaves_with_multiplicity() -> None:
    assert atoms_of(parse("N0*(N1+N2)-N0"), CLUSTERS) == ["c3", "c1", "c3", "c3"]


def test_constants_are_no_atoms() -> None:
    assert atoms_of(parse("N1*(1-3.14)"), CLUSTERS) == ["c1"]


def test_a_compound_is_the_whole_expression_below_each_operator() -> None:
    assert compounds_of(parse("(N0-N1)/N2"), CLUSTERS) == ["(c3-c1)", "((c3-c1)/c3)"]


def test_constants_stand_in_compounds_without_their_value() -> None:
    assert compounds_of(parse("N1*(1-3.14)"), CLUSTERS) == ["(C-C)", "((C-C)*c1)"]


def test_a_compound_counts_as_often_as_it_occurs() -> None:
    assert compounds_of(parse("(N0-N1)*(N2-N1)"), CLUSTERS) == ["(c3-c1)", "(c3-c1)", "((c3-c1)*(c3-c1))"]


@pytest.mark.parametrize("operator", ["+", "*"])
def test_operands_that_commute_are_sorted_unless_told_otherwise(operator: str) -> None:
    one, other = parse(f"N0{operator}N1"), parse(f"N1{operator}N0")
    assert compounds_of(one, CLUSTERS) == compounds_of(other, CLUSTERS) == [f"(c1{operator}c3)"]
    assert compounds_of(one, CLUSTERS, commutative=False) == [f"(c3{operator}c1)"]
    assert compounds_of(other, CLUSTERS, commutative=False) == [f"(c1{operator}c3)"]


@pytest.mark.parametrize("operator", ["-", "/", "^"])
def test_operands_that_do_not_commute_stay_where_they_are(operator: str) -> None:
    assert compounds_of(parse(f"N0{operator}N1"), CLUSTERS) == [f"(c3{operator}c1)"]
    assert compounds_of(parse(f"N1{operator}N0"), CLUSTERS) == [f"(c1{operator}c3)"]


def test_sorting_goes_down_to_the_leaves() -> None:
    assert compounds_of(parse("(N0+N1)*N1"), CLUSTERS) == compounds_of(parse("N1*(N1+N0)"), CLUSTERS)


def test_a_leaf_alone_has_no_compound() -> None:
    assert compounds_of(parse("N0"), CLUSTERS) == []


def test_the_whole_expression_can_be_the_only_compound() -> None:
    assert compounds_of(parse("(N0-N1)/N2"), CLUSTERS, "whole") == ["((c3-c1)/c3)"]
    assert compounds_of(parse("N0"), CLUSTERS, "whole") == []


# --- a whole corpus at once ---

TEXTS = ["N0", "N0+1", "N1+N0", "N0+N1", "(N0-N1)*(N2-N1)", "N1*(1-3.14)", "N2/(N0+N1*N2)^2", "2*3"]


def rows_of(table: Incidence) -> list[Counter[object]]:
    """What each row of a table has."""
    bounds = table.offsets.tolist()
    entries = [(table.names[i], n) for i, n in zip(table.ids.tolist(), table.counts.tolist(), strict=True)]
    return [Counter(dict(entries[start:end])) for start, end in pairwise(bounds)]


@given(
    st.lists(st.tuples(st.sampled_from([None, *TEXTS]), st.lists(st.integers(0, 11), min_size=3, max_size=3))),
    st.sampled_from(get_args(CompoundKind)),
    st.booleans(),
)
def test_a_corpus_has_the_atoms_and_compounds_of_its_problems(
    corpus: list[tuple[str | None, list[int]]], kind: CompoundKind, commutative: bool
) -> None:
    expressions: list[Expression | None] = [text and parse(text) for text, _ in corpus]
    labels = np.array([label for _, own in corpus for label in own], dtype=np.int64)
    nodes = lay_out(expressions, np.full(len(corpus), 3))
    pairs = [(tree, own) for tree, (_, own) in zip(expressions, corpus, strict=True)]
    assert rows_of(nodes.atoms(labels)) == [Counter(atoms_of(tree, own) if tree else ()) for tree, own in pairs]
    assert rows_of(nodes.compounds(labels, kind, commutative=commutative)) == [
        Counter(compounds_of(tree, own, kind, commutative=commutative) if tree else ()) for tree, own in pairs
    ]


def test_operators_and_their_number_are_distributions_of_their_own() -> None:
    nodes = lay_out([parse("N0*N1+1*2"), None, parse("N0"), parse("1+1+1+1+1+1+1+1")], np.array([2, 0, 1, 0]))
    assert rows_of(nodes.operators()) == [Counter({"*": 2, "+": 1}), Counter(), Counter(), Counter({"+": 7})]
    assert rows_of(nodes.sizes()) == [
        Counter({"3 operators": 1}), Counter(), Counter(), Counter({"6 or more operators": 1}),
    ]  # fmt: skip


def test_a_quantity_that_the_text_does_not_have_is_refused() -> None:
    with pytest.raises(ComdivError, match="an expression uses N2, but its text has fewer quantities"):
        lay_out([parse("N0+N2"), parse("N0")], np.array([2, 3]))
