"""Bidirectional recurrent encoders: LSTM's and MathEN's own, and that of GTS.

The weights are those of torch's GRU and LSTM, but the steps are implemented here. For texts of different lengths,
torch's packed sequences on a CPU clear a tensor as large as the whole batch for every word when computing gradients,
which takes longer than all multiplications together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

from comdiv.solvers.batches import Batch
from comdiv.solvers.encoders import Encoder
from comdiv.solvers.hyperparameters import ReaderSettings
from comdiv.solvers.model import Sizes, TextStates


@dataclass(frozen=True, slots=True)
class Layout:
    """Texts of different lengths without padding: all first words, then all second words…; longest text first."""

    sizes: list[int]  # how many texts have a first word, a second…
    place: Tensor  # (batch, words): the position of a word; 0 for padding
    reverse: Tensor  # (all words): the position of the word that takes its place when every text is reversed
    last: Tensor  # (batch): the positions of the last words


class RecurrentEncoder(Encoder):
    """Embedding, dropout, and a bidirectional GRU or LSTM whose two directions are summed, as GTS does."""

    kind: ClassVar[type[nn.GRU | nn.LSTM]]

    def __init__(self, settings: ReaderSettings, sizes: Sizes) -> None:
        super().__init__()
        self.width = settings.hidden
        self.embedding = nn.Embedding(sizes.words, settings.embedding, padding_idx=0)
        self.dropout = nn.Dropout(settings.dropout)
        between = settings.dropout if settings.layers > 1 else 0.0
        self.layers = self.kind(
            settings.embedding, self.width, settings.layers, batch_first=True, bidirectional=True, dropout=between
        )

    def word_table(self) -> nn.Embedding:
        return self.embedding

    def forward(self, batch: Batch) -> TextStates:
        embedded = self.dropout(self.embedding(batch.words))  # (batch, words, embedding)
        packed = pack_padded_sequence(embedded, batch.lengths, batch_first=True, enforce_sorted=True)
        layout = _layout(packed.batch_sizes, batch)
        inputs, last, cells = packed.data, [], []
        for layer in range(self.layers.num_layers):
            forward = self._run(f"l{layer}", inputs, layout.sizes)
            backward = self._run(f"l{layer}_reverse", inputs[layout.reverse], layout.sizes)
            last.append(forward[0][layout.last] + backward[0][layout.last])
            cells.append(forward[-1][layout.last] + backward[-1][layout.last])
            outputs = (forward[0], backward[0][layout.reverse])  # (all words, hidden) each
            inputs = functional.dropout(torch.cat(outputs, -1), self.layers.dropout, self.training)
        is_lstm = isinstance(self.layers, nn.LSTM)
        return TextStates(
            states=(outputs[0] + outputs[1])[layout.place],
            last=torch.stack(last),
            cells=torch.stack(cells) if is_lstm else None,
            mask=batch.word_mask,
        )

    def _run(self, name: str, inputs: Tensor, sizes: list[int]) -> tuple[Tensor, ...]:
        """One direction of one layer: inputs (all words, …) → states and, of an LSTM, cells (all words, hidden)."""
        to_input, to_hidden = getattr(self.layers, f"weight_ih_{name}"), getattr(self.layers, f"weight_hh_{name}").t()
        bias = getattr(self.layers, f"bias_hh_{name}")
        projected = functional.linear(inputs, to_input, getattr(self.layers, f"bias_ih_{name}"))
        cell = _lstm_cell if isinstance(self.layers, nn.LSTM) else _gru_cell
        state: Sequence[Tensor] = [inputs.new_zeros(sizes[0], len(to_hidden))] * (2 if cell is _lstm_cell else 1)
        steps = []
        for gates in torch.split(projected, sizes):
            if len(gates) < len(state[0]):  # the shortest texts have ended
                state = [tensor[: len(gates)] for tensor in state]
            state = cell(gates, torch.addmm(bias, state[0], to_hidden), state)
            steps.append(state)
        return tuple(torch.cat(tensors) for tensors in zip(*steps, strict=True))


class GruEncoder(RecurrentEncoder):
    """The encoder of GTS."""

    kind = nn.GRU


class LstmEncoder(RecurrentEncoder):
    """The encoder of LSTM and MathEN."""

    kind = nn.LSTM


def _gru_cell(from_input: Tensor, from_hidden: Tensor, state: Sequence[Tensor]) -> Sequence[Tensor]:
    """(texts, 3 · hidden) twice, reset and update gates first → the next state."""
    hidden = len(state[0][0])
    both, new = torch.split(from_input, [2 * hidden, hidden], 1)
    both_hidden, new_hidden = torch.split(from_hidden, [2 * hidden, hidden], 1)
    reset, update = (both + both_hidden).sigmoid().chunk(2, 1)
    new = torch.addcmul(new, reset, new_hidden).tanh()
    return (torch.lerp(new, state[0], update),)


def _lstm_cell(from_input: Tensor, from_hidden: Tensor, state: Sequence[Tensor]) -> Sequence[Tensor]:
    """(texts, 4 · hidden) twice, input, forget, cell and output gates → the next state and cell."""
    enters, stays, new, leaves = (from_input + from_hidden).chunk(4, 1)
    cells = torch.addcmul(stays.sigmoid() * state[1], enters.sigmoid(), new.tanh())
    return leaves.sigmoid() * cells.tanh(), cells


def _layout(sizes: Tensor, batch: Batch) -> Layout:
    starts = (sizes.cumsum(0) - sizes).to(batch.words.device)  # (words)
    lengths, mask = batch.lengths.to(batch.words.device), batch.word_mask
    text = torch.arange(len(lengths), device=lengths.device)
    time = torch.arange(len(starts), device=lengths.device)
    place = torch.where(mask, starts + text.unsqueeze(1), 0)
    mirrored = (lengths.unsqueeze(1) - 1 - time).clamp(min=0)
    reverse = (starts[mirrored] + text.unsqueeze(1)).t()[mask.t()]
    return Layout(sizes.tolist(), place, reverse, starts[lengths - 1] + text)


def attend(scores: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """The mean of values, weighted by the softmax of scores over what the mask allows.

    scores (…, steps, words), mask (…, 1, words), values (…, words, hidden) → (…, steps, hidden).
    """
    return torch.matmul(attention_weights(scores, mask), values)


def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax of scores over what the mask allows: (…, steps, words)."""
    return scores.masked_fill(~mask, float("-inf")).softmax(-1)
