"""What a model has to offer: a subclass of this trains, decodes, scores and resumes like the rest."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from comdiv.solvers.alphabet import Alphabet, Notation
from comdiv.solvers.batches import Batch
from comdiv.solvers.examples import NumberInput
from comdiv.solvers.settings import SolverSettings


@dataclass(frozen=True)
class Sizes:
    """What the data decide about a model: how many words it reads, and what it writes."""

    words: int
    alphabet: Alphabet


class Model(nn.Module, ABC):
    """An encoder and a decoder over the tokens of expressions.

    A memory is whatever `encode` makes of a batch; a state is whatever the decoder carries from token to token, one row
    a hypothesis. Scores are logits over the alphabet: `alphabet.first_copy` tokens, then copies of quantities.
    """

    notation: ClassVar[Notation]
    numbers: ClassVar[NumberInput]

    def __init__(self, settings: SolverSettings, sizes: Sizes) -> None:
        super().__init__()
        self.settings = settings
        self.sizes = sizes

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
        """The state before the first token, `beam` rows a problem, problem after problem."""

    @abstractmethod
    def next_logits(self, state: Any) -> Tensor:
        """The logits for the next token: (rows, columns)."""

    @abstractmethod
    def advance(self, state: Any, rows: Tensor, tokens: Tensor) -> Any:
        """The state after `tokens`, where row i continues row `rows[i]` of the old state.

        A row continues one of its own problem; when a problem is solved, all its rows are missing from then on.
        """
