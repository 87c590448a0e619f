"""Hyper-parameters of the neural solvers, and their presets: `paper` (the appendix's table) and `cpu` (two cores)."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from comdiv.errors import ComdivError, unknown_name

Cover = Literal["none", "soft", "hard"]
Select = Literal["best", "last"]  # which epoch's weights are kept


class SolverSettings(BaseModel):
    """Everything that determines a trained solver, besides its data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedding: int = Field(128, ge=1, le=4096)
    hidden: int = Field(512, ge=1, le=8192)
    layers: int = Field(2, ge=1, le=24)
    heads: int = Field(8, ge=1, le=64)  # Transformer only
    dropout: float = Field(0.5, ge=0, lt=1)
    batch: int = Field(64, ge=1, le=4096)
    epochs: int = Field(100, ge=1, le=100_000)
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["constant", "halving", "warm-up", "one-cycle"] = "constant"
    halve_every: int = Field(20, ge=1)  # epochs, for `halving`
    warm_up: int = Field(1500, ge=1)  # steps, for `warm-up`
    weight_decay: float = Field(0.0, ge=0)
    clip: float = Field(5.0, gt=0)  # greatest norm of a step's gradient
    patience: int = Field(0, ge=0)  # epochs without a better validation accuracy before stopping; 0: never
    beam: int = Field(5, ge=1, le=100)
    most_tokens: int = Field(45, ge=3, le=255)  # of an expression; the paper of GTS allows 45 nodes
    targets: Literal["given", "ordered"] = "given"  # as the corpus writes them, or operands of + and * in text order
    min_frequency: int | None = None  # words seen less often are unknown; None: 1 under 5,000 originals, else 5
    forget: float = Field(0.0, ge=0)  # a word seen c times is read as unknown with probability forget / (forget + c)
    constrained: bool = True  # decode well-formed expressions only
    cover: Cover = "none"
    cover_bonus: float = 0.0  # learnt on validation for `soft`
    weights: str = ""  # of bertgen and gpt2: a folder, a GGUF file or a hub's name; empty: the paper's, by language
    random_weights: bool = False  # the same architecture, its weights drawn: what pre-training is worth
    pretrained_rate: float = Field(1.0, gt=0)  # learning rate of pre-trained weights, as a share of that of the others
    seed: int = Field(0, ge=0)
    threads: int = Field(0, ge=0)  # 0: as torch finds them
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"


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
    for name in changes or {}:
        if name not in SolverSettings.model_fields:
            raise unknown_name("setting", name, SolverSettings.model_fields)
    try:
        return SolverSettings(**{**specific, **(changes or {})})
    except ValidationError as error:
        first = error.errors()[0]
        raise ComdivError(f"setting {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
