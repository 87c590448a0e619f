"""What the operations see of a problem: its clauses, their tokens with numbers masked, and which quantity is where."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from comdiv.expression import Constant, Expression, ExpressionError, Reference, leaves, renumber
from comdiv.expression.evaluation import apply_operator
from comdiv.problem import Problem, Quantity
from comdiv.reading import Reading

_SIGNS = "。．，；：？！.,;:?! "


class Magnitude(NamedTuple):
    """What kind of number a value is; kept, because exact fractions compare slowly."""

    whole: bool
    below_one: bool

    @classmethod
    def of(cls, value: Fraction) -> "Magnitude":
        """Of a value."""
        return cls(value.denominator == 1, value < 1)


class ProblemView(Reading):
    """A reading of a problem that has an expression, with what the operations ask of it again and again."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._shifted: dict[int, Expression] = {}

    @property
    def expression(self) -> Expression:
        """The problem's expression: there is one."""
        assert self.problem.expression is not None
        return self.problem.expression

    @cached_property
    def bare_clauses(self) -> tuple[str, ...]:
        """The clauses without their closing signs, in lower case."""
        return tuple([clause.text.strip(_SIGNS).lower() for clause in self.clauses])

    def quantity(self, index: int) -> Quantity:
        """One of them."""
        return self.language.unit_of(self.problem.text, self.plain_quantities[index])

    @cached_property
    def token_count(self) -> int:
        """How many tokens the text has."""
        return sum(len(clause.tokens) for clause in self.clauses)

    @cached_property
    def narrative_tokens(self) -> int:
        """How many of them come before the question."""
        return self.token_count - len(self.question.tokens)

    @cached_property
    def narrative_quantities(self) -> int:
        """How many quantities come before the question."""
        return sum(len(clause.quantities) for clause in self.narrative)

    @cached_property
    def repeats_a_leaf(self) -> bool:
        """Whether a quantity or a constant is there twice."""
        ends = list(leaves(self.expression))
        return len(set(ends)) != len(ends)

    def shifted_expression(self, by: int) -> Expression:
        """The expression, its quantities renumbered for a text in which so many others come before them."""
        if by not in self._shifted:
            self._shifted[by] = renumber(self.expression, lambda index: index + by)
        return self._shifted[by]

    @cached_property
    def amount(self) -> Fraction:
        """The value of the expression; 0 where it has none, as where it is none of a problem's."""
        return Fraction(0) if self.value is None else self.value

    @cached_property
    def magnitude(self) -> "Magnitude":
        """What the checks ask of the value."""
        return Magnitude.of(self.amount)

    @cached_property
    def magnitudes(self) -> "tuple[Magnitude, ...]":
        """The same of the quantities."""
        return tuple(map(Magnitude.of, self.values))

    @cached_property
    def positive_value(self) -> Fraction | None:
        """The value, if every operation on the way gives more than nothing."""
        return positive_value(self.expression, self.values)


def positive_value(tree: Expression, values: Sequence[Fraction]) -> Fraction | None:
    """The value of an expression where every operation on the way gives more than nothing; else None."""
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


def view_of(problem: Problem) -> ProblemView | None:
    """The view of a problem; None where it has no expression, or uses a quantity that its text does not have."""
    if problem.expression is None:
        return None
    view = ProblemView(problem)
    return view if view.is_grounded else None


def views_of(problems: Iterable[Problem]) -> list[ProblemView]:
    """The views of all problems that have one."""
    with no_collection():
        return [view for problem in problems if (view := view_of(problem)) is not None]


@contextmanager
def no_collection() -> Iterator[None]:
    """Views, trees, texts and drafts have no cycles: to look for some, over and over, takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
