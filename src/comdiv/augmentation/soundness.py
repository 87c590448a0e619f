"""Conditions on a new problem's expression: no negative intermediate value, nothing undone, no stock overdrawn."""

from collections.abc import Sequence
from fractions import Fraction

from comdiv.expression import Constant, Expression, ExpressionError, Operation, Reference, subtrees, value_of
from comdiv.expression.evaluation import apply_operator
from comdiv.expression.normalisation import chain, order_key
from comdiv.expression.tree import ONE


def positive_value(tree: Expression, values: Sequence[Fraction]) -> Fraction | None:
    """The value of an expression if every intermediate result is positive, else None."""
    if isinstance(tree, Reference):
        return values[tree.index]
    if isinstance(tree, Constant):
        return tree.value
    left, right = positive_value(tree.left, values), positive_value(tree.right, values)
    if left is None or right is None:
        return None
    try:
        value = apply_operator(tree.operator, left, right)
    except ExpressionError:
        return None
    return value if value > 0 else None


def is_degenerate(expression: Expression) -> bool:
    """Whether a node undoes its operand: n-n, n/n, 1*n, a-(a-n), a/(a/n)."""
    return any(isinstance(tree, Operation) and _undoes(tree) for tree in subtrees(expression))


def _undoes(tree: Operation) -> bool:
    if tree.operator == "^":
        return False
    members = chain(tree)
    above = {member.expression for member in members if not member.inverse}
    taken_back = any(member.inverse and member.expression in above for member in members)  # n*12/12, 1-(1-n)
    return taken_back or (tree.operator == "*" and ONE in (tree.left, tree.right))


def is_overdrawn(expression: Expression, values: Sequence[Fraction]) -> bool:
    """Whether a sum becomes negative when its terms come in text order: N0+N2-N1 begins with N0-N1.

    A sum whose first term is subtracted (N1-N0) is not about a stock. All parts must have values.
    """
    if not isinstance(expression, Operation):
        return False
    if expression.operator not in ("+", "-"):
        return is_overdrawn(expression.left, values) or is_overdrawn(expression.right, values)
    members = sorted(chain(expression), key=lambda member: order_key(member.expression))
    total = Fraction(0)
    for member in members:
        value = value_of(member.expression, values)
        total += -value if member.inverse else value
        if total < 0:
            return not members[0].inverse
    return any(is_overdrawn(member.expression, values) for member in members)
