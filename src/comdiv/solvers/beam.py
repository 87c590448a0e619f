"""Beam search for any model, over all problems of a batch at once, and a bonus for using every quantity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from comdiv.expression import used_quantities
from comdiv.reading import Reading
from comdiv.solver import Hypothesis, Solution, solution_of
from comdiv.solvers.batches import Batch
from comdiv.solvers.grammar import DecodingRules
from comdiv.solvers.model import Model

BONUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)  # candidates for `learn_bonus`
_IMPOSSIBLE = float("-inf")


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """A finished sequence of tokens with its log-probability."""

    tokens: tuple[int, ...]
    log_probability: float


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities renormalised over the allowed columns; −inf elsewhere."""
    logits = logits.masked_fill(~mask, _IMPOSSIBLE)
    return torch.where(mask, logits.log_softmax(-1), logits)


@torch.no_grad()
def beam_search(model: Model, memory: Any, batch: Batch, rules: DecodingRules, beam: int) -> list[list[TokenSequence]]:
    """The best finished sequences of every problem, best first: at most `beam`, none if no hypothesis could end.

    A finished hypothesis keeps its place and probability in the beam, so that it competes with longer ones. Without
    the grammar, hypotheses cut off at the maximum length are returned, too; they are ill-formed. A problem whose whole
    beam has finished leaves the batch.
    """
    device = batch.words.device
    state = model.start(memory, beam)
    logits = model.next_logits(state)  # (rows, columns)
    columns = logits.shape[1]
    syntax = rules.start(batch.quantity_counts.repeat_interleave(beam), columns)
    results: list[list[TokenSequence]] = [[] for _ in batch.ids]
    places = torch.arange(len(batch.ids), device=device)  # of the problems not yet solved
    scores = torch.full((len(places), beam), _IMPOSSIBLE, device=device)
    scores[:, 0] = 0.0  # all rows are equal at first, so only one of them counts
    history = torch.zeros(len(places) * beam, 0, dtype=torch.long, device=device)
    for step in range(rules.most_steps):
        steps = masked_log_softmax(logits, rules.allowed(syntax, columns))  # (rows, columns)
        # A finished row has one continuation: itself, by the end token and at no cost.
        steps = steps.masked_fill(syntax.finished.unsqueeze(1), _IMPOSSIBLE)
        steps[:, rules.end] = torch.where(syntax.finished, 0.0, steps[:, rules.end])
        totals = (scores.view(-1, 1) + steps).view(len(places), beam * columns)
        scores, chosen = totals.topk(beam, dim=1)  # (problems, beam)
        base = torch.arange(len(places), device=device).unsqueeze(1) * beam
        parents, tokens = (base + chosen // columns).view(-1), (chosen % columns).view(-1)
        history = torch.cat([history[parents], tokens.unsqueeze(1)], dim=1)
        syntax = rules.advance(syntax.reordered(parents), tokens)
        finished = syntax.finished.view(scores.shape)
        done = (finished | (scores == _IMPOSSIBLE)).all(1)  # (problems)
        if step + 1 == rules.most_steps:
            done = torch.ones_like(done)
        if bool(done.any()):
            kept = (finished | torch.tensor(not rules.constrained, device=device)) & (scores > _IMPOSSIBLE)
            sequences = history.view(*scores.shape, -1)
            _collect(results, places[done], sequences[done], scores[done], kept[done], rules)
            rows = (~done).repeat_interleave(beam).nonzero().squeeze(1)
            if not len(rows):
                break
            places, scores, history, syntax = places[~done], scores[~done], history[rows], syntax.reordered(rows)
            parents, tokens = parents[rows], tokens[rows]
        state = model.advance(state, parents, tokens)
        logits = model.next_logits(state)
    return results


def _collect(
    results: list[list[TokenSequence]],
    places: Tensor,
    sequences: Tensor,
    scores: Tensor,
    kept: Tensor,
    rules: DecodingRules,
) -> None:
    """Record the `kept` hypotheses of solved problems: sequences (problems, beam, tokens)."""
    columns = (places.tolist(), sequences.tolist(), scores.tolist(), kept.tolist())
    for place, problem_sequences, problem_scores, problem_kept in zip(*columns, strict=True):
        rows = zip(problem_sequences, problem_scores, problem_kept, strict=True)
        results[place] = [TokenSequence(rules.tokens(tokens), score) for tokens, score, keep in rows if keep]


@torch.no_grad()
def search(model: Model, memory: Any, batch: Batch, rules: DecodingRules, beam: int) -> list[list[TokenSequence]]:
    """Beam search plus the greedy path, which a beam may lose, so that the result is never worse than greedy search."""
    sequences = beam_search(model, memory, batch, rules, beam)
    if beam == 1:
        return sequences
    greedy = beam_search(model, memory, batch, rules, 1)
    return [_with(hypotheses, single, beam) for hypotheses, single in zip(sequences, greedy, strict=True)]


def _with(hypotheses: list[TokenSequence], greedy: list[TokenSequence], beam: int) -> list[TokenSequence]:
    new = [one for one in greedy if all(one.tokens != other.tokens for other in hypotheses)]
    return sorted([*hypotheses, *new], key=lambda sequence: -sequence.log_probability)[:beam]


# --- the soft coverage constraint ---
# Hypotheses that use every number get a bonus in log-probability, chosen on validation problems. Texts have numbers
# that are not needed, so the bonus may well be 0. The hard constraint is part of the grammar.


def with_bonus(hypotheses: Sequence[Hypothesis], quantities: int, bonus: float) -> list[Hypothesis]:
    """The hypotheses by log-probability, plus the bonus if all `quantities` are used; best first."""

    def worth(hypothesis: Hypothesis) -> float:
        expression = hypothesis.expression
        covers = expression is not None and used_quantities(expression) == list(range(quantities))
        return hypothesis.log_probability + bonus * covers

    return sorted(hypotheses, key=worth, reverse=True)


def learn_bonus(readings: Sequence[Reading], solutions: Sequence[Solution], quantities: Sequence[int]) -> float:
    """The bonus with the most right answers, given a beam for each problem; on a tie, the smallest."""

    def right(bonus: float) -> int:
        return sum(
            is_right(reading, solution_of(reading, with_bonus(solution.hypotheses, count, bonus)))
            for reading, solution, count in zip(readings, solutions, quantities, strict=True)
        )

    return max(BONUSES, key=lambda bonus: (right(bonus), -bonus))


def is_right(reading: Reading, solution: Solution) -> bool:
    """Whether a solution's answer is the problem's, compared as in scoring; a problem without an answer has none."""
    answer = solution.answer
    return answer is not None and reading.problem.answer is not None and reading.accepts(answer)
