"""GTS, the goal-driven tree-structured solver (Xie and Sun 2019), batched over whole forests.

Names follow the paper: a goal q, its context c, the embedding e(y|P) of a token, left and right sub-goals q_l and q_r,
and the embedding t of a finished subtree. In training the trees are known and t depends only on tokens. So all subtrees
are embedded bottom up, one height at a time, and then all goals are unfolded top down, one depth at a time: few, large
steps for a whole batch. In decoding every row keeps a stack of operators that wait for their right sub-goal.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from torch import Tensor, nn

from comdiv.solvers.alphabet import Notation
from comdiv.solvers.batches import Batch
from comdiv.solvers.encoders import EncoderDecoder, quantity_states
from comdiv.solvers.hyperparameters import GtsSettings, SolverSettings
from comdiv.solvers.inputs import NumberInput
from comdiv.solvers.model import Sizes
from comdiv.solvers.recurrent import attend, attention_weights


@dataclass(frozen=True, slots=True)
class GtsMemory:
    """What the decoder gets from a batch's texts; the halves of projections that do not depend on a goal are cached."""

    states: Tensor  # (batch, words, hidden)
    mask: Tensor  # (batch, words)
    attention_half: Tensor  # (batch, words, hidden): W_a over the words
    root: Tensor  # (batch, hidden): the first goal q_0
    tokens: Tensor  # (batch, columns, hidden): e(y|P)
    score_half: Tensor  # (batch, columns, hidden): W_s over the tokens
    has_token: Tensor  # (batch, columns): False for quantities that a problem does not have

    def of(self, problem: Tensor) -> "GtsMemory":
        """The memory of these problems, in this order."""
        return GtsMemory(*(getattr(self, field.name)[problem] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class GtsState:
    """One row per hypothesis, `beam` rows per problem: its goal and context, and the operators on its stack.

    A frame of the stack is an operator: its right sub-goal's beginning h_r, its embedding, and, once the left subtree
    is finished (`has_left`), that subtree's embedding t_l.
    """

    goal: Tensor  # (rows, hidden)
    context: Tensor  # (rows, hidden)
    logits: Tensor  # (rows, columns)
    height: Tensor  # (rows): frames in use
    right: Tensor  # (rows, frames, hidden)
    operator: Tensor  # (rows, frames, hidden)
    left: Tensor  # (rows, frames, hidden)
    has_left: Tensor  # (rows, frames)
    beam: int
    memory: GtsMemory  # of the unsolved problems


class Gate(nn.Module):
    """σ(W_g x) ⊙ tanh(W x): the layer for goals and subtree embeddings."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.both = nn.Linear(inputs, 2 * outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        gate, value = self.both(inputs).chunk(2, dim=-1)
        return torch.sigmoid(gate) * torch.tanh(value)


class Gts(EncoderDecoder):
    """Bidirectional GRU encoder, goal-driven tree decoder."""

    notation: ClassVar[Notation] = "prefix"
    numbers: ClassVar[NumberInput] = "masked"
    own_encoder: ClassVar[str] = "gru"
    settings_class: ClassVar[type[SolverSettings]] = GtsSettings

    def __init__(self, settings: GtsSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        hidden = self.encoder.width
        self.dropout = nn.Dropout(settings.dropout)
        self.symbols = nn.Parameter(torch.randn(sizes.alphabet.first_copy, hidden))  # M_op and M_con
        self.attention_goal, self.attention_word = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)
        self.attention_out = nn.Linear(hidden, 1, bias=False)
        self.score_goal, self.score_token = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, hidden, bias=False)
        self.score_out = nn.Linear(hidden, 1, bias=False)
        self.left_begin, self.left_goal = Gate(3 * hidden, hidden), Gate(hidden, hidden)
        self.right_begin, self.right_goal = Gate(3 * hidden, hidden), Gate(2 * hidden, hidden)
        self.merge = Gate(3 * hidden, hidden)

    def encode(self, batch: Batch) -> GtsMemory:
        text = self.encoder(batch)
        quantities = quantity_states(text, batch)  # (batch, quantities, hidden)
        tokens = torch.cat([self.symbols.expand(len(quantities), -1, -1), quantities], 1)
        count = torch.arange(batch.quantity_positions.shape[1], device=tokens.device)
        has_quantity = count < batch.quantity_counts.unsqueeze(1)
        symbols = torch.ones(len(quantities), len(self.symbols), dtype=torch.bool, device=tokens.device)
        return GtsMemory(
            states=text.states,
            mask=text.mask,
            attention_half=self.attention_word(text.states),
            root=text.summary,  # of the GRU: the sum of the top layer's last states in both directions
            tokens=tokens,
            score_half=self.score_token(self.dropout(tokens)),
            has_token=torch.cat([symbols, has_quantity], 1),
        )

    # --- the formulas of the paper ---

    def _context(self, goals: Tensor, memory: GtsMemory) -> Tensor:
        """c: attention of goals (batch, goals, hidden) over the words of their problems."""
        return attend(self._attention_scores(goals, memory), memory.mask.unsqueeze(1), memory.states)

    def _attention_scores(self, goals: Tensor, memory: GtsMemory) -> Tensor:
        """The attention scores of goals (batch, goals, hidden) for each word: (batch, goals, words)."""
        query = self.attention_goal(self.dropout(goals)).unsqueeze(2)
        scores: Tensor = self.attention_out((query + memory.attention_half.unsqueeze(1)).tanh_()).squeeze(-1)
        return scores

    def _scores(self, goals: Tensor, contexts: Tensor, memory: GtsMemory) -> Tensor:
        """s(y|q, c, P) for every token: (batch, goals, columns)."""
        query = self.score_goal(self.dropout(torch.cat([goals, contexts], -1))).unsqueeze(2)
        scores: Tensor = self.score_out((query + memory.score_half.unsqueeze(1)).tanh_()).squeeze(-1)
        return scores.masked_fill(~memory.has_token.unsqueeze(1), float("-inf"))

    def _subgoals(self, goals: Tensor, contexts: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The left sub-goal q_l, and the beginning h_r of the right one, which waits for the left subtree."""
        inputs = self.dropout(torch.cat([goals, contexts, tokens], -1))
        return self.left_goal(self.left_begin(inputs)), self.right_begin(inputs)

    def _right_goal(self, beginning: Tensor, left_subtree: Tensor) -> Tensor:
        """q_r from h_r and t_l."""
        goal: Tensor = self.right_goal(self.dropout(torch.cat([beginning, left_subtree], -1)))
        return goal

    def _merged(self, left: Tensor, right: Tensor, operator: Tensor) -> Tensor:
        """t of a subtree from its halves and its operator."""
        subtree: Tensor = self.merge(self.dropout(torch.cat([left, right, operator], -1)))
        return subtree

    # --- training: whole forests, level by level ---

    def target_logits(self, memory: GtsMemory, batch: Batch) -> Tensor:
        def scores(goals: Tensor, contexts: Tensor, level_memory: GtsMemory) -> Tensor:
            return self._scores(goals, contexts, level_memory)

        return self._for_every_goal(memory, batch, scores)

    def attention(self, memory: GtsMemory, batch: Batch) -> Tensor:
        def weights(goals: Tensor, contexts: Tensor, level_memory: GtsMemory) -> Tensor:
            return attention_weights(self._attention_scores(goals, level_memory), level_memory.mask.unsqueeze(1))

        return self._for_every_goal(memory, batch, weights)

    def _for_every_goal(
        self, memory: GtsMemory, batch: Batch, compute: Callable[[Tensor, Tensor, GtsMemory], Tensor]
    ) -> Tensor:
        """The result of a function for every goal with its context and memory, in the order of the targets' tokens.

        goals and contexts (nodes, 1, hidden) → (nodes, 1, values); all of them → (batch, tokens, values).
        """
        trees = batch.trees
        if trees is None:
            raise ValueError("a batch without trees has no targets")
        tokens = memory.tokens[trees.problem, batch.targets[trees.problem, trees.position]]  # (nodes, hidden)
        subtrees = tokens
        for nodes in trees.heights:  # bottom up
            merged = self._merged(subtrees[trees.left[nodes]], subtrees[trees.right[nodes]], tokens[nodes])
            subtrees = subtrees.index_copy(0, nodes, merged)
        goals, level_memory = memory.root, memory
        level_values = []
        for nodes, operators in zip(trees.levels, trees.operators, strict=True):  # top down
            if nodes is not trees.levels[0]:  # the roots are in the order of the memory
                level_memory = memory.of(trees.problem[nodes])
            contexts = self._context(goals.unsqueeze(1), level_memory)
            level_values.append(compute(goals.unsqueeze(1), contexts, level_memory).squeeze(1))
            contexts = contexts.squeeze(1)
            if len(operators):
                inner = nodes[operators]
                left, beginning = self._subgoals(goals[operators], contexts[operators], tokens[inner])
                right = self._right_goal(beginning, subtrees[trees.left[inner]])
                goals = torch.cat([left, right])
        order = torch.cat(trees.levels)
        values = torch.cat(level_values)  # (nodes, values), in the order of levels
        ordered = values.new_zeros(*batch.targets.shape, values.shape[-1])
        return ordered.index_put((trees.problem[order], trees.position[order]), values)

    # --- decoding: one token per row and step ---

    def start(self, memory: GtsMemory, beam: int) -> GtsState:
        context, logits = self._decided(memory.root, memory)
        goal = memory.root.repeat_interleave(beam, 0)
        rows, hidden = goal.shape
        empty = goal.new_zeros(rows, 4, hidden)  # grows for deeper trees
        return GtsState(
            goal=goal,
            context=context.repeat_interleave(beam, 0),
            logits=logits.repeat_interleave(beam, 0),
            height=torch.zeros(rows, dtype=torch.long, device=goal.device),
            right=empty,
            operator=empty,
            left=empty,
            has_left=torch.zeros(rows, 4, dtype=torch.bool, device=goal.device),
            beam=beam,
            memory=memory,
        )

    def next_logits(self, state: GtsState) -> Tensor:
        return state.logits

    def _decided(self, goals: Tensor, memory: GtsMemory) -> tuple[Tensor, Tensor]:
        """Contexts and logits of goals (rows, hidden), with equally many rows for each problem of the memory."""
        grouped = goals.view(len(memory.root), -1, goals.shape[-1])
        contexts = self._context(grouped, memory)
        return contexts.flatten(0, 1), self._scores(grouped, contexts, memory).flatten(0, 1)

    def advance(self, state: GtsState, rows: Tensor, tokens: Tensor) -> GtsState:
        alphabet, memory, beam = self.sizes.alphabet, state.memory, state.beam
        if len(rows) < len(state.goal):  # some problems are solved
            memory = memory.of(rows[::beam] // beam)
        goal, context, height = state.goal[rows], state.context[rows], state.height[rows]
        right, operator, left = state.right[rows], state.operator[rows], state.left[rows]
        has_left = state.has_left[rows]
        problem = torch.arange(len(memory.root), device=rows.device).repeat_interleave(beam)
        embedded = memory.tokens[problem, tokens]  # (rows, hidden)
        is_operator = (tokens >= alphabet.first_operator) & (tokens <= alphabet.last_operator)
        if bool(is_operator.any()) and int(height.max()) == right.shape[1]:
            right, operator, left = (
                torch.cat([frames, torch.zeros_like(frames)], 1) for frames in (right, operator, left)
            )
            has_left = torch.cat([has_left, torch.zeros_like(has_left)], 1)
        # An operator is pushed, and its left sub-goal comes next.
        pushed = is_operator.nonzero().squeeze(1)
        left_goal, beginning = self._subgoals(goal[pushed], context[pushed], embedded[pushed])
        right[pushed, height[pushed]] = beginning
        operator[pushed, height[pushed]] = embedded[pushed]
        has_left[pushed, height[pushed]] = False
        next_goal = goal.index_copy(0, pushed, left_goal)
        height[pushed] += 1
        # An operand finishes a subtree; as long as it is the right half of the operator on top, it is merged.
        subtree = embedded
        open_rows = (~is_operator & (height > 0)).nonzero().squeeze(1)
        while len(open_rows):
            top = height[open_rows] - 1
            complete = has_left[open_rows, top]
            waiting, done = open_rows[~complete], open_rows[complete]
            left[waiting, height[waiting] - 1] = subtree[waiting]
            has_left[waiting, height[waiting] - 1] = True
            begun = right[waiting, height[waiting] - 1]
            next_goal = next_goal.index_copy(0, waiting, self._right_goal(begun, subtree[waiting]))
            top = height[done] - 1
            merged = self._merged(left[done, top], subtree[done], operator[done, top])
            subtree = subtree.index_copy(0, done, merged)
            height[done] -= 1
            open_rows = done[height[done] > 0]
        context, logits = self._decided(next_goal, memory)
        return GtsState(
            goal=next_goal,
            context=context,
            logits=logits,
            height=height,
            right=right,
            operator=operator,
            left=left,
            has_left=has_left,
            beam=beam,
            memory=memory,
        )
