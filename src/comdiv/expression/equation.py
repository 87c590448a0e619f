"""From an equation to the expression for its unknown.

Corpora write `x=56*9`, `X = …`, `hours=…`, but also `X-9=4`, `7=3+x` and `(7.0*x)+4.0=(3.0*x)-20.0`. If the unknown
occurs once, the operations around it are undone one by one, which keeps the numbers in their roles (`X-9=4` → `4+9`).
If it occurs more often, both sides are brought to the form a·x+b. Anything else is `NotExpressible`, never a guess.
"""

from dataclasses import dataclass
from fractions import Fraction

from comdiv.expression.evaluation import TOLERANCE, answers_agree, value_of
from comdiv.expression.parsing import parse_tokens
from comdiv.expression.scanning import MAX_LENGTH, plain_signs, scan
from comdiv.expression.tree import (
    ONE,
    ZERO,
    Expression,
    ExpressionError,
    Operation,
    Reference,
    leaves,
    used_quantities,
)


class _Unknown(Reference):
    """The leaf of the unknown: a separate class, so that it never equals a quantity of a text."""

    __slots__ = ()


_UNKNOWN = _Unknown(0)
# Undoing `unknown OP other = result`.
_UNDO_LEFT = {"+": "-", "-": "+", "*": "/", "/": "*"}


class NotExpressible(ExpressionError):  # noqa: N818  (an outcome that corpus readers count, as well as an error)
    """An equation whose unknown cannot be expressed with the five operators."""


def parse_equation(text: str, *, fractions_are_leaves: bool = False) -> Expression:
    """The expression for the unknown of an equation; a text without `=` is parsed as an expression."""
    sides = _sides(text, fractions_are_leaves=fractions_are_leaves)
    return sides[0] if len(sides) == 1 else _solve(*sides)


def equation_holds(text: str, answer: Fraction, tolerance: Fraction = TOLERANCE) -> bool:
    """Whether both sides of an equation over numbers are equal when the answer is put in for the unknown.

    Unlike `parse_equation`, this works for equations that are not linear: 3 satisfies `x+1/x=3.3333`.
    """
    sides = _sides(text, fractions_are_leaves=True)
    if len(sides) != 2:
        raise ExpressionError("not an equation: it has only one side")
    if any(isinstance(leaf, Reference) and leaf != _UNKNOWN for side in sides for leaf in leaves(side)):
        raise ExpressionError("the equation is over quantities of a text, not over numbers")
    left, right = (value_of(side, [answer]) for side in sides)  # the unknown is the only reference, with index 0
    return answers_agree(left, right, tolerance)


def _sides(text: str, *, fractions_are_leaves: bool) -> tuple[Expression, ...]:
    """The sides of an equation, with `_UNKNOWN` for its one unknown; an expression is one side without an unknown."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an equation has at most {MAX_LENGTH} characters, this one has {len(text)}")
    sides = plain_signs(text).split("=")
    if len(sides) > 2 or ";" in text:
        raise NotExpressible("more than one equation")
    if len(sides) == 2:
        sides[1] = sides[1].rjust(len(text))  # so that positions are those of the whole text
    scanned = [scan(side, fractions_are_leaves=fractions_are_leaves) for side in sides]
    names = sorted({token.text for side in scanned for token in side if token.kind == "name"})
    if len(sides) == 1:
        return (parse_tokens(scanned[0], len(text)),)
    if len(names) > 1:
        raise NotExpressible(f"more than one unknown: {', '.join(name[:20] for name in names[:5])}")
    if not names:
        raise ExpressionError("an equation without an unknown", len(sides[0]))
    unknown = (names[0], _UNKNOWN)
    left = parse_tokens(scanned[0], len(sides[0]), unknown=unknown)
    return left, parse_tokens(scanned[1], len(text), unknown=unknown)


def _solve(left: Expression, right: Expression) -> Expression:
    occurrences = [sum(leaf == _UNKNOWN for leaf in leaves(side)) for side in (left, right)]
    if sum(occurrences) == 1:
        solution = _isolate(left, right) if occurrences[0] else _isolate(right, left)
        if _UNKNOWN in (left, right):  # `x=…`: nothing was undone
            return solution
    else:
        match left, right:  # a/b = c/d as a·d = c·b: linear if the unknown occurred only in denominators
            case Operation("/", a, b), Operation("/", c, d):
                solution = _solve_linear(Operation("*", a, d), Operation("*", c, b))
            case _:
                solution = _solve_linear(left, right)
    if not used_quantities(solution):
        _check(left, right, solution)
    return solution


def _check(left: Expression, right: Expression, solution: Expression) -> None:
    """Refuse a solution that depends on a division by zero (`x=x`, `x/x=2/1`)."""
    try:
        root = value_of(solution)
        for side in (left, right):
            value_of(side, [root])  # the unknown is the only reference, with index 0
    except ExpressionError as error:
        raise NotExpressible(f"the equation has no single solution: {error}") from error


def _isolate(side: Expression, result: Expression) -> Expression:
    """Undo the operations around the only unknown, from the outside in."""
    while isinstance(side, Operation):
        operator, inner = side.operator, side.left
        if any(leaf == _UNKNOWN for leaf in leaves(side.left)):
            if operator == "^":
                raise NotExpressible("the unknown is a base of a power")
            result = Operation(_UNDO_LEFT[operator], result, side.right)
        else:
            inner = side.right
            result = _undo_right(operator, side.left, result)
        side = inner
    return result


def _undo_right(operator: str, other: Expression, result: Expression) -> Expression:
    """Solve `other OP unknown = result`."""
    match operator:
        case "+":
            return Operation("-", result, other)
        case "*":
            return Operation("/", result, other)
        case "-" | "/":
            return Operation(operator, other, result)
        case _:
            raise NotExpressible("the unknown is an exponent")


_Terms = tuple[tuple[bool, Expression], ...]  # a signed sum: (is positive, term)


@dataclass(frozen=True, slots=True)
class _Linear:
    """a·x + b."""

    slope: _Terms
    intercept: _Terms

    def __sub__(self, other: "_Linear") -> "_Linear":
        return _Linear(self.slope + _negated(other.slope), self.intercept + _negated(other.intercept))

    def __add__(self, other: "_Linear") -> "_Linear":
        return _Linear(self.slope + other.slope, self.intercept + other.intercept)

    def scaled(self, operator: str, factor: Expression) -> "_Linear":
        return _Linear(_scaled(self.slope, operator, factor), _scaled(self.intercept, operator, factor))


def _negated(terms: _Terms) -> _Terms:
    return tuple((not positive, term) for positive, term in terms)


def _scaled(terms: _Terms, operator: str, factor: Expression) -> _Terms:
    if operator == "*":
        return tuple((sign, factor if term == ONE else Operation("*", term, factor)) for sign, term in terms)
    return tuple((sign, Operation("/", term, factor)) for sign, term in terms)


def _sum(terms: _Terms) -> Expression:
    """The signed sum as a tree, positive terms first."""
    ordered = sorted(terms, key=lambda signed: not signed[0])
    if not ordered:
        return ZERO
    total = ordered[0][1] if ordered[0][0] else Operation("-", ZERO, ordered[0][1])
    for positive, term in ordered[1:]:
        total = Operation("+" if positive else "-", total, term)
    return total


def _solve_linear(left: Expression, right: Expression) -> Expression:
    difference = _linear(left) - _linear(right)  # a·x + b = 0
    slope, intercept = difference.slope, _negated(difference.intercept)
    if not any(positive for positive, _ in slope) or not any(positive for positive, _ in intercept):
        slope, intercept = _negated(slope), _negated(intercept)  # fewer minus signs for the same value
    denominator = _sum(slope)
    return _sum(intercept) if denominator == ONE else Operation("/", _sum(intercept), denominator)


def _linear(side: Expression) -> _Linear:
    if side == _UNKNOWN:
        return _Linear(((True, ONE),), ())
    if not isinstance(side, Operation) or all(leaf != _UNKNOWN for leaf in leaves(side)):
        return _Linear((), ((True, side),))
    if side.operator in "+-":
        left, right = _linear(side.left), _linear(side.right)
        return left + right if side.operator == "+" else left - right
    left_has, right_has = (any(leaf == _UNKNOWN for leaf in leaves(part)) for part in (side.left, side.right))
    if side.operator == "*" and not (left_has and right_has):
        return _linear(side.left).scaled("*", side.right) if left_has else _linear(side.right).scaled("*", side.left)
    if side.operator == "/" and not right_has:
        return _linear(side.left).scaled("/", side.right)
    raise NotExpressible("the equation is not linear in its unknown")
