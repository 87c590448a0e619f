"""Trees: bounds by construction, walking, renumbering."""

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given

from comdiv.errors import ComdivError
from comdiv.expression import (
    Constant,
    Expression,
    ExpressionError,
    Operation,
    Reference,
    leaves,
    map_leaves,
    operator_count,
    parse,
    renumber,
    subtrees,
    to_infix,
    used_quantities,
)
from comdiv.expression.tree import MAX_DEPTH, MAX_DIGITS, MAX_NODES, MAX_REFERENCE, node_count, tree_depth
from strategies import trees

N0, N1 = Reference(0), Reference(1)


def comb(depth: int) -> Expression:
    """N0+N0+…: as deep as it has operators."""
    tree: Expression = N0
    for _ in range(depth):
        tree = Operation("+", tree, N0)
    return tree


def balanced(depth: int) -> Expression:
    """A full tree, which has the most nodes for its depth; no level is part of the sum or product above it."""
    tree: Expression = N0
    for level in range(depth):
        tree = Operation("+*"[level % 2], tree, tree)
    return tree


def test_an_error_is_a_users_mistake_that_counts_positions_from_one_in_its_message() -> None:
    error = ExpressionError("unexpected character '$'", 4)
    assert isinstance(error, ComdivError)
    assert (str(error), error.position) == ("unexpected character '$' at position 5", 4)
    assert ExpressionError("division by zero").position is None


def test_size_and_depth_are_known_without_walking() -> None:
    tree = parse("(N0+N1)*N2-3")
    assert (node_count(tree), operator_count(tree), tree_depth(tree)) == (7, 3, 3)
    assert (node_count(N0), operator_count(N0), tree_depth(N0)) == (1, 0, 0)


@given(trees())
def test_size_and_depth_equal_a_count_of_the_nodes(tree: Expression) -> None:
    def depth(node: Expression) -> int:
        return 1 + max(depth(node.left), depth(node.right)) if isinstance(node, Operation) else 0

    assert node_count(tree) == sum(1 for _ in subtrees(tree)) == 2 * sum(1 for _ in leaves(tree)) - 1
    assert tree_depth(tree) == depth(tree)


def test_a_tree_may_be_as_deep_as_the_limit_and_no_deeper() -> None:
    deepest = comb(MAX_DEPTH)
    assert tree_depth(deepest) == MAX_DEPTH
    for left, right in ((deepest, N0), (N0, deepest)):
        with pytest.raises(ExpressionError, match=f"at most {MAX_DEPTH} levels"):
            Operation("-", left, right)


def test_a_tree_may_have_as_many_nodes_as_the_limit_and_no_more() -> None:
    depth = (MAX_NODES + 1).bit_length() - 2  # the deepest full tree that fits
    largest = balanced(depth)
    assert node_count(largest) == 2 ** (depth + 1) - 1 <= MAX_NODES
    with pytest.raises(ExpressionError, match=f"at most {MAX_NODES} nodes"):
        Operation("+", largest, largest)


@pytest.mark.parametrize(
    "value", [10**MAX_DIGITS, -(10**MAX_DIGITS), Fraction(1, 10**MAX_DIGITS), Fraction(7) ** 10_000]
)
def test_a_constant_with_too_many_digits_is_refused(value: Fraction | int) -> None:
    with pytest.raises(ExpressionError, match=f"at most {MAX_DIGITS} digits"):
        Constant(Fraction(value))


def test_a_constant_may_have_as_many_digits_as_the_limit() -> None:
    largest = Fraction(10**MAX_DIGITS - 1)
    assert (Constant(largest).value, Constant(1 / largest).value) == (largest, 1 / largest)


@pytest.mark.parametrize("operator", ["%", "**", "", "++", pytest.param("import os" * 1000, id="long")])
def test_an_operator_that_we_do_not_know_is_refused_in_a_short_line(operator: str) -> None:
    with pytest.raises(ExpressionError, match="unknown operator") as caught:
        Operation(operator, N0, N1)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("index", [-1, MAX_REFERENCE + 1, 10**30])
def test_a_quantity_outside_the_limits_is_refused(index: int) -> None:
    with pytest.raises(ExpressionError, match="quantity index"):
        Reference(index)


def test_trees_cannot_be_changed() -> None:
    tree = Operation("+", N0, N1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.operator = "-"  # type: ignore[misc]


def test_trees_are_equal_by_value_whatever_way_a_constant_was_written() -> None:
    written = Operation("*", N0, Constant(Fraction(1, 5), "20%"))
    plain = Operation("*", N0, Constant(Fraction(1, 5)))
    assert written == plain
    assert hash(written) == hash(plain)
    assert plain != Operation("*", Constant(Fraction(1, 5)), N0)


def test_leaves_come_in_infix_order_and_subtrees_root_first() -> None:
    tree = parse("(N2-1)*N0")
    assert list(leaves(tree)) == [Reference(2), Constant(Fraction(1)), N0]
    assert [to_infix(node) for node in subtrees(tree)] == ["(N2-1)*N0", "N2-1", "N2", "1", "N0"]


def test_used_quantities_are_ascending_and_without_repetition() -> None:
    assert used_quantities(parse("N7*N2+N7-3")) == [2, 7]
    assert used_quantities(parse("3+4")) == []


def test_leaves_are_replaced_in_infix_order_by_any_tree() -> None:
    seen: list[Expression] = []

    def replace(leaf: Expression) -> Expression:
        seen.append(leaf)
        return parse("N8/N9") if leaf == N1 else leaf

    assert map_leaves(parse("N0-(N1+5)"), replace) == parse("N0-(N8/N9+5)")
    assert seen == [N0, N1, Constant(Fraction(5))]


@given(trees())
def test_replacing_nothing_gives_the_very_same_tree(tree: Expression) -> None:
    assert map_leaves(tree, lambda leaf: leaf) is tree


def test_replacing_a_leaf_by_a_tree_that_is_too_deep_is_refused() -> None:
    with pytest.raises(ExpressionError, match="levels deep"):
        map_leaves(Operation("+", N0, N1), lambda _: comb(MAX_DEPTH))


def test_renumbering_maps_quantities_and_leaves_constants_alone() -> None:
    assert renumber(parse("N3*2-N1"), lambda index: index + 10) == parse("N13*2-N11")
