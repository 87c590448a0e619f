"""Expression trees: quantities of a text (`N0`, `N1`…), exact constants, and five binary operators.

Trees are immutable and bounded by construction: an `Operation` beyond `MAX_NODES` or `MAX_DEPTH` and a `Constant`
beyond `MAX_DIGITS` are refused, so that functions over trees need no checks of their own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from comdiv.errors import ComdivError

OPERATORS = ("+", "-", "*", "/", "^")
COMMUTATIVE = frozenset("+*")
FAMILY = {"+": "+", "-": "+", "*": "*", "/": "*"}  # sums and products
MAX_NODES = 1023  # Math23K's largest expression has 31; leaves room for seven rounds of augmentation
MAX_DEPTH = 128  # keeps recursion far from Python's own limit
MAX_REFERENCE = 9_999
MAX_DIGITS = 100  # of one number: enough for what people write, too few for a denial of service
INTRODUCED = "introduced"
TOO_LONG = f"a number has at most {MAX_DIGITS} digits"
_LIMIT: int = 10**MAX_DIGITS


class ExpressionError(ComdivError):
    """A text that is not an expression, or an expression without a value. `position` is its offset, if known."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message if position is None else f"{message} at position {position + 1}")
        self.position = position


def is_writable(value: Fraction) -> bool:
    """Whether a value is short enough for a file: numerator and denominator have at most `MAX_DIGITS` digits."""
    return -_LIMIT < value.numerator < _LIMIT and value.denominator < _LIMIT


@dataclass(frozen=True, slots=True)
class Reference:
    """A leaf that stands for a quantity of the text: index 3 is `N3`."""

    index: int

    def __post_init__(self) -> None:
        if not 0 <= self.index <= MAX_REFERENCE:
            raise ExpressionError(f"quantity index {self.index} is not between 0 and {MAX_REFERENCE}")


@dataclass(frozen=True, slots=True)
class Constant:
    """A leaf with a fixed value. For alignment, `written` keeps forms such as `20%`, `(1/3)` or `1(1/2)`, and is
    `INTRODUCED` where the corpus did not write the number: the 1 of `x+0.2*x`, the 100 of `(3+4)%`.
    """

    value: Fraction
    written: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not is_writable(self.value):
            raise ExpressionError(TOO_LONG)


@dataclass(frozen=True, slots=True)
class Operation:
    """An inner node: `left operator right`.

    Normal forms open the brackets within a sum or a product and write its `terms` as one chain: `opened` is the depth
    then. It is what is bounded, so that every expression has its normal forms.
    """

    operator: str
    left: "Expression"
    right: "Expression"
    size: int = field(init=False, compare=False, repr=False)
    depth: int = field(init=False, compare=False, repr=False)
    terms: int = field(init=False, compare=False, repr=False)
    opened: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise ExpressionError(f"unknown operator '{self.operator[:20]}'; known: {' '.join(OPERATORS)}")
        size = 1 + node_count(self.left) + node_count(self.right)
        depth = 1 + max(tree_depth(self.left), tree_depth(self.right))
        terms, inner = 0, 0  # `inner`: the depth of the deepest term
        for operand in (self.left, self.right):
            if not isinstance(operand, Operation):
                terms += 1
            elif FAMILY.get(operand.operator, "") == FAMILY.get(self.operator):
                terms += operand.terms
                inner = max(inner, operand.opened - operand.terms + 1)
            else:
                terms += 1
                inner = max(inner, operand.opened)
        opened = terms - 1 + inner
        if size > MAX_NODES:
            raise ExpressionError(f"an expression has at most {MAX_NODES} nodes")
        if opened > MAX_DEPTH:
            raise ExpressionError(f"an expression is at most {MAX_DEPTH} levels deep")
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "opened", opened)


Leaf = Reference | Constant
Expression = Reference | Constant | Operation

ONE = Constant(Fraction(1), INTRODUCED)
ZERO = Constant(Fraction(0), INTRODUCED)
HUNDRED = Constant(Fraction(100), INTRODUCED)


def node_count(expression: Expression) -> int:
    """How many nodes the tree has, leaves included."""
    return expression.size if isinstance(expression, Operation) else 1


def operator_count(expression: Expression) -> int:
    """How many inner nodes the tree has: what tables call the number of operators."""
    return node_count(expression) // 2


def tree_depth(expression: Expression) -> int:
    """The number of operators on the longest path from the root to a leaf."""
    return expression.depth if isinstance(expression, Operation) else 0


def leaves(expression: Expression) -> Iterator[Leaf]:
    """The leaves in infix order."""
    if isinstance(expression, Operation):
        yield from leaves(expression.left)
        yield from leaves(expression.right)
    else:
        yield expression


def subtrees(expression: Expression) -> Iterator[Expression]:
    """Every node's subtree, the whole tree first (pre-order)."""
    yield expression
    if isinstance(expression, Operation):
        yield from subtrees(expression.left)
        yield from subtrees(expression.right)


def used_quantities(expression: Expression) -> list[int]:
    """The indices of the quantities that the expression uses, ascending, each once."""
    return sorted({leaf.index for leaf in leaves(expression) if isinstance(leaf, Reference)})


def map_leaves(expression: Expression, replace: Callable[[Leaf], Expression]) -> Expression:
    """The same tree with every leaf replaced by the result of `replace`, which is called in infix order."""
    if isinstance(expression, Operation):
        left = map_leaves(expression.left, replace)
        right = map_leaves(expression.right, replace)
        unchanged = left is expression.left and right is expression.right
        return expression if unchanged else Operation(expression.operator, left, right)
    return replace(expression)


def renumber(expression: Expression, new_index: Callable[[int], int]) -> Expression:
    """The same tree with every quantity's index mapped."""
    return map_leaves(
        expression, lambda leaf: Reference(new_index(leaf.index)) if isinstance(leaf, Reference) else leaf
    )
