"""BERTGen: a pre-trained encoder and a Transformer decoder initialised from it (§V-B; Chen et al. 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional

from comdiv.solvers.alphabet import END
from comdiv.solvers.batches import Batch
from comdiv.solvers.encoders import encoder_apart
from comdiv.solvers.frozen_layers import FrozenLayers
from comdiv.solvers.hyperparameters import BertgenSettings, SolverSettings
from comdiv.solvers.model import Sizes, TextStates
from comdiv.solvers.pretrained import Kind, PretrainedModel, WeightsSource, begin_quantities, begin_with, model_of
from comdiv.solvers.transformer import CachingDecoder, KeysAndValues, ReadTexts, TransformerState

# The parts of a layer that BERT-like encoders and the decoder share: the name in the decoder, the names in encoders.
_PARTS = (
    ("attention.query", ("attention.self.query", "attention.q_lin", "attention.attn.q")),
    ("attention.key", ("attention.self.key", "attention.k_lin", "attention.attn.k")),
    ("attention.value", ("attention.self.value", "attention.v_lin", "attention.attn.v")),
    ("attention.output", ("attention.output.dense", "attention.out_lin", "attention.attn.o")),
    ("attention.norm", ("attention.output.LayerNorm", "sa_layer_norm", "attention.LayerNorm")),
    ("up", ("intermediate.dense", "ffn.lin1")),
    ("down", ("output.dense", "ffn.lin2")),
    ("norm", ("output.LayerNorm", "output_layer_norm")),
)


class BertAttention(nn.Module):
    """Multi-head attention with BERT's parts: its output is added to the queries, then normalised."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.p = heads, dropout
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def attended(self, states: Tensor) -> KeysAndValues:
        return KeysAndValues(self._split(self.key(states)), self._split(self.value(states)))

    def forward(self, states: Tensor, attended: KeysAndValues, mask: Tensor | None = None) -> Tensor:
        """states (rows, steps, width) → the same shape."""
        values = functional.scaled_dot_product_attention(
            self._split(self.query(states)),
            attended.keys,
            attended.values,
            attn_mask=mask,
            dropout_p=self.p if self.training else 0.0,
        )
        normed: Tensor = self.norm(states + self.dropout(self.output(values.transpose(1, 2).flatten(2))))
        return normed

    def _split(self, states: Tensor) -> Tensor:
        return states.view(*states.shape[:-1], self.heads, -1).transpose(1, 2)  # (rows, heads, steps, width / heads)


class DecoderLayer(nn.Module):
    """A BERT layer with a second attention, to the text."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.attention, self.text = BertAttention(width, heads, dropout), BertAttention(width, heads, dropout)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def feed_forward(self, states: Tensor) -> Tensor:
        normed: Tensor = self.norm(states + self.dropout(self.down(functional.gelu(self.up(states)))))
        return normed


@dataclass(frozen=True, slots=True)
class _Width:
    """The sizes of an encoder, whatever its configuration calls them."""

    width: int
    heads: int
    inner: int
    layers: int

    @classmethod
    def of(cls, config: Any) -> "_Width":
        inner = getattr(config, "intermediate_size", None) or getattr(config, "hidden_dim", 4 * config.hidden_size)
        return cls(config.hidden_size, config.num_attention_heads, inner, config.num_hidden_layers)


class Bertgen(CachingDecoder, PretrainedModel):
    """Any BERT-like encoder of the transformers library; the decoder has its sizes, and at most `layers` layers."""

    kind: ClassVar[Kind] = "encoder"
    settings_class: ClassVar[type[SolverSettings]] = BertgenSettings

    def __init__(self, settings: BertgenSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        alphabet, size = sizes.alphabet, _Width.of(self.reader.config)
        # One row for each quantity that can be copied, and one for all others.
        self.last_row = self.reader.first_quantity + alphabet.copies
        self.encoder = model_of(transformers.AutoModel.from_config, self.reader, self.last_row + 1, settings.dropout)
        self.frozen = (
            FrozenLayers(self.encoder, settings.frozen_layers, keeps_training=not settings.forget)
            if settings.frozen_layers
            else None
        )
        self.start_token = alphabet.size
        self.tokens = nn.Embedding(alphabet.size + 1, size.width)
        self.positions = nn.Embedding(settings.most_tokens + 1, size.width)
        self.norm = nn.LayerNorm(size.width, eps=1e-12)
        self.dropout = nn.Dropout(settings.dropout)
        layers = min(settings.layers, size.layers)
        self.layers = nn.ModuleList(
            DecoderLayer(size.width, size.heads, size.inner, settings.dropout) for _ in range(layers)
        )
        self.output = nn.Linear(size.width, alphabet.size)
        for module in [self.tokens, self.positions, self.output, *self.layers.modules()]:
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)  # as BERT
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    # --- pre-trained ---

    def begin(self, source: WeightsSource) -> None:
        begin_with(self.encoder, transformers.AutoModel.from_pretrained, source)
        with torch.no_grad():
            begin_quantities(self.encoder, self.reader, self.last_row)
            self._begin_decoder()

    def _begin_decoder(self) -> None:
        """Initialise the decoder from the matching parts of the encoder, if the shapes agree.

        The attention to the text and the output have no counterpart and stay random (Rothe et al. 2020).
        """
        table, alphabet = self.encoder.get_input_embeddings().weight, self.sizes.alphabet
        parameters = dict(self.encoder.named_parameters())
        if table.shape[1] == self.tokens.embedding_dim:
            for index, text in enumerate(alphabet.base):
                spelled = [self.reader.tokenizer.sep_token_id] if text == END else self.reader.ids(text)
                self.tokens.weight[index] = table[spelled].mean(0)
            first = self.reader.first_quantity
            self.tokens.weight[alphabet.first_copy : self.start_token] = table[first : first + alphabet.copies]
            self.tokens.weight[self.start_token] = table[self.reader.tokenizer.cls_token_id]
        for name, parameter in parameters.items():
            if name.endswith("position_embeddings.weight") and parameter.shape[1] == self.tokens.embedding_dim:
                count = min(len(parameter), len(self.positions.weight))
                self.positions.weight[:count] = parameter[:count]
        _copied(parameters, "embeddings.LayerNorm", self.norm)
        deepest = _Width.of(self.reader.config).layers - 1
        for index, layer in enumerate(self._layers):
            like = round(index * deepest / max(1, len(self.layers) - 1))
            for ours, theirs in _PARTS:
                for name in theirs:
                    _copied(parameters, f"layer.{like}.{name}", layer.get_submodule(ours))

    def parameter_groups(self) -> list[dict[str, Any]]:
        return encoder_apart(self, self.encoder, self.settings)

    # --- reading and writing ---

    def encode(self, batch: Batch) -> TextStates:
        mask = batch.word_mask
        words = batch.words.clamp(max=self.last_row)
        if self.frozen is not None:
            return TextStates(self.frozen.encode(words, batch), mask)
        return TextStates(self.encoder(input_ids=words, attention_mask=mask.long()).last_hidden_state, mask)

    def target_logits(self, memory: TextStates, batch: Batch) -> Tensor:
        tokens = batch.decoder_inputs(self.start_token)
        steps = tokens.shape[1]
        causal = torch.ones(steps, steps, dtype=torch.bool, device=tokens.device).tril()
        texts = self._read(memory, beam=1)
        states, _ = self._decode(tokens, [None] * len(self._layers), texts, causal)
        logits: Tensor = self.output(states)
        return logits

    def start(self, memory: TextStates, beam: int) -> TransformerState:
        first = torch.full((len(memory.states) * beam,), self.start_token, device=memory.states.device)
        return self._stepped(first, [None] * len(self._layers), self._read(memory, beam))

    @property
    def _layers(self) -> list[Any]:
        return list(self.layers)

    def _read(self, memory: TextStates, beam: int) -> ReadTexts:
        words = [layer.text.attended(memory.states) for layer in self._layers]
        return ReadTexts(words, memory.mask[:, None, None], beam)

    def _stepped(self, tokens: Tensor, written: Sequence[KeysAndValues | None], texts: ReadTexts) -> TransformerState:
        states, extended = self._decode(tokens.unsqueeze(1), written, texts)
        return TransformerState(self.output(states).squeeze(1), extended, texts)

    def _decode(
        self,
        tokens: Tensor,
        written: Sequence[KeysAndValues | None],
        texts: ReadTexts,
        causal: Tensor | None = None,
    ) -> tuple[Tensor, list[KeysAndValues]]:
        """tokens (rows, steps) after those `written` → states (rows, steps, width), and all tokens written so far.

        The layers of `texts` are (problems, heads, words, width / heads).
        """
        first = 0 if written[0] is None else written[0].keys.shape[2]
        places = torch.arange(first, first + tokens.shape[1], device=tokens.device)
        states = self.dropout(self.norm(self.tokens(tokens) + self.positions(places)))
        extended = []
        for layer, before, text in zip(self._layers, written, texts.layers, strict=True):
            now = layer.attention.attended(states)
            if before is not None:
                now = KeysAndValues(torch.cat([before.keys, now.keys], 2), torch.cat([before.values, now.values], 2))
            states = layer.attention(states, now, causal)
            grouped = states.view(len(texts.mask), texts.beam * tokens.shape[1], -1)
            states = layer.feed_forward(layer.text(grouped, text, texts.mask).view(states.shape))
            extended.append(now)
        return states, extended


def _copied(parameters: dict[str, Tensor], name: str, module: nn.Module) -> None:
    """Copy the parameters whose names end in `name` into a module, if they exist and have its shape."""
    for kind, parameter in module.named_parameters():
        for theirs, value in parameters.items():
            if theirs.endswith(f"{name}.{kind}") and value.shape == parameter.shape:
                parameter.copy_(value)
