"""Any decoder on any encoder: what is read, at which rate it moves, and what stays as it is."""

from pathlib import Path
from typing import Any

import pytest
import torch

from comdiv.errors import ComdivError
from comdiv.reading import read, read_all
from comdiv.registry import ENCODERS
from comdiv.solvers.batches import Batch, collate
from comdiv.solvers.encoders import Encoder, quantity_states
from comdiv.solvers.frozen_layers import FrozenLayers
from comdiv.solvers.hyperparameters import ReaderSettings, settings_for
from comdiv.solvers.model import Sizes, TextStates
from comdiv.solvers.neural import NeuralSolver
from solvers.test_models import logits_of
from solvers.tiny import EIGHT, problem, tiny_solver, trained_solver
from solvers.tiny_weights import tiny_weights

DECODERS = ("lstm", "mathen", "transformer", "gts", "deductive")
BERT = "bertgen"  # whose tiny weights are a BERT
CPU = torch.device("cpu")


def encoder_of(solver: NeuralSolver) -> Any:
    assert solver.model is not None
    return solver.model.encoder


def named(encoder: str) -> str:
    return tiny_weights(BERT) if encoder == "BERT" else encoder


@pytest.mark.parametrize("encoder", ["gru", "lstm", "transformer", "BERT"])
@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder_learns_with_every_encoder(decoder: str, encoder: str, tmp_path: Path) -> None:
    solver = trained_solver(decoder, EIGHT, encoder=named(encoder), hidden=16, embedding=16, epochs=2)
    for forced, stepped in logits_of(solver, beam=2):
        torch.testing.assert_close(forced, stepped, atol=1e-5, rtol=1e-5)
    solver.save(tmp_path)
    assert NeuralSolver.load(tmp_path).solve(EIGHT, beam=3) == solver.solve(EIGHT, beam=3)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_solver_without_the_setting_has_its_own_encoder(decoder: str) -> None:
    own = {"gts": "gru", "deductive": "gru", "transformer": "transformer"}.get(decoder, "lstm")
    unnamed, by_name = trained_solver(decoder, epochs=1), trained_solver(decoder, epochs=1, encoder=own)
    assert type(encoder_of(unnamed)) is type(encoder_of(by_name))
    assert unnamed.solve(EIGHT) == by_name.solve(EIGHT)


def test_an_encoder_that_is_nowhere_is_refused_in_one_line() -> None:
    with pytest.raises(ComdivError, match="weights '/no/such/folder': there is no such folder"):
        tiny_solver("gts", encoder="/no/such/folder").fit(EIGHT, ())


class Bag(Encoder):
    """Reads every word for itself."""

    def __init__(self, settings: ReaderSettings, sizes: Sizes) -> None:
        super().__init__()
        self.width = settings.hidden
        self.words = torch.nn.Embedding(sizes.words, settings.hidden, padding_idx=0)

    def forward(self, batch: Batch) -> TextStates:
        states = self.words(batch.words)
        return TextStates(states, batch.word_mask, states.mean(1).unsqueeze(0))


def test_an_encoder_of_a_package_works_with_every_decoder_that_points() -> None:
    with ENCODERS.adding("bag", Bag):
        for decoder in ("gts", "deductive"):
            solver = trained_solver(decoder, epochs=1, encoder="bag")
            assert isinstance(encoder_of(solver), Bag)
            assert len(solver.solve(EIGHT)) == len(EIGHT)


# --- presets ---


def test_a_pretrained_encoder_changes_the_preset_and_what_is_said_changes_both() -> None:
    own = settings_for("deductive", "cpu")
    weights = settings_for("deductive", "cpu", {"encoder": "owner/name", "batch": 8})
    assert isinstance(own, ReaderSettings)
    assert isinstance(weights, ReaderSettings)
    assert (own.epochs, own.frozen_layers, own.pretrained_rate) == (40, 0, 1.0)
    assert (weights.epochs, weights.frozen_layers, weights.pretrained_rate, weights.batch) == (10, 3, 0.15, 8)
    assert settings_for("gts", "cpu", {"encoder": "lstm"}).epochs == 40


# --- pre-trained ---


def test_pretrained_weights_are_where_training_begins_unless_random_ones_are_wanted() -> None:
    def first_weights(**changes: Any) -> torch.Tensor:
        solver = trained_solver("gts", epochs=1, encoder=tiny_weights(BERT), learning_rate=1e-9, **changes)
        table: torch.Tensor = encoder_of(solver).body.get_input_embeddings().weight
        return table.detach()

    import transformers

    theirs = transformers.AutoModel.from_pretrained(tiny_weights(BERT)).get_input_embeddings().weight
    torch.testing.assert_close(first_weights()[: len(theirs)], theirs, atol=1e-6, rtol=0)
    assert not torch.allclose(first_weights(random_weights=True)[: len(theirs)], theirs, atol=1e-3)


def test_the_encoder_moves_at_its_own_rate() -> None:
    solver = trained_solver("deductive", epochs=1, encoder=tiny_weights(BERT), pretrained_rate=0.25)
    assert solver.model is not None
    assert [group["share"] for group in solver.model.parameter_groups()] == [0.25, 1.0]
    control = trained_solver(
        "deductive", epochs=1, encoder=tiny_weights(BERT), pretrained_rate=0.25, random_weights=True
    )
    assert control.model is not None
    assert [group["share"] for group in control.model.parameter_groups()] == [1.0, 1.0]


def frozen(layers: int, **changes: Any) -> NeuralSolver:
    return trained_solver(
        "deductive", epochs=2, encoder=tiny_weights(BERT), frozen_layers=layers, encoder_dropout=0.0, **changes
    )


def test_frozen_layers_stay_and_the_others_move() -> None:
    before, after = encoder_of(frozen(1, learning_rate=1e-9)).body, encoder_of(frozen(1)).body
    for name, weights in after.state_dict().items():
        is_frozen = name.startswith(("embeddings.", "encoder.layer.0."))
        assert torch.equal(weights, before.state_dict()[name]) == is_frozen, name


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_frozen_layers_compute_what_the_whole_encoder_computes(layers: int) -> None:
    solver = frozen(layers)
    encoder = encoder_of(solver)
    batch = collate(sorted(solver._encode(read_all(EIGHT)), key=lambda one: -len(one.words)), CPU)
    with torch.no_grad():
        states = encoder(batch).states
        words = batch.words.clamp(max=encoder.last_row)
        whole = encoder.body(input_ids=words, attention_mask=batch.word_mask.long()).last_hidden_state
    torch.testing.assert_close(states[batch.word_mask], whole[batch.word_mask], atol=1e-5, rtol=1e-4)


def test_the_output_of_frozen_layers_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []
    through = FrozenLayers.through

    def counting(self: FrozenLayers, layers: Any, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        computed.append(len(layers)) if len(states) == 1 and not torch.is_grad_enabled() else None
        return through(self, layers, states, mask)

    monkeypatch.setattr(FrozenLayers, "through", counting)
    solver = frozen(2)
    assert sum(computed) == 2 * len(EIGHT)
    solver.solve(EIGHT[:1])
    assert sum(computed) == 2 * len(EIGHT)


def test_a_full_memory_of_frozen_layers_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    remembered = frozen(1)
    monkeypatch.setattr("comdiv.solvers.frozen_layers.KEPT_STATES", 500)
    forgotten = frozen(1)
    assert remembered.solve(EIGHT) == forgotten.solve(EIGHT)
    assert encoder_of(forgotten).frozen.kept <= 500


def test_more_frozen_layers_than_there_are_is_refused_in_one_line() -> None:
    with pytest.raises(ComdivError, match="frozen_layers=3: the encoder has 2 layers"):
        frozen(3)


# --- numbers ---

LONG = problem("a", "Tom has 1210 red and 5 green apples. How many?", "N0+N1")


def test_a_written_number_has_the_mean_of_its_pieces() -> None:
    solver = trained_solver("gts", [LONG], epochs=1, encoder=tiny_weights(BERT), written_numbers=True)
    assert solver.model is not None
    example = solver.model.example(read(LONG), None)
    assert example.quantity_lengths is not None
    assert example.quantity_lengths.tolist() == [3, 1]  # 1210 is 12, ##1, ##0
    batch = collate([example], CPU)
    with torch.no_grad():
        text = encoder_of(solver)(batch)
        pooled = quantity_states(text, batch)
    start = int(example.quantity_positions[0])
    torch.testing.assert_close(pooled[0, 0], text.states[0, start : start + 3].mean(0), atol=1e-5, rtol=1e-4)


def test_decoders_that_copy_do_not_read_written_numbers() -> None:
    with pytest.raises(ComdivError, match="written_numbers needs a decoder that points at numbers"):
        tiny_solver("lstm", encoder=tiny_weights(BERT), written_numbers=True).fit(EIGHT, ())
