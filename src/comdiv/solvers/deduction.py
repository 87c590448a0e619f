"""Expressions as deductions, bottom up: which two quantities are combined by which operator, step after step.

A step takes an ordered pair of operands: quantities of the text, constants, and the two most recent results that no
later step has used. Operands are deduced from left to right, so that every expression has exactly one deduction: the
steps are its operators in postfix order. Only the operands of `+` and `*` are reordered: a leaf comes before a result,
and of two leaves the quantity that is first in the text. A single quantity or constant is a step of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import torch
from torch import Tensor

from comdiv.expression import (
    OPERATORS,
    Constant,
    Expression,
    ExpressionError,
    Operation,
    Reference,
    parse,
    value_of,
)
from comdiv.expression.printing import constant_text
from comdiv.expression.tree import COMMUTATIVE
from comdiv.solver import SolvedStep
from comdiv.solvers.alphabet import Alphabet
from comdiv.solvers.grammar import DecodingState

SHOWN = 3  # alternatives shown for each step
COMMUTES = torch.tensor([operator in COMMUTATIVE for operator in OPERATORS])


@dataclass(frozen=True, slots=True)
class DeductionStep:
    """Two places, an operator, and whether it is the last step."""

    left: int
    right: int
    operator: int
    is_last: bool


@dataclass(frozen=True)
class StepColumns:
    """Steps as columns of a decoder's logits.

    Places of operands: the alphabet's copies of quantities, its constants, the latest result and the one before it.
    Columns: every ordered pair × operator × last or not; then each leaf as the whole expression; then the end.
    """

    alphabet: Alphabet

    @property
    def constants(self) -> int:
        """The place of the first constant."""
        return self.alphabet.copies

    @property
    def latest(self) -> int:
        """The place of the latest result; the one before it has the next place."""
        return self.constants + len(self.alphabet.constants)

    @property
    def places(self) -> int:
        return self.latest + 2

    @property
    def first_leaf(self) -> int:
        """The column of N0 as the whole expression."""
        return self.places**2 * len(OPERATORS) * 2

    @property
    def end(self) -> int:
        return self.first_leaf + self.latest

    @property
    def count(self) -> int:
        return self.end + 1

    def column(self, step: DeductionStep) -> int:
        pair = step.left * self.places + step.right
        return (pair * len(OPERATORS) + step.operator) * 2 + step.is_last

    def steps(self, columns: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Left and right places, operators, and whether a step is the last; meaningless for leaves and the end."""
        pair, rest = columns // (2 * len(OPERATORS)), columns % (2 * len(OPERATORS))
        return pair // self.places, pair % self.places, rest // 2, rest % 2 == 1

    # --- expressions ---

    def write(self, expression: Expression, quantities: int) -> list[int] | None:
        """The columns of an expression's deduction; None if one of its operands has no place."""
        steps: list[DeductionStep] = []
        place = self._deduce(expression, quantities, steps)
        if place is None:
            return None
        if not steps:
            return [self.first_leaf + place]
        last = steps[-1]
        return [self.column(step) for step in (*steps[:-1], DeductionStep(last.left, last.right, last.operator, True))]

    def _deduce(self, expression: Expression, quantities: int, steps: list[DeductionStep]) -> int | None:
        """Add an expression's steps; returns the place of its value."""
        if isinstance(expression, Reference):
            return expression.index if expression.index < min(quantities, self.alphabet.copies) else None
        if isinstance(expression, Constant):
            text = constant_text(expression.value)
            return self.constants + self.alphabet.constants.index(text) if text in self.alphabet.constants else None
        left = self._deduce(expression.left, quantities, steps)
        right = self._deduce(expression.right, quantities, steps) if left is not None else None
        if left is None or right is None:
            return None
        if left == right == self.latest:
            left += 1  # it has been deduced before the right one
        elif expression.operator in COMMUTATIVE:
            left, right = min(left, right), max(left, right)
        steps.append(DeductionStep(left, right, OPERATORS.index(expression.operator), False))
        return self.latest

    def read(self, columns: Sequence[int]) -> Expression | None:
        """The expression that columns deduce; None if they do not end with one result."""
        results: list[Expression] = []
        for column in columns:
            if column >= self.first_leaf:
                return self.leaf(column - self.first_leaf) if column < self.end and len(columns) == 1 else None
            left, right, operator, _ = (int(part) for part in self.steps(torch.tensor(column)))
            taken = sum(place >= self.latest for place in (left, right))
            if max(left, right) - self.latest >= len(results):
                return None
            operands = [results[self.latest - 1 - p] if p >= self.latest else self.leaf(p) for p in (left, right)]
            del results[len(results) - taken :]
            results.append(Operation(OPERATORS[operator], *operands))
        return results[0] if len(results) == 1 else None

    def leaf(self, place: int) -> Expression:
        """The quantity or constant of a place."""
        if place < self.constants:
            return Reference(place)
        return parse(self.alphabet.constants[place - self.constants])

    # --- what a step may be ---

    @cached_property
    def taken(self) -> Tensor:
        """How many results a pair of places uses up: (places, places)."""
        is_result = (torch.arange(self.places) >= self.latest).long()
        return is_result.unsqueeze(1) + is_result

    @cached_property
    def canonical(self) -> Tensor:
        """Which pairs and operators may occur in an expression's deduction: (places, places, operators)."""
        place = torch.arange(self.places)
        left, right = place.unsqueeze(1), place.unsqueeze(0)
        before = self.latest + 1  # the result before the latest is used with the latest, or later
        leaves = (left < before) & (right < before) & ((left < self.latest) | (right < self.latest))
        ordered = (left <= right).unsqueeze(-1) | ~COMMUTES
        both = (left == before) & (right == self.latest)
        return (leaves.unsqueeze(-1) & ordered) | both.unsqueeze(-1)


@dataclass(frozen=True)
class DeductionState(DecodingState):
    """Unfinished deductions, one per row."""

    used: Tensor  # (rows, quantities), bool
    quantities: Tensor  # (rows): how many the problem has
    height: Tensor  # (rows): results that no step has used
    length: Tensor  # (rows): steps so far
    finished: Tensor  # (rows), bool


@dataclass(frozen=True)
class DeductionRules:
    """Which steps may come next; the same interface as `grammar.Rules`. Deductions are always well-formed.

    With `cover`, every quantity must be used exactly once.
    """

    columns: StepColumns
    most_steps: int
    cover: bool = False
    constrained: bool = True

    @property
    def end(self) -> int:
        return self.columns.end

    def tokens(self, columns: Sequence[int]) -> tuple[int, ...]:
        return tuple(columns[: columns.index(self.end)]) if self.end in columns else tuple(columns)

    def start(self, quantities: Tensor, columns: int) -> DeductionState:
        """The state before the first step."""
        rows, copies = len(quantities), self.columns.alphabet.copies
        nothing = torch.zeros_like(quantities)
        used = torch.zeros(rows, copies, dtype=torch.bool, device=quantities.device)
        return DeductionState(used, quantities.clamp(max=copies), nothing, nothing, nothing.bool())

    def allowed(self, state: DeductionState, columns: int) -> Tensor:
        """True where a step may come next: (rows, columns)."""
        notation, device = self.columns, state.height.device
        rows, latest = len(state.height), notation.latest
        has_quantity = torch.arange(notation.constants, device=device) < state.quantities.unsqueeze(1)
        if self.cover:
            has_quantity = has_quantity & ~state.used
        constants = torch.ones(rows, latest - notation.constants, dtype=torch.bool, device=device)
        results = torch.stack([state.height > 0, state.height > 1], 1)
        exists = torch.cat([has_quantity, constants, results], 1)  # (rows, places)
        pairs = exists.unsqueeze(2) & exists.unsqueeze(1)  # (rows, places, places)
        is_quantity = (torch.arange(notation.places, device=device) < notation.constants).long()
        fewer = is_quantity.unsqueeze(1) + is_quantity  # quantities that a pair uses
        if self.cover:
            pairs = pairs & ~torch.diag(is_quantity.bool())  # none twice
        unused = has_quantity.sum(1) if self.cover else torch.zeros_like(state.height)
        left_over = (unused[:, None, None] - fewer).clamp(min=0)  # (rows, places, places)
        height = state.height[:, None, None] - notation.taken.to(device) + 1
        room = self.most_steps - state.length - 1  # steps that may follow this one
        needed = (height - 1 + left_over).clamp(min=1)
        goes_on = pairs & (needed <= room[:, None, None])
        ends = pairs & (height == 1) & (left_over == 0)
        both = torch.stack([goes_on, ends], -1).unsqueeze(3)  # (rows, places, places, 1, 2)
        steps = both & notation.canonical.to(device)[None, :, :, :, None]
        alone = exists[:, :latest] & (state.length == 0).unsqueeze(1)
        alone = alone & ((unused.unsqueeze(1) - is_quantity[:latest]).clamp(min=0) == 0)
        no_end = torch.zeros(rows, 1, dtype=torch.bool, device=device)
        return torch.cat([steps.flatten(1), alone, no_end], 1)

    def advance(self, state: DeductionState, tokens: Tensor) -> DeductionState:
        """The state after one more step per row; finished rows do not change."""
        notation = self.columns
        left, right, _, is_last = notation.steps(tokens.clamp(max=notation.first_leaf - 1))
        is_leaf = tokens >= notation.first_leaf
        uses = (left >= notation.latest).long() + (right >= notation.latest).long()
        used = state.used
        for place in (left, right):
            is_operand = torch.arange(notation.constants, device=tokens.device) == place.unsqueeze(1)
            used = used | (is_operand & ~(state.finished | is_leaf).unsqueeze(1))
        height = torch.where(state.finished | is_leaf, state.height, state.height - uses + 1)
        finished = state.finished | is_leaf | is_last
        return DeductionState(used, state.quantities, height, state.length + 1, finished)


def explained_steps(
    steps: Sequence[SolvedStep],
    columns: Sequence[int],
    logits: Tensor,
    rules: DeductionRules,
    values: Sequence[Fraction],
) -> list[SolvedStep]:
    """The steps of a deduction with their probabilities and the best alternatives, given the logits (steps, columns).

    Whether a step is the last is ignored here: it does not belong to the computation.
    """
    notation, explained = rules.columns, []
    results: list[Fraction] = []
    state = rules.start(torch.tensor([len(values)], device=logits.device), notation.count)
    for step, column, row in zip(steps, columns, logits, strict=False):  # a single leaf has no step
        allowed = rules.allowed(state, notation.count)[0]
        chances = row.masked_fill(~allowed, float("-inf")).softmax(0)[: notation.first_leaf].view(-1, 2).sum(1)
        others = []
        for index in chances.topk(min(SHOWN + 1, len(chances))).indices.tolist():
            other = _step_at(notation, 2 * index, values, results)
            if index != column // 2 and other is not None and float(chances[index]) > 0:
                others.append(replace(other, probability=float(chances[index])))
        explained.append(replace(step, probability=float(chances[column // 2]), others=tuple(others[:SHOWN])))
        left, right, _, _ = (int(part) for part in notation.steps(torch.tensor(column)))
        del results[len(results) - (left >= notation.latest) - (right >= notation.latest) :]
        results.append(step.value)
        state = rules.advance(state, torch.tensor([column], device=logits.device))
    return explained


def _step_at(
    notation: StepColumns, column: int, values: Sequence[Fraction], results: Sequence[Fraction]
) -> SolvedStep | None:
    """The step of a column in numbers; None if it is undefined."""
    left, right, operator, _ = (int(part) for part in notation.steps(torch.tensor(column)))
    operands = []
    for place in (left, right):
        if place >= notation.latest:
            operands.append(results[notation.latest - 1 - place])
        else:
            operands.append(value_of(notation.leaf(place), values))
    try:
        value = value_of(Operation(OPERATORS[operator], Reference(0), Reference(1)), operands)
    except ExpressionError:
        return None
    return SolvedStep(OPERATORS[operator], operands[0], operands[1], value)
