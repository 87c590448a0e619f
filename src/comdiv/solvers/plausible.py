"""Re-ranking of any solver's beam by how plausible the values of an expression's steps are.

A log-linear model of the log-probability and a dozen features, learnt on problems that the solver was not trained on.
Most of its effect comes from divisions that come out even: a habit of authors of word problems, not understanding.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import logsumexp

from comdiv.expression import Expression, ExpressionError, Reference, leaves, value_of
from comdiv.problem import Problem
from comdiv.reading import Reading, read_all
from comdiv.solver import Hypothesis, Solution, Solver, solution_of, steps_of

BEAM = 10  # hypotheses to choose from
RIDGE = 0.005  # keeps the weights of rare features small
FEATURES = (
    "used twice",  # a quantity occurs more than once
    "unused",  # how many quantities do not occur
    "negative",  # the answer
    "zero",
    "not whole",  # the answer, though the quantities are
    "given",  # the answer is a number of the text
    "negative step",
    "not whole step",
    "even division",  # how many divisions of whole numbers come out even
    "missed division",  # how many other steps have operands that would divide evenly
    "even product",  # a product whose operands would divide evenly
)
Weights = Mapping[str, float]  # by feature, and of the log-probability
LOG_PROBABILITY = "log-probability"
_Row = tuple[float, ...]


def plausibility_features(expression: Expression, values: Sequence[Fraction]) -> tuple[float, ...] | None:
    """The features of an expression in the order of `FEATURES`; None if it has no value."""
    used = [leaf.index for leaf in leaves(expression) if isinstance(leaf, Reference)]
    try:
        steps, answer = steps_of(expression, values), value_of(expression, values)
    except ExpressionError:
        return None
    whole = [step for step in steps if step.left.denominator == step.right.denominator == 1]
    fractional = sum(step.operator == "/" and step.value.denominator > 1 for step in whole)
    negative = sum(step.value < 0 for step in steps)
    divisible = [s.operator for s in whole if s.operator in "+-*" and s.left > s.right > 1 and s.left % s.right == 0]
    not_whole = answer.denominator > 1 and all(values[index].denominator == 1 for index in used)
    return (
        float(len(used) > len(set(used))),
        float(len(values) - len(set(used))),
        float(answer < 0),
        float(answer == 0),
        float(not_whole),
        float(len(used) > 1 and answer in values),
        float(negative > (answer < 0)),
        float(fractional > not_whole),
        float(sum(step.operator == "/" for step in whole) - fractional),
        float(len(divisible)),
        float("*" in divisible),
    )


def rerank(reading: Reading, hypotheses: Sequence[Hypothesis], weights: Weights) -> list[Hypothesis]:
    """The hypotheses by their log-probability and plausibility, best first; those without a value come last."""

    def worth(hypothesis: Hypothesis) -> float:
        row = _row(reading, hypothesis)
        names = (LOG_PROBABILITY, *FEATURES)
        return -np.inf if row is None else sum(weights.get(n, 0.0) * x for n, x in zip(names, row, strict=True))

    return sorted(hypotheses, key=worth, reverse=True)


def _row(reading: Reading, hypothesis: Hypothesis) -> _Row | None:
    if hypothesis.expression is None:
        return None
    features = plausibility_features(hypothesis.expression, reading.values)
    return None if features is None else (hypothesis.log_probability, *features)


def mean_weights(weights: Sequence[Weights]) -> dict[str, float]:
    """The weights for several solvers together; none unless each has learnt its own."""
    if not all(weights):
        return {}
    return {name: sum(own[name] for own in weights) / len(weights) for name in (LOG_PROBABILITY, *FEATURES)}


@dataclass(frozen=True, slots=True)
class _Beam:
    """The hypotheses of a problem, some of them right, some wrong."""

    rows: npt.NDArray[np.float64]  # (hypotheses, 1 + features)
    right: npt.NDArray[np.bool_]  # (hypotheses)


def learn_weights(
    readings: Sequence[Reading], solutions: Sequence[Solution], without: Collection[str] = ()
) -> dict[str, float]:
    """The weights that make right hypotheses most probable within their beams; omitted features have none.

    Without a beam that has both right and wrong hypotheses, the log-probability alone counts.
    """
    pairs = [_beam(reading, solution) for reading, solution in zip(readings, solutions, strict=True)]
    beams = [beam for beam in pairs if beam is not None and 0 < beam.right.sum() < len(beam.right)]
    start = np.eye(1 + len(FEATURES))[0]
    mask = np.array([name not in without for name in (LOG_PROBABILITY, *FEATURES)])
    beams = [_Beam(np.where(mask, beam.rows, 0.0), beam.right) for beam in beams]
    weights = start
    if beams:
        weights = minimize(_loss, start, args=(beams,), jac=True, method="L-BFGS-B").x
    return {name: round(float(weight), 6) for name, weight in zip((LOG_PROBABILITY, *FEATURES), weights, strict=True)}


def _beam(reading: Reading, solution: Solution) -> _Beam | None:
    rows = [(row, h.expression) for h in solution.hypotheses if (row := _row(reading, h)) is not None]
    if reading.problem.answer is None or not rows:
        return None
    right = [e is not None and reading.accepts(value_of(e, reading.values)) for _, e in rows]
    return _Beam(np.array([row for row, _ in rows]), np.array(right))


def _loss(weights: npt.NDArray[np.float64], beams: Sequence[_Beam]) -> tuple[float, npt.NDArray[np.float64]]:
    """The mean negative log-probability of being right, with a ridge on the features, and its gradient."""
    loss, gradient = 0.0, np.zeros_like(weights)
    for beam in beams:
        scores = beam.rows @ weights
        everything, right = logsumexp(scores), logsumexp(scores[beam.right])
        loss += everything - right
        gradient += np.exp(scores - everything) @ beam.rows
        gradient -= np.exp(scores[beam.right] - right) @ beam.rows[beam.right]
    ridge = np.concatenate([[0.0], weights[1:]])
    return loss / len(beams) + RIDGE * float(ridge @ ridge), gradient / len(beams) + 2 * RIDGE * ridge


class Reranked:
    """Any trained solver, or several together, whose beam is re-ranked with weights learnt separately."""

    def __init__(self, solver: Solver, weights: Weights) -> None:
        self.solver, self.weights = solver, weights
        self.name = solver.name

    def solve(self, problems: Sequence[Problem], *, beam: int = 1) -> list[Solution]:
        """The best `beam` hypotheses of at least `BEAM`."""
        wide = self.solver.solve(problems, beam=max(beam, BEAM))
        return [
            solution_of(reading, rerank(reading, solution.hypotheses, self.weights)[:beam])
            for reading, solution in zip(read_all(problems), wide, strict=True)
        ]


def learn_reranking(solver: Solver, problems: Sequence[Problem], without: Collection[str] = ()) -> dict[str, float]:
    """The weights for a trained solver, from its beams for problems that it was not trained on."""
    return learn_weights(read_all(problems), solver.solve(problems, beam=BEAM), without)
