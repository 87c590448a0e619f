"""The outcome of a prediction: its value, whether that is the right answer, and if not, why."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from comdiv.errors import ComdivError
from comdiv.evaluation.predictions import Prediction, predictions_by_id
from comdiv.expression import (
    Constant,
    Expression,
    ExpressionError,
    Leaf,
    Operation,
    Reference,
    equivalent,
    map_leaves,
    used_quantities,
    value_of,
)
from comdiv.problem import Problem
from comdiv.reading import Reading, read

Kind = Literal["right", "wrong", "ill_formed", "undefined", "unreadable", "missing"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one problem: its prediction with the expression's value, and whether that is right.

    `expression_right` is None if the problem has no gold expression, `prediction` if there is none for it.
    """

    id: str
    kind: Kind
    expression_right: bool | None
    prediction: Prediction | None = None

    @property
    def right(self) -> bool:
        """Whether the answer is the gold one; anything else counts as wrong."""
        return self.kind == "right"


def gold_answer(problem: Problem) -> Fraction | None:
    """The answer of the corpus, or else the value of its expression; None if it has neither."""
    return read(problem).gold


def resolve(prediction: Prediction, values: Sequence[Fraction]) -> Prediction:
    """The prediction with its expression's exact value over a problem's quantities, or the reason why it has none.

    A quantity that the text does not have makes it ill-formed; a division by zero, or a value that is not rational or
    far too large, makes it undefined.
    """
    if prediction.expression is None:
        return prediction
    if (last := max(used_quantities(prediction.expression), default=-1)) >= len(values):
        reason = f"there is no quantity N{last}: the text has {len(values)}"
        return replace(prediction, answer=None, ill_formed=True, undefined=False, reason=reason)
    try:
        answer = value_of(prediction.expression, values)
    except ExpressionError as error:
        return replace(prediction, answer=None, ill_formed=False, undefined=True, reason=str(error))
    return replace(prediction, answer=answer, percent=False, ill_formed=False, undefined=False, reason="")


def outcome_of(problem: Problem, prediction: Prediction | None) -> Outcome:
    """Whether a prediction answers its problem: exactly if the gold answer is whole, else within 10⁻⁴ relative."""
    if prediction is None:
        return Outcome(problem.id, "missing", None if problem.expression is None else False)
    reading = read(problem)
    resolved = resolve(prediction, reading.values)
    kind = _kind(reading, resolved)
    judged = replace(resolved, right=kind == "right")
    return Outcome(problem.id, kind, _expression_right(reading, resolved), judged)


def outcomes_of(problems: Sequence[Problem], predictions: Sequence[Prediction]) -> list[Outcome]:
    """The outcome of every problem, in order; a problem without a prediction is missing, and counts as wrong.

    Predictions for other problems are ignored, unless all are: then they belong to another test set.
    """
    by_id = predictions_by_id(predictions)
    if not problems:
        raise ComdivError("there are no problems to evaluate on")
    if not by_id:
        raise ComdivError("there are no predictions")
    if not any(problem.id in by_id for problem in problems):
        raise ComdivError(
            f"no prediction has the id of a test problem: ids there are like '{next(iter(by_id))}', "
            f"here like '{problems[0].id}'"
        )
    return [outcome_of(problem, by_id.get(problem.id)) for problem in problems]


def _kind(reading: Reading, prediction: Prediction) -> Kind:
    if prediction.ill_formed:
        return "ill_formed"
    if prediction.undefined:
        return "undefined"
    if prediction.answer is None:
        return "unreadable"
    meanings = [prediction.answer, prediction.answer * 100] if prediction.percent else [prediction.answer]
    return "right" if any(map(reading.accepts, meanings)) else "wrong"


def _expression_right(reading: Reading, prediction: Prediction) -> bool | None:
    """Equivalence over quantities, or over numbers if the prediction names none: `12*3` is `N0*N1` of 3 and 12."""
    gold = reading.expression
    if gold is None:
        return None
    if prediction.expression is None or prediction.ill_formed:
        return False
    if used_quantities(prediction.expression):
        return equivalent(prediction.expression, gold)
    if not reading.is_grounded:
        return False
    values = reading.values
    return equivalent(_over_numbers(prediction.expression, values), _over_numbers(gold, values))


def _over_numbers(expression: Expression, values: Sequence[Fraction]) -> Expression:
    """The expression with leaves as values and fractions as divisions, so that 1/2, 0.5 and 50 % are the same."""

    def number(leaf: Leaf) -> Expression:
        value = values[leaf.index] if isinstance(leaf, Reference) else leaf.value
        if value.denominator == 1:
            return Constant(value)
        return Operation("/", Constant(Fraction(value.numerator)), Constant(Fraction(value.denominator)))

    return map_leaves(expression, number)
