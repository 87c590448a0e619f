"""LSTM with attention, over infix or, as MathEN, over normalised postfix (§V-B; Wang et al. 2017, 2018)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from comdiv.solvers.alphabet import Notation
from comdiv.solvers.batches import IGNORED, Batch
from comdiv.solvers.examples import NumberInput
from comdiv.solvers.model import Model, Sizes
from comdiv.solvers.recurrent import Read, RecurrentEncoder, attend
from comdiv.solvers.settings import SolverSettings


@dataclass(frozen=True, slots=True)
class LstmState:
    """The decoder's hidden and cell states, the token that comes next as input, and what each row reads."""

    hidden: Tensor  # (layers, rows, hidden)
    cells: Tensor  # (layers, rows, hidden)
    tokens: Tensor  # (rows)
    memory: Read


class Lstm(Model):
    """Two-layer bidirectional LSTM encoder, two-layer LSTM decoder with attention (Luong et al. 2015)."""

    notation: ClassVar[Notation] = "infix"
    numbers: ClassVar[NumberInput] = "indexed"

    def __init__(self, settings: SolverSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        hidden, dropout = settings.hidden, settings.dropout
        self.encoder = RecurrentEncoder("lstm", sizes.words, settings.embedding, hidden, settings.layers, dropout)
        self.start_token = sizes.alphabet.size
        self.embedding = nn.Embedding(sizes.alphabet.size + 1, settings.embedding)
        between = dropout if settings.layers > 1 else 0.0
        self.decoder = nn.LSTM(settings.embedding, hidden, settings.layers, batch_first=True, dropout=between)
        self.dropout = nn.Dropout(dropout)
        self.match = nn.Linear(hidden, hidden, bias=False)
        self.combine = nn.Linear(2 * hidden, hidden)
        self.output = nn.Linear(hidden, sizes.alphabet.size)

    def encode(self, batch: Batch) -> Read:
        read: Read = self.encoder(batch)
        return read

    def target_logits(self, memory: Read, batch: Batch) -> Tensor:
        before = batch.targets[:, :-1].masked_fill(batch.targets[:, :-1] == IGNORED, 0)
        first = torch.full_like(batch.targets[:, :1], self.start_token)
        assert memory.cells is not None  # an LSTM encoder has them
        steps, _ = self._decode(torch.cat([first, before], 1), memory.last, memory.cells)
        return self._logits(steps, memory)

    def start(self, memory: Read, beam: int) -> LstmState:
        assert memory.cells is not None  # an LSTM encoder has them
        rows = len(memory.states) * beam
        return LstmState(
            hidden=memory.last.repeat_interleave(beam, 1),
            cells=memory.cells.repeat_interleave(beam, 1),
            tokens=torch.full((rows,), self.start_token, device=memory.states.device),
            memory=Read(
                memory.states.repeat_interleave(beam, 0), memory.last, None, memory.mask.repeat_interleave(beam, 0)
            ),
        )

    def next_logits(self, state: LstmState) -> Tensor:
        steps, _ = self._decode(state.tokens.unsqueeze(1), state.hidden, state.cells)
        return self._logits(steps, state.memory).squeeze(1)

    def advance(self, state: LstmState, rows: Tensor, tokens: Tensor) -> LstmState:
        _, (hidden, cells) = self._decode(state.tokens.unsqueeze(1), state.hidden, state.cells)
        # Rows of one problem read the same text, so the memory needs no reordering.
        return LstmState(hidden[:, rows], cells[:, rows], tokens, state.memory)

    def _decode(self, tokens: Tensor, hidden: Tensor, cells: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        embedded = self.dropout(self.embedding(tokens))  # (rows, steps, embedding)
        output, last = self.decoder(embedded, (hidden.contiguous(), cells.contiguous()))
        return output, last

    def _logits(self, steps: Tensor, memory: Read) -> Tensor:
        """steps (rows, steps, hidden) → (rows, steps, alphabet)."""
        scores = torch.matmul(self.match(steps), memory.states.transpose(1, 2))  # (rows, steps, words)
        context = attend(scores, memory.mask.unsqueeze(1), memory.states)
        combined = torch.tanh(self.combine(torch.cat([self.dropout(steps), context], -1)))
        logits: Tensor = self.output(self.dropout(combined))
        return logits


class MathEn(Lstm):
    """The same network over the postfix of the normalised expression: what MathEN adds is the normalisation."""

    notation: ClassVar[Notation] = "postfix"
