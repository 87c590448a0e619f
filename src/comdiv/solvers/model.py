"""What a model has to offer: a subclass of this trains, decodes, scores and resumes like the rest."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn

from comdiv.expression import Expression
from comdiv.reading import Reading
from comdiv.solvers.alphabet import Alphabet, Notation
from comdiv.solvers.batches import Batch
from comdiv.solvers.grammar import DecodingRules, Rules
from comdiv.solvers.hyperparameters import SolverSettings
from comdiv.solvers.inputs import (
    Example,
    InputReader,
    Integers,
    NumberInput,
    Vocabulary,
    example_of,
    input_words,
)

LARGE_CORPUS = 5_000  # original problems; below it every word counts, above it rare ones are unknown


@dataclass(frozen=True)
class Sizes:
    """What the data decide about a model: how texts become integers, and what it writes."""

    reader: InputReader
    alphabet: Alphabet

    @property
    def words(self) -> int:
        """How many words it reads."""
        return len(self.reader.words)


@dataclass(frozen=True, slots=True)
class TextStates:
    """What a decoder attends to: a state for every word, and which words are there."""

    states: Tensor  # (rows, words, hidden)
    mask: Tensor  # (rows, words)


class Model(nn.Module, ABC):
    """An encoder and a decoder over the tokens of expressions.

    A memory is whatever `encode` makes of a batch; a state is whatever the decoder carries from token to token, one row
    per hypothesis. Scores are logits over columns: the alphabet (`alphabet.first_copy` tokens, then copies), or the
    pieces that its tokens are spelled with.
    """

    notation: ClassVar[Notation]
    numbers: ClassVar[NumberInput]
    settings_class: ClassVar[type[SolverSettings]] = SolverSettings  # a subclass where there are settings of its own
    versions_of: ClassVar[tuple[str, ...]] = ("comdiv", "torch", "numpy")  # what a run's configuration names

    def __init__(self, settings: SolverSettings, sizes: Sizes) -> None:
        super().__init__()
        self.settings = settings
        self.sizes = sizes

    # --- what differs where a model is pre-trained: the defaults are for those that learn everything from the data ---

    @classmethod
    def learn_reader(cls, readings: Sequence[Reading], settings: SolverSettings) -> InputReader:
        """How texts become integers, given the training problems."""
        originals = sum(not reading.problem.provenance.operation for reading in readings)  # augmentation adds no words
        least = settings.min_frequency or (1 if originals < LARGE_CORPUS else 5)
        return Vocabulary.learn((input_words(reading, cls.numbers)[0] for reading in readings), least)

    @classmethod
    def load_reader(cls, folder: Path, words: Sequence[str]) -> InputReader:
        """The reader of a run folder, whose vocabulary has these words."""
        return Vocabulary(tuple(words))

    def save_reader(self, folder: Path) -> None:
        """Write what reading needs besides a vocabulary."""

    def load_pretrained(self) -> None:
        """Replace the random first weights by pre-trained ones, before a training."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """What the optimiser gets; the learning rate of a group is `share` times that of the training."""
        return [{"params": list(self.parameters()), "share": 1.0}]

    def example(self, reading: Reading, expression: Expression | None) -> Example:
        """A text as the model reads it, with this expression as what it is to write."""
        reader, alphabet, most = self.sizes.reader, self.sizes.alphabet, self.settings.most_tokens
        example = example_of(reading, expression, reader, alphabet, self.notation, self.numbers, most)
        return example if example.target is None else replace(example, target=self.spell(example.target))

    def spell(self, target: Integers) -> Integers:
        """The columns that write a target's tokens: one per token, unless tokens are spelled."""
        return target

    def rules(self, *, constrained: bool, cover: bool) -> DecodingRules:
        """What may be written."""
        return Rules(self.notation, self.sizes.alphabet, self.settings.most_tokens, constrained, cover)

    # --- what every model does in its own way ---

    @abstractmethod
    def encode(self, batch: Batch) -> Any:
        """Read the texts."""

    @abstractmethod
    def target_logits(self, memory: Any, batch: Batch) -> Tensor:
        """The logits for every token of the targets, each given the tokens before it: (batch, tokens, columns)."""

    def attention(self, memory: Any, batch: Batch) -> Tensor | None:
        """What the decoder looks at for every token of the targets: (batch, tokens, words); None where it has none."""
        return None

    @abstractmethod
    def start(self, memory: Any, beam: int) -> Any:
        """The state before the first token, `beam` rows per problem, problem after problem."""

    @abstractmethod
    def next_logits(self, state: Any) -> Tensor:
        """The logits for the next token: (rows, columns)."""

    @abstractmethod
    def advance(self, state: Any, rows: Tensor, tokens: Tensor) -> Any:
        """The state after `tokens`, where row i continues row `rows[i]` of the old state.

        A row continues one of its own problem; when a problem is solved, all its rows are missing from then on.
        """
