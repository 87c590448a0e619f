"""One training loop for all models: deterministic, resumable after every epoch, stopped by a NaN loss."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel
from torch import Tensor
from torch.nn import functional

from comdiv import loading
from comdiv.errors import ComdivError
from comdiv.solver import Progress
from comdiv.solvers.averaging import WeightAverage
from comdiv.solvers.batches import IGNORED, Batch, epoch_batches
from comdiv.solvers.checkpoints import (
    Checkpoint,
    optimiser_tensors,
    read_checkpoint,
    restore_optimiser,
    write_checkpoint,
)
from comdiv.solvers.hyperparameters import SolverSettings
from comdiv.solvers.inputs import PADDING_INDEX, UNKNOWN_INDEX, Example
from comdiv.solvers.model import Model

WARM_SHARE = 0.15  # of a one-cycle schedule
LEAST = 0.01  # of the peak: where a one-cycle schedule begins and ends
_INITIALISATION = 2**31  # an epoch number that no training reaches: it seeds the initial weights


def seed_everything(seed: int, epoch: int) -> None:
    """Make everything that follows depend only on (seed, epoch), so that no random state needs to be stored."""
    torch.manual_seed(int(np.random.SeedSequence((seed, epoch)).generate_state(1, np.uint64)[0] >> 1))


def seed_initialisation(seed: int) -> None:
    """Seed the initial weights, before a model is made."""
    seed_everything(seed, _INITIALISATION)


@dataclass(slots=True)
class TrainingState:
    """What a training has come to; `history` has one entry per epoch."""

    epoch: int = 0
    step: int = 0
    best_epoch: int = 0
    best_accuracy: float | None = None
    best: dict[str, Tensor] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)


def train(
    model: Model,
    examples: Sequence[Example],
    validate: Callable[[], float | None],
    *,
    checkpoints: Path | None = None,
    fingerprint: str = "",
    after_epoch: Callable[[TrainingState], None] | None = None,
    progress: Progress | None = None,
) -> TrainingState:
    """Train a model on examples and leave it with the weights of its best epoch.

    `validate` returns the accuracy on validation problems, or None if there are none: then the last epoch is the best.
    With `checkpoints`, an interrupted training resumes after its last finished epoch and ends with the same bits;
    `fingerprint` identifies everything that must be unchanged for that.
    """
    settings = model.settings
    device = next(model.parameters()).device
    optimiser = torch.optim.Adam(
        model.parameter_groups(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=device.type == "cpu",
    )
    state = TrainingState()
    steps_per_epoch = math.ceil(len(examples) / settings.batch)
    average = WeightAverage(model, settings.average, steps_per_epoch)
    saved = None if checkpoints is None else _Checkpoints(checkpoints, fingerprint, model, optimiser, average)
    if saved is not None:
        saved.resume(state)
    rates = forget_rates(examples, settings.forget, device)
    unknown = model.sizes.reader.unknown
    while state.epoch < settings.epochs and not _patience_is_over(state, settings.patience):
        epoch = state.epoch + 1
        seed_everything(settings.seed, epoch)
        started, used = time.perf_counter(), time.process_time()
        model.train()
        losses = []
        for batch in epoch_batches(examples, settings.batch, settings.seed, epoch, device):
            rate = learning_rate(settings, state.step, steps_per_epoch)
            visible = batch if rates is None else replace(batch, words=forgetful(batch.words, rates, unknown))
            losses.append(train_step(model, optimiser, visible, rate, state.step))
            state.step += 1
            average.update(state.step)
            if progress is not None:
                speed = min(len(losses) * settings.batch, len(examples)) / (time.perf_counter() - started)
                whole = settings.epochs * steps_per_epoch  # so that the estimated time is that of the whole training
                progress(f"epoch {epoch}/{settings.epochs}", state.step, whole, _note(losses, speed, state))
        seconds, processor = time.perf_counter() - started, time.process_time() - used
        model.eval()
        state.epoch = epoch
        with average.applied():
            accuracy = validate()
            if accuracy is None or state.best_accuracy is None or accuracy > state.best_accuracy:
                state.best_epoch, state.best_accuracy = epoch, accuracy
                state.best = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        state.history.append(
            {"epoch": epoch, "loss": round(float(np.mean(losses)), 6), "validation_accuracy": accuracy,
             "learning_rate": rate, "problems_per_second": round(len(examples) / seconds, 1),
             "processor_seconds": round(processor, 2)}
        )  # fmt: skip
        if saved is not None:
            saved.save(state)
        if after_epoch is not None:
            after_epoch(state)
    if state.best:
        model.load_state_dict(state.best)
    model.eval()
    return state


def learning_rate(settings: SolverSettings, step: int, steps_per_epoch: int) -> float:
    """The rate for a step, counted from 0: a pure function, so that resuming needs no scheduler state."""
    peak = settings.learning_rate
    match settings.schedule:
        case "halving":
            return float(peak * 0.5 ** (step // steps_per_epoch // settings.halve_every))
        case "warm-up":  # linear, then the inverse square root
            return peak * min((step + 1) / settings.warm_up, math.sqrt(settings.warm_up / (step + 1)))
        case "one-cycle":
            total = max(1, settings.epochs * steps_per_epoch)
            warm = max(1, int(WARM_SHARE * total))
            if step < warm:
                return peak * (LEAST + (1 - LEAST) * (step + 1) / warm)
            progress = (step - warm) / max(1, total - warm)
            return peak * (LEAST + (1 - LEAST) * (1 + math.cos(math.pi * progress)) / 2)
        case _:
            return peak


def forget_rates(examples: Sequence[Example], forget: float, device: torch.device) -> Tensor | None:
    """For every word the probability of reading it as unknown: the rarer, the greater (Kiperwasser, Goldberg 2016).

    Without it, a solver trained on a small corpus would meet its first unknown word in the test set.
    """
    if not forget:
        return None
    counts = np.bincount(np.concatenate([example.words for example in examples]))
    return torch.tensor(forget / (forget + counts), dtype=torch.float32, device=device)


def forgetful(words: Tensor, rates: Tensor, unknown: int = UNKNOWN_INDEX) -> Tensor:
    """The words with some replaced by the unknown word, drawn anew each time; padding is kept."""
    forgotten = torch.rand(words.shape, device=words.device) < rates[words]
    return words.masked_fill(forgotten & (words != PADDING_INDEX), unknown)


def train_step(model: Model, optimiser: torch.optim.Optimizer, batch: Batch, rate: float, step: int) -> float:
    """One step of gradient descent on a batch; returns its loss."""
    for group in optimiser.param_groups:
        group["lr"] = rate * group.get("share", 1.0)
    logits = model.target_logits(model.encode(batch), batch)
    loss = functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), model.settings.clip)
    value = float(loss.detach())
    if not (math.isfinite(value) and math.isfinite(float(norm))):
        raise ComdivError(
            f"the loss is not a number at step {step}, batch {', '.join(batch.ids)}: try a lower learning_rate"
        )
    optimiser.step()
    return value


def _note(losses: list[float], speed: float, state: TrainingState) -> str:
    best = "" if state.best_accuracy is None else f", best validation {state.best_accuracy:.1%}"
    return f"loss {np.mean(losses[-50:]):.3f}, {speed:,.0f} problems/s{best}"


def _patience_is_over(state: TrainingState, patience: int) -> bool:
    return bool(patience) and state.best_accuracy is not None and state.epoch - state.best_epoch >= patience


class _RecordedState(BaseModel):
    """The state in a checkpoint, besides tensors."""

    epoch: int
    step: int
    best_epoch: int
    best_accuracy: float | None
    history: list[dict[str, Any]]


@dataclass(frozen=True)
class _Checkpoints:
    """The checkpoints of one training: everything that must be the same again for it to resume to the bit."""

    folder: Path
    fingerprint: str
    model: Model
    optimiser: torch.optim.Optimizer
    average: WeightAverage

    def save(self, state: TrainingState) -> None:
        record = {
            "fingerprint": self.fingerprint,
            "epoch": state.epoch,
            "step": state.step,
            "best_epoch": state.best_epoch,
            "best_accuracy": state.best_accuracy,
            "history": state.history,
        }
        weights, optimiser = self.model.state_dict(), optimiser_tensors(self.optimiser)
        write_checkpoint(
            self.folder, state.epoch, Checkpoint(weights, optimiser, state.best, record, self.average.tensors)
        )

    def resume(self, state: TrainingState) -> None:
        """Put the latest checkpoint, if there is one, into `state` and into what is trained."""
        checkpoint = read_checkpoint(self.folder)
        if checkpoint is None:
            return
        if checkpoint.state.get("fingerprint") != self.fingerprint:
            raise ComdivError(
                f"{self.folder}: the checkpoint belongs to another training (other data or settings); remove it"
            )
        recorded = loading.validate(dict(checkpoint.state), _RecordedState, f"{self.folder}: the checkpoint is damaged")
        state.epoch, state.step, state.history = recorded.epoch, recorded.step, recorded.history
        state.best_epoch, state.best_accuracy = recorded.best_epoch, recorded.best_accuracy
        try:
            self.model.load_state_dict(dict(checkpoint.weights))
            restore_optimiser(self.optimiser, checkpoint.optimiser)
            self.average.restore(checkpoint.average)
            state.best = dict(checkpoint.best)
        except (KeyError, RuntimeError, ValueError) as error:
            first = str(error).splitlines()[0]
            raise ComdivError(f"{self.folder}: the checkpoint does not fit this solver: {first}") from error
