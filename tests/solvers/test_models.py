"""What every model must do: learn, and say the same in training as in decoding."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from comdiv.errors import ComdivError
from comdiv.expression import Expression, Operation, Reference
from comdiv.problem import Problem, Provenance
from comdiv.reading import read_all
from comdiv.solvers import model as model_module
from comdiv.solvers.batches import Batch, sorted_batches
from comdiv.solvers.gts import Gts
from comdiv.solvers.inputs import Vocabulary
from comdiv.solvers.model import Model
from comdiv.solvers.neural import NeuralSolver
from solvers.tiny import EIGHT, SOLVERS, tiny_settings, tiny_solver


def stepwise_logits(model: Model, batch: Batch, beam: int) -> torch.Tensor:
    """The logits along the targets, token by token as in decoding, from the last row of each problem's beam."""
    rows = torch.arange(len(batch.ids)) * beam + beam - 1
    state, steps = model.start(model.encode(batch), beam), []
    for step in range(batch.targets.shape[1]):
        steps.append(model.next_logits(state)[rows])
        tokens = batch.targets[:, step].clamp(min=0).repeat_interleave(beam)
        state = model.advance(state, torch.arange(len(tokens)), tokens)
    return torch.stack(steps, 1)


def logits_of(solver: NeuralSolver, beam: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    model, pairs = solver.model, []
    assert model is not None
    with torch.no_grad():
        for _, batch in sorted_batches(solver._encode(read_all(EIGHT)), 8, torch.device("cpu")):
            forced, stepped = model.target_logits(model.encode(batch), batch), stepwise_logits(model, batch, beam)
            counted = batch.targets >= 0
            pairs.append((forced[counted], stepped[counted]))
    return pairs


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("name", SOLVERS)
def test_training_and_decoding_see_the_same_logits(
    name: str, beam: int, trained: Callable[[str], NeuralSolver]
) -> None:
    for forced, stepped in logits_of(trained(name), beam):
        torch.testing.assert_close(forced, stepped, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", SOLVERS)
def test_rows_may_be_reordered_repeated_and_dropped(name: str, trained: Callable[[str], NeuralSolver]) -> None:
    solver = trained(name)
    model = solver.model
    assert model is not None
    ((_, batch),) = sorted_batches(solver._encode(read_all(EIGHT[:3])), 8, torch.device("cpu"))
    first, second = model.sizes.alphabet.first_copy, model.sizes.alphabet.first_copy + 1
    opening = 1 if name == "gts" else first  # an operator or a quantity: both have a continuation
    with torch.no_grad():
        state = model.start(model.encode(batch), 2)
        columns = model.next_logits(state).shape[1]
        assert columns > second
        state = model.advance(state, torch.arange(6), torch.tensor([opening, 2] * 3))
        all_rows = model.next_logits(state)
        state = model.advance(state, torch.tensor([0, 0, 3, 2, 5, 5]), torch.tensor([first] * 6))
        mixed = model.next_logits(state)
        # The second problem is solved; of the others each row goes its own way.
        state = model.advance(state, torch.tensor([1, 0, 4, 5]), torch.tensor([1, 1, 1, 1]))
        dropped = model.next_logits(state)
    assert all_rows.shape == mixed.shape == (6, columns)
    torch.testing.assert_close(mixed[0], mixed[1])
    torch.testing.assert_close(mixed[4], mixed[5])
    assert not torch.allclose(mixed[2][:7], mixed[3][:7])
    assert dropped.shape == (4, columns)
    torch.testing.assert_close(dropped[0], dropped[1], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(dropped[1][:7], dropped[2][:7])


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_learns_eight_problems_by_heart(name: str) -> None:
    solver = tiny_solver(name, epochs=60, hidden=32, embedding=32, learning_rate=0.01)
    solver.fit(EIGHT, ())
    assert solver.accuracy(EIGHT) == 1.0


@pytest.mark.parametrize("name", SOLVERS)
def test_dropout_is_off_when_solving(name: str) -> None:
    solver = tiny_solver(name, dropout=0.5)
    solver.fit(EIGHT, ())
    assert solver.solve(EIGHT) == solver.solve(EIGHT)
    assert solver.score(EIGHT) == solver.score(EIGHT)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solution_does_not_depend_on_the_other_problems(name: str, trained: Callable[[str], NeuralSolver]) -> None:
    solver = trained(name)
    together = solver.solve(EIGHT, beam=3)
    for one, solution in zip(EIGHT, together, strict=True):
        (alone,) = solver.solve([one], beam=3)
        assert alone.expression == solution.expression
        assert alone.log_probability == pytest.approx(solution.log_probability, abs=1e-4)


def test_a_width_that_heads_cannot_share_is_refused_in_one_line() -> None:
    with pytest.raises(ComdivError, match="embedding=10 cannot be divided among heads=4"):
        tiny_solver("transformer", embedding=10, heads=4).fit(EIGHT, ())


def test_an_expression_longer_than_the_positions_of_the_transformer_is_left_out() -> None:
    tree: Expression = Reference(0)
    for operator in "-/-/-/-/":
        tree = Operation(operator, tree, tree)  # 511 nodes, and more tokens with its brackets
    long = Problem("long", "en", "7 things", tree)
    summary = tiny_solver("transformer", most_tokens=255).fit([*EIGHT, long], ())
    assert (summary.problems, summary.left_out) == (8, 1)


def test_rare_words_of_a_small_corpus_count_however_much_it_was_augmented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_module, "LARGE_CORPUS", 9)
    new = [replace(problem, id=f"{problem.id}+", provenance=Provenance(operation="1")) for problem in EIGHT]
    small = Gts.learn_reader(read_all([*EIGHT, *new]), tiny_settings())
    large = Gts.learn_reader(read_all([*EIGHT, replace(EIGHT[0], id="ninth")]), tiny_settings())
    assert "figs" in words_of(small)
    assert "figs" not in words_of(large)


def words_of(reader: object) -> tuple[str, ...]:
    assert isinstance(reader, Vocabulary)
    return reader.words
