"""Batches: their order, their padding, and the schedule of a forest."""

import numpy as np
import torch

from comdiv.solvers.alphabet import Alphabet, Notation
from comdiv.solvers.batches import BUCKET, IGNORED, collate, epoch_batches, sorted_batches
from comdiv.solvers.inputs import Example, Vocabulary
from solvers.tiny import EIGHT, problem, tiny_example

ALPHABET = Alphabet(("1",), 3)
CPU = torch.device("cpu")
NOTHING = np.zeros(0, dtype=np.int64)


def of_length(name: int, length: int) -> Example:
    return Example(str(name), np.ones(length, dtype=np.int64), NOTHING, np.zeros(1, dtype=np.int64), None)


def encoded(text: str, expression: str | None, notation: Notation = "prefix") -> Example:
    vocabulary = Vocabulary(("<pad>", "<unk>"))
    return tiny_example(problem(text, text, expression), vocabulary, ALPHABET, notation, "masked", 45)


def ids(examples: list[Example], size: int, seed: int, epoch: int) -> list[tuple[str, ...]]:
    return [batch.ids for batch in epoch_batches(examples, size, seed, epoch, CPU)]


EXAMPLES = [of_length(n, 1 + n * 7 % 40) for n in range(200)]


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    assert ids(EXAMPLES, 4, 0, 1) == ids(EXAMPLES, 4, 0, 1)
    assert ids(EXAMPLES, 4, 0, 1) != ids(EXAMPLES, 4, 0, 2)
    assert ids(EXAMPLES, 4, 0, 1) != ids(EXAMPLES, 4, 1, 1)


def test_every_example_is_in_one_batch_of_an_epoch() -> None:
    seen = [name for batch in ids(EXAMPLES, 7, 3, 5) for name in batch]
    assert sorted(seen, key=int) == [example.id for example in EXAMPLES]


def test_batches_have_like_lengths() -> None:
    few = [of_length(n, 1 + n) for n in range(4 * BUCKET)]
    for batch in epoch_batches(few, 4, 0, 1, CPU):
        assert int(batch.lengths.max() - batch.lengths.min()) == 3
        assert batch.lengths.tolist() == sorted(batch.lengths.tolist(), reverse=True)


def test_sorted_batches_say_where_each_example_belongs() -> None:
    for places, batch in sorted_batches(EXAMPLES, 16, CPU):
        assert batch.ids == tuple(EXAMPLES[place].id for place in places)
        assert batch.lengths.tolist() == sorted(batch.lengths.tolist(), reverse=True)
    assert list(sorted_batches([], 16, CPU)) == []


def test_padding_is_masked_and_targets_that_have_ended_are_ignored() -> None:
    batch = collate([encoded("1 and 2 and 3", "N0+N1"), encoded("4", "N0")], CPU)
    assert batch.words.tolist() == [[1, 1, 1, 1, 1], [1, 0, 0, 0, 0]]
    assert batch.word_mask.tolist() == [[True] * 5, [True] + [False] * 4]
    assert batch.quantity_positions.tolist() == [[0, 2, 4], [0, 0, 0]]
    assert batch.quantity_counts.tolist() == [3, 1]
    first = ALPHABET.first_copy
    assert batch.targets.tolist() == [[1, first, first + 1], [first, IGNORED, IGNORED]]


def test_a_batch_without_quantities_or_targets_is_padded_to_one_column() -> None:
    batch = collate([encoded("how many", None)], CPU)
    assert batch.quantity_positions.shape == batch.targets.shape == (1, 1)
    assert batch.quantity_counts.tolist() == [0]
    assert batch.targets.tolist() == [[IGNORED]]
    assert batch.trees is None


def test_the_schedule_of_a_forest_by_hand() -> None:
    # * N0 + N1 N2   nodes 0…4,   N0   node 5,   - - N0 N1 1   nodes 6…10
    texts = [("1 and 2 and 3", "N0*(N1+N2)"), ("7", "N0"), ("8 and 9", "N0-N1-1")]
    trees = collate([encoded(*text) for text in texts], CPU).trees
    assert trees is not None
    assert trees.problem.tolist() == [0] * 5 + [1] + [2] * 5
    assert trees.position.tolist() == [0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4]
    assert trees.left.tolist() == [1, -1, 3, -1, -1, -1, 7, 8, -1, -1, -1]
    assert trees.right.tolist() == [2, -1, 4, -1, -1, -1, 10, 9, -1, -1, -1]
    assert [level.tolist() for level in trees.levels] == [[0, 5, 6], [1, 7, 2, 10], [8, 3, 9, 4]]
    assert [inner.tolist() for inner in trees.operators] == [[0, 2], [1, 2], []]
    assert [nodes.tolist() for nodes in trees.heights] == [[2, 7], [0, 6]]


def test_the_forest_of_leaves_has_one_level() -> None:
    trees = collate([encoded("7", "N0"), encoded("8", "N0")], CPU).trees
    assert trees is not None
    assert [level.tolist() for level in trees.levels] == [[0, 1]]
    assert trees.heights == []


def test_every_problem_can_be_batched_in_every_notation() -> None:
    for notation in ("infix", "prefix", "postfix"):
        vocabulary = Vocabulary(("<pad>", "<unk>"))
        examples = [tiny_example(p, vocabulary, ALPHABET, notation, "masked", 45) for p in EIGHT]  # type: ignore[arg-type]
        ordered = sorted(examples, key=lambda example: -len(example.words))
        assert len(collate(ordered, CPU).ids) == len(EIGHT)
