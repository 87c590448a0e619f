"""What the rest of the package knows about solvers: an interface and a few records, without torch.

Augmentation, experiments and studio use nothing else; a solver may be a neural network, a user's own program, or an
installed package.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, Self

from comdiv.expression import Expression, ExpressionError, Operation, Reference, value_of
from comdiv.problem import Problem
from comdiv.reading import Reading

Progress = Callable[[str, int, int, str], None]  # what is being done, steps done, steps in total, a note


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One expression that a solver considered; None if its tokens do not form one."""

    expression: Expression | None
    log_probability: float


@dataclass(frozen=True, slots=True)
class Solution:
    """A solver's answer to a problem: the best hypothesis with its value, and the others."""

    expression: Expression | None
    answer: Fraction | None
    log_probability: float
    hypotheses: tuple[Hypothesis, ...] = ()
    ill_formed: bool = False  # the tokens do not form an expression
    undefined: bool = False  # the expression has no value: a division by zero


@dataclass(frozen=True, slots=True)
class Score:
    """The log-probability of a problem's own expression; −inf if the solver's alphabet cannot spell it."""

    log_probability: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Attention:
    """What a solver looked at: for every token that it writes, a weight for every word of the text; rows sum to 1.

    Solvers with attention offer `attention(problem, expression) -> Attention | None` in addition to the protocol below.
    """

    words: tuple[str, ...]
    quantities: tuple[int, ...]  # positions of N0, N1… among the words
    tokens: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]  # (tokens, words)


@dataclass(frozen=True, slots=True)
class SolvedStep:
    """One step of an expression's computation, bottom up.

    A solver that deduces offers `steps(problem, expression)`, which also gives the probability of each step and the
    alternatives with theirs, best first.
    """

    operator: str
    left: Fraction
    right: Fraction
    value: Fraction
    probability: float | None = None
    others: tuple["SolvedStep", ...] = ()


def steps_of(expression: Expression, values: Sequence[Fraction]) -> list[SolvedStep]:
    """The steps of an expression's computation, left operands first; an undefined one is an `ExpressionError`."""
    steps: list[SolvedStep] = []

    def value(node: Expression) -> Fraction:
        if not isinstance(node, Operation):
            return value_of(node, values)
        left, right = value(node.left), value(node.right)
        outcome = value_of(Operation(node.operator, Reference(0), Reference(1)), (left, right))
        steps.append(SolvedStep(node.operator, left, right, outcome))
        return outcome

    value(expression)
    return steps


@dataclass(frozen=True, slots=True)
class TrainingSummary:
    """The outcome of a training: `left_out` problems had no expression that the alphabet can spell."""

    epochs: int
    best_epoch: int
    best_validation_accuracy: float | None
    problems: int
    left_out: int
    history: tuple[dict[str, Any], ...] = field(default=(), repr=False)


class Solver(Protocol):
    """Anything that can be trained on problems, solve them, and say how probable an expression is.

    `fit` keeps the epoch that is best on the validation problems; if these are empty, it may draw some from `train`.
    If they are None, no problem is held out, and the last epoch is kept.
    """

    name: str

    def fit(
        self,
        train: Sequence[Problem],
        validation: Sequence[Problem] | None,
        *,
        resume_from: Path | None = None,
        progress: Progress | None = None,
        start_from: Path | None = None,  # a run whose weights to start from, if the solver has weights
    ) -> TrainingSummary: ...

    def solve(self, problems: Sequence[Problem], *, beam: int = 1) -> list[Solution]: ...

    def score(self, problems: Sequence[Problem]) -> list[Score]: ...

    def save(self, folder: Path) -> None: ...

    @classmethod
    def load(cls, folder: Path) -> Self: ...


def solution_of(reading: Reading, hypotheses: Sequence[Hypothesis]) -> Solution:
    """The solution whose best hypothesis comes first; its value is computed exactly from the text's quantities."""
    if not hypotheses:
        return Solution(None, None, float("-inf"), ill_formed=True)
    best = hypotheses[0]
    answer, undefined = None, False
    if best.expression is not None:
        try:
            answer = value_of(best.expression, reading.values)
        except ExpressionError:
            undefined = True
    return Solution(
        best.expression, answer, best.log_probability, tuple(hypotheses), best.expression is None, undefined
    )
