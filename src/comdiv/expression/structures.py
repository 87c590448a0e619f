"""Local structures: an operator with an operator below it, and the roles of the leaves of both.

Solvers that know every operator still fail on pairs of operators that they never saw together (Bogin, Gupta and Berant
2022). Whether a problem has such a pair can be said of every problem; a divergence is about a whole split.
"""

from collections.abc import Iterable
from itertools import chain

from comdiv.expression.tree import COMMUTATIVE, Constant, Expression, Operation, Reference, subtrees

QUANTITY, CONSTANT, DEEPER = "n", "c", "…"  # the roles of operands: of the text, fixed, computed further below


def local_structures(expression: Expression) -> frozenset[str]:
    """Every parent and child among the operators: `((n+n)*c)`; none if there is one operator or less.

    An operand that is neither the child nor a leaf is only that: computed. Operands of + and * are in no order.
    """
    return frozenset(
        _spelled(
            parent.operator,
            *(_inner(operand) if place == side else _role(operand) for place, operand in enumerate(operands)),
        )
        for parent in subtrees(expression)
        if isinstance(parent, Operation)
        for operands in [(parent.left, parent.right)]
        for side, child in enumerate(operands)
        if isinstance(child, Operation)
    )


def structures_of(expressions: Iterable[Expression]) -> frozenset[str]:
    """All local structures of expressions, such as those of a training set."""
    return frozenset(chain.from_iterable(map(local_structures, set(expressions))))


def _inner(node: Expression) -> str:
    assert isinstance(node, Operation)
    return _spelled(node.operator, _role(node.left), _role(node.right))


def _role(operand: Expression) -> str:
    if isinstance(operand, Reference):
        return QUANTITY
    return CONSTANT if isinstance(operand, Constant) else DEEPER


def _spelled(operator: str, left: str, right: str) -> str:
    if operator in COMMUTATIVE and right < left:
        left, right = right, left
    return f"({left}{operator}{right})"
