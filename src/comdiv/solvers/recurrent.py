"""The bidirectional recurrent encoder that LSTM, MathEN and GTS share."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from comdiv.solvers.batches import Batch


@dataclass(frozen=True, slots=True)
class Read:
    """What an encoder has read: a state for every word, the last states of every layer, and which words are there."""

    states: Tensor  # (batch, words, hidden)
    last: Tensor  # (layers, batch, hidden)
    cells: Tensor | None  # (layers, batch, hidden), of an LSTM
    mask: Tensor  # (batch, words)


class RecurrentEncoder(nn.Module):
    """Embedding, dropout, and a bidirectional GRU or LSTM whose two directions are summed, as GTS does."""

    def __init__(
        self, cell: Literal["gru", "lstm"], words: int, embedding: int, hidden: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, embedding, padding_idx=0)
        self.dropout = nn.Dropout(dropout)
        kind = nn.GRU if cell == "gru" else nn.LSTM
        between = dropout if layers > 1 else 0.0
        self.layers = kind(embedding, hidden, layers, batch_first=True, bidirectional=True, dropout=between)

    def forward(self, batch: Batch) -> Read:
        embedded = self.dropout(self.embedding(batch.words))  # (batch, words, embedding)
        packed = pack_padded_sequence(embedded, batch.lengths, batch_first=True, enforce_sorted=True)
        output, last = self.layers(packed)
        padded, _ = pad_packed_sequence(output, batch_first=True)
        forward, backward = padded.chunk(2, dim=-1)
        hidden, cells = last if isinstance(last, tuple) else (last, None)
        return Read(
            states=forward + backward,
            last=_summed(hidden),
            cells=None if cells is None else _summed(cells),
            mask=batch.word_mask,
        )


def _summed(last: Tensor) -> Tensor:
    """(layers · directions, batch, hidden) → (layers, batch, hidden)."""
    directions = last.view(-1, 2, *last.shape[1:])
    return directions.sum(1)


def attend(scores: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """The mean of values, weighted by the softmax of scores over what the mask allows.

    scores (…, steps, words), mask (…, 1, words), values (…, words, hidden) → (…, steps, hidden).
    """
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return torch.matmul(weights, values)
