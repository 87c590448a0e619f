"""Encoders, which read, and solvers as an encoder and a decoder: any decoder works with any encoder.

An encoder is named by the setting `encoder`: one of the registry (`gru`, `lstm`, `transformer`, a package's), or
pre-trained weights. The decoder is as wide as the encoder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from comdiv.errors import ComdivError
from comdiv.expression import Expression
from comdiv.reading import Reading
from comdiv.registry import ENCODERS, naming_extras
from comdiv.solvers.batches import Batch
from comdiv.solvers.hyperparameters import PretrainedSettings, ReaderSettings, SolverSettings
from comdiv.solvers.inputs import Example, InputReader, NumberInput, Vocabulary
from comdiv.solvers.model import Model, Sizes, TextStates, learn_vocabulary
from comdiv.word_vectors import Vector, read_vectors

PRETRAINED_FOLDER = "pretrained"  # of a run: the tokenizer and configuration of a pre-trained model


class Encoder(nn.Module):
    """Reads the texts of a batch: a state of `width` for every word, and the last states of every layer.

    Subclasses take the settings and sizes of their solver, set `width`, and define `forward(batch) -> TextStates`.
    """

    width: int
    is_pretrained: ClassVar[bool] = False

    @classmethod
    def learn_reader(cls, readings: Sequence[Reading], settings: ReaderSettings, numbers: NumberInput) -> InputReader:
        """How texts become integers, given the training problems."""
        return learn_vocabulary(readings, settings, numbers)

    def begin(self, reader: InputReader) -> None:
        """Replace random initial weights by pre-trained ones, before training."""

    def word_table(self) -> nn.Embedding | None:
        """The embeddings of the words, for encoders that can start from word vectors."""
        return None


class EncoderDecoder(Model):
    """A decoder on the encoder that the settings name. A decoder defines `own_encoder` and the methods of `Model`."""

    own_encoder: ClassVar[str]
    settings: ReaderSettings
    encoder: Any  # an `Encoder`

    def __init__(self, settings: ReaderSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        self.encoder = self.new_encoder(settings, sizes)

    def new_encoder(self, settings: ReaderSettings, sizes: Sizes) -> Any:
        """The encoder that the settings name: the first of the random initial weights."""
        encoder: Any = self.encoder_class(settings)
        return encoder(settings, sizes)

    @classmethod
    def encoder_class(cls, settings: ReaderSettings) -> type[Encoder]:
        """The class of the encoder that the settings name."""
        name = settings.encoder or cls.own_encoder
        if name in ENCODERS:
            return ENCODERS.get(name)
        with naming_extras():
            from comdiv.solvers.pretrained_encoder import PretrainedEncoder
        return PretrainedEncoder

    @classmethod
    def learn_reader(cls, readings: Sequence[Reading], settings: SolverSettings) -> InputReader:
        assert isinstance(settings, ReaderSettings)
        if settings.written_numbers and cls.numbers == "indexed":
            raise ComdivError("written_numbers needs a decoder that points at numbers: gts or deductive")
        return cls.encoder_class(settings).learn_reader(readings, settings, cls.numbers)

    @classmethod
    def load_reader(cls, folder: Path, words: Sequence[str]) -> InputReader:
        if not (folder / PRETRAINED_FOLDER).is_dir():
            return Vocabulary(tuple(words))
        from comdiv.solvers.pretrained import Pieces

        return Pieces.load("encoder", folder)

    def save_reader(self, folder: Path) -> None:
        if self.encoder.is_pretrained:
            self.sizes.reader.save(folder)  # type: ignore[attr-defined]

    def load_pretrained(self) -> None:
        self.encoder.begin(self.sizes.reader)
        if not self.settings.vectors:
            return
        table, words = self.encoder.word_table(), self.sizes.reader.words
        if table is None:
            raise ComdivError("vectors: this encoder has embeddings of its own; use encoder=gru, lstm or transformer")
        start_embeddings(table, words, read_vectors(self.settings.vectors, words))

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Pre-trained weights have a learning rate of their own; frozen ones have none."""
        if not self.encoder.is_pretrained:
            return super().parameter_groups()
        return encoder_apart(self, self.encoder, self.settings)

    def example(self, reading: Reading, expression: Expression | None) -> Example:
        example = super().example(reading, expression)
        if not (self.settings.written_numbers and self.encoder.is_pretrained):
            return example
        words, positions, lengths = self.sizes.reader.read_written(reading)  # type: ignore[attr-defined]
        count = len(example.quantity_positions)
        return replace(
            example,
            words=np.array(words, dtype=np.int64),
            quantity_positions=np.array(positions[:count], dtype=np.int64),
            quantity_lengths=np.array(lengths[:count], dtype=np.int64),
        )


def encoder_apart(
    model: nn.Module, encoder: nn.Module, settings: ReaderSettings | PretrainedSettings
) -> list[dict[str, Any]]:
    """Parameter groups: pre-trained weights have a learning rate of their own, frozen ones none."""
    share = 1.0 if settings.random_weights else settings.pretrained_rate
    trained = [parameter for parameter in encoder.parameters() if parameter.requires_grad]
    known = {id(parameter) for parameter in encoder.parameters()}
    others = [parameter for parameter in model.parameters() if id(parameter) not in known]
    return [{"params": trained, "share": share}, {"params": others, "share": 1.0}]


def quantity_states(text: TextStates, batch: Batch) -> Tensor:
    """The states of the quantities, each the mean of its pieces: (batch, quantities, hidden)."""
    hidden = text.states.shape[-1]
    places = batch.quantity_positions.unsqueeze(-1).expand(-1, -1, hidden)
    if batch.quantity_lengths is None:
        return text.states.gather(1, places)
    sums = torch.cat([torch.zeros_like(text.states[:, :1]), text.states.cumsum(1)], 1)  # (batch, words + 1, hidden)
    lengths = batch.quantity_lengths.unsqueeze(-1)
    return (sums.gather(1, places + lengths) - sums.gather(1, places)) / lengths.clamp(min=1)


@torch.no_grad()
def start_embeddings(table: nn.Embedding, words: Sequence[str], vectors: Mapping[str, Vector]) -> None:
    """Begin the rows of known words with their vectors, scaled like the random ones.

    If the widths differ, the first numbers count, and the rest of a row stays random.
    """
    known = [place for place, word in enumerate(words) if word in vectors]
    if not known:
        raise ComdivError("vectors: the file has none of the words of the training problems")
    rows = torch.from_numpy(np.stack([vectors[words[place]] for place in known]))  # (known, width)
    width = min(rows.shape[1], table.embedding_dim)
    rows = rows[:, :width] * (table.weight[1:].std() / rows[:, :width].std().clamp(min=1e-9)).cpu()
    table.weight[torch.tensor(known, device=table.weight.device), :width] = rows.to(table.weight.device)
