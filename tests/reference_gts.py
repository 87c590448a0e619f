"""GTS for one problem at a time, as a reader of the paper would write it (Xie and Sun 2019).

It shares the weights and the encoder of our `Gts` and nothing else: the tree grows by recursion, hypotheses carry
plain Python stacks, and the grammar is counted by hand. Tests hold the batched model against it, and
`benchmarks/solvers.py` measures how much the batches save. Within a problem it is vectorised: over words, over
tokens, and, unless told otherwise, over the hypotheses of a step; the published code takes them one by one.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from comdiv.solvers.alphabet import CLOSE, END, OPEN
from comdiv.solvers.batches import Batch, collate
from comdiv.solvers.beam import TokenSequence
from comdiv.solvers.gts import Gts
from comdiv.solvers.inputs import Example


@dataclass(frozen=True)
class Text:
    """What the encoder says of one problem."""

    states: Tensor  # (words, hidden)
    attention_half: Tensor  # (words, hidden)
    root: Tensor  # (hidden)
    tokens: Tensor  # (columns, hidden): symbols, then the problem's quantities
    score_half: Tensor  # (columns, hidden)


@dataclass(frozen=True)
class Frame:
    """An operator that waits for its operands."""

    operator: Tensor
    right_begin: Tensor
    left: Tensor | None = None


@dataclass(frozen=True)
class Growing:
    """A hypothesis: its tokens, the goal that comes next (None when the tree is complete), and its open operators."""

    tokens: tuple[int, ...]
    log_probability: float
    goal: Tensor | None
    stack: tuple[Frame, ...] = ()


class ReferenceGts:
    """The decoder of a `Gts`, one problem at a time."""

    def __init__(self, model: Gts, *, hypotheses_together: bool = True) -> None:
        self.model = model
        self.hypotheses_together = hypotheses_together
        alphabet = model.sizes.alphabet
        self.operators = range(alphabet.first_operator, alphabet.last_operator + 1)
        self.first_copy = alphabet.first_copy
        self.never = {alphabet.index[token] for token in (END, OPEN, CLOSE)}

    # --- reading ---

    def read(self, example: Example) -> Text:
        """The encoder on a batch of one."""
        return self.texts(collate([example], self.model.symbols.device))[0]

    def texts(self, batch: Batch) -> list[Text]:
        """The encoder on a batch, cut into problems."""
        model, read, texts = self.model, self.model.encoder(batch), []
        for row, length in enumerate(batch.lengths.tolist()):
            states = read.states[row, :length]
            places = batch.quantity_positions[row, : int(batch.quantity_counts[row])]
            tokens = torch.cat([model.symbols, states[places]])
            score_half = model.score_token(model.dropout(tokens))
            texts.append(Text(states, model.attention_word(states), read.last[-1][row], tokens, score_half))
        return texts

    # --- the formulas, for goals (goals, hidden) of one problem ---

    def contexts(self, goals: Tensor, text: Text) -> Tensor:
        query = self.model.attention_goal(self.model.dropout(goals)).unsqueeze(1)
        scores = self.model.attention_out(torch.tanh(query + text.attention_half)).squeeze(-1)  # (goals, words)
        return scores.softmax(-1) @ text.states

    def scores(self, goals: Tensor, contexts: Tensor, text: Text) -> Tensor:
        query = self.model.score_goal(self.model.dropout(torch.cat([goals, contexts], -1))).unsqueeze(1)
        return self.model.score_out(torch.tanh(query + text.score_half)).squeeze(-1)  # (goals, columns)

    def opened(self, goal: Tensor, context: Tensor, operator: Tensor) -> tuple[Tensor, Tensor]:
        inputs = self.model.dropout(torch.cat([goal, context, operator]))
        return self.model.left_goal(self.model.left_begin(inputs)), self.model.right_begin(inputs)

    def right_goal(self, beginning: Tensor, left: Tensor) -> Tensor:
        return self.model.right_goal(self.model.dropout(torch.cat([beginning, left])))

    def merged(self, left: Tensor, right: Tensor, operator: Tensor) -> Tensor:
        return self.model.merge(self.model.dropout(torch.cat([left, right, operator])))

    # --- training ---

    def target_logits(self, text: Text, target: list[int]) -> Tensor:
        """The logits at every node of the target's tree, in prefix order: (nodes, columns)."""
        logits: list[Tensor] = []

        def grow(goal: Tensor) -> Tensor:
            """Unfold a goal by the target's next token; the embedding of the finished subtree."""
            context = self.contexts(goal.unsqueeze(0), text)
            logits.append(self.scores(goal.unsqueeze(0), context, text))
            token = target[len(logits) - 1]
            if token not in self.operators:
                return text.tokens[token]
            left_goal, right_begin = self.opened(goal, context.squeeze(0), text.tokens[token])
            left = grow(left_goal)
            right = grow(self.right_goal(right_begin, left))
            return self.merged(left, right, text.tokens[token])

        grow(text.root)
        return torch.cat(logits)

    def loss(self, batch: Batch) -> Tensor:
        """The mean loss over the tokens of a batch, problem after problem."""
        losses, count = [], 0
        for text, row in zip(self.texts(batch), batch.targets, strict=True):
            target = row[row >= 0]
            logits = self.target_logits(text, target.tolist())
            losses.append(functional.cross_entropy(logits, target, reduction="sum"))
            count += len(target)
        return torch.stack(losses).sum() / count

    # --- solving ---

    @torch.no_grad()
    def solve(self, example: Example, beam: int, most_tokens: int, *, cover: bool = False) -> list[TokenSequence]:
        """Beam search, with the greedy path added where the beam lost it."""
        text = self.read(example)
        found = self.beam_search(text, beam, most_tokens, cover=cover)
        if beam > 1:
            greedy = self.beam_search(text, 1, most_tokens, cover=cover)
            known = {one.tokens for one in found}
            found = sorted(found + [one for one in greedy if one.tokens not in known], key=lambda f: -f.log_probability)
        return found[:beam]

    def beam_search(self, text: Text, beam: int, most_tokens: int, *, cover: bool) -> list[TokenSequence]:
        kept = [Growing((), 0.0, text.root)]
        for _ in range(most_tokens):
            growing = [one for one in kept if one.goal is not None]
            if not growing:
                break
            goals = torch.stack([one.goal for one in growing if one.goal is not None])
            groups = [goals] if self.hypotheses_together else goals.split(1)
            contexts = torch.cat([self.contexts(group, text) for group in groups])
            pairs = zip(groups, contexts.split([len(group) for group in groups]), strict=True)
            scores = torch.cat([self.scores(group, context, text) for group, context in pairs])
            masks = [self.allowed(one, len(text.tokens), most_tokens, cover=cover) for one in growing]
            scores = scores.masked_fill(~torch.tensor(masks), float("-inf"))
            totals = scores.log_softmax(-1) + torch.tensor([[one.log_probability] for one in growing])
            best, places = totals.nan_to_num(nan=float("-inf")).flatten().topk(min(beam, totals.numel()))
            candidates: list[tuple[float, Growing, Tensor | None, int]] = [
                (one.log_probability, one, None, -1) for one in kept if one.goal is None
            ]
            for total, place in zip(best.tolist(), places.tolist(), strict=True):
                row, token = divmod(place, totals.shape[1])
                if total > float("-inf"):
                    candidates.append((total, growing[row], contexts[row], token))
            candidates.sort(key=lambda candidate: -candidate[0])
            kept = [
                one if context is None else self.grown(replace(one, log_probability=total), context, token, text)
                for total, one, context, token in candidates[:beam]
            ]
        return [TokenSequence(one.tokens, one.log_probability) for one in kept if one.goal is None]

    def grown(self, one: Growing, context: Tensor, token: int, text: Text) -> Growing:
        """A hypothesis with one more token: an operator opens a frame, an operand closes as many as it completes."""
        tokens, embedded = (*one.tokens, token), text.tokens[token]
        assert one.goal is not None
        if token in self.operators:
            left_goal, right_begin = self.opened(one.goal, context, embedded)
            return Growing(tokens, one.log_probability, left_goal, (*one.stack, Frame(embedded, right_begin)))
        stack, subtree = list(one.stack), embedded
        while stack:
            frame = stack.pop()
            if frame.left is None:
                goal = self.right_goal(frame.right_begin, subtree)
                return Growing(tokens, one.log_probability, goal, (*stack, replace(frame, left=subtree)))
            subtree = self.merged(frame.left, subtree, frame.operator)
        return Growing(tokens, one.log_probability, None)

    def allowed(self, one: Growing, columns: int, most_tokens: int, *, cover: bool) -> list[bool]:
        """Which tokens may come next: the tree must fit, and with `cover` use every quantity once."""
        pending = 1 + sum(1 if token in self.operators else -1 for token in one.tokens)
        room = most_tokens - len(one.tokens) - 1
        missing = set(range(self.first_copy, columns)) - set(one.tokens) if cover else set()

        def fits(token: int) -> bool:
            if token in self.never or (cover and token >= self.first_copy and token not in missing):
                return False
            open_after, left = pending + (1 if token in self.operators else -1), len(missing - {token})
            # Every open place takes a token; each quantity beyond them needs an operator besides.
            needed = open_after + 2 * max(0, left - open_after)
            return needed <= room and (open_after > 0 or left == 0)

        return [fits(token) for token in range(columns)]
