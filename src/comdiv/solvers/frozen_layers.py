"""Lower layers of pre-trained models that are not trained, and for encoders a cache of what they compute."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from comdiv.errors import ComdivError
from comdiv.solvers.batches import Batch

KEPT_STATES = 128 * 2**20  # numbers in the cache: half a gigabyte


class FrozenLayers:
    """A BERT-like encoder whose embeddings and `count` lowest layers never change.

    Their output is computed once for each text, by itself, so that it does not depend on the batch in which the text
    first occurs. With `keeps_training` false it is kept only for solving: in training, words are forgotten at random.
    """

    def __init__(self, body: Any, count: int, *, keeps_training: bool = True) -> None:
        self.body, self.keeps_training = body, keeps_training
        layers = getattr(getattr(body, "encoder", None), "layer", None)
        if layers is None or not hasattr(body, "embeddings"):
            raise ComdivError(f"frozen_layers: {type(body).__name__} is not built like BERT; use frozen_layers=0")
        if count > len(layers):
            raise ComdivError(f"frozen_layers={count}: the encoder has {len(layers)} layers")
        self.lower, self.upper = list(layers)[:count], list(layers)[count:]
        freeze([body.embeddings, *self.lower])
        self.states: dict[bytes, Tensor] = {}  # by the text's pieces: (pieces, width)
        self.kept = 0  # numbers in `states`

    def encode(self, words: Tensor, batch: Batch) -> Tensor:
        """The encoder's states of the words (batch, words) of a batch: (batch, words, width)."""
        rows = [self._below(row[:length]) for row, length in zip(words, batch.lengths.tolist(), strict=True)]
        return self.through(self.upper, torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), batch.word_mask)

    def through(self, layers: Sequence[Any], states: Tensor, mask: Tensor) -> Tensor:
        """States (batch, words, width) after some layers."""
        visible = mask[:, None, None, :].expand(-1, -1, mask.shape[1], -1)
        for layer in layers:
            output = layer(states, visible)
            states = output[0] if isinstance(output, tuple) else output
        return states

    def clear(self) -> None:
        """Forget all texts."""
        self.states.clear()
        self.kept = 0

    @torch.no_grad()
    def _below(self, words: Tensor) -> Tensor:
        """The output of the frozen layers for one text: (words, width); kept while there is room."""
        key = words.cpu().numpy().tobytes()
        if key not in self.states:
            was_training = self.body.training
            if was_training:  # frozen layers have no dropout; to switch takes longer than to look
                self.body.eval()
            states = self.body.embeddings(input_ids=words.unsqueeze(0))
            mask = torch.ones_like(words.unsqueeze(0), dtype=torch.bool)
            states = self.through(self.lower, states, mask).squeeze(0)
            if was_training:
                self.body.train()
            if self.kept + states.numel() > KEPT_STATES or (was_training and not self.keeps_training):
                return states
            self.states[key] = states
            self.kept += states.numel()
        return self.states[key]


def freeze(modules: Sequence[nn.Module]) -> None:
    """These parts are not trained."""
    for module in modules:
        module.requires_grad_(False)


def freeze_causal(model: Any, count: int) -> None:
    """The embeddings and `count` lowest layers of a causal model are not trained.

    Nothing is cached: problem and expression pass through all layers together. The output that shares the embeddings is
    not trained, either.
    """
    body = model.base_model
    layers = getattr(body, "h", getattr(body, "layers", None))  # as GPT-2 and as Llama call them
    if layers is None:
        kind = type(model).__name__
        raise ComdivError(f"frozen_layers: {kind} is not built like GPT-2 or Llama; use frozen_layers=0")
    if count > len(layers):
        raise ComdivError(f"frozen_layers={count}: the model has {len(layers)} layers")
    embeddings = [part for part in body.children() if isinstance(part, nn.Embedding)]
    freeze([*embeddings, *list(layers)[:count]])
