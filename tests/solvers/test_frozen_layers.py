"""Lower layers that are not trained, of the solvers that start from pre-trained weights; others: `test_encoders`."""

from pathlib import Path
from typing import Any

import pytest
import torch

from comdiv.errors import ComdivError
from comdiv.reading import read_all
from comdiv.solvers.batches import collate
from comdiv.solvers.neural import NeuralSolver
from solvers.test_gpt2 import chinese, llama
from solvers.test_models import logits_of
from solvers.test_training import weights
from solvers.tiny import EIGHT, PRETRAINED, trained_solver

FROZEN = {  # the names of what does not change, in a tiny model with one frozen layer of two
    "bertgen": ("encoder.embeddings.", "encoder.encoder.layer.0."),
    "gpt2": ("causal.transformer.wte.", "causal.transformer.wpe.", "causal.transformer.h.0."),
}


def frozen(name: str, layers: int, **changes: Any) -> NeuralSolver:
    return trained_solver(name, **{"epochs": 2, "frozen_layers": layers, **changes})


@pytest.mark.parametrize("name", PRETRAINED)
def test_frozen_layers_stay_and_the_others_move(name: str) -> None:
    before, after = frozen(name, 1, learning_rate=1e-9).model, frozen(name, 1).model
    assert before is not None
    assert after is not None
    for key, tensor in after.state_dict().items():
        assert torch.equal(tensor, before.state_dict()[key]) == key.startswith(FROZEN[name]), key


@pytest.mark.parametrize("name", PRETRAINED)
def test_a_solver_with_frozen_layers_decodes_what_it_was_trained_on_and_is_kept(name: str, tmp_path: Path) -> None:
    solver = frozen(name, 1, epochs=60)
    assert solver.accuracy(EIGHT) > frozen(name, 1, epochs=1).accuracy(EIGHT)
    for forced, stepped in logits_of(solver, beam=3):
        torch.testing.assert_close(forced, stepped, atol=1e-5, rtol=1e-5)
    solver.save(tmp_path)
    assert NeuralSolver.load(tmp_path).solve(EIGHT, beam=3) == solver.solve(EIGHT, beam=3)


@pytest.mark.parametrize("name", PRETRAINED)
def test_a_training_with_frozen_layers_goes_on_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    whole, again = frozen(name, 1, epochs=4), NeuralSolver(name, *_made(name))
    whole.save(tmp_path / "whole")
    shorter = {"resume_from": tmp_path / "run"}

    def stop(state: Any) -> None:
        if state.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        NeuralSolver(name, *_made(name)).fit(EIGHT, (), after_epoch=stop, **shorter)
    again.fit(EIGHT, (), **shorter)
    again.save(tmp_path / "again")
    assert weights(tmp_path / "again") == weights(tmp_path / "whole")


def _made(name: str) -> tuple[Any, Any]:
    solver = frozen(name, 1, epochs=4)
    return solver.model_class, solver.settings


def test_frozen_layers_of_bertgen_compute_what_the_whole_encoder_computes() -> None:
    solver = frozen("bertgen", 1)
    model: Any = solver.model
    batch = collate(sorted(solver._encode(read_all(EIGHT)), key=lambda one: -len(one.words)), torch.device("cpu"))
    with torch.no_grad():
        states = model.encode(batch).states
        words = batch.words.clamp(max=model.last_row)
        whole = model.encoder(input_ids=words, attention_mask=batch.word_mask.long()).last_hidden_state
    torch.testing.assert_close(states[batch.word_mask], whole[batch.word_mask], atol=1e-5, rtol=1e-4)
    assert len(model.frozen.states) == len(EIGHT)


@pytest.mark.parametrize("make", [llama, chinese])
def test_layers_of_other_causal_models_can_be_frozen(make: Any, tmp_path: Path) -> None:
    make(tmp_path)
    solver = frozen("gpt2", 1, weights=str(tmp_path))
    model: Any = solver.model
    body = model.causal.base_model
    is_frozen = [not part.requires_grad for part in body.parameters()]
    assert any(is_frozen)
    assert not all(is_frozen)
    assert not body.get_input_embeddings().weight.requires_grad


@pytest.mark.parametrize(("name", "what"), [("bertgen", "encoder"), ("gpt2", "model")])
def test_more_frozen_layers_than_there_are_is_refused_in_one_line(name: str, what: str) -> None:
    with pytest.raises(ComdivError, match=f"frozen_layers=3: the {what} has 2 layers"):
        frozen(name, 3)
