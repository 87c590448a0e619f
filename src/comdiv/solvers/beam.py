"""Beam search for any model, over all problems of a batch at once."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from comdiv.solvers import grammar
from comdiv.solvers.batches import Batch
from comdiv.solvers.model import Model

_IMPOSSIBLE = float("-inf")


@dataclass(frozen=True, slots=True)
class Found:
    """A finished sequence of tokens with its log-probability."""

    tokens: tuple[int, ...]
    log_probability: float


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities of the distribution renormalised over what is allowed; −inf elsewhere."""
    logits = logits.masked_fill(~mask, _IMPOSSIBLE)
    return torch.where(mask, logits.log_softmax(-1), logits)


@torch.no_grad()
def beam_search(model: Model, memory: Any, batch: Batch, rules: grammar.Rules, beam: int) -> list[list[Found]]:
    """The best finished sequences of every problem, best first; at most `beam` each, none where nothing could end.

    A hypothesis that has ended keeps its place in the beam with its probability, so that it competes with longer ones.
    """
    problems = len(batch.ids)
    rows = problems * beam
    device = batch.words.device
    state = model.start(memory, beam)
    counts = batch.quantity_counts.repeat_interleave(beam)
    columns = model.next_logits(state).shape[1]
    syntax = grammar.start(rules, counts.clamp(max=columns - rules.alphabet.first_copy), columns)
    scores = torch.full((problems, beam), _IMPOSSIBLE, device=device)
    scores[:, 0] = 0.0  # all rows are equal at first: only one of them counts
    history = torch.zeros(rows, 0, dtype=torch.long, device=device)
    base = (torch.arange(problems, device=device) * beam).unsqueeze(1)  # (problems, 1)
    for _ in range(rules.most_tokens):
        mask = grammar.allowed(rules, syntax, columns)
        steps = masked_log_softmax(model.next_logits(state), mask)  # (rows, columns)
        # A finished row has one continuation: itself, spelled with the end token and at no cost.
        steps = steps.masked_fill(syntax.finished.unsqueeze(1), _IMPOSSIBLE)
        steps[:, rules.end] = torch.where(syntax.finished, 0.0, steps[:, rules.end])
        totals = (scores.view(rows, 1) + steps).view(problems, beam * columns)
        scores, chosen = totals.topk(beam, dim=1)  # (problems, beam)
        parents = (base + chosen // columns).view(rows)
        tokens = (chosen % columns).view(rows)
        history = torch.cat([history[parents], tokens.unsqueeze(1)], dim=1)
        before = syntax.reordered(parents)
        syntax = grammar.advance(rules, before, tokens)
        if bool((syntax.finished | (scores.view(rows) == _IMPOSSIBLE)).all()):
            break
        state = model.advance(state, parents, tokens)
    return _collect(history.view(problems, beam, -1), scores, syntax.finished.view(problems, beam), rules)


def _collect(history: Tensor, scores: Tensor, finished: Tensor, rules: grammar.Rules) -> list[list[Found]]:
    """Finished hypotheses as plain lists; without the grammar, unfinished ones count, too: they are ill-formed."""
    kept = (finished | torch.tensor(not rules.constrained, device=finished.device)) & (scores > _IMPOSSIBLE)
    sequences, values, keeps = history.tolist(), scores.tolist(), kept.tolist()
    results: list[list[Found]] = []
    for problem_sequences, problem_values, problem_keeps in zip(sequences, values, keeps, strict=True):
        found = [
            Found(_trimmed(tokens, rules.end), value)
            for tokens, value, keep in zip(problem_sequences, problem_values, problem_keeps, strict=True)
            if keep
        ]
        results.append(found)
    return results


def _trimmed(tokens: list[int], end: int) -> tuple[int, ...]:
    return tuple(tokens[: tokens.index(end)]) if end in tokens else tuple(tokens)


@torch.no_grad()
def search(model: Model, memory: Any, batch: Batch, rules: grammar.Rules, beam: int) -> list[list[Found]]:
    """Beam search that never does worse than following the best token: a beam may lose that path, so it is added."""
    found = beam_search(model, memory, batch, rules, beam)
    if beam == 1:
        return found
    greedy = beam_search(model, memory, batch, rules, 1)
    return [_with(hypotheses, single, beam) for hypotheses, single in zip(found, greedy, strict=True)]


def _with(hypotheses: list[Found], greedy: list[Found], beam: int) -> list[Found]:
    new = [one for one in greedy if all(one.tokens != other.tokens for other in hypotheses)]
    return sorted([*hypotheses, *new], key=lambda found: -found.log_probability)[:beam]
