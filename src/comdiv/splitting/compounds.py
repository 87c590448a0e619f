"""Atoms and compounds of an expression: quantities as clusters, and every sub-expression made of them (§III-A)."""

from collections.abc import Sequence
from typing import Literal

from comdiv.expression import Constant, Expression, Reference, leaves, subtrees
from comdiv.expression.tree import COMMUTATIVE, Operation

AtomKind = Literal["clusters", "clusters+operators"]
CONSTANT = "C"


def atoms_of(expression: Expression, clusters: Sequence[int], kind: AtomKind = "clusters") -> list[str]:
    """The leaves that are quantities, as their clusters: `c3`. Constants are no atoms."""
    atoms = [f"c{clusters[leaf.index]}" for leaf in leaves(expression) if isinstance(leaf, Reference)]
    if kind == "clusters+operators":
        atoms += [node.operator for node in subtrees(expression) if isinstance(node, Operation)]
    return atoms


def compounds_of(expression: Expression, clusters: Sequence[int], *, commutative: bool = True) -> list[str]:
    """For every inner node the whole sub-expression below it: `(c3*(C-c1))`, counted with multiplicity.

    With `commutative`, operands of `+` and `*` are sorted: `a+b` against `b+a` is no new composition.
    """
    found: list[str] = []

    def spell(node: Expression) -> str:
        if isinstance(node, Constant):
            return CONSTANT
        if isinstance(node, Reference):
            return f"c{clusters[node.index]}"
        operands = [spell(node.left), spell(node.right)]
        if commutative and node.operator in COMMUTATIVE:
            operands.sort()
        text = f"({operands[0]}{node.operator}{operands[1]})"
        found.append(text)
        return text

    spell(expression)
    return found
