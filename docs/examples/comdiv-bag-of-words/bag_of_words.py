from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import nn

from comdiv.solvers.hyperparameters import SolverSettings
from comdiv.solvers.model import Model


class BagOfWordsSettings(SolverSettings):
    pooling: Literal["mean", "sum"] = Field(default="mean", description="How the words of a text become one vector.")
    presets: ClassVar = {"cpu": {"hidden": 128}}  # laid over those that all solvers share


class BagOfWords(Model):
    notation = "infix"  # or "prefix", "postfix"
    numbers = "indexed"  # the text has N0, N1… in the places of its quantities; "masked": NUM
    settings_class = BagOfWordsSettings

    def __init__(self, settings, sizes):
        super().__init__(settings, sizes)
        tokens, hidden = sizes.alphabet.size, settings.hidden
        self.nothing_yet = tokens  # a token of our own: what comes before the first
        self.words = nn.Embedding(sizes.words, hidden, padding_idx=0)
        self.tokens = nn.Embedding(tokens + 1, hidden)
        self.decoder = nn.GRU(hidden, hidden, batch_first=True)
        self.output = nn.Linear(hidden, tokens)

    def encode(self, batch):
        bag = self.words(batch.words).sum(1)  # (batch, hidden)
        return bag if self.settings.pooling == "sum" else bag / batch.word_mask.sum(1, keepdim=True)

    def target_logits(self, memory, batch):
        before = batch.targets.clamp(min=0).roll(1, dims=1)  # every token sees those before it
        before[:, 0] = self.nothing_yet
        steps, _ = self.decoder(self.tokens(before), memory.unsqueeze(0))
        return self.output(steps)  # (batch, tokens, alphabet)

    def start(self, memory, beam):
        first = torch.full((len(memory) * beam,), self.nothing_yet, device=memory.device)
        return self.step(memory.repeat_interleave(beam, 0), first)

    def next_logits(self, state):
        return self.output(state)  # (rows, alphabet)

    def advance(self, state, rows, tokens):
        return self.step(state[rows], tokens)  # row i goes on from row rows[i]

    def step(self, state, tokens):
        return self.decoder(self.tokens(tokens).unsqueeze(1), state.unsqueeze(0))[1].squeeze(0)  # (rows, hidden)
