"""The interface of models: any subclass can be trained, resumed, decoded and scored like the others."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
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

LARGE_CORPUS = 5_000  # original problems; in smaller corpora no word is too rare, in larger ones rare words are unknown


@dataclass(frozen=True)
class Sizes:
    """What the data determine about a model: how texts become integers, and what it writes."""

    reader: InputReader
    alphabet: Alphabet
    numbers: NumberInput = "indexed"  # how the decoder wants the quantities of a text to be read

    @property
    def words(self) -> int:
        """The number of words that it reads."""
        return len(self.reader.words)


@dataclass(frozen=True, slots=True)
class TextStates:
    """Encoded texts: a state for every word, the mask of words, and the last states of the layers.

    An encoder that is not recurrent has a summary of the text as its last states.
    """

    states: Tensor  # (rows, words, hidden)
    mask: Tensor  # (rows, words)
    last: Tensor | None = None  # (layers, rows, hidden)
    cells: Tensor | None = None  # (layers, rows, hidden), of an LSTM

    @property
    def summary(self) -> Tensor:
        """One state for the whole text: (rows, hidden)."""
        assert self.last is not None  # an encoder's states have it; those of single rows need not
        return self.last[-1]


def learn_vocabulary(readings: Sequence[Reading], settings: SolverSettings, numbers: NumberInput) -> Vocabulary:
    """The words of the training problems; rare ones are unknown if there are many problems."""
    originals = sum(not reading.problem.provenance.operation for reading in readings)  # augmentation adds no words
    least = settings.min_frequency or (1 if originals < LARGE_CORPUS else 5)
    return Vocabulary.learn((input_words(reading, numbers)[0] for reading in readings), least)


class Model(nn.Module, ABC):
    """An encoder and a decoder over the tokens of expressions.

    A memory is whatever `encode` makes of a batch; a state is whatever the decoder carries from token to token, one row
    per hypothesis. Scores are logits over columns: the alphabet (`alphabet.first_copy` tokens, then copies), or the
    pieces that its tokens are spelled with.
    """

    notation: ClassVar[Notation]
    numbers: ClassVar[NumberInput]
    settings_class: ClassVar[type[SolverSettings]] = SolverSettings  # a subclass if the model has its own settings
    versions_of: ClassVar[tuple[str, ...]] = ("comdiv", "torch", "numpy")  # packages whose versions a run records

    def __init__(self, settings: SolverSettings, sizes: Sizes) -> None:
        super().__init__()
        self.settings = settings
        self.sizes = sizes

    # --- what pre-trained models override; the defaults are for models that learn everything from the data ---

    @classmethod
    def learn_reader(cls, readings: Sequence[Reading], settings: SolverSettings) -> InputReader:
        """How texts become integers, given the training problems."""
        return learn_vocabulary(readings, settings, cls.numbers)

    @classmethod
    def load_reader(cls, folder: Path, words: Sequence[str]) -> InputReader:
        """The reader of a run folder whose vocabulary has these words."""
        return Vocabulary(tuple(words))

    def save_reader(self, folder: Path) -> None:
        """Write what the reader needs besides a vocabulary."""

    def load_pretrained(self) -> None:
        """Replace the random initial weights by pre-trained ones, before training."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """The optimiser's parameter groups; the learning rate of a group is `share` times that of the training."""
        return [{"params": [weights for weights in self.parameters() if weights.requires_grad], "share": 1.0}]

    def example(self, reading: Reading, expression: Expression | None) -> Example:
        """A text as the model reads it, with this expression as the target."""
        reader, alphabet, most = self.sizes.reader, self.sizes.alphabet, self.settings.most_tokens
        example = example_of(reading, expression, reader, alphabet, self.notation, self.numbers, most)
        return example if example.target is None else replace(example, target=self.spell(example.target))

    def spell(self, target: Integers) -> Integers:
        """The columns for a target's tokens: one per token, unless tokens are spelled with pieces."""
        return target

    def read_tokens(self, tokens: Sequence[int]) -> Expression | None:
        """The expression that decoded tokens spell; None if they do not form one."""
        return self.sizes.alphabet.read(tokens, self.notation)

    def rules(self, *, constrained: bool, cover: bool) -> DecodingRules:
        """The rules for decoding."""
        return Rules(self.notation, self.sizes.alphabet, self.settings.most_tokens, constrained, cover)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """All weights, each once: some are shared, such as embeddings that are used for the output, too."""
        whole, twins = super().state_dict(*args, **kwargs), self._twins()
        return {name: whole[name] for name in whole if name not in twins}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        twins = {twin: state_dict[name] for twin, name in self._twins().items() if name in state_dict}
        return super().load_state_dict({**state_dict, **twins}, strict, assign)

    def _twins(self) -> dict[str, str]:
        """The names of weights that are shared, each with the name under which it is stored."""
        names: dict[int, str] = {}
        parameters = self.named_parameters(remove_duplicate=False)
        pairs = [(name, names.setdefault(id(parameter), name)) for name, parameter in parameters]
        return {name: first for name, first in pairs if name != first}

    # --- what every model must define ---

    @abstractmethod
    def encode(self, batch: Batch) -> Any:
        """Read the texts."""

    @abstractmethod
    def target_logits(self, memory: Any, batch: Batch) -> Tensor:
        """The logits for every token of the targets, each given the tokens before it: (batch, tokens, columns)."""

    def attention(self, memory: Any, batch: Batch) -> Tensor | None:
        """The decoder's attention for every token of the targets: (batch, tokens, words); None if it has none."""
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

        A row continues a row of the same problem; the rows of solved problems are left out.
        """
