"""A causal language model on "problem → expression" (§V-B; Radford et al. 2019): GPT-2, or any other."""

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import transformers
from torch import Tensor

from comdiv.errors import ComdivError
from comdiv.solvers.alphabet import END, Alphabet
from comdiv.solvers.batches import IGNORED, Batch
from comdiv.solvers.frozen_layers import freeze_causal
from comdiv.solvers.grammar import Rules
from comdiv.solvers.hyperparameters import Gpt2Settings, SolverSettings
from comdiv.solvers.inputs import Integers
from comdiv.solvers.model import Sizes
from comdiv.solvers.pretrained import Kind, Pieces, PretrainedModel, WeightsSource, begin_with, model_of
from comdiv.solvers.spelling import SpelledRules, Spelling, ambiguous


@dataclass(slots=True)
class Prompt:
    """The problems' pieces, without the last piece of the mark; their keys and values are computed on first use."""

    words: Tensor  # (batch, words)
    mask: Tensor  # (batch, words)
    cache: Any = None


@dataclass(frozen=True, slots=True)
class CausalState:
    """The model after a piece; the cache holds everything computed so far and is passed from state to state."""

    logits: Tensor  # (rows, columns)
    cache: Any
    mask: Tensor  # (rows, words and pieces so far)
    position: Tensor  # (rows): of the next piece


class Gpt2(PretrainedModel):
    """Expressions are spelled with the model's own pieces; loss and decoding consider only the pieces they need."""

    kind: ClassVar[Kind] = "causal"
    settings_class: ClassVar[type[SolverSettings]] = Gpt2Settings

    def __init__(self, settings: Gpt2Settings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        spellings, self.rows = _spellings(self.reader, sizes.alphabet)
        self.spelling = Spelling(spellings)
        positions = getattr(self.reader.config, "max_position_embeddings", None)
        if positions is not None and self.reader.most_pieces + settings.most_tokens * self.spelling.longest > positions:
            raise ComdivError(
                f"the model has {positions} positions: too few for expressions of most_tokens={settings.most_tokens}"
            )
        self.causal = model_of(transformers.AutoModelForCausalLM.from_config, self.reader, self.rows, settings.dropout)
        if settings.frozen_layers:
            freeze_causal(self.causal, settings.frozen_layers)
        self.register_buffer("pieces", torch.tensor(self.spelling.pieces), persistent=False)

    # --- pre-trained ---

    def begin(self, source: WeightsSource) -> None:
        begin_with(self.causal, transformers.AutoModelForCausalLM.from_pretrained, source)

    # --- spelling ---

    def spell(self, target: Integers) -> Integers:
        return np.array(self.spelling.spell(target.tolist()), dtype=np.int64)

    def rules(self, *, constrained: bool, cover: bool) -> SpelledRules:
        rules = Rules(self.notation, self.sizes.alphabet, self.settings.most_tokens, constrained, cover)
        return SpelledRules(rules, self.spelling, self._pieces.device)

    @property
    def _pieces(self) -> Tensor:
        """(columns): the vocabulary's index of each."""
        pieces = self.pieces
        assert isinstance(pieces, Tensor)
        return pieces

    # --- reading and writing ---

    def encode(self, batch: Batch) -> Prompt:
        return Prompt(batch.words, batch.word_mask)

    def target_logits(self, memory: Prompt, batch: Batch) -> Tensor:
        """Problem and expression in one pass; the gap between a short text and its expression is masked."""
        before = batch.targets[:, :-1].masked_fill(batch.targets[:, :-1] == IGNORED, 0)
        first = torch.full_like(batch.targets[:, :1], self.reader.mark[-1])
        written = torch.cat([first, self._pieces[before]], 1)  # (batch, steps)
        steps = torch.arange(written.shape[1], device=written.device)
        output = self.causal(
            input_ids=torch.cat([memory.words, written], 1),
            attention_mask=torch.cat([memory.mask, torch.ones_like(written, dtype=torch.bool)], 1).long(),
            position_ids=torch.cat([_positions(memory.mask), memory.mask.sum(1, keepdim=True) + steps], 1),
            logits_to_keep=written.shape[1],
            use_cache=False,
        )
        logits: Tensor = output.logits[..., self._pieces]
        return logits

    def start(self, memory: Prompt, beam: int) -> CausalState:
        if memory.cache is None:  # computed once for all searches
            memory.cache = self.causal(
                input_ids=memory.words,
                attention_mask=memory.mask.long(),
                position_ids=_positions(memory.mask),
                logits_to_keep=1,
                use_cache=True,
            ).past_key_values
        cache = copy.deepcopy(memory.cache)
        cache.batch_repeat_interleave(beam)
        mask = memory.mask.repeat_interleave(beam, 0)
        return self._stepped(
            cache, mask, mask.sum(1), torch.full_like(mask[:, 0], self.reader.mark[-1], dtype=torch.long)
        )

    def next_logits(self, state: CausalState) -> Tensor:
        return state.logits

    def advance(self, state: CausalState, rows: Tensor, tokens: Tensor) -> CausalState:
        state.cache.batch_select_indices(rows)
        return self._stepped(state.cache, state.mask[rows], state.position[rows], self._pieces[tokens])

    def _stepped(self, cache: Any, mask: Tensor, position: Tensor, pieces: Tensor) -> CausalState:
        """One more piece per row: mask (rows, before), position and pieces (rows)."""
        mask = torch.cat([mask, torch.ones_like(mask[:, :1])], 1)
        output = self.causal(
            input_ids=pieces.unsqueeze(1),
            attention_mask=mask.long(),
            position_ids=position.unsqueeze(1),
            past_key_values=cache,
            use_cache=True,
        )
        return CausalState(output.logits[:, -1, self._pieces], output.past_key_values, mask, position + 1)


def _positions(mask: Tensor) -> Tensor:
    """The position of every piece; padding has the position of the last piece."""
    return (mask.long().cumsum(1) - 1).clamp(min=0)


def _spellings(reader: Pieces, alphabet: Alphabet) -> tuple[list[list[int]], int]:
    """The pieces of every token, and the number of embedding rows needed.

    A token that the tokenizer does not know, or whose pieces could be read as other tokens, gets a new piece.
    """
    tokenizer, rows = reader.tokenizer, len(reader.tokenizer)
    rows = max(rows, int(reader.config.vocab_size))
    texts = [*alphabet.base, *(f"N{index}" for index in range(alphabet.copies))]
    ends = [piece for piece in (tokenizer.eos_token_id, tokenizer.sep_token_id) if piece is not None]
    spellings = [ends[:1] if text == END else reader.ids_within(f" {text}") for text in texts]
    unknown = {token for token, spelled in enumerate(spellings) if tokenizer.unk_token_id in spelled}
    rows = _respell(spellings, unknown - {texts.index(END)}, rows)
    return spellings, _respell(spellings, ambiguous(spellings), rows)


def _respell(spellings: list[list[int]], tokens: set[int], rows: int) -> int:
    """Give each of these tokens a new piece; returns the new number of rows."""
    for token in sorted(tokens):
        spellings[token] = [rows]
        rows += 1
    return rows
