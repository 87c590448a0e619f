"""Features of a step from the values of its operands alone, without the text.

Whether a division comes out even, which operand is larger, whether a number has been used before: this shows how word
problems are written, not what they mean. Values are in double precision: they serve as features, never as answers.
"""

import math
from fractions import Fraction

import torch
from torch import Tensor

FEATURES = 20
_LARGEST = 1e12  # larger values are clipped
_NEAR = 1e-9  # of a whole number


def bounded_value(value: Fraction | str) -> float:
    """A number in double precision, clipped to the range of the features."""
    exact = Fraction(value)
    return float(max(-Fraction(_LARGEST), min(Fraction(_LARGEST), exact)))


def value_of_step(left: Tensor, right: Tensor, operator: Tensor) -> Tensor:
    """The values of steps (rows); an undefined one is 0."""
    outcomes = torch.stack([left + right, left - right, left * right, left / right, left**right])
    value = outcomes.gather(0, operator.unsqueeze(0)).squeeze(0)
    return torch.nan_to_num(value, nan=0.0, posinf=0.0, neginf=0.0).clamp(-_LARGEST, _LARGEST)


def pair_features(left: Tensor, right: Tensor, unused: Tensor, height: Tensor) -> Tensor:
    """The features of ordered pairs; `left` and `right` (rows, …, facts) may be broadcast against each other.

    Facts of an operand: value, place, whether it was used before, whether it is a constant, whether a result.
    `unused` quantities and `height` unused results (rows) are counted before the step.
    """
    x, x_place, x_used, x_constant, x_result = left.unbind(-1)
    y, y_place, y_used, y_constant, y_result = right.unbind(-1)
    same = x_place == y_place
    x_whole, y_whole = _is_whole(x), _is_whole(y)
    x_new = (x_used + x_constant + x_result) == 0
    y_new = (y_used + y_constant + y_result) == 0
    around = [1] * (max(x.dim(), y.dim()) - 1)
    left_over = unused.view(-1, *around) - x_new.long() - (y_new & ~same).long()
    waiting = height.view(-1, *around) - x_result - y_result  # results that this step leaves unused
    both = x_whole & y_whole
    features = [
        x > y, x < y, x == y, both & _divides(y, x), both & _divides(x, y), same,
        x_used == 1, y_used == 1, ~x_whole, ~y_whole, (x > 0) & (x < 1), (y > 0) & (y < 1),
        x_constant == 1, y_constant == 1, x_result == 1, y_result == 1,
        left_over == 0, left_over == 1, waiting > 0, both,
    ]  # fmt: skip
    assert len(features) == FEATURES
    shape = (x + y).shape
    return torch.stack([feature.expand(shape) for feature in features], -1)


def _is_whole(value: Tensor) -> Tensor:
    return (value - value.round()).abs() < _NEAR


def _divides(divisor: Tensor, value: Tensor) -> Tensor:
    """Whether a larger value is a multiple of a divisor greater than one."""
    safe = torch.where(divisor.abs() < 1.5, math.inf, divisor)
    return (divisor.abs() > 1.5) & (value.abs() > divisor.abs()) & _is_whole(value / safe)
