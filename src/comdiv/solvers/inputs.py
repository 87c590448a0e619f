"""What a model reads and writes: texts as integers, positions of the quantities, targets and their trees."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from comdiv.expression import Expression
from comdiv.expression.tree import node_count
from comdiv.language.base import NUMBER_MASK
from comdiv.reading import Reading
from comdiv.solvers.alphabet import Alphabet, Notation

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NumberInput = Literal["masked", "indexed"]  # every quantity as NUM, or as N0, N1…
PADDING, UNKNOWN = "<pad>", "<unk>"
PADDING_INDEX, UNKNOWN_INDEX = 0, 1  # in every vocabulary
MOST_WORDS = 500  # a longer text is cut; quantities after the cut point to its last word


# --- texts ---


class InputReader(Protocol):
    """How texts become integers: a vocabulary learnt from them, or the tokenizer of a pre-trained model."""

    @property
    def words(self) -> tuple[str, ...]:
        """The learnt words; empty if a tokenizer has its own."""

    @property
    def unknown(self) -> int:
        """The integer for unknown words."""

    def read(self, reading: Reading, numbers: NumberInput) -> tuple[list[int], list[int]]:
        """A text's integers, and the positions of its quantities among them."""


def input_words(reading: Reading, numbers: NumberInput) -> tuple[list[str], list[int]]:
    """A text's words in lower case, with quantities replaced, and the positions of the quantities among them."""
    words: list[str] = []
    positions: list[int] = []
    for token in reading.tokens:
        if token.quantity is not None:
            positions.append(len(words))
            words.append(NUMBER_MASK if numbers == "masked" else f"N{token.quantity}")
        else:
            words.append(token.text.lower())
    kept = words[:MOST_WORDS] or [""]
    return kept, [min(position, len(kept) - 1) for position in positions]


@dataclass(frozen=True)
class Vocabulary:
    """Words by frequency; index 0 is padding, 1 any unknown word."""

    words: tuple[str, ...]
    index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {word: position for position, word in enumerate(self.words)})

    @classmethod
    def learn(cls, texts: Iterable[Sequence[str]], min_frequency: int) -> "Vocabulary":
        counts = Counter(word for text in texts for word in text)
        kept = [word for word, count in counts.items() if count >= min_frequency and word not in (PADDING, UNKNOWN)]
        return cls((PADDING, UNKNOWN, *sorted(kept, key=lambda word: (-counts[word], word))))

    @property
    def unknown(self) -> int:
        return UNKNOWN_INDEX

    def encode(self, words: Sequence[str]) -> list[int]:
        return [self.index.get(word, UNKNOWN_INDEX) for word in words]

    def read(self, reading: Reading, numbers: NumberInput) -> tuple[list[int], list[int]]:
        words, positions = input_words(reading, numbers)
        return self.encode(words), positions


# --- problems ---


@dataclass(frozen=True, slots=True)
class Tree:
    """A prefix sequence as a tree: for every node its children (−1 for a leaf), its depth and its height."""

    left: Integers
    right: Integers
    depth: Integers
    height: Integers


@dataclass(frozen=True, slots=True)
class Example:
    """One problem, ready to be batched. `target` is None if it has no expression that the alphabet can spell."""

    id: str
    words: Integers
    quantity_positions: Integers
    target: Integers | None
    tree: Tree | None
    quantity_lengths: Integers | None = None  # pieces of each quantity, if some have several
    values: Floats | None = None  # of the quantities, for decoders that look at them


def example_of(
    reading: Reading,
    expression: Expression | None,
    reader: InputReader,
    alphabet: Alphabet,
    notation: Notation,
    numbers: NumberInput,
    most_tokens: int,
) -> Example:
    """The example of a text with this expression as its target.

    A sequence decoder cannot spell quantities beyond the alphabet's copies.
    """
    words, positions = reader.read(reading, numbers)
    spellable = len(positions) if numbers == "masked" else min(len(positions), alphabet.copies)
    target = None
    if expression is not None and node_count(expression) <= most_tokens:
        target = alphabet.spell(expression, notation, spellable)
    if target is not None and len(target) > most_tokens:  # brackets and the end count as well
        target = None
    return Example(
        id=reading.problem.id,
        words=np.array(words, dtype=np.int64),
        quantity_positions=np.array(positions[:spellable], dtype=np.int64),
        target=None if target is None else np.array(target, dtype=np.int64),
        tree=tree_of(target, alphabet) if target is not None and notation == "prefix" else None,
    )


def tree_of(prefix: Sequence[int], alphabet: Alphabet) -> Tree:
    """The tree of a prefix sequence of tokens: positions of children, depths and heights."""
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
