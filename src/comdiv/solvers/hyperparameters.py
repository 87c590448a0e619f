"""Hyper-parameters of solvers, and their presets: `paper` (the appendix's table) and `cpu` (two cores).

A solver with its own hyper-parameters or presets subclasses `SolverSettings` and sets its model's `settings_class` to
the subclass; `--set`, plans and run folders then know them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from comdiv.errors import unknown_name
from comdiv.files import file_sha256
from comdiv.registry import ENCODERS, SOLVERS
from comdiv.settings import Settings

Cover = Literal["none", "soft", "hard"]
Plausible = Literal["none", "validation", "nested"]
Select = Literal["best", "last"]  # which epoch's weights are kept
Presets = Mapping[str, Mapping[str, Any]]


class SolverSettings(Settings):
    """Everything that determines a trained solver, except its data: the settings that all solvers share."""

    embedding: int = Field(default=128, ge=1, le=4096, description="Width of a word's embedding.")
    hidden: int = Field(default=512, ge=1, le=8192, description="Width of the hidden layers.")
    layers: int = Field(default=2, ge=1, le=24, description="Number of layers.")
    dropout: float = Field(default=0.5, ge=0, lt=1, description="Share of the activations dropped during training.")
    batch: int = Field(default=64, ge=1, le=4096, description="Problems per optimiser step.")
    epochs: int = Field(default=100, ge=1, le=100_000, description="Passes over the training problems.")
    learning_rate: float = Field(default=1e-3, gt=0, description="Greatest learning rate.")
    schedule: Literal["constant", "halving", "warm-up", "one-cycle"] = Field(
        default="constant", description="How the learning rate changes during training."
    )
    halve_every: int = Field(default=20, ge=1, description="Epochs between two steps of `halving`.")
    warm_up: int = Field(default=1500, ge=1, description="Optimiser steps until `warm-up` reaches its greatest rate.")
    weight_decay: float = Field(default=0.0, ge=0, description="Weight decay of Adam.")
    clip: float = Field(default=5.0, gt=0, description="Greatest norm of a step's gradient.")
    patience: int = Field(
        default=0, ge=0, description="Epochs without a better validation accuracy before training stops; 0: never."
    )
    beam: int = Field(default=5, ge=1, le=100, description="Width of the beam when solving.")
    most_tokens: int = Field(
        default=45, ge=3, le=255, description="Most tokens of an expression; the GTS paper allows 45 nodes."
    )
    targets: Literal["given", "ordered"] = Field(
        default="given", description="Expressions as written in the corpus, or with operands of + and * in text order."
    )
    min_frequency: int | None = Field(
        default=None, description="Rarer words are unknown; default: 1 below 5,000 original problems, else 5."
    )
    forget: float = Field(
        default=0.0, ge=0, description="A word seen c times is read as unknown with probability forget / (forget + c)."
    )
    average: float = Field(
        default=0.0, ge=0, description="Average the weights over about this many of the last epochs; 0: no averaging."
    )
    constrained: bool = Field(default=True, description="Decode well-formed expressions only.")
    cover: Cover = Field(default="none", description="Whether an expression should use every quantity of its text.")
    cover_bonus: float = Field(default=0.0, description="Bonus per used quantity, learnt on validation for `soft`.")
    plausible: Plausible = Field(
        default="none",
        description="Re-rank the beam by the values of its steps, with weights learnt on validation problems or on a "
        "compositional split nested in the training problems.",
    )
    seed: int = Field(default=0, ge=0, description="Seed of weights, batches and dropout.")
    # On a busy machine, several threads spend their time waiting for each other: `benchmarks/threads.py`.
    threads: int = Field(default=1, ge=0, description="CPU threads; 0: as many as torch chooses.")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(default="auto", description="Where to compute.")

    presets: ClassVar[Presets] = {
        # Two cores, minutes rather than hours: half the width, a one-cycle schedule, early stopping.
        "cpu": {
            "hidden": 256,
            "epochs": 40,
            "schedule": "one-cycle",
            "patience": 15,
            "targets": "ordered",
            "forget": 0.25,
        },
        # The appendix's table of hyper-parameters; what it does not list is taken from the original papers.
        "paper": {},
    }

    @classmethod
    def preset(cls, name: str, changes: Mapping[str, Any] | None = None) -> Self:
        """The settings of a preset, with changes. A class's own preset values override those of its bases."""
        bases = [vars(base).get("presets", {}) for base in reversed(cls.__mro__)]
        if not any(name in presets for presets in bases):
            raise unknown_name("preset", name, {known for presets in bases for known in presets})
        values = {key: value for presets in bases for key, value in presets.get(name, {}).items()}
        own = cls.own(changes or {})
        return cls.checked(**{**values, **cls.consequences(name, own), **own})

    weights_setting: ClassVar[str] = ""  # the setting that names pre-trained weights

    @property
    def named_weights(self) -> str:
        """The pre-trained weights that the settings name, if any."""
        return getattr(self, self.weights_setting) if self.weights_setting else ""

    @property
    def named_files(self) -> dict[str, tuple[str, str]]:
        """The files and folders that determine where training starts: by kind, the setting and what it names."""
        return {"weights": (self.weights_setting, self.named_weights)} if self.named_weights else {}

    @classmethod
    def consequences(cls, preset: str, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Further settings that follow from the user's changes; the changes themselves take precedence."""
        return {}

    @classmethod
    def own(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """This solver's settings among those written for several solvers, as in a plan or an older run.

        Only settings that another built-in solver has are dropped; any other unknown name is kept, to be refused.
        """
        others = {name for kind in SETTINGS_CLASSES.values() for name in kind.model_fields} - cls.model_fields.keys()
        return {name: value for name, value in values.items() if name not in others}


# --- the solvers that come with comdiv ---
# They are here, not in the models' modules, so that plans can be read without torch and transformers.


class ReaderSettings(SolverSettings):
    """Settings of solvers whose decoder works with any encoder."""

    encoder: str = Field(
        default="",
        description="What reads the text: gru, lstm, transformer, one from a package, or pre-trained weights (a "
        "folder, a hub's NAME[@REVISION], package:NAME/FOLDER); empty: the solver's own.",
    )
    heads: int = Field(default=8, ge=1, le=64, description="Attention heads of a Transformer.")
    encoder_dropout: float = Field(default=0.1, ge=0, lt=1, description="Dropout within a pre-trained encoder.")
    pretrained_rate: float = Field(
        default=1.0, gt=0, description="Learning rate of the pre-trained weights, relative to that of the others."
    )
    random_weights: bool = Field(
        default=False, description="Use the same architecture with random weights, as a control for pre-training."
    )
    frozen_layers: int = Field(
        default=0,
        ge=0,
        description="Number of lowest layers of a pre-trained encoder to freeze, together with its embeddings.",
    )
    written_numbers: bool = Field(
        default=False,
        description="A pre-trained encoder reads numbers as they are written; their states are pooled from the pieces.",
    )
    vectors: str = Field(
        default="", description="Word vectors that initialise the embeddings: a file, or package:NAME/FILE."
    )
    pretrained_presets: ClassVar[Presets] = {
        "cpu": {
            "batch": 16, "epochs": 10, "patience": 0, "forget": 0.0, "dropout": 0.3, "learning_rate": 1e-3,
            "weight_decay": 0.0, "clip": 1.0, "pretrained_rate": 0.15, "frozen_layers": 3,
        },
        "paper": {"batch": 16, "schedule": "one-cycle", "pretrained_rate": 0.05},
    }  # fmt: skip

    weights_setting: ClassVar[str] = "encoder"

    @property
    def named_weights(self) -> str:
        return "" if self.encoder in ENCODERS else self.encoder

    @property
    def named_files(self) -> dict[str, tuple[str, str]]:
        return super().named_files | ({"vectors": ("vectors", self.vectors)} if self.vectors else {})

    @classmethod
    def consequences(cls, preset: str, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Pre-trained encoders need few epochs, small steps, and no words replaced by unknown ones."""
        is_learnt = changes.get("encoder", "") in ("", *ENCODERS.names())
        return {} if is_learnt else cls.pretrained_presets.get(preset, {})


class LstmSettings(ReaderSettings):
    """Settings of `lstm` and `mathen`."""

    presets: ClassVar[Presets] = {"cpu": {"batch": 32, "learning_rate": 2e-3}, "paper": {"batch": 32}}


class GtsSettings(ReaderSettings):
    """Of `gts`."""

    presets: ClassVar[Presets] = {
        "cpu": {"weight_decay": 1e-5, "learning_rate": 2e-3, "batch": 32, "dropout": 0.3},
        "paper": {"schedule": "halving", "weight_decay": 1e-5},
    }


class TransformerSettings(ReaderSettings):
    """Of `transformer`."""

    presets: ClassVar[Presets] = {
        "cpu": {"embedding": 256, "layers": 3, "dropout": 0.1, "learning_rate": 5e-4, "batch": 32},
        "paper": {"embedding": 512, "layers": 4, "dropout": 0.1, "learning_rate": 3e-3, "schedule": "warm-up"},
    }


class DeductiveSettings(ReaderSettings):
    """Settings of `deductive`."""

    pair: int = Field(default=160, ge=1, le=4096, description="Width of the scorer of pairs.")
    values: bool = Field(default=True, description="Show the scorer of pairs the values of the operands.")

    presets: ClassVar[Presets] = {
        "cpu": {"learning_rate": 1e-3, "batch": 16, "dropout": 0.3, "clip": 1.0},
        "paper": {"dropout": 0.3, "clip": 1.0, "schedule": "one-cycle"},
    }


class PretrainedSettings(SolverSettings):
    """Settings of solvers that start from pre-trained weights, which determine width, heads and depth."""

    weights: str = Field(
        default="",
        description="A folder, a GGUF file, a hub's NAME[@REVISION] or package:NAME/FOLDER; empty: the paper's.",
    )
    random_weights: bool = Field(
        default=False, description="Use the same architecture with random weights, as a control for pre-training."
    )
    pretrained_rate: float = Field(
        default=1.0, gt=0, description="Learning rate of the pre-trained weights, relative to that of the others."
    )
    frozen_layers: int = Field(
        default=0, ge=0, description="Number of lowest layers to freeze, together with the embeddings."
    )

    presets: ClassVar[Presets] = {
        "cpu": {"dropout": 0.1, "batch": 16, "epochs": 10, "forget": 0.0},
        "paper": {"dropout": 0.1, "batch": 32, "learning_rate": 5e-5, "schedule": "one-cycle"},  # BERT's and GPT-2's
    }

    weights_setting: ClassVar[str] = "weights"


class BertgenSettings(PretrainedSettings):
    """Of `bertgen`."""

    presets: ClassVar[Presets] = {"cpu": {"learning_rate": 5e-4, "pretrained_rate": 0.3}, "paper": {"layers": 12}}


class Gpt2Settings(PretrainedSettings):
    """Of `gpt2`."""

    presets: ClassVar[Presets] = {"cpu": {"learning_rate": 1e-4}}


SETTINGS_CLASSES: Mapping[str, type[SolverSettings]] = {
    "lstm": LstmSettings,
    "mathen": LstmSettings,
    "gts": GtsSettings,
    "transformer": TransformerSettings,
    "bertgen": BertgenSettings,
    "gpt2": Gpt2Settings,
    "deductive": DeductiveSettings,
}


def settings_class(solver: str) -> type[SolverSettings]:
    """The settings class of a solver; for built-in solvers, without importing them."""
    return SETTINGS_CLASSES[solver] if SOLVERS.is_ours(solver) else SOLVERS.get(solver).settings_class


def settings_for(solver: str, preset: str = "cpu", changes: Mapping[str, Any] | None = None) -> SolverSettings:
    """A preset's settings for a solver, with changes; the error for an unknown name suggests the nearest known one."""
    return settings_class(solver).preset(preset, changes)


def weights_files(path: Path) -> dict[str, str]:
    """Hashes of weights in a folder or file, whose contents may change; none for a name on the hub."""
    files = [path] if path.is_file() else sorted(path.glob("*")) if path.is_dir() else []
    return {file.name: file_sha256(file) for file in files if file.is_file()}
