"""A bottom-up reasoner in the manner of Jie, Li and Lu (2022): all ordered pairs × operators are scored at every step.

The best step becomes a new quantity, by which all others are updated, until a step is the last. Pairs are formed by
broadcasting, for the unfinished problems of a batch. The value of a step can be computed before it is taken; with the
setting `values`, the scorer sees it.
"""

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from comdiv.expression import OPERATORS, Expression
from comdiv.expression.tree import node_count
from comdiv.reading import Reading
from comdiv.solvers.alphabet import Notation
from comdiv.solvers.batches import Batch
from comdiv.solvers.deduction import DeductionRules, StepColumns
from comdiv.solvers.encoders import EncoderDecoder, quantity_states
from comdiv.solvers.hyperparameters import DeductiveSettings, SolverSettings
from comdiv.solvers.inputs import Example, NumberInput
from comdiv.solvers.model import Sizes
from comdiv.solvers.values import FEATURES, bounded_value, pair_features, value_of_step

_IMPOSSIBLE = float("-inf")


@dataclass(frozen=True, slots=True)
class Quantities:
    """The operands of each row: leaves (quantities, then constants), and results that no step has used yet.

    The latest result comes first; beyond a row's `height`, results are meaningless.
    """

    leaves: Tensor  # (rows, leaves, hidden)
    exists: Tensor  # (rows, leaves)
    leaf_values: Tensor  # (rows, leaves)
    used: Tensor  # (rows, leaves)
    results: Tensor  # (rows, depth, hidden)
    result_values: Tensor  # (rows, depth)
    height: Tensor  # (rows)
    text: Tensor  # (rows, pair): the contribution of the whole text to every pair

    def of(self, rows: Tensor) -> "Quantities":
        """These rows, in this order."""
        return Quantities(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Operands of the next step that some row has: leaves, the latest result, the one before it."""

    states: Tensor  # (rows, candidates, hidden)
    exists: Tensor  # (rows, candidates)
    facts: Tensor  # (rows, candidates, facts)

    def at(self, place: Tensor) -> tuple[Tensor, Tensor]:
        """State and facts of one candidate per row."""
        rows = torch.arange(len(place), device=place.device)
        return self.states[rows, place], self.facts[rows, place]


class Deductive(EncoderDecoder):
    """Any encoder, a scorer of pairs, and a gated update of all quantities by each result."""

    notation: ClassVar[Notation] = "postfix"
    numbers: ClassVar[NumberInput] = "masked"
    own_encoder: ClassVar[str] = "gru"
    settings_class: ClassVar[type[SolverSettings]] = DeductiveSettings
    settings: DeductiveSettings

    def __init__(self, settings: DeductiveSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        hidden, pair, scores = self.encoder.width, settings.pair, 2 * len(OPERATORS)
        self.columns = StepColumns(sizes.alphabet)
        self.dropout = nn.Dropout(settings.dropout)
        self.constants = nn.Parameter(torch.randn(len(sizes.alphabet.constants), hidden) * 0.3)
        self.halves = nn.Linear(hidden, 4 * pair, bias=False)  # left and right summands, left and right factors
        self.product = nn.Linear(pair, pair, bias=False)
        self.text = nn.Linear(hidden, pair)
        self.norm = nn.LayerNorm(pair)
        self.output = nn.Linear(pair, scores)
        self.operand, self.alone = nn.Linear(hidden, 1, bias=False), nn.Linear(hidden, 1)
        self.operators = nn.Parameter(torch.randn(len(OPERATORS), hidden) * 0.3)
        self.result = nn.Linear(pair, hidden)
        self.settle = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden))
        self.update = nn.GRUCell(hidden, hidden)
        if settings.values:
            self.value_inner = nn.Linear(FEATURES, pair, bias=False)
            self.value_score = nn.Linear(FEATURES, scores, bias=False)
            nn.init.zeros_(self.value_score.weight)
        values = [bounded_value(constant) for constant in sizes.alphabet.constants]
        self.register_buffer("constant_values", torch.tensor(values, dtype=torch.float64), persistent=False)
        self.register_buffer("canonical", self.columns.canonical, persistent=False)

    # --- what it reads and writes ---

    def example(self, reading: Reading, expression: Expression | None) -> Example:
        example = super().example(reading, None)
        count = min(len(example.quantity_positions), self.sizes.alphabet.copies)
        columns = None
        if expression is not None and node_count(expression) <= self.settings.most_tokens:
            columns = self.columns.write(expression, count)
        lengths = example.quantity_lengths
        return replace(
            example,
            quantity_positions=example.quantity_positions[:count],
            quantity_lengths=None if lengths is None else lengths[:count],
            values=np.array([bounded_value(value) for value in reading.values[:count]], dtype=np.float64),
            target=None if columns is None else np.array(columns, dtype=np.int64),
        )

    def read_tokens(self, tokens: tuple[int, ...]) -> Expression | None:  # type: ignore[override]
        return self.columns.read(tokens)

    def rules(self, *, constrained: bool, cover: bool) -> DeductionRules:
        return DeductionRules(self.columns, max(1, self.settings.most_tokens // 2), cover)

    # --- quantities and pairs ---

    def encode(self, batch: Batch) -> Quantities:
        text = self.encoder(batch)
        quantities = quantity_states(text, batch)  # (batch, quantities, hidden)
        rows, count, _ = quantities.shape
        device, constants = quantities.device, self.constants.expand(rows, -1, -1)
        assert batch.values is not None  # set by `example`
        has_quantity = torch.arange(count, device=device) < batch.quantity_counts.unsqueeze(1)
        leaves = torch.cat([quantities, constants], 1)
        values = torch.cat([batch.values, self.constant_values.expand(rows, -1)], 1)  # type: ignore[operator]
        return Quantities(
            leaves=leaves,
            exists=functional.pad(has_quantity, (0, constants.shape[1]), value=True),
            leaf_values=values,
            used=torch.zeros_like(values, dtype=torch.bool),
            results=leaves[:, :0],
            result_values=values[:, :0],
            height=torch.zeros(rows, dtype=torch.long, device=device),
            text=self.text(text.summary),
        )

    def _candidates(self, now: Quantities) -> Candidates:
        results = min(2, now.results.shape[1])
        height, there = now.height.unsqueeze(1), torch.arange(results, device=now.height.device)
        values = torch.cat([now.leaf_values, now.result_values[:, :results]], 1)
        place = torch.arange(values.shape[1], device=values.device)
        leaves, constants = now.leaves.shape[1], len(self.constants)
        facts = [
            values,
            place.expand_as(values),
            functional.pad(now.used, (0, results)),
            ((place >= leaves - constants) & (place < leaves)).expand_as(values),
            (place >= leaves).expand_as(values),
        ]
        return Candidates(
            states=torch.cat([now.leaves, now.results[:, :results]], 1),
            exists=torch.cat([now.exists, there < height], 1),
            facts=torch.stack([fact.double() for fact in facts], -1),
        )

    def _features(self, left: Tensor, right: Tensor, now: Quantities) -> Tensor:
        """The value features of pairs of facts (rows, …, facts), which may be broadcast: (rows, …, features)."""
        count = now.leaves.shape[1] - len(self.constants)
        unused = (now.exists & ~now.used)[:, :count].sum(1)
        return pair_features(left, right, unused, now.height).to(now.leaves.dtype)

    def _pairs(self, left: Tensor, right: Tensor, now: Quantities, features: Tensor | None) -> Tensor:
        """Pairs of halves (rows, …, 4 · pair), which may be broadcast → their states (rows, …, pair)."""
        first, _, factor, _ = left.chunk(4, -1)
        _, second, _, other = right.chunk(4, -1)
        text = now.text.view(len(now.text), *[1] * (left.dim() - 2), -1)
        pairs = first + text + second + self.product(factor * other)
        if features is not None:
            pairs = pairs + self.value_inner(features)
        normed: Tensor = self.norm(functional.gelu(pairs))
        return normed

    def _logits(self, now: Quantities) -> Tensor:
        """The scores of all steps: (rows, columns)."""
        there = self._candidates(now)
        states = self.dropout(there.states)
        halves = self.halves(states)
        facts = there.facts
        features = self._features(facts.unsqueeze(2), facts.unsqueeze(1), now) if self.settings.values else None
        pairs = self._pairs(halves.unsqueeze(2), halves.unsqueeze(1), now, features)
        scores = self.output(pairs)  # (rows, candidates, candidates, operators · 2)
        if features is not None:
            scores = scores + self.value_score(features)
        operand = self.operand(states)  # (rows, candidates, 1)
        scores = (scores + operand.unsqueeze(2) + operand.unsqueeze(1)).unflatten(-1, (len(OPERATORS), 2))
        place = self._places(now)
        exists = there.exists.unsqueeze(2) & there.exists.unsqueeze(1)
        allowed = exists.unsqueeze(-1) & self.canonical[place.unsqueeze(1), place]  # type: ignore[index]
        scores = scores.masked_fill(~allowed.unsqueeze(-1), _IMPOSSIBLE)
        alone = self.alone(states[:, : now.leaves.shape[1]]).squeeze(-1)  # (rows, leaves)
        alone = alone.masked_fill(~now.exists | (now.height > 0).unsqueeze(1), _IMPOSSIBLE)
        logits: Tensor = scores.new_full((len(scores), self.columns.count), _IMPOSSIBLE)
        size = self.columns.places
        pair = (place.unsqueeze(1) * size + place).flatten() * 2 * len(OPERATORS)
        columns = (pair.unsqueeze(1) + torch.arange(2 * len(OPERATORS), device=pair.device)).flatten()
        leaf = self.columns.first_leaf + place[: now.leaves.shape[1]]
        return logits.index_copy(1, torch.cat([columns, leaf]), torch.cat([scores.flatten(1), alone], 1))

    def _places(self, now: Quantities) -> Tensor:
        """The place of every candidate among the columns: (candidates)."""
        notation, device = self.columns, now.height.device
        constants = len(self.constants)
        quantities = torch.arange(now.leaves.shape[1] - constants, device=device)
        others = torch.arange(constants + min(2, now.results.shape[1]), device=device) + notation.constants
        return torch.cat([quantities, others])

    def _deduced(self, now: Quantities, columns: Tensor) -> Quantities:
        """Take one step per row; rows whose column is a leaf or the end become meaningless."""
        there, notation = self._candidates(now), self.columns
        left, right, operator, _ = notation.steps(columns.clamp(max=notation.first_leaf - 1))
        beyond = notation.constants - (now.leaves.shape[1] - len(self.constants))  # places that no row has
        most = there.states.shape[1] - 1
        left, right = ((p - beyond * (p >= notation.constants)).clamp(max=most) for p in (left, right))
        (left_state, left_facts), (right_state, right_facts) = there.at(left), there.at(right)
        features = self._features(left_facts, right_facts, now) if self.settings.values else None
        halves = [self.halves(self.dropout(state)) for state in (left_state, right_state)]
        pair = self._pairs(halves[0], halves[1], now, features)  # (rows, pair)
        result = self.settle(self.result(pair) + self.operators[operator])  # (rows, hidden)
        value = value_of_step(left_facts[:, 0], right_facts[:, 0], operator)
        # Every quantity is updated by the result (the paper's rationalizer).
        known = torch.cat([now.leaves, now.results], 1)
        told = result.unsqueeze(1).expand_as(known)
        known = self.update(told.flatten(0, 1), known.flatten(0, 1)).view(known.shape)
        count = now.leaves.shape[1]
        place = torch.arange(count, device=left.device)
        is_operand = (place == left.unsqueeze(1)) | (place == right.unsqueeze(1))
        uses = (left >= count).long() + (right >= count).long()
        height = now.height - uses + 1
        results, values = _pushed(known[:, count:], now.result_values, result, value, uses)
        depth = int(height.max())
        return replace(
            now,
            leaves=known[:, :count],
            used=now.used | is_operand,
            results=results[:, :depth],
            result_values=values[:, :depth],
            height=height,
        )

    # --- training and decoding ---

    def target_logits(self, memory: Quantities, batch: Batch) -> Tensor:
        now, rows = memory, torch.arange(len(batch.targets), device=batch.targets.device)
        logits, places = [], []
        steps = batch.targets.shape[1]
        for step in range(steps):
            logits.append(self._logits(now))
            places.append(rows * steps + step)
            if step + 1 < steps:  # only unfinished problems go on
                goes_on = (batch.targets[rows, step + 1] >= 0).nonzero().squeeze(1)
                rows = rows[goes_on]
                now = self._deduced(now.of(goes_on), batch.targets[rows, step])
        whole = logits[0].new_zeros(len(batch.targets) * steps, self.columns.count)
        return whole.index_copy(0, torch.cat(places), torch.cat(logits)).view(*batch.targets.shape, -1)

    def start(self, memory: Quantities, beam: int) -> Quantities:
        return memory.of(torch.arange(len(memory.height), device=memory.height.device).repeat_interleave(beam))

    def next_logits(self, state: Quantities) -> Tensor:
        return self._logits(state)

    def advance(self, state: Quantities, rows: Tensor, tokens: Tensor) -> Quantities:
        return self._deduced(state.of(rows), tokens)


def _pushed(results: Tensor, values: Tensor, result: Tensor, value: Tensor, taken: Tensor) -> tuple[Tensor, Tensor]:
    """The results after a step that used up the latest `taken` (rows): states (rows, depth + 1, hidden), and values."""
    depth = results.shape[1]
    if depth:
        place = (torch.arange(depth, device=taken.device) + taken.unsqueeze(1)).clamp(max=depth - 1)
        values = values.gather(1, place)
        results = results.gather(1, place.unsqueeze(-1).expand_as(results))
    return torch.cat([result.unsqueeze(1), results], 1), torch.cat([value.unsqueeze(1), values], 1)
