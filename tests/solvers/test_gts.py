"""Batched GTS, held against GTS for one problem at a time."""

import random
from collections.abc import Callable

import pytest
import torch

from comdiv.expression import Expression, Operation, Reference
from comdiv.expression.tree import ONE
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solvers import grammar
from comdiv.solvers.alphabet import Alphabet
from comdiv.solvers.batches import collate, sorted_batches
from comdiv.solvers.beam import TokenSequence, search
from comdiv.solvers.gts import Gts
from comdiv.solvers.inputs import Example, Vocabulary
from comdiv.solvers.model import Sizes
from comdiv.solvers.neural import NeuralSolver
from reference_gts import ReferenceGts
from solvers.tiny import EIGHT, UNSEEN, tiny_example, tiny_settings, trained_solver

CPU = torch.device("cpu")
ALPHABET = Alphabet(("1", "2"), 6)
WORDS = tuple(f"w{n}" for n in range(20))
VOCABULARY = Vocabulary(("<pad>", "<unk>", "NUM", *WORDS))
MOST = 45


def random_tree(source: random.Random, operators: int) -> Expression:
    if operators == 0:
        return source.choice([ONE, *(Reference(n) for n in range(4))])
    left = source.randrange(operators)
    halves = random_tree(source, left), random_tree(source, operators - 1 - left)
    return Operation(source.choice("+-*/^"), *halves)


def chain(operators: int, *, left: bool) -> Expression:
    tree: Expression = Reference(0)
    for n in range(operators):
        tree = Operation("-", tree, Reference(n % 4)) if left else Operation("-", Reference(n % 4), tree)
    return tree


def example(source: random.Random, tree: Expression, quantities: int = 4) -> Example:
    words = source.choices(WORDS, k=source.randint(1, 12)) + [str(n + 2) for n in range(quantities)]
    source.shuffle(words)
    drawn = Problem(f"{source.random()}", "en", " ".join(words), tree)
    made = tiny_example(drawn, VOCABULARY, ALPHABET, "prefix", "masked", MOST)
    assert made.target is not None
    return made


def examples(seed: int) -> list[Example]:
    """Trees of every size, a lone leaf, deep chains to either side; problems with different numbers of quantities."""
    source = random.Random(seed)
    trees = [random_tree(source, n) for n in (0, 1, 1, 2, 3, 4, 6, 9, 14)]
    trees += [Reference(3), chain(20, left=True), chain(20, left=False)]
    return [example(source, tree, 4 + source.randrange(3)) for tree in trees]


def model(seed: int, **settings: object) -> Gts:
    torch.manual_seed(seed)
    made = Gts(tiny_settings(hidden=12, layers=2, **settings), Sizes(VOCABULARY, ALPHABET))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(3.0)  # decided opinions: trees of many sizes
    made.eval()
    return made


@pytest.mark.parametrize("seed", range(5))
def test_the_batch_has_the_logits_of_each_problem_alone(seed: int) -> None:
    gts, drawn = model(seed), examples(seed)
    reference = ReferenceGts(gts)
    with torch.no_grad():
        for places, batch in sorted_batches(drawn, len(drawn), CPU):
            logits = gts.target_logits(gts.encode(batch), batch)
            for row, place in enumerate(places):
                target = drawn[place].target
                assert target is not None
                wanted = reference.target_logits(reference.read(drawn[place]), target.tolist())
                found = logits[row, : len(target)]
                torch.testing.assert_close(found[:, : wanted.shape[1]], wanted, atol=1e-5, rtol=1e-5)
                assert (found[:, wanted.shape[1] :] == -torch.inf).all()  # quantities of the others


def test_the_batch_has_the_gradients_of_each_problem_alone() -> None:
    gts, drawn = model(0), sorted(examples(0), key=lambda one: -len(one.words))
    batch = collate(drawn, CPU)
    logits = gts.target_logits(gts.encode(batch), batch)
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten()).backward()
    found = {name: parameter.grad.clone() for name, parameter in gts.named_parameters() if parameter.grad is not None}
    gts.zero_grad()
    ReferenceGts(gts).loss(batch).backward()
    for name, parameter in gts.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, atol=1e-5, rtol=1e-4)


def solved(gts: Gts, drawn: list[Example], beam: int, most: int, *, cover: bool) -> list[list[TokenSequence]]:
    rules = grammar.Rules("prefix", gts.sizes.alphabet, most, cover=cover)
    results: list[list[TokenSequence]] = [[] for _ in drawn]
    for places, batch in sorted_batches(drawn, 64, CPU):
        with torch.no_grad():
            found = search(gts, gts.encode(batch), batch, rules, beam)
        for place, hypotheses in zip(places, found, strict=True):
            results[place] = hypotheses
    return results


def same(found: list[list[TokenSequence]], wanted: list[list[TokenSequence]]) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert [h.tokens for h in one] == [h.tokens for h in other]
        assert [h.log_probability for h in one] == pytest.approx([h.log_probability for h in other], abs=1e-4)


@pytest.mark.parametrize("cover", [False, True])
@pytest.mark.parametrize("beam", [1, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_beam_of_a_batch_finds_what_each_problem_finds_alone(seed: int, beam: int, cover: bool) -> None:
    gts, drawn = model(seed), examples(seed)
    wanted = [ReferenceGts(gts).solve(one, beam, 15, cover=cover) for one in drawn]
    same(solved(gts, drawn, beam, 15, cover=cover), wanted)


def test_the_random_models_find_trees_of_many_sizes() -> None:
    found = [solved(model(seed), examples(seed), 5, 15, cover=False) for seed in range(3)]
    assert len({len(one.tokens) for batch in found for hypotheses in batch for one in hypotheses}) > 4


def test_trees_deeper_than_the_first_stack_are_found_as_well() -> None:
    gts = model(1)
    with torch.no_grad():
        gts.symbols[1:6] *= 5  # likes operators, until the room is used up
        gts.score_out.weight *= 5
    drawn = examples(1)[:6]
    found = solved(gts, drawn, 3, 41, cover=False)
    assert max(len(h.tokens) for hypotheses in found for h in hypotheses) == 41
    same(found, [ReferenceGts(gts).solve(one, 3, 41) for one in drawn])


def test_a_trained_model_solves_as_each_problem_alone(trained: Callable[[str], NeuralSolver]) -> None:
    solver = trained("gts")
    assert isinstance(solver.model, Gts)
    drawn = solver._encode(read_all([*EIGHT, *UNSEEN]))
    for cover in (False, True):
        wanted = [ReferenceGts(solver.model).solve(one, 5, 15, cover=cover) for one in drawn]
        same(solved(solver.model, drawn, 5, 15, cover=cover), wanted)


def test_a_batch_without_trees_is_a_mistake_of_the_caller() -> None:
    solver = trained_solver("gts", epochs=1)
    batch = collate(solver._encode(read_all([Problem("a", "en", "No expression here.")])), CPU)
    assert solver.model is not None
    with pytest.raises(ValueError, match="without trees"):
        solver.model.target_logits(solver.model.encode(batch), batch)
