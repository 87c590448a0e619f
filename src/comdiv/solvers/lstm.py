"""LSTM with attention, over infix or, as MathEN, over normalised postfix (§V-B; Wang et al. 2017, 2018)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from comdiv.solvers.alphabet import Notation
from comdiv.solvers.batches import Batch
from comdiv.solvers.encoders import EncoderDecoder
from comdiv.solvers.hyperparameters import LstmSettings, SolverSettings
from comdiv.solvers.inputs import NumberInput
from comdiv.solvers.model import Sizes, TextStates
from comdiv.solvers.recurrent import attend, attention_weights


@dataclass(frozen=True, slots=True)
class LstmState:
    """The decoder after a token: its output, its hidden and cell states, and what each row reads."""

    output: Tensor  # (rows, 1, hidden)
    hidden: Tensor  # (layers, rows, hidden)
    cells: Tensor  # (layers, rows, hidden)
    texts: TextStates


class Lstm(EncoderDecoder):
    """Two-layer bidirectional LSTM encoder, two-layer LSTM decoder with attention (Luong et al. 2015)."""

    notation: ClassVar[Notation] = "infix"
    numbers: ClassVar[NumberInput] = "indexed"
    own_encoder: ClassVar[str] = "lstm"
    settings_class: ClassVar[type[SolverSettings]] = LstmSettings

    def __init__(self, settings: LstmSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        hidden, dropout = self.encoder.width, settings.dropout
        self.start_token = sizes.alphabet.size
        self.embedding = nn.Embedding(sizes.alphabet.size + 1, settings.embedding)
        between = dropout if settings.layers > 1 else 0.0
        self.decoder = nn.LSTM(settings.embedding, hidden, settings.layers, batch_first=True, dropout=between)
        self.dropout = nn.Dropout(dropout)
        self.match = nn.Linear(hidden, hidden, bias=False)
        self.combine = nn.Linear(2 * hidden, hidden)
        self.output = nn.Linear(hidden, sizes.alphabet.size)

    def encode(self, batch: Batch) -> TextStates:
        text: TextStates = self.encoder(batch)
        return text

    def target_logits(self, memory: TextStates, batch: Batch) -> Tensor:
        return self._logits(self._target_steps(memory, batch), memory)

    def attention(self, memory: TextStates, batch: Batch) -> Tensor:
        scores = self._match_scores(self._target_steps(memory, batch), memory.states)
        return attention_weights(scores, memory.mask.unsqueeze(1))

    def _target_steps(self, memory: TextStates, batch: Batch) -> Tensor:
        """The decoder's output for every token of the targets: (batch, tokens, hidden)."""
        steps, _ = self._decode(batch.decoder_inputs(self.start_token), *_beginning(memory))
        return steps

    def start(self, memory: TextStates, beam: int) -> LstmState:
        hidden, cells = _beginning(memory)
        texts = TextStates(memory.states.repeat_interleave(beam, 0), memory.mask.repeat_interleave(beam, 0))
        first = torch.full((len(texts.states),), self.start_token, device=memory.states.device)
        return self._stepped(first, hidden.repeat_interleave(beam, 1), cells.repeat_interleave(beam, 1), texts)

    def next_logits(self, state: LstmState) -> Tensor:
        return self._logits(state.output, state.texts).squeeze(1)

    def advance(self, state: LstmState, rows: Tensor, tokens: Tensor) -> LstmState:
        # The rows of a problem read the same text, so the texts change only when problems are solved.
        texts = state.texts
        if len(rows) < len(texts.states):
            texts = TextStates(texts.states[rows], texts.mask[rows])
        return self._stepped(tokens, state.hidden[:, rows], state.cells[:, rows], texts)

    def _stepped(self, tokens: Tensor, hidden: Tensor, cells: Tensor, texts: TextStates) -> LstmState:
        output, (hidden, cells) = self._decode(tokens.unsqueeze(1), hidden, cells)
        return LstmState(output, hidden, cells, texts)

    def _decode(self, tokens: Tensor, hidden: Tensor, cells: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        embedded = self.dropout(self.embedding(tokens))  # (rows, steps, embedding)
        output, last = self.decoder(embedded, (hidden.contiguous(), cells.contiguous()))
        return output, last

    def _logits(self, steps: Tensor, texts: TextStates) -> Tensor:
        """steps (rows, steps, hidden) → (rows, steps, alphabet)."""
        context = attend(self._match_scores(steps, texts.states), texts.mask.unsqueeze(1), texts.states)
        combined = torch.tanh(self.combine(torch.cat([self.dropout(steps), context], -1)))
        logits: Tensor = self.output(self.dropout(combined))
        return logits

    def _match_scores(self, steps: Tensor, states: Tensor) -> Tensor:
        """How well steps (rows, steps, hidden) and words (rows, words, hidden) match: (rows, steps, words)."""
        return torch.matmul(self.match(steps), states.transpose(1, 2))


def _beginning(memory: TextStates) -> tuple[Tensor, Tensor]:
    """The decoder's first states and cells: an LSTM encoder's last ones; others have no cells."""
    assert memory.last is not None  # an encoder has made this memory
    return memory.last, memory.last.new_zeros(memory.last.shape) if memory.cells is None else memory.cells


class MathEn(Lstm):
    """The same network over the normalised expression in postfix: MathEN adds the normalisation."""

    notation: ClassVar[Notation] = "postfix"
