"""A pre-trained encoder for any decoder, whose lower layers may be frozen."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
import transformers
from torch import Tensor

from comdiv.errors import ComdivError
from comdiv.reading import Reading
from comdiv.solvers.batches import Batch
from comdiv.solvers.encoders import Encoder
from comdiv.solvers.hyperparameters import ReaderSettings
from comdiv.solvers.inputs import InputReader, NumberInput
from comdiv.solvers.model import Sizes, TextStates
from comdiv.solvers.pretrained import Pieces, WeightsSource, begin_quantities, begin_with, model_of

KEPT_STATES = 128 * 2**20  # numbers in the cache of frozen layers: half a gigabyte


class PretrainedEncoder(Encoder):
    """Any BERT-like encoder of the transformers library.

    With `frozen_layers`, the embeddings and the lowest layers never change. Their output is computed once for each
    text, by itself, so that it does not depend on the batch in which the text first occurs.
    """

    is_pretrained: ClassVar[bool] = True

    def __init__(self, settings: ReaderSettings, sizes: Sizes) -> None:
        super().__init__()
        reader, copies = sizes.reader, sizes.alphabet.copies
        assert isinstance(reader, Pieces)
        self.settings, self.width = settings, int(reader.config.hidden_size)
        # Decoders that point at quantities use one row for all of them; the others one for each, and one for the rest.
        self.last_row = reader.first_quantity + (copies if sizes.numbers == "indexed" else 0)
        self.body = model_of(transformers.AutoModel.from_config, reader, self.last_row + 1, settings.encoder_dropout)
        self.frozen: dict[bytes, Tensor] = {}  # by the text's pieces: (pieces, width)
        self.kept = 0
        if settings.frozen_layers:
            for module in (self.body.embeddings, *self._layers[: settings.frozen_layers]):
                module.requires_grad_(False)

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
        if self.settings.frozen_layers:
            states = self._through(self._layers[self.settings.frozen_layers :], self._frozen_states(words, batch), mask)
        else:
            states = self.body(input_ids=words, attention_mask=mask.long()).last_hidden_state
        counted = mask.unsqueeze(-1).to(states.dtype)
        summary = states[:, 0] + (states * counted).sum(1) / counted.sum(1)  # (batch, width)
        return TextStates(states, mask, summary.expand(self.settings.layers, -1, -1))

    # --- frozen layers ---

    @property
    def _layers(self) -> list[Any]:
        layers = getattr(getattr(self.body, "encoder", None), "layer", None)
        if layers is None or not hasattr(self.body, "embeddings"):
            raise ComdivError(f"frozen_layers: {type(self.body).__name__} is not built like BERT; use frozen_layers=0")
        if self.settings.frozen_layers > len(layers):
            raise ComdivError(f"frozen_layers={self.settings.frozen_layers}: the encoder has {len(layers)} layers")
        return list(layers)

    def _through(self, layers: Sequence[Any], states: Tensor, mask: Tensor) -> Tensor:
        """States (batch, words, width) after some layers."""
        visible = mask[:, None, None, :].expand(-1, -1, mask.shape[1], -1)
        for layer in layers:
            output = layer(states, visible)
            states = output[0] if isinstance(output, tuple) else output
        return states

    def _frozen_states(self, words: Tensor, batch: Batch) -> Tensor:
        """The output of the frozen layers: (batch, words, width)."""
        rows = []
        for row, length in zip(words, batch.lengths.tolist(), strict=True):
            rows.append(self._frozen_text(row[:length]))
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    @torch.no_grad()
    def _frozen_text(self, words: Tensor) -> Tensor:
        """The output of the frozen layers for one text: (words, width); cached while there is room."""
        key = words.cpu().numpy().tobytes()
        if key not in self.frozen:
            was_training = self.body.training
            if was_training:  # frozen layers have no dropout; to switch takes longer than to look
                self.body.eval()
            states = self.body.embeddings(input_ids=words.unsqueeze(0))
            mask = torch.ones_like(words.unsqueeze(0), dtype=torch.bool)
            states = self._through(self._layers[: self.settings.frozen_layers], states, mask).squeeze(0)
            if was_training:
                self.body.train()
            if self.kept + states.numel() > KEPT_STATES or (self.training and self.settings.forget):
                return states
            self.frozen[key] = states
            self.kept += states.numel()
        return self.frozen[key]
