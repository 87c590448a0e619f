"""Hyper-parameters of the neural solvers, and their presets: `paper` (the appendix's table) and `cpu` (two cores)."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from comdiv.errors import unknown_name
from comdiv.registry import SOLVERS
from comdiv.settings import Settings

Cover = Literal["none", "soft", "hard"]
Select = Literal["best", "last"]  # which epoch's weights are kept


class SolverSettings(Settings):
    """What determines a trained solver, besides its data: the settings that solvers share.

    A solver with settings of its own names a subclass as its `settings_class`.
    """

    embedding: int = Field(default=128, ge=1, le=4096, description="Width of a word's embedding.")
    hidden: int = Field(default=512, ge=1, le=8192, description="Width of the hidden layers.")
    layers: int = Field(default=2, ge=1, le=24, description="Number of layers.")
    heads: int = Field(default=8, ge=1, le=64, description="Attention heads of the Transformer.")
    dropout: float = Field(default=0.5, ge=0, lt=1, description="Share of the activations dropped while training.")
    batch: int = Field(default=64, ge=1, le=4096, description="Problems per optimiser step.")
    epochs: int = Field(default=100, ge=1, le=100_000, description="Passes over the training problems.")
    learning_rate: float = Field(default=1e-3, gt=0, description="Greatest learning rate.")
    schedule: Literal["constant", "halving", "warm-up", "one-cycle"] = Field(
        default="constant", description="How the learning rate changes while training."
    )
    halve_every: int = Field(default=20, ge=1, description="Epochs between two steps of `halving`.")
    warm_up: int = Field(default=1500, ge=1, description="Optimiser steps until `warm-up` has its greatest rate.")
    weight_decay: float = Field(default=0.0, ge=0, description="Weight decay of Adam.")
    clip: float = Field(default=5.0, gt=0, description="Greatest norm of a step's gradient.")
    patience: int = Field(
        default=0, ge=0, description="Epochs without a better validation accuracy before training stops; 0: never."
    )
    beam: int = Field(default=5, ge=1, le=100, description="Width of the beam when solving.")
    most_tokens: int = Field(
        default=45, ge=3, le=255, description="Most tokens of an expression; the paper of GTS allows 45 nodes."
    )
    targets: Literal["given", "ordered"] = Field(
        default="given", description="Expressions as the corpus writes them, or operands of + and * in text order."
    )
    min_frequency: int | None = Field(
        default=None, description="Rarer words are unknown; nothing: 1 for fewer than 5,000 original problems, else 5."
    )
    forget: float = Field(
        default=0.0, ge=0, description="A word seen c times is read as unknown with probability forget / (forget + c)."
    )
    constrained: bool = Field(default=True, description="Decode well-formed expressions only.")
    cover: Cover = Field(default="none", description="Whether an expression should use every quantity of its text.")
    cover_bonus: float = Field(default=0.0, description="Bonus per used quantity, learnt on validation for `soft`.")
    weights: str = Field(
        default="", description="Of bertgen and gpt2: a folder, a GGUF file or a hub's name; empty: the paper's."
    )
    random_weights: bool = Field(
        default=False, description="The same architecture with random weights: what is pre-training worth?"
    )
    pretrained_rate: float = Field(
        default=1.0, gt=0, description="Learning rate of the pre-trained weights, as a share of that of the others."
    )
    seed: int = Field(default=0, ge=0, description="Seed of weights, batches and dropout.")
    threads: int = Field(default=0, ge=0, description="CPU threads; 0: as many as torch chooses.")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(default="auto", description="Where to compute.")


# The papers of BERT and GPT-2; their sizes are those of the weights.
_FINE_TUNING = {"dropout": 0.1, "batch": 32, "learning_rate": 5e-5, "schedule": "one-cycle"}
# The appendix's table of hyper-parameters; what it does not name is the original papers'.
_PAPER: dict[str, dict[str, Any]] = {
    "lstm": {"batch": 32},
    "mathen": {"batch": 32},
    "transformer": {"embedding": 512, "layers": 4, "dropout": 0.1, "learning_rate": 3e-3, "schedule": "warm-up"},
    "gts": {"schedule": "halving", "weight_decay": 1e-5},
    "bertgen": {"layers": 12, **_FINE_TUNING},
    "gpt2": _FINE_TUNING,
}
# Two cores, minutes rather than hours: half the width, a one-cycle schedule, early stopping.
_CPU_COMMON = {
    "hidden": 256,
    "epochs": 40,
    "schedule": "one-cycle",
    "patience": 15,
    "targets": "ordered",
    "forget": 0.25,
}
_CPU: dict[str, dict[str, Any]] = {
    "lstm": {"batch": 32, "learning_rate": 2e-3},
    "mathen": {"batch": 32, "learning_rate": 2e-3},
    "transformer": {"embedding": 256, "layers": 3, "dropout": 0.1, "learning_rate": 5e-4, "batch": 32},
    "gts": {"weight_decay": 1e-5, "learning_rate": 2e-3, "batch": 32, "dropout": 0.3},
    "bertgen": {
        **_FINE_TUNING,
        "batch": 16,
        "learning_rate": 5e-4,
        "pretrained_rate": 0.3,
        "epochs": 10,
        "forget": 0.0,
    },
    "gpt2": {**_FINE_TUNING, "batch": 16, "learning_rate": 1e-4, "epochs": 10, "forget": 0.0},
}
PRESETS = ("cpu", "paper")


def settings_for(solver: str, preset: str = "cpu", changes: Mapping[str, Any] | None = None) -> SolverSettings:
    """A preset's settings for a solver, with changes; an unknown name is answered with the nearest known one."""
    if preset not in PRESETS:
        raise unknown_name("preset", preset, PRESETS)
    specific = _PAPER.get(solver, {}) if preset == "paper" else {**_CPU_COMMON, **_CPU.get(solver, {})}
    return settings_class(solver).checked(**{**specific, **(changes or {})})


def settings_class(solver: str) -> type[SolverSettings]:
    """The settings that a solver has: the common ones, with its own if its class names any."""
    return SOLVERS.get(solver).settings_class if solver in SOLVERS else SolverSettings
