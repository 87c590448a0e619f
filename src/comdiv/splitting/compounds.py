"""Atoms and compounds of expressions (§III-A): spelled for one problem, as arrays for a whole corpus.

A corpus has few different expressions. Their nodes are laid out once; the compounds under any clustering are then a few
array operations per level, whatever the number of problems.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from comdiv.errors import ComdivError
from comdiv.expression import Constant, Expression, Reference, leaves
from comdiv.expression.tree import COMMUTATIVE, OPERATORS
from comdiv.splitting.encoding import Incidence, Integers, Small, offsets_of

CompoundKind = Literal["subtrees", "whole"]
CONSTANT = "C"  # every constant is this leaf: 3.14 and 100 are not told apart
MOST_OPERATORS = 6  # expressions with as many or more count as equally long
_QUANTITY, _CONSTANT = -1, -2  # codes of leaves in place of an operator


def atoms_of(expression: Expression, clusters: Sequence[int]) -> list[str]:
    """The leaves that are quantities, as their clusters: `c3`. Constants are not atoms."""
    return [f"c{clusters[leaf.index]}" for leaf in leaves(expression) if isinstance(leaf, Reference)]


def compounds_of(
    expression: Expression, clusters: Sequence[int], kind: CompoundKind = "subtrees", *, commutative: bool = True
) -> list[str]:
    """For every inner node the whole sub-expression below it: `(c3*(C-c1))`, counted with multiplicity.

    `whole`: only the root's. With `commutative`, operands of `+` and `*` are sorted: `b+a` is not a new composition
    beside `a+b`.
    """
    spelled: list[str] = []

    def spell(node: Expression) -> str:
        if isinstance(node, Constant):
            return CONSTANT
        if isinstance(node, Reference):
            return f"c{clusters[node.index]}"
        spelled.append(_spelling(node.operator, spell(node.left), spell(node.right), commutative))
        return spelled[-1]

    spell(expression)
    return spelled[-1:] if kind == "whole" else spelled


def _spelling(operator: str, left: str, right: str, commutative: bool) -> str:
    if commutative and operator in COMMUTATIVE and right < left:
        left, right = right, left
    return f"({left}{operator}{right})"


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of all expressions of a corpus, problem after problem, operands before their operator."""

    problems: int
    problem: Integers  # (nodes)
    operator: Small  # (nodes): a place in OPERATORS, or what kind of leaf it is
    quantity: Small  # (nodes): the number of a leaf's quantity among all quantities of the corpus
    left: Small  # (nodes): where a node's operands stand
    right: Small  # (nodes)
    height: Small  # (nodes): 0 for leaves

    @cached_property
    def operations(self) -> Integers:
        """Where the inner nodes stand."""
        return np.flatnonzero(self.operator >= 0)

    @cached_property
    def operator_counts(self) -> Integers:
        """The number of operators of each problem; 0 if it has no expression."""
        return np.bincount(self.problem[self.operations], minlength=self.problems)

    def operators(self) -> Incidence:
        """Which operators each problem has."""
        inner = self.operations
        return table_of(self.problem[inner], self.operator[inner].astype(np.int64), self.problems, OPERATORS)

    def sizes(self) -> Incidence:
        """The number of operators of each problem as its only id; none for problems without operators."""
        counts = self.operator_counts
        rows = np.flatnonzero(counts)
        names = [f"{n} operators" for n in range(MOST_OPERATORS)] + [f"{MOST_OPERATORS} or more operators"]
        return table_of(rows, np.minimum(counts[rows], MOST_OPERATORS), self.problems, names)

    def atoms(self, clusters: Small) -> Incidence:
        """The atoms of each problem, for a cluster of every quantity."""
        used = np.flatnonzero(self.operator == _QUANTITY)
        labels = clusters[self.quantity[used]].astype(np.int64)
        names = [f"c{label}" for label in range(int(labels.max(initial=-1)) + 1)]
        return table_of(self.problem[used], labels, self.problems, names)

    def compounds(self, clusters: Small, kind: CompoundKind = "subtrees", *, commutative: bool = True) -> Incidence:
        """The compounds of each problem, for a cluster of every quantity."""
        constant = int(clusters.max(initial=-1)) + 1  # the leaf C, after the clusters
        names = [*(f"c{label}" for label in range(constant)), CONSTANT]
        identity = np.full(len(self.operator), constant)  # equal for nodes that are spelled alike
        used = self.operator == _QUANTITY
        identity[used] = clusters[self.quantity[used]]
        sorts = np.array([operator in COMMUTATIVE for operator in OPERATORS])
        for level in range(1, int(self.height.max(initial=0)) + 1):
            nodes = np.flatnonzero(self.height == level)
            operator = self.operator[nodes].astype(np.int64)
            left, right = identity[self.left[nodes]], identity[self.right[nodes]]
            if commutative:
                swapped = sorts[operator] & (right < left)
                left, right = np.where(swapped, right, left), np.where(swapped, left, right)
            width = len(names)
            keys, inverse = np.unique((operator * width + left) * width + right, return_inverse=True)
            identity[nodes] = width + inverse
            for key in keys.tolist():
                place, a, b = key // width**2, key // width % width, key % width
                names.append(_spelling(OPERATORS[place], names[a], names[b], commutative))
        inner = self.operations
        if kind == "whole":  # the last node of a problem
            inner = inner[np.append(np.diff(self.problem[inner]) > 0, True)] if len(inner) else inner
        return table_of(self.problem[inner], identity[inner], self.problems, names)


def lay_out(expressions: Sequence[Expression | None], quantities: Integers) -> Nodes:
    """The nodes of expressions whose texts have that many quantities each."""
    different: dict[Expression, int] = {}
    numbers = np.full(len(expressions), -1, dtype=np.int64)
    for row, expression in enumerate(expressions):
        if expression is not None:
            numbers[row] = different.setdefault(expression, len(different))
    columns = [_columns(expression) for expression in different]
    rows = np.flatnonzero(numbers >= 0)
    kinds = numbers[rows]
    sizes = np.array([entry.shape[1] for entry in columns], dtype=np.int64)
    starts = offsets_of(sizes[kinds])  # where each problem's nodes begin
    whole = np.concatenate([_NOTHING, *columns], axis=1)  # (columns, nodes of different expressions)
    place = np.arange(starts[-1]) - np.repeat(starts[:-1] - offsets_of(sizes)[kinds], sizes[kinds])
    operator, index, left, right, height = (column[place] for column in whole)
    problem = np.repeat(rows, sizes[kinds])
    beyond = index >= np.maximum(quantities[problem], 1)
    if beyond.any():
        raise ComdivError(f"an expression uses N{index[beyond][0]}, but its text has fewer quantities")
    base = np.repeat(starts[:-1].astype(np.int32), sizes[kinds])
    return Nodes(
        problems=len(expressions),
        problem=problem,
        operator=operator,
        quantity=np.repeat(offsets_of(quantities)[rows].astype(np.int32), sizes[kinds]) + index,
        left=base + left,
        right=base + right,
        height=height,
    )


_NOTHING = np.zeros((5, 0), dtype=np.int32)


def _columns(expression: Expression) -> Small:
    """Operator, quantity, operands and height of every node of an expression, operands before operators."""
    nodes: list[tuple[int, int, int, int, int]] = []

    def visit(node: Expression) -> int:
        if isinstance(node, Reference):
            nodes.append((_QUANTITY, node.index, 0, 0, 0))
        elif isinstance(node, Constant):
            nodes.append((_CONSTANT, 0, 0, 0, 0))
        else:
            left, right = visit(node.left), visit(node.right)
            height = 1 + max(nodes[left][4], nodes[right][4])
            nodes.append((OPERATORS.index(node.operator), 0, left, right, height))
        return len(nodes) - 1

    visit(expression)
    return np.array(nodes, dtype=np.int32).T  # (5, nodes)


def table_of(rows: Integers, things: Integers, row_count: int, names: Sequence[str]) -> Incidence:
    """How often each row has each thing; rows ascend. Ids are numbered by the first appearance of their thing."""
    present, first, inverse = np.unique(things, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    width = max(len(present), 1)
    keys, counts = np.unique(rows * width + rank[inverse], return_counts=True)
    row, ids = np.divmod(keys, width)
    offsets = offsets_of(np.bincount(row, minlength=row_count))
    known = tuple(names[thing] for thing in present[order].tolist())
    return Incidence(offsets, ids.astype(np.int32), counts.astype(np.int32), known)
