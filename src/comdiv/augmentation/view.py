"""What the operations see of a problem: its clauses, their tokens with numbers masked, and which quantity is where."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from comdiv.expression import Expression, ExpressionError, Reference, evaluate, leaves, operator_count
from comdiv.language import Language, Token, get_language
from comdiv.problem import Problem, Quantity

NUMBER = "#"  # every number of an environment (§IV): which one it is does not matter there


@dataclass(frozen=True, slots=True)
class ClauseView:
    """A clause with its tokens; `masked` are their lower-cased texts, numbers as `#`. Offsets are the problem's."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    masked: tuple[str, ...]
    quantities: tuple[int, ...]


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
            masked = tuple(NUMBER if token.quantity is not None else token.text.lower() for token in inside)
            numbers = tuple(token.quantity for token in inside if token.quantity is not None)
            clauses.append(ClauseView(clause.start, clause.end, inside, masked, numbers))
        self.clauses: tuple[ClauseView, ...] = tuple(clauses)
        self.uses = Counter(leaf.index for leaf in leaves(expression) if isinstance(leaf, Reference))
        self.used = frozenset(self.uses)

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
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities with units and kinds."""
        return tuple(self.language.with_units(self.problem.text, self.plain_quantities))

    @cached_property
    def token_count(self) -> int:
        """How many tokens the text has."""
        return sum(len(clause.tokens) for clause in self.clauses)

    @cached_property
    def operators(self) -> int:
        """How many operators the expression has."""
        return operator_count(self.expression)

    @cached_property
    def asked_unit(self) -> str | None:
        """The unit that the question asks for."""
        return self.language.asked_unit(self.problem.text)

    @cached_property
    def value(self) -> Fraction:
        """The value of the expression; 0 where it has none, as where it is none of a problem's."""
        try:
            return evaluate(self.expression, [quantity.value for quantity in self.plain_quantities])
        except ExpressionError:
            return Fraction(0)

    @cached_property
    def masked_text(self) -> str:
        """What twins share."""
        return self.language.masked_text(self.problem.text, quantities=self.plain_quantities)


def view_of(problem: Problem) -> ProblemView | None:
    """The view of a problem; None where it has no expression, or uses a quantity that its text does not have."""
    if problem.expression is None:
        return None
    view = ProblemView(problem, problem.expression)
    if any(index >= len(view.plain_quantities) for index in view.used):
        return None
    return view
