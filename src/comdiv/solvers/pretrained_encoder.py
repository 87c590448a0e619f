"""A pre-trained encoder for any decoder, whose lower layers may be frozen."""

from collections.abc import Sequence
from typing import ClassVar

import transformers

from comdiv.reading import Reading
from comdiv.solvers.batches import Batch
from comdiv.solvers.encoders import Encoder
from comdiv.solvers.frozen_layers import FrozenLayers
from comdiv.solvers.hyperparameters import ReaderSettings
from comdiv.solvers.inputs import InputReader, NumberInput
from comdiv.solvers.model import Sizes, TextStates
from comdiv.solvers.pretrained import Pieces, WeightsSource, begin_quantities, begin_with, model_of


class PretrainedEncoder(Encoder):
    """Any BERT-like encoder of the transformers library."""

    is_pretrained: ClassVar[bool] = True

    def __init__(self, settings: ReaderSettings, sizes: Sizes) -> None:
        super().__init__()
        reader, copies = sizes.reader, sizes.alphabet.copies
        assert isinstance(reader, Pieces)
        self.settings, self.width = settings, int(reader.config.hidden_size)
        # Decoders that point at quantities use one row for all of them; the others one for each, and one for the rest.
        self.last_row = reader.first_quantity + (copies if sizes.numbers == "indexed" else 0)
        self.body = model_of(transformers.AutoModel.from_config, reader, self.last_row + 1, settings.encoder_dropout)
        self.frozen = (
            FrozenLayers(self.body, settings.frozen_layers, keeps_training=not settings.forget)
            if settings.frozen_layers
            else None
        )

    @classmethod
    def learn_reader(cls, readings: Sequence[Reading], settings: ReaderSettings, numbers: NumberInput) -> InputReader:
        return Pieces.learn("encoder", readings, settings.encoder)

    def begin(self, reader: InputReader) -> None:
        assert isinstance(reader, Pieces)
        if reader.source is not None and not self.settings.random_weights:
            self._begin_with(reader, reader.source)

    def _begin_with(self, reader: Pieces, source: WeightsSource) -> None:
        begin_with(self.body, transformers.AutoModel.from_pretrained, source)
        begin_quantities(self.body, reader, self.last_row)

    def forward(self, batch: Batch) -> TextStates:
        mask = batch.word_mask
        words = batch.words.clamp(max=self.last_row)
        if self.frozen is None:
            states = self.body(input_ids=words, attention_mask=mask.long()).last_hidden_state
        else:
            states = self.frozen.encode(words, batch)
        counted = mask.unsqueeze(-1).to(states.dtype)
        summary = states[:, 0] + (states * counted).sum(1) / counted.sum(1)  # (batch, width)
        return TextStates(states, mask, summary.expand(self.settings.layers, -1, -1))
