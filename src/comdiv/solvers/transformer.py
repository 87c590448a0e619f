"""Transformer over infix expressions (§V-B; Vaswani et al. 2017), with pre-layer normalisation for small data."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from comdiv.errors import ComdivError
from comdiv.solvers.alphabet import Notation
from comdiv.solvers.batches import Batch
from comdiv.solvers.encoders import Encoder, EncoderDecoder
from comdiv.solvers.hyperparameters import ReaderSettings, SolverSettings, TransformerSettings
from comdiv.solvers.inputs import MOST_WORDS, NumberInput
from comdiv.solvers.model import Model, Sizes, TextStates


@dataclass(frozen=True, slots=True)
class KeysAndValues:
    """Keys and values of one attention: (rows or problems, heads, steps or words, width / heads)."""

    keys: Tensor
    values: Tensor

    def of(self, rows: Tensor) -> "KeysAndValues":
        return KeysAndValues(self.keys[rows], self.values[rows])


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """What the decoder attends to in the texts; the `beam` rows of a problem read the same one."""

    layers: list[KeysAndValues]  # for each layer, the words, by problem
    mask: Tensor  # (problems, 1, 1, words)
    beam: int

    def of(self, problems: Tensor) -> "ReadTexts":
        """Those of some of the problems."""
        return ReadTexts([layer.of(problems) for layer in self.layers], self.mask[problems], self.beam)


@dataclass(frozen=True, slots=True)
class TransformerState:
    """The decoder after a token, with everything computed so far cached."""

    logits: Tensor  # (rows, alphabet)
    written: list[KeysAndValues]  # for each layer, the tokens so far, by row
    texts: ReadTexts


class CachingDecoder(Model):
    """The common part of decoders that cache the keys and values of everything they have written."""

    def next_logits(self, state: TransformerState) -> Tensor:
        return state.logits

    def advance(self, state: TransformerState, rows: Tensor, tokens: Tensor) -> TransformerState:
        texts = state.texts
        if len(rows) < len(state.logits):  # some problems are solved
            texts = texts.of(rows[:: texts.beam] // texts.beam)
        return self._stepped(tokens, [written.of(rows) for written in state.written], texts)

    @abstractmethod
    def _stepped(self, tokens: Tensor, written: list[KeysAndValues], texts: ReadTexts) -> TransformerState:
        """One more token per row."""


class TransformerEncoder(nn.TransformerEncoder, Encoder):
    """`layers` layers over words with encodings of their positions; `embedding` is the width."""

    def __init__(self, settings: ReaderSettings, sizes: Sizes, words: nn.Embedding | None = None) -> None:
        width = settings.embedding
        options = _layer_options(settings, width)
        layer, norm = nn.TransformerEncoderLayer(**options), nn.LayerNorm(width)
        super().__init__(layer, settings.layers, norm, enable_nested_tensor=False)
        self.width = width
        self.words = _started(nn.Embedding(sizes.words, width, padding_idx=0)) if words is None else words
        self.dropout = nn.Dropout(settings.dropout)
        self.register_buffer("positions", _sinusoids(MOST_WORDS + 1, width), persistent=False)

    def word_table(self) -> nn.Embedding:
        return self.words

    def forward(self, batch: Batch) -> TextStates:  # type: ignore[override]
        mask = batch.word_mask
        embedded = self.dropout(_placed(self.words(batch.words), self.positions))
        states = super().forward(embedded, src_key_padding_mask=~mask)  # (batch, words, width)
        counted = mask.unsqueeze(-1).to(states.dtype)
        mean = (states * counted).sum(1) / counted.sum(1)
        return TextStates(states, mask, mean.expand(self.num_layers, -1, -1))


class Transformer(CachingDecoder, EncoderDecoder):
    """Encoder and decoder of `layers` layers each; `embedding` is the width, `hidden` that of the feed-forward part."""

    notation: ClassVar[Notation] = "infix"
    numbers: ClassVar[NumberInput] = "indexed"
    own_encoder: ClassVar[str] = "transformer"
    settings_class: ClassVar[type[SolverSettings]] = TransformerSettings
    settings: TransformerSettings

    def __init__(self, settings: TransformerSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        is_own = self.encoder is None
        if is_own:  # its words come before the decoder's tokens among the random initial weights, its layers after them
            self.words = nn.Embedding(sizes.words, settings.embedding, padding_idx=0)
        width = settings.embedding if is_own else self.encoder.width
        options = _layer_options(settings, width)
        self.start_token = sizes.alphabet.size
        self.tokens = nn.Embedding(sizes.alphabet.size + 1, width)
        if is_own:
            _started(self.words)
        _started(self.tokens)
        self.dropout = nn.Dropout(settings.dropout)
        if is_own:
            self.encoder = TransformerEncoder(settings, sizes, self.words)
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(**options), settings.layers, nn.LayerNorm(width)
        )
        self.output = nn.Linear(width, sizes.alphabet.size)
        self.register_buffer("positions", _sinusoids(settings.most_tokens + 1, width), persistent=False)

    def new_encoder(self, settings: ReaderSettings, sizes: Sizes) -> Any:
        is_own = self.encoder_class(settings) is TransformerEncoder
        return None if is_own else super().new_encoder(settings, sizes)

    def encode(self, batch: Batch) -> TextStates:
        text: TextStates = self.encoder(batch)
        return text

    def target_logits(self, memory: TextStates, batch: Batch) -> Tensor:
        return self._logits(batch.decoder_inputs(self.start_token), memory)

    def start(self, memory: TextStates, beam: int) -> TransformerState:
        words = [KeysAndValues(*self._split(layer.multihead_attn, memory.states, "kv")) for layer in self._layers]
        rows, heads = len(memory.states) * beam, self.settings.heads
        nothing = memory.states.new_zeros(rows, heads, 0, self.tokens.embedding_dim // heads)
        first = torch.full((rows,), self.start_token, device=memory.states.device)
        texts = ReadTexts(words, memory.mask[:, None, None], beam)
        return self._stepped(first, [KeysAndValues(nothing, nothing)] * len(words), texts)

    def _stepped(self, tokens: Tensor, written: list[KeysAndValues], texts: ReadTexts) -> TransformerState:
        """One more token per row: the layers of `_logits`, for the last step only."""
        first = written[0].keys.shape[2]
        states = self.dropout(_placed(self.tokens(tokens).unsqueeze(1), self.positions, first))  # (rows, 1, width)
        extended = []
        for layer, before, text in zip(self._layers, written, texts.layers, strict=True):
            query, key, value = self._split(layer.self_attn, layer.norm1(states), "qkv")
            now = KeysAndValues(torch.cat([before.keys, key], 2), torch.cat([before.values, value], 2))
            states = states + self._joined(layer.self_attn, query, now)
            grouped = layer.norm2(states).view(
                len(texts.mask), texts.beam, -1
            )  # the rows of a problem read the same text
            (query,) = self._split(layer.multihead_attn, grouped, "q")
            states = states + self._joined(layer.multihead_attn, query, text, texts.mask).view(states.shape)
            states = states + layer.linear2(layer.activation(layer.linear1(layer.norm3(states))))
            extended.append(now)
        logits = self.output(self.decoder.norm(states)).squeeze(1)  # type: ignore[misc]
        return TransformerState(logits, extended, texts)

    @property
    def _layers(self) -> list[Any]:
        return list(self.decoder.layers)

    def _split(self, attention: Any, states: Tensor, parts: str) -> list[Tensor]:
        """Queries, keys or values of states (rows, steps, width) by heads: (rows, heads, steps, width / heads) each."""
        width = states.shape[-1]
        chosen = slice("qkv".index(parts[0]) * width, ("qkv".index(parts[-1]) + 1) * width)
        projected = functional.linear(states, attention.in_proj_weight[chosen], attention.in_proj_bias[chosen])
        heads = projected.view(
            *projected.shape[:-1], len(parts), self.settings.heads, -1
        )  # (rows, steps, parts, heads, …)
        return list(heads.permute(2, 0, 3, 1, 4))

    def _joined(self, attention: Any, query: Tensor, attended: KeysAndValues, mask: Tensor | None = None) -> Tensor:
        """The projected attention output for queries (rows, heads, steps, …): (rows, steps, width)."""
        values = functional.scaled_dot_product_attention(query, attended.keys, attended.values, attn_mask=mask)
        projected: Tensor = attention.out_proj(values.transpose(1, 2).flatten(2))
        return projected

    def _logits(self, tokens: Tensor, memory: TextStates) -> Tensor:
        """tokens (rows, steps) → (rows, steps, alphabet)."""
        steps = tokens.shape[1]
        future = torch.ones(steps, steps, dtype=torch.bool, device=tokens.device).triu(1)
        states = self.decoder(
            self.dropout(_placed(self.tokens(tokens), self.positions)),
            memory.states,
            tgt_mask=future,
            tgt_is_causal=True,
            memory_key_padding_mask=~memory.mask,
        )
        logits: Tensor = self.output(states)
        return logits


def _layer_options(settings: ReaderSettings, width: int) -> dict[str, Any]:
    """The options of an encoder's or decoder's layers."""
    if width % settings.heads:
        raise ComdivError(f"embedding={width} cannot be divided among heads={settings.heads}: choose a multiple")
    return {
        "d_model": width,
        "nhead": settings.heads,
        "dim_feedforward": 2 * settings.hidden,
        "dropout": settings.dropout,
        "batch_first": True,
        "norm_first": True,
    }


def _started(table: nn.Embedding) -> nn.Embedding:
    """The table with initial weights whose standard deviation is 1 after the scaling in `_placed`."""
    nn.init.normal_(table.weight, std=table.embedding_dim**-0.5)
    return table


def _placed(embedded: Tensor, positions: Any, first: int = 0) -> Tensor:
    """Scaled embeddings plus position encodings, counted from `first`: (rows, steps, width)."""
    placed: Tensor = embedded * math.sqrt(embedded.shape[-1]) + positions[first : first + embedded.shape[1]]
    return placed


def _sinusoids(steps: int, width: int) -> Tensor:
    """Sines and cosines of decreasing frequency: (steps, width)."""
    position = torch.arange(steps).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    table = torch.zeros(steps, width)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency[: width // 2])
    return table
