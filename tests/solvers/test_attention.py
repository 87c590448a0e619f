"""Number attention: what the solvers that have it look at when they write an expression."""

from collections.abc import Callable

import pytest
import torch

from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solvers.batches import collate
from comdiv.solvers.neural import NeuralSolver
from comdiv.solvers.recurrent import attend, attention_weights
from solvers.tiny import EIGHT

TWO_STEPS = EIGHT[4]  # Sue buys 2 bags of 8 figs and eats 3 of them. How many remain?


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("gts", ("-", "*", "N0", "N1", "N2")),
        ("lstm", ("N0", "*", "N1", "-", "N2")),
        ("mathen", ("N0", "N1", "*", "N2", "-")),
    ],
)
def test_every_token_has_a_weight_for_every_word(
    name: str, tokens: tuple[str, ...], trained: Callable[[str], NeuralSolver]
) -> None:
    found = trained(name).attention(TWO_STEPS, parse("N0*N1-N2"))
    assert found is not None
    assert found.tokens == tokens
    assert [found.words[place] for place in found.quantities] == ["N0", "N1", "N2"]
    assert len(found.weights) == len(tokens)
    for row in found.weights:
        assert len(row) == len(found.words)
        assert sum(row) == pytest.approx(1, abs=1e-5)
        assert min(row) >= 0


@pytest.mark.parametrize("name", ["gts", "lstm"])
def test_the_weights_are_those_that_decoding_uses(
    name: str, trained: Callable[[str], NeuralSolver], monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = trained(name)
    seen: list[torch.Tensor] = []

    def spying(scores: torch.Tensor, mask: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        seen.append(attention_weights(scores, mask))
        return attend(scores, mask, values)

    monkeypatch.setattr(f"comdiv.solvers.{name}.attend", spying)
    model = solver.model
    assert model is not None
    batch = collate(solver._encode(read_all([TWO_STEPS])), torch.device("cpu"))
    with torch.no_grad():
        state = model.start(model.encode(batch), 1)
        for token in batch.targets[0]:
            model.next_logits(state)
            state = model.advance(state, torch.tensor([0]), token.unsqueeze(0))
    steps = torch.stack([weights.reshape(-1) for weights in seen])
    assert TWO_STEPS.expression is not None
    found = solver.attention(TWO_STEPS, TWO_STEPS.expression)
    assert found is not None
    torch.testing.assert_close(steps[: len(found.tokens)], torch.tensor(found.weights), atol=1e-5, rtol=1e-4)


def test_without_attention_or_without_spelling_there_is_none(trained: Callable[[str], NeuralSolver]) -> None:
    assert trained("transformer").attention(TWO_STEPS, parse("N0*N1")) is None
    assert trained("gts").attention(TWO_STEPS, parse("N0*123456")) is None
    assert trained("gts").attention(Problem("none", "en", "No number at all."), parse("N0")) is None
