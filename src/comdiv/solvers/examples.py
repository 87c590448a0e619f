"""Problems as integers: words, where the quantities stand, the target's tokens, and the target's tree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from comdiv.expression.tree import node_count
from comdiv.problem import Problem
from comdiv.solvers.alphabet import Alphabet, Notation
from comdiv.solvers.reading import NumberInput, Reader

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tree:
    """A prefix sequence as a tree: for every node its children (−1 for a leaf), its depth and its height."""

    left: Integers
    right: Integers
    depth: Integers
    height: Integers


@dataclass(frozen=True, slots=True)
class Example:
    """One problem, ready to be batched. `target` is None where it has no expression that the alphabet can spell."""

    id: str
    words: Integers
    quantity_positions: Integers
    target: Integers | None
    tree: Tree | None


def encode_problem(
    problem: Problem,
    reader: Reader,
    alphabet: Alphabet,
    notation: Notation,
    numbers: NumberInput,
    most_tokens: int,
) -> Example:
    """The example of a problem; quantities beyond the alphabet's copies cannot be spelled by a sequence decoder."""
    words, positions = reader.read(problem, numbers)
    spellable = len(positions) if numbers == "masked" else min(len(positions), alphabet.copies)
    target = None
    if problem.expression is not None and node_count(problem.expression) <= most_tokens:
        target = alphabet.spell(problem.expression, notation, spellable)
    if target is not None and len(target) > most_tokens:  # brackets and the end count, too
        target = None
    return Example(
        id=problem.id,
        words=np.array(words, dtype=np.int64),
        quantity_positions=np.array(positions[:spellable], dtype=np.int64),
        target=None if target is None else np.array(target, dtype=np.int64),
        tree=tree_of(target, alphabet) if target is not None and notation == "prefix" else None,
    )


def tree_of(prefix: Sequence[int], alphabet: Alphabet) -> Tree:
    """The tree behind a prefix sequence of tokens: positions of children, depths and heights."""
    count = len(prefix)
    left, right = np.full(count, -1), np.full(count, -1)
    depth, height = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    open_nodes: list[int] = []  # operators that still lack a child
    for position, token in enumerate(prefix):
        if open_nodes:
            parent = open_nodes[-1]
            depth[position] = depth[parent] + 1
            if left[parent] < 0:
                left[parent] = position
            else:
                right[parent] = position
                open_nodes.pop()
        if alphabet.first_operator <= token <= alphabet.last_operator:
            open_nodes.append(position)
    for position in range(count - 1, -1, -1):
        if left[position] >= 0:
            height[position] = 1 + max(height[left[position]], height[right[position]])
    return Tree(left, right, depth, height)
