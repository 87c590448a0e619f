"""What a solver reads: texts as integers, with the places of their quantities."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from comdiv.language.base import NUMBER_MASK
from comdiv.problem import Problem
from comdiv.reading import read

NumberInput = Literal["masked", "indexed"]  # every quantity as NUM, or as N0, N1…
PADDING, UNKNOWN = "<pad>", "<unk>"
PADDING_INDEX, UNKNOWN_INDEX = 0, 1  # in every vocabulary
MOST_WORDS = 500  # a longer text is cut, quantities after the cut point at its last word


class Reader(Protocol):
    """How texts become integers: a vocabulary learnt from them, or the tokenizer of a pre-trained model."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words learnt; none where a tokenizer brings its own."""

    @property
    def unknown(self) -> int:
        """What stands for any word that is not known."""

    def read(self, problem: Problem, numbers: NumberInput) -> tuple[list[int], list[int]]:
        """A text's integers, and the positions of its quantities among them."""


def input_words(problem: Problem, numbers: NumberInput) -> tuple[list[str], list[int]]:
    """A text's words, lower case, quantities replaced; and the positions of the quantities among them."""
    words: list[str] = []
    positions: list[int] = []
    for token in read(problem).tokens:
        if token.quantity is not None:
            positions.append(len(words))
            words.append(NUMBER_MASK if numbers == "masked" else f"N{token.quantity}")
        else:
            words.append(token.text.lower())
    kept = words[:MOST_WORDS] or [""]
    return kept, [min(position, len(kept) - 1) for position in positions]


@dataclass(frozen=True)
class Vocabulary:
    """Words by frequency; index 0 pads, 1 is any unknown word."""

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

    def read(self, problem: Problem, numbers: NumberInput) -> tuple[list[int], list[int]]:
        words, positions = input_words(problem, numbers)
        return self.encode(words), positions
