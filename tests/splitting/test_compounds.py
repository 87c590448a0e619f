"""Atoms and compounds of expressions, worked out by hand."""

import pytest

from comdiv.expression import parse
from comdiv.splitting.extraction import AtomKind, atoms_of, compounds_of

CLUSTERS = [3, 1, 3]  # of N0, N1, N2


def test_atoms_are_the_clusters_of_the_leaves_with_multiplicity() -> None:
    assert atoms_of(parse("N0*(N1+N2)-N0"), CLUSTERS) == ["c3", "c1", "c3", "c3"]


def test_constants_are_no_atoms() -> None:
    assert atoms_of(parse("N1*(1-3.14)"), CLUSTERS) == ["c1"]


def test_operators_are_atoms_where_asked_for() -> None:
    kind: AtomKind = "clusters+operators"
    assert sorted(atoms_of(parse("N0*N1+1"), CLUSTERS, kind)) == ["*", "+", "c1", "c3"]


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
