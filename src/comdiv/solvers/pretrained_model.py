"""What models with pre-trained weights share: how they read, and when they begin with those weights."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from comdiv.problem import Problem
from comdiv.solvers.alphabet import Notation
from comdiv.solvers.model import Model, Sizes
from comdiv.solvers.pretrained import Kind, Pieces, Source
from comdiv.solvers.reading import NumberInput, Reader
from comdiv.solvers.settings import SolverSettings


class PretrainedModel(Model):
    """A model that reads the pieces of a pre-trained tokenizer and writes infix."""

    notation: ClassVar[Notation] = "infix"
    numbers: ClassVar[NumberInput] = "indexed"
    versions_of = (*Model.versions_of, "transformers", "tokenizers")
    kind: ClassVar[Kind]
    default_weights: ClassVar[Mapping[str, str]]  # language → the paper's, on the hub

    def __init__(self, settings: SolverSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        assert isinstance(sizes.reader, Pieces)
        self.reader = sizes.reader

    @classmethod
    def learn_reader(cls, problems: Sequence[Problem], settings: SolverSettings) -> Reader:
        return Pieces.learn(cls.kind, cls.default_weights, problems, settings)

    @classmethod
    def load_reader(cls, folder: Path, words: Sequence[str]) -> Reader:
        return Pieces.load(cls.kind, folder)

    def save_reader(self, folder: Path) -> None:
        self.reader.save(folder)

    def load_pretrained(self) -> None:
        if not self.settings.random_weights and self.reader.source is not None:
            self.begin(self.reader.source)

    @abstractmethod
    def begin(self, source: Source) -> None:
        """Take the weights of a source."""
