"""Beam search, held against the search through everything."""

import math
import random
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from comdiv.solvers import grammar
from comdiv.solvers.alphabet import END, Alphabet, Notation
from comdiv.solvers.batches import Batch, collate
from comdiv.solvers.beam import TokenSequence, beam_search, masked_log_softmax, search
from comdiv.solvers.inputs import Example, NumberInput, Vocabulary
from comdiv.solvers.model import Model, Sizes
from solvers.tiny import tiny_settings

ALPHABET = Alphabet(("1",), 1)
PLUS, ONE, COPY = ALPHABET.index["+"], ALPHABET.index["1"], ALPHABET.first_copy
CPU = torch.device("cpu")
IMPROBABLE = -1e6  # a token that the model does not know


@dataclass(frozen=True)
class Written:
    """What each row has written, for which problem."""

    problems: tuple[int, ...]
    tokens: tuple[tuple[int, ...], ...]


class RandomModel(Model):
    """Logits drawn at random for every beginning of every problem; `tokens` have a chance, all others hardly any."""

    notation: ClassVar[Notation] = "prefix"
    numbers: ClassVar[NumberInput] = "masked"
    tokens: tuple[int, ...] = (PLUS, ONE, COPY)
    peak = 3.0

    def encode(self, batch: Batch) -> tuple[int, ...]:
        return tuple(int(name) for name in batch.ids)

    def target_logits(self, memory: Any, batch: Batch) -> Tensor:
        raise NotImplementedError

    def start(self, memory: tuple[int, ...], beam: int) -> Written:
        problems = tuple(problem for problem in memory for _ in range(beam))
        return Written(problems, ((),) * len(problems))

    def next_logits(self, state: Written) -> Tensor:
        return torch.tensor([self.logits(p, t) for p, t in zip(state.problems, state.tokens, strict=True)])

    def advance(self, state: Written, rows: Tensor, tokens: Tensor) -> Written:
        pairs = list(zip(rows.tolist(), tokens.tolist(), strict=True))
        return Written(
            tuple(state.problems[row] for row, _ in pairs), tuple((*state.tokens[row], token) for row, token in pairs)
        )

    def logits(self, problem: int, written: tuple[int, ...]) -> list[float]:
        source = random.Random(f"{problem} {written}")
        drawn = [source.uniform(-self.peak, self.peak) for _ in range(ALPHABET.size)]
        return [value if token in self.tokens else -1e9 for token, value in enumerate(drawn)]


class RandomInfix(RandomModel):
    notation: ClassVar[Notation] = "infix"
    tokens = (ALPHABET.index[END], PLUS, COPY)


class RandomPostfix(RandomInfix):
    notation: ClassVar[Notation] = "postfix"


MODELS = (RandomModel, RandomInfix, RandomPostfix)


def made(kind: type[RandomModel]) -> RandomModel:
    return kind(tiny_settings(), Sizes(Vocabulary(("<pad>", "<unk>")), ALPHABET))


def batch_of(problems: int) -> Batch:
    zero, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    return collate([Example(str(n), one, zero, None, None) for n in range(problems)], CPU)


def found_by(
    kind: type[RandomModel], most: int, beam: int, problems: int = 20, **options: bool
) -> list[list[TokenSequence]]:
    model, batch = made(kind), batch_of(problems)
    rules = grammar.Rules(kind.notation, ALPHABET, most, **options)
    found = search(model, model.encode(batch), batch, rules, beam)
    return [[one for one in hypotheses if one.log_probability > IMPROBABLE] for hypotheses in found]


def exhaustive(kind: type[RandomModel], problem: int, most: int) -> list[TokenSequence]:
    """Every sequence that can be finished, by its probability: one row at a time."""
    model, rules = made(kind), grammar.Rules(kind.notation, ALPHABET, most)
    found: list[TokenSequence] = []

    def extend(written: tuple[int, ...], state: grammar.GrammarState, total: float) -> None:
        if bool(state.finished[0]):
            found.append(TokenSequence(tuple(t for t in written if t != rules.end), total))
            return
        logits = torch.tensor([model.logits(problem, written)])
        steps = masked_log_softmax(logits, rules.allowed(state, ALPHABET.size))[0]
        for token in model.tokens:
            if steps[token] > IMPROBABLE:
                after = rules.advance(state, torch.tensor([token]))
                extend((*written, token), after, total + float(steps[token]))

    extend((), rules.start(torch.tensor([1]), ALPHABET.size), 0.0)
    return sorted(found, key=lambda one: -one.log_probability)


def same(found: list[TokenSequence], wanted: list[TokenSequence]) -> None:
    assert [one.tokens for one in found] == [one.tokens for one in wanted]
    values = [one.log_probability for one in wanted]
    assert [one.log_probability for one in found] == pytest.approx(values, abs=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_a_beam_of_five_equals_exhaustive_search_on_three_tokens(kind: type[RandomModel]) -> None:
    most = 3 if kind is RandomModel else 6  # never more than five unfinished sequences at once
    for problem, found in enumerate(found_by(kind, most, 5)):
        same(found, exhaustive(kind, problem, most)[:5])


@pytest.mark.parametrize("kind", MODELS)
def test_a_beam_as_wide_as_all_sequences_finds_them_all(kind: type[RandomModel]) -> None:
    for problem, found in enumerate(found_by(kind, 7, 110, problems=4)):
        wanted = exhaustive(kind, problem, 7)
        assert math.fsum(math.exp(one.log_probability) for one in wanted) == pytest.approx(1, abs=1e-4)
        same(found, wanted)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("beam", [2, 3, 5])
def test_a_wider_beam_is_never_below_the_greedy_path(kind: type[RandomModel], beam: int) -> None:
    greedy, wide = found_by(kind, 11, 1, problems=60), found_by(kind, 11, beam, problems=60)
    for narrow, wider in zip(greedy, wide, strict=True):
        assert wider[0].log_probability >= narrow[0].log_probability - 1e-6
        assert len(wider) <= beam
        assert len({one.tokens for one in wider}) == len(wider)


def test_the_plain_beam_alone_would_fall_below_the_greedy_path() -> None:
    model, batch = made(RandomModel), batch_of(300)
    model.peak = 1.0  # nothing is much better than the rest
    rules = grammar.Rules("prefix", ALPHABET, 15)
    greedy, plain = (beam_search(model, model.encode(batch), batch, rules, width) for width in (1, 2))
    assert any(w[0].log_probability < n[0].log_probability - 1e-6 for n, w in zip(greedy, plain, strict=True))


def test_finished_hypotheses_compete_with_longer_ones() -> None:
    found = found_by(RandomModel, 7, 5, problems=60)
    lengths = [[len(one.tokens) for one in hypotheses] for hypotheses in found]
    assert any(row != sorted(row) for row in lengths)  # a longer one beats a shorter one
    assert any(row[0] < max(row) for row in lengths)  # and a short one stays on top while others grow
    for hypotheses in found:
        values = [one.log_probability for one in hypotheses]
        assert values == sorted(values, reverse=True)


def test_a_problem_finds_the_same_in_any_company() -> None:
    together = found_by(RandomModel, 9, 5, problems=30)
    model, rules = made(RandomModel), grammar.Rules("prefix", ALPHABET, 9)
    zero, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    for problem, found in enumerate(together):
        alone = collate([Example(str(problem), one, zero, None, None)], CPU)
        same(search(model, model.encode(alone), alone, rules, 5)[0], found)


@pytest.mark.parametrize("kind", MODELS)
def test_everything_that_is_found_is_well_formed(kind: type[RandomModel]) -> None:
    for hypotheses in found_by(kind, 7, 4, problems=30):
        for one in hypotheses:
            assert ALPHABET.read(one.tokens, kind.notation) is not None
            assert len(one.tokens) <= 7


def test_without_the_grammar_ill_formed_sequences_are_found_too() -> None:
    found = found_by(RandomInfix, 5, 4, problems=30, constrained=False)
    read = [ALPHABET.read(one.tokens, "infix") for hypotheses in found for one in hypotheses]
    assert None in read
    assert any(expression is not None for expression in read)


def test_nothing_is_found_where_nothing_can_end() -> None:
    model = made(RandomModel)
    batch = collate([Example("0", np.ones(1, dtype=np.int64), np.zeros(3, dtype=np.int64), None, None)], CPU)
    rules = grammar.Rules("prefix", Alphabet(("1",), 3), 3, cover=True)

    class ThreeCopies(RandomModel):
        def logits(self, problem: int, written: tuple[int, ...]) -> list[float]:
            return [*super().logits(problem, written), 0.0, 0.0]

    model = made(ThreeCopies)
    assert search(model, model.encode(batch), batch, rules, 3) == [[]]


def test_masked_log_softmax_is_renormalised() -> None:
    logits = torch.tensor([[0.0, 0.0, 5.0], [1.0, 2.0, 3.0]])
    mask = torch.tensor([[True, True, False], [False, False, False]])
    found = masked_log_softmax(logits, mask)
    assert found[0].tolist() == pytest.approx([math.log(0.5), math.log(0.5), -math.inf])
    assert found[1].tolist() == [-math.inf] * 3
