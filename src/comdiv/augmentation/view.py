"""What the operations see of a problem: its clauses, their tokens with numbers masked, and which quantity is where."""

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from comdiv.expression import (
    Constant,
    Expression,
    ExpressionError,
    Reference,
    evaluate,
    leaves,
    operator_count,
    renumber,
)
from comdiv.expression.evaluation import apply_operator
from comdiv.language import Language, Token, get_language
from comdiv.problem import Problem, Quantity

_SIGNS = "。．，；：？！.,;:?! "
NUMBER = "#"  # every number of an environment (§IV): which one it is does not matter there


@dataclass(frozen=True, slots=True)
class ClauseView:
    """A clause with its tokens; `masked` are their lower-cased texts, numbers as `#`. Offsets are the problem's."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    masked: tuple[str, ...]
    quantities: tuple[int, ...]


class Magnitude(NamedTuple):
    """What kind of number a value is; kept, because exact fractions compare slowly."""

    whole: bool
    below_one: bool

    @classmethod
    def of(cls, value: Fraction) -> "Magnitude":
        """Of a value."""
        return cls(value.denominator == 1, value < 1)


class ProblemView:
    """A problem with an expression, cut into clauses once; the last one is the question."""

    def __init__(self, problem: Problem, expression: Expression) -> None:
        self.problem = problem
        self.expression = expression
        language = self.language
        quantities = language.quantities(problem.text, number_words=problem.number_words)
        tokens = language.tokens(problem.text, quantities=quantities)
        self.plain_quantities: tuple[Quantity, ...] = tuple(quantities)
        clauses = []
        position = 0
        for clause in language.clauses(problem.text, quantities):
            first = position
            while position < len(tokens) and tokens[position].start < clause.end:
                position += 1
            inside = tuple(tokens[first:position])
            masked = tuple([word.lower() if number is None else NUMBER for word, _, _, number in inside])
            numbers = tuple([number for _, _, _, number in inside if number is not None])
            clauses.append(ClauseView(clause.start, clause.end, inside, masked, numbers))
        self.clauses: tuple[ClauseView, ...] = tuple(clauses)
        self.uses = Counter(leaf.index for leaf in leaves(expression) if isinstance(leaf, Reference))
        self.used = frozenset(self.uses)
        self._shifted: dict[int, Expression] = {0: expression}

    @property
    def language(self) -> Language:
        """The language of the text; kept out of the instance, so that a view can travel to another machine."""
        return get_language(self.problem.language)

    @property
    def question(self) -> ClauseView:
        """The last clause."""
        return self.clauses[-1]

    @property
    def narrative(self) -> Sequence[ClauseView]:
        """All clauses but the question."""
        return self.clauses[:-1]

    def text_of(self, clause: ClauseView) -> str:
        """The clause as it is written."""
        return self.problem.text[clause.start : clause.end]

    @cached_property
    def bare_clauses(self) -> tuple[str, ...]:
        """The clauses without their closing signs, in lower case."""
        return tuple([self.text_of(clause).strip(_SIGNS).lower() for clause in self.clauses])

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities with units and kinds."""
        return tuple(self.language.with_units(self.problem.text, self.plain_quantities))

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
    def values(self) -> tuple[Fraction, ...]:
        """The values of the quantities."""
        return tuple(quantity.value for quantity in self.plain_quantities)

    @cached_property
    def constants(self) -> frozenset[Constant]:
        """The constants of the expression."""
        return frozenset(leaf for leaf in leaves(self.expression) if isinstance(leaf, Constant))

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
    def operators(self) -> int:
        """How many operators the expression has."""
        return operator_count(self.expression)

    @cached_property
    def asked_unit(self) -> str | None:
        """The unit that the question asks for."""
        return self.language.asked_unit(self.text_of(self.question))

    @cached_property
    def value(self) -> Fraction:
        """The value of the expression; 0 where it has none, as where it is none of a problem's."""
        return Fraction(0) if self.known_value is None else self.known_value

    @cached_property
    def magnitude(self) -> "Magnitude":
        """What the checks ask of the value."""
        return Magnitude.of(self.value)

    @cached_property
    def magnitudes(self) -> "tuple[Magnitude, ...]":
        """The same of the quantities."""
        return tuple(map(Magnitude.of, self.values))

    @cached_property
    def known_value(self) -> Fraction | None:
        """The value of the expression, if it has one."""
        try:
            return evaluate(self.expression, self.values)
        except ExpressionError:
            return None

    @cached_property
    def positive_value(self) -> Fraction | None:
        """The value, if every operation on the way gives more than nothing."""
        return positive_value(self.expression, self.values)

    @cached_property
    def masked_text(self) -> str:
        """What twins share."""
        return self.language.masked_text(self.problem.text, quantities=self.plain_quantities)


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
    view = ProblemView(problem, problem.expression)
    if any(index >= len(view.plain_quantities) for index in view.used):
        return None
    return view


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
