"""The training loop: the same bytes for the same seed, resumed or not; stopped by NaN, by patience, by a full disk."""

import errno
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from comdiv.errors import ComdivError
from comdiv.solvers import checkpoints
from comdiv.solvers.gts import Gts
from comdiv.solvers.inputs import Example
from comdiv.solvers.training import TrainingState, forget_rates, forgetful
from solvers.tiny import EIGHT, SOLVERS, UNSEEN, tiny_solver, trained_solver


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


# --- rare words ---


def example(*words: int) -> Example:
    return Example("x", np.array(words), np.array([], dtype=np.int64), None, None)


def test_the_rarer_a_word_the_more_often_it_is_forgotten() -> None:
    rates = forget_rates([example(2, 3), example(3, 3)], 0.25, torch.device("cpu"))
    assert rates is not None
    assert rates[2].item() == pytest.approx(0.25 / 1.25)  # seen once
    assert rates[3].item() == pytest.approx(0.25 / 3.25)  # seen three times
    assert forget_rates([example(2)], 0.0, torch.device("cpu")) is None


def test_forgotten_words_are_unknown_and_padding_stays() -> None:
    words = torch.tensor([[2, 3, 0], [3, 3, 2]])
    assert forgetful(words, torch.tensor([1.0, 1.0, 1.0, 0.0])).tolist() == [[1, 3, 0], [3, 3, 1]]
    assert torch.equal(forgetful(words, torch.zeros(4)), words)


# --- the same bytes ---


@pytest.mark.parametrize("name", SOLVERS)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(name: str, tmp_path: Path) -> None:
    for folder, seed in (("first", 0), ("second", 0), ("third", 1)):
        torch.rand(7)  # whatever happened before
        trained_solver(name, dropout=0.3, seed=seed).save(tmp_path / folder)
    assert weights(tmp_path / "first") == weights(tmp_path / "second")
    assert weights(tmp_path / "first") != weights(tmp_path / "third")


class StoppedError(Exception):
    """Stands for whatever ends a process after an epoch."""


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
def test_a_training_stopped_after_any_epoch_ends_with_the_same_bytes(name: str, schedule: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"epochs": 4, "dropout": 0.3, "schedule": schedule, "weight_decay": 1e-3, "forget": 0.5}
    whole = tiny_solver(name, **options)
    whole.fit(EIGHT, UNSEEN)
    whole.save(tmp_path / "whole")

    def stop(trained: TrainingState) -> None:
        raise StoppedError

    pieces = tiny_solver(name, **options)
    for epoch in (1, 2, 3, 4):
        pieces = tiny_solver(name, **options)  # nothing survives but the folder
        with pytest.raises(StoppedError):
            pieces.fit(EIGHT, UNSEEN, resume_from=tmp_path, after_epoch=stop)
        assert sorted(path.name for path in (tmp_path / "training_state").iterdir())[-1] == f"epoch-0000{epoch}"
    summary = pieces.fit(EIGHT, UNSEEN, resume_from=tmp_path)
    pieces.save(tmp_path / "pieces")
    assert weights(tmp_path / "pieces") == weights(tmp_path / "whole")
    assert [entry["epoch"] for entry in summary.history] == [1, 2, 3, 4]


def test_a_finished_training_is_not_repeated(tmp_path: Path) -> None:
    solver = tiny_solver()
    first = solver.fit(EIGHT, UNSEEN, resume_from=tmp_path)
    epochs: list[int] = []
    again = tiny_solver().fit(EIGHT, UNSEEN, resume_from=tmp_path, after_epoch=lambda t: epochs.append(t.epoch))
    assert again == first
    assert epochs == []


# --- what is kept ---


def test_the_best_epoch_is_kept_and_patience_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    accuracies = iter([0.2, 0.6, 0.6, 0.4, 0.5, 0.9])
    solver = tiny_solver(epochs=6, patience=3)
    at_epoch: list[Any] = []
    monkeypatch.setattr(solver, "_accuracy", lambda readings, examples: next(accuracies))

    def remember(trained: TrainingState) -> None:
        assert solver.model is not None
        at_epoch.append({name: tensor.clone() for name, tensor in solver.model.state_dict().items()})

    summary = solver.fit(EIGHT, UNSEEN, after_epoch=remember)
    assert (summary.epochs, summary.best_epoch, summary.best_validation_accuracy) == (5, 2, 0.6)
    assert solver.model is not None
    for name, tensor in solver.model.state_dict().items():
        assert torch.equal(tensor, at_epoch[1][name])


def test_without_validation_the_last_epoch_is_kept() -> None:
    summary = tiny_solver(epochs=3, patience=1).fit(EIGHT, ())
    assert (summary.epochs, summary.best_epoch, summary.best_validation_accuracy) == (3, 3, None)


def test_progress_tells_epoch_loss_speed_and_accuracy() -> None:
    calls: list[tuple[str, int, int, str]] = []
    tiny_solver(epochs=2).fit(EIGHT, UNSEEN, progress=lambda *call: calls.append(call))
    assert [(what, done, total) for what, done, total, _ in calls] == [
        ("epoch 1/2", 1, 4), ("epoch 1/2", 2, 4), ("epoch 2/2", 3, 4), ("epoch 2/2", 4, 4)
    ]  # fmt: skip
    assert "loss" in calls[-1][3]
    assert "problems/s" in calls[-1][3]
    assert "best validation" in calls[-1][3]


# --- no number ---


def test_a_loss_that_is_no_number_stops_with_the_step_and_the_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = Gts.target_logits
    monkeypatch.setattr(Gts, "target_logits", lambda self, memory, batch: logits(self, memory, batch) * torch.nan)
    with pytest.raises(ComdivError, match="not a number at step 0, batch") as stopped:
        tiny_solver(batch=2).fit(EIGHT, ())
    named = str(stopped.value).partition("batch ")[2].partition(": try")[0].split(", ")
    assert len(named) == 2
    assert set(named) <= {problem.id for problem in EIGHT}


def test_a_learning_rate_beyond_all_reason_stops_with_a_clear_line() -> None:
    with pytest.raises(ComdivError, match="the loss is not a number at step"):
        tiny_solver(learning_rate=1e38, epochs=50).fit(EIGHT, ())


def test_no_number_in_the_gradient_leaves_the_weights_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = tiny_solver()
    with monkeypatch.context() as patched:
        patched.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: torch.tensor(torch.inf))
        with pytest.raises(ComdivError, match="not a number at step 0"):
            solver.fit(EIGHT, ())
    assert solver.model is not None
    assert all(bool(tensor.isfinite().all()) for tensor in solver.model.state_dict().values())


# --- checkpoints ---


def half_trained(folder: Path, **options: Any) -> Path:
    """A training of three epochs whose checkpoints are there; the folder of the newest."""
    tiny_solver(epochs=3, **options).fit(EIGHT, UNSEEN, resume_from=folder)
    return folder / "training_state" / "epoch-00003"


def resume(folder: Path, **options: Any) -> None:
    tiny_solver(**{"epochs": 3, **options}).fit(EIGHT, UNSEEN, resume_from=folder)


def test_the_last_two_checkpoints_are_kept(tmp_path: Path) -> None:
    newest = half_trained(tmp_path)
    assert sorted(path.name for path in newest.parent.iterdir()) == ["epoch-00002", "epoch-00003"]


FILES = ("weights.safetensors", "optimiser.safetensors", "best.safetensors", "state.json")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "a bit"])
def test_a_damaged_checkpoint_is_refused_in_one_line(file: str, damage: str, tmp_path: Path) -> None:
    path = half_trained(tmp_path) / file
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "a bit" and file == "state.json":
        path.write_bytes(content.replace(b'"sha256": {"weights": "', b'"sha256": {"weights": "0'))
    else:
        flipped = content[:-1] + bytes([content[-1] ^ 1])
        path.write_bytes({"empty": b"", "truncated": content[: len(content) // 2], "a bit": flipped}[damage])
    with pytest.raises(
        ComdivError, match=r"a damaged checkpoint .* remove it to continue from the previous one"
    ) as refused:
        resume(tmp_path)
    assert "epoch-00003" in str(refused.value)


def test_after_a_damaged_checkpoint_is_removed_the_one_before_leads_to_the_same_bytes(tmp_path: Path) -> None:
    newest = half_trained(tmp_path)
    wanted = (newest / "weights.safetensors").read_bytes()
    shutil.rmtree(newest)
    resume(tmp_path)
    assert (newest / "weights.safetensors").read_bytes() == wanted


@pytest.mark.parametrize("state", ["[]", "3", "null", '{"epoch": 3}', '{"sha256": []}'])
def test_a_state_of_another_shape_is_refused_in_one_line(state: str, tmp_path: Path) -> None:
    (half_trained(tmp_path) / "state.json").write_text(state)
    with pytest.raises(ComdivError, match="a damaged checkpoint"):
        resume(tmp_path)


@pytest.mark.parametrize("options", [{"hidden": 8}, {"seed": 5}, {"learning_rate": 0.02}])
def test_the_checkpoint_of_another_training_is_refused_in_one_line(options: dict[str, Any], tmp_path: Path) -> None:
    half_trained(tmp_path)
    with pytest.raises(ComdivError, match="belongs to another training"):
        resume(tmp_path, **options)


def test_the_checkpoint_of_other_data_is_refused_in_one_line(tmp_path: Path) -> None:
    half_trained(tmp_path)
    with pytest.raises(ComdivError, match="belongs to another training"):
        tiny_solver(epochs=3).fit(EIGHT[:7], UNSEEN, resume_from=tmp_path)


def test_a_checkpoint_that_claims_to_fit_and_does_not_is_refused_in_one_line(tmp_path: Path) -> None:
    newest = half_trained(tmp_path)
    state = json.loads((newest / "state.json").read_text())
    fingerprint = state["fingerprint"]
    half_trained(tmp_path / "other", hidden=8)
    shutil.rmtree(newest)
    (tmp_path / "other" / "training_state" / "epoch-00003").rename(newest)
    foreign = json.loads((newest / "state.json").read_text())
    (newest / "state.json").write_text(json.dumps({**foreign, "fingerprint": fingerprint}))
    with pytest.raises(ComdivError, match="does not fit this solver"):
        resume(tmp_path)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), SafetensorError("I/O error: No space left on device")]
)
def test_a_full_disk_leaves_the_last_good_checkpoint(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = (half_trained(tmp_path / "whole") / "weights.safetensors").read_bytes()
    written = 0

    def full_in_the_third_epoch(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
        nonlocal written
        written += 1
        if written == 8:  # three files a checkpoint: the second of the third
            path.write_bytes(b"half of it")
            raise error
        save_file(dict(tensors), path)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "save_file", full_in_the_third_epoch)
        with pytest.raises(
            ComdivError, match=r"epoch 3 cannot be written: .*No space left.*epoch-00002 is the last good"
        ):
            resume(tmp_path)
    folder = tmp_path / "training_state"
    assert sorted(path.name for path in folder.iterdir()) == ["epoch-00001", "epoch-00002"]
    resume(tmp_path)
    assert (folder / "epoch-00003" / "weights.safetensors").read_bytes() == wanted


def test_what_a_kill_left_half_written_is_no_checkpoint(tmp_path: Path) -> None:
    wanted = (half_trained(tmp_path / "whole") / "weights.safetensors").read_bytes()
    part = tmp_path / "training_state" / ".epoch-00001.part"
    part.mkdir(parents=True)
    (part / "weights.safetensors").write_bytes(b"half of it")
    resume(tmp_path)
    folder = tmp_path / "training_state"
    assert (folder / "epoch-00003" / "weights.safetensors").read_bytes() == wanted
    assert not part.exists()
