"""What becomes of a prediction at its problem: its value, whether that is the answer, and if not, why."""

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
    answers_agree,
    equivalent,
    evaluate,
    map_leaves,
    used_quantities,
)
from comdiv.language import get_language
from comdiv.problem import Problem

Kind = Literal["right", "wrong", "ill_formed", "undefined", "unreadable", "missing"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The judgement on one problem. `expression_right` is None where the problem has no gold expression."""

    id: str
    kind: Kind
    expression_right: bool | None

    @property
    def right(self) -> bool:
        """Whether the answer is the gold one; whatever else there is counts as wrong."""
        return self.kind == "right"


def quantity_values(problem: Problem) -> list[Fraction]:
    """The values of `N0`, `N1`… in a problem's text."""
    language = get_language(problem.language)
    return [quantity.value for quantity in language.quantities(problem.text, number_words=problem.number_words)]


def gold_answer(problem: Problem) -> Fraction | None:
    """The answer of the corpus, else the value of its expression; None where it has neither."""
    if problem.answer is not None or problem.expression is None:
        return problem.answer
    try:
        return evaluate(problem.expression, quantity_values(problem))
    except ExpressionError:
        return None


def resolve(prediction: Prediction, problem: Problem) -> Prediction:
    """The prediction with its expression's exact value over this problem's quantities, or the reason for none.

    A quantity that the text does not have makes it ill-formed; a division by zero, or a value that is not rational or
    far too large, makes it undefined.
    """
    if prediction.expression is None:
        return prediction
    values = quantity_values(problem)
    if any(index >= len(values) for index in used_quantities(prediction.expression)):
        last = used_quantities(prediction.expression)[-1]
        reason = f"there is no quantity N{last}: the text has {len(values)}"
        return replace(prediction, answer=None, ill_formed=True, undefined=False, reason=reason)
    try:
        answer = evaluate(prediction.expression, values)
    except ExpressionError as error:
        return replace(prediction, answer=None, ill_formed=False, undefined=True, reason=str(error))
    return replace(prediction, answer=answer, percent=False, ill_formed=False, undefined=False, reason="")


def judge(problem: Problem, prediction: Prediction | None) -> Outcome:
    """Whether a prediction answers its problem: |a − g| ≤ 1e-4·|g|, g the gold answer."""
    if prediction is None:
        return Outcome(problem.id, "missing", None if problem.expression is None else False)
    resolved = resolve(prediction, problem)
    return Outcome(problem.id, _kind(problem, resolved), _expression_right(problem, resolved))


def judge_all(problems: Sequence[Problem], predictions: Sequence[Prediction]) -> list[Outcome]:
    """The outcome of every problem, in their order; problems without a prediction are missing, and so wrong.

    Predictions for other problems are passed over, but not if all are: then they are of another test set.
    """
    found = predictions_by_id(predictions)
    if not problems:
        raise ComdivError("there are no problems to evaluate on")
    if not found:
        raise ComdivError("there are no predictions")
    if not any(problem.id in found for problem in problems):
        raise ComdivError(
            f"no prediction has the id of a test problem: ids there are like '{next(iter(found))}', "
            f"here like '{problems[0].id}'"
        )
    return [judge(problem, found.get(problem.id)) for problem in problems]


def _kind(problem: Problem, prediction: Prediction) -> Kind:
    if prediction.ill_formed:
        return "ill_formed"
    if prediction.undefined:
        return "undefined"
    if prediction.answer is None:
        return "unreadable"
    gold = gold_answer(problem)
    if gold is None:
        return "wrong"
    readings = [prediction.answer, prediction.answer * 100] if prediction.percent else [prediction.answer]
    return "right" if any(answers_agree(reading, gold) for reading in readings) else "wrong"


def _expression_right(problem: Problem, prediction: Prediction) -> bool | None:
    """Equivalence over quantities; over numbers where the prediction names none: `12*3` is `N0*N1` of 3 and 12."""
    if problem.expression is None:
        return None
    if prediction.expression is None or prediction.ill_formed:
        return False
    if used_quantities(prediction.expression):
        return equivalent(prediction.expression, problem.expression)
    values = quantity_values(problem)
    if any(index >= len(values) for index in used_quantities(problem.expression)):
        return False
    return equivalent(_over_numbers(prediction.expression, values), _over_numbers(problem.expression, values))


def _over_numbers(expression: Expression, values: Sequence[Fraction]) -> Expression:
    """Every leaf as its value, and a fraction as a division, so that 1/2, 0.5 and 50 % are the same."""

    def number(leaf: Leaf) -> Expression:
        value = values[leaf.index] if isinstance(leaf, Reference) else leaf.value
        if value.denominator == 1:
            return Constant(value)
        return Operation("/", Constant(Fraction(value.numerator)), Constant(Fraction(value.denominator)))

    return map_leaves(expression, number)
