"""When two expressions count as the same: canonical form, template, shape, and MathEN's normal form.

All of them treat an expression as nested *chains*: a sum is a list of signed terms, a product a list of factors above
or below the fraction bar. They differ in how they order a chain and in which brackets they open.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key

from comdiv.expression.printing import to_infix
from comdiv.expression.tree import (
    COMMUTATIVE,
    FAMILY,
    ONE,
    ZERO,
    Expression,
    Operation,
    Reference,
    leaves,
    renumber,
    used_quantities,
)

_INVERSE = {"+": "-", "*": "/"}
_NEUTRAL = {"+": ZERO, "*": ONE}

OrderKey = tuple[tuple[float, Fraction], ...]


def order_key(expression: Expression) -> OrderKey:
    """Leaf positions in infix order: quantities by their place in the text, constants last and by value."""
    return tuple(
        (leaf.index, Fraction(0)) if isinstance(leaf, Reference) else (math.inf, leaf.value)
        for leaf in leaves(expression)
    )


@dataclass(frozen=True, slots=True)
class Member:
    """A term or factor; `inverse` members are subtracted or divided by."""

    inverse: bool
    expression: Expression


def chain(expression: Operation, inverse: bool = False) -> list[Member]:
    """The members of a sum or product, with inner brackets of the same family opened: a-(b-c) → +a -b +c."""
    family = FAMILY[expression.operator]
    members: list[Member] = []
    for operand, flipped in ((expression.left, False), (expression.right, expression.operator in "-/")):
        inside = inverse != flipped
        if isinstance(operand, Operation) and FAMILY.get(operand.operator) == family:
            members.extend(chain(operand, inside))
        else:
            members.append(Member(inside, operand))
    return members


def join_chain(family: str, members: list[Member]) -> Expression:
    """A left-associated chain; it begins with the neutral element only if every member is inverse."""
    if members[0].inverse:
        members = [Member(False, _NEUTRAL[family]), *members]
    result = members[0].expression
    for member in members[1:]:
        result = Operation(_INVERSE[family] if member.inverse else family, result, member.expression)
    return result


def _normalised(expression: Expression, arrange: Callable[[list[Member]], list[Member]]) -> Expression:
    """Open all chains, bottom up, and order each with `arrange`."""
    if not isinstance(expression, Operation):
        return expression
    if expression.operator == "^":
        return Operation("^", _normalised(expression.left, arrange), _normalised(expression.right, arrange))
    members = [Member(m.inverse, _normalised(m.expression, arrange)) for m in chain(expression)]
    return join_chain(FAMILY[expression.operator], arrange(members))


def canonical(expression: Expression) -> Expression:
    """The representative of all expressions equal to this one by commutativity and associativity."""

    def positive_members_first(members: list[Member]) -> list[Member]:
        return sorted(
            members, key=lambda member: (member.inverse, order_key(member.expression), repr(member.expression))
        )

    return _normalised(expression, positive_members_first)


def equivalent(first: Expression, second: Expression) -> bool:
    """Whether two expressions are the same up to commutativity and associativity of `+`/`-` and `*`/`/`."""
    return canonical(first) == canonical(second)


def mathen_normal_form(expression: Expression) -> Expression:
    """Wang et al. 2018: of all equal expressions, the left-associated one with the smallest leaf positions (§V-B).

    The first member of a chain must not be inverse: every other member is tried in first place, and the rest follow
    in order. The value never changes.
    """
    return _normalised(expression, _least_positions)


def _least_positions(members: list[Member]) -> list[Member]:
    unambiguous = sorted(members, key=lambda member: (member.inverse, repr(member.expression)))
    keyed = [(order_key(member.expression), member) for member in unambiguous]
    keyed.sort(key=cmp_to_key(_compare_joined))
    arrangements = [
        [first, *(other for other in keyed if other is not first)] for first in keyed if not first[1].inverse
    ]
    least = min(arrangements, key=lambda arrangement: [position for key, _ in arrangement for position in key])
    return [member for _, member in least]


def _compare_joined(first: tuple[OrderKey, Member], second: tuple[OrderKey, Member]) -> int:
    """Order two members by comparing both joined orders: N2/N1 before N2 reads 2 1 2, after it 2 2 1."""
    joined, swapped = first[0] + second[0], second[0] + first[0]
    return (joined > swapped) - (joined < swapped)


def template_tree(expression: Expression) -> Expression:
    """The tree of the template: used quantities renumbered by their order in the text, `+` and `*` in that order too.

    n2*n1 is n1*n2, and n3+(n1+n2) is n1+n2+n3; n2-n1 is not n1-n2, and brackets after `-` or `/` are not opened.
    """
    position = {index: rank for rank, index in enumerate(used_quantities(expression))}
    return in_text_order(renumber(expression, position.__getitem__))


def in_text_order(expression: Expression) -> Expression:
    """The same value with the operands of `+` and `*` in the order of the text: N2*N0 is N0*N2."""
    if not isinstance(expression, Operation):
        return expression
    if expression.operator not in COMMUTATIVE:
        return Operation(expression.operator, in_text_order(expression.left), in_text_order(expression.right))
    operands = sorted((in_text_order(operand) for operand in _same_operator(expression)), key=_text_order_key)
    result = operands[0]
    for operand in operands[1:]:
        result = Operation(expression.operator, result, operand)
    return result


def _text_order_key(expression: Expression) -> tuple[tuple[float, ...], OrderKey, str]:
    """Sort by quantities alone, so that n1*(1-n2)*n3 stays as it is; an operand without quantities comes last."""
    quantities = tuple(float(leaf.index) for leaf in leaves(expression) if isinstance(leaf, Reference))
    return quantities or (math.inf,), order_key(expression), repr(expression)  # the last tells n1-n2 from n1*n2


def _same_operator(expression: Operation) -> list[Expression]:
    """The operands of a chain of one operator: a+(b+c) → a, b, c."""
    operands: list[Expression] = []
    for operand in (expression.left, expression.right):
        same = isinstance(operand, Operation) and operand.operator == expression.operator
        operands.extend(_same_operator(operand) if same and isinstance(operand, Operation) else [operand])
    return operands


def template(expression: Expression) -> str:
    """The template as text, `n1*(1-n2)`: what two problems share when only numbers and words differ."""
    return to_infix(template_tree(expression), lambda index: f"n{index + 1}")


def shape(expression: Expression) -> str:
    """The template with every quantity as `n`: `n*(1-n)`."""
    return to_infix(template_tree(expression), lambda index: "n")
