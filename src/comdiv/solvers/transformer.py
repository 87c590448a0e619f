"""Transformer over infix expressions (§V-B; Vaswani et al. 2017); layer norms come first, for small data."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from comdiv.errors import ComdivError
from comdiv.solvers.alphabet import Notation
from comdiv.solvers.batches import IGNORED, Batch
from comdiv.solvers.examples import MOST_WORDS, NumberInput
from comdiv.solvers.model import Model, Sizes
from comdiv.solvers.settings import SolverSettings


@dataclass(frozen=True, slots=True)
class Memory:
    """A state for every word, and which words are there."""

    states: Tensor  # (batch, words, width)
    mask: Tensor  # (batch, words)


@dataclass(frozen=True, slots=True)
class TransformerState:
    """The tokens so far, the start token first: (rows, steps)."""

    tokens: Tensor
    memory: Memory


class Transformer(Model):
    """Encoder and decoder of `layers` layers each; `embedding` is the width, `hidden` that of the feed-forward part."""

    notation: ClassVar[Notation] = "infix"
    numbers: ClassVar[NumberInput] = "indexed"

    def __init__(self, settings: SolverSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        width = settings.embedding
        if width % settings.heads:
            raise ComdivError(f"embedding={width} cannot be shared by heads={settings.heads}: choose a multiple")
        self.start_token = sizes.alphabet.size
        self.words = nn.Embedding(sizes.words, width, padding_idx=0)
        self.tokens = nn.Embedding(sizes.alphabet.size + 1, width)
        for table in (self.words, self.tokens):
            nn.init.normal_(table.weight, std=width**-0.5)
        self.dropout = nn.Dropout(settings.dropout)
        options: dict[str, Any] = {
            "d_model": width,
            "nhead": settings.heads,
            "dim_feedforward": 2 * settings.hidden,
            "dropout": settings.dropout,
            "batch_first": True,
            "norm_first": True,
        }
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**options), settings.layers, nn.LayerNorm(width), enable_nested_tensor=False
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(**options), settings.layers, nn.LayerNorm(width)
        )
        self.output = nn.Linear(width, sizes.alphabet.size)
        self.register_buffer(
            "positions", _sinusoids(max(MOST_WORDS, settings.most_tokens) + 1, width), persistent=False
        )

    def encode(self, batch: Batch) -> Memory:
        mask = batch.word_mask
        states = self.encoder(self._placed(self.words(batch.words)), src_key_padding_mask=~mask)
        return Memory(states, mask)

    def target_logits(self, memory: Memory, batch: Batch) -> Tensor:
        before = batch.targets[:, :-1].masked_fill(batch.targets[:, :-1] == IGNORED, 0)
        first = torch.full_like(batch.targets[:, :1], self.start_token)
        return self._logits(torch.cat([first, before], 1), memory)

    def start(self, memory: Memory, beam: int) -> TransformerState:
        rows = Memory(memory.states.repeat_interleave(beam, 0), memory.mask.repeat_interleave(beam, 0))
        first = torch.full((len(rows.states), 1), self.start_token, device=memory.states.device)
        return TransformerState(first, rows)

    def next_logits(self, state: TransformerState) -> Tensor:
        return self._logits(state.tokens, state.memory)[:, -1]

    def advance(self, state: TransformerState, rows: Tensor, tokens: Tensor) -> TransformerState:
        memory = state.memory
        if len(rows) < len(state.tokens):  # some problems are solved
            memory = Memory(memory.states[rows], memory.mask[rows])
        return TransformerState(torch.cat([state.tokens[rows], tokens.unsqueeze(1)], 1), memory)

    def _logits(self, tokens: Tensor, memory: Memory) -> Tensor:
        """tokens (rows, steps) → (rows, steps, alphabet)."""
        steps = tokens.shape[1]
        future = torch.ones(steps, steps, dtype=torch.bool, device=tokens.device).triu(1)
        states = self.decoder(
            self._placed(self.tokens(tokens)),
            memory.states,
            tgt_mask=future,
            tgt_is_causal=True,
            memory_key_padding_mask=~memory.mask,
        )
        logits: Tensor = self.output(states)
        return logits

    def _placed(self, embedded: Tensor) -> Tensor:
        """Embeddings with their positions added: (rows, steps, width)."""
        scaled = embedded * math.sqrt(embedded.shape[-1])
        placed: Tensor = self.dropout(scaled + self.positions[: embedded.shape[1]])  # type: ignore[index]
        return placed


def _sinusoids(steps: int, width: int) -> Tensor:
    """Sines and cosines of falling frequency: (steps, width)."""
    position = torch.arange(steps).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    table = torch.zeros(steps, width)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency[: width // 2])
    return table
