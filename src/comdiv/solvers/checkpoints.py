"""Crash-safe checkpoints: written to a temporary folder, then renamed; the last two are kept. No pickles."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from comdiv.errors import ComdivError
from comdiv.files import atomic_path, file_sha256, write_text
from comdiv.loading import load_object

KEPT = 2
_PREFIX = "epoch-"
_TENSORS = ("weights", "optimiser", "best", "average")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a training: weights, optimiser, the best weights so far, the rest as JSON, averaged weights."""

    weights: Mapping[str, Tensor]
    optimiser: Mapping[str, Tensor]
    best: Mapping[str, Tensor]
    state: Mapping[str, Any]
    average: Mapping[str, Tensor] = field(default_factory=dict)


def write_checkpoint(folder: Path, epoch: int, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; a crash, a kill or a full disk leaves the previous one intact."""
    final = folder / f"{_PREFIX}{epoch:05d}"
    staging = folder / f".{final.name}.part"
    try:
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        names = [name for name in _TENSORS if name != "average" or checkpoint.average]
        for name in names:
            write_tensors(staging / f"{name}.safetensors", getattr(checkpoint, name))
        hashes = {name: file_sha256(staging / f"{name}.safetensors") for name in names}
        write_text(staging / "state.json", json.dumps({**checkpoint.state, "sha256": hashes}))
        if final.exists():  # left by a training that stopped after the rename
            shutil.rmtree(final)
        staging.replace(final)
    except (OSError, ComdivError) as error:
        shutil.rmtree(staging, ignore_errors=True)
        kept = _folders(folder)
        last = f"; {kept[-1].name} is the last good one" if kept else ""
        raise ComdivError(f"{folder}: the checkpoint of epoch {epoch} cannot be written: {error}{last}") from error
    for old in _folders(folder)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest checkpoint; None if there is none. A damaged one is refused."""
    checkpoints = _folders(folder)
    if not checkpoints:
        return None
    try:
        state = load_object(checkpoints[-1] / "state.json")
        names = [name for name in _TENSORS if name != "average" or name in state["sha256"]]
        for name in names:
            if file_sha256(checkpoints[-1] / f"{name}.safetensors") != state["sha256"][name]:
                raise ValueError(f"{name}.safetensors is not the file that was written")
        tensors = {name: read_tensors(checkpoints[-1] / f"{name}.safetensors") for name in names}
    except (OSError, ValueError, KeyError, TypeError, ComdivError) as error:
        raise ComdivError(
            f"{checkpoints[-1]}: a damaged checkpoint ({error}); remove it to continue from the previous one"
        ) from error
    return Checkpoint(**tensors, state=state)


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"{_PREFIX}*") if path.is_dir())


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Tensors as safetensors, atomically."""
    with atomic_path(path) as temporary:
        try:
            save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, temporary)
        except SafetensorError as error:  # raised for a full disk
            raise ComdivError(f"{path} cannot be written: {error}") from error


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Tensors from a safetensors file; any other file is refused in one line."""
    try:
        return load_file(path)
    except (OSError, SafetensorError, ValueError) as error:
        raise ComdivError(f"{path}: no readable weights: {error}") from error


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """An optimiser's state as named tensors: `3.exp_avg` belongs to the fourth parameter."""
    state = optimiser.state_dict()["state"]
    return {
        f"{index}.{name}": torch.as_tensor(value) for index, slots in state.items() for name, value in slots.items()
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """The inverse of `optimiser_tensors`."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        index, _, name = key.partition(".")
        state.setdefault(int(index), {})[name] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
