"""Averaged weights: what they are, that training goes on with its own, and that a stop changes nothing."""

from pathlib import Path
from typing import Any

import pytest
import torch

from comdiv.solvers.averaging import WeightAverage
from comdiv.solvers.training import TrainingState
from solvers.test_training import StoppedError, weights
from solvers.tiny import EIGHT, UNSEEN, tiny_solver, trained_solver


def test_the_average_forgets_exponentially() -> None:
    model = trained_solver(epochs=1).model
    assert model is not None
    average = WeightAverage(model, epochs=2, steps_per_epoch=3)  # keeps exp(-1/6) of itself
    name, parameter = next(iter(model.named_parameters()))
    with torch.no_grad():
        for step, value in ((1, 0.0), (1000, 1.0)):
            parameter.fill_(value)
            average.update(step)
    assert average.tensors[name].flatten()[0].item() == pytest.approx(1 - 0.846482, abs=1e-5)
    with average.applied():
        assert parameter.flatten()[0].item() == pytest.approx(1 - 0.846482, abs=1e-5)
    assert parameter.flatten()[0].item() == 1.0


def test_without_the_setting_there_is_no_average() -> None:
    model = trained_solver(epochs=1).model
    assert model is not None
    average = WeightAverage(model, epochs=0, steps_per_epoch=3)
    average.update(1)
    assert average.tensors == {}


@pytest.mark.parametrize("name", ["gts", "deductive", "bertgen", "gpt2"])
def test_an_averaged_training_stopped_after_any_epoch_ends_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"epochs": 3, "dropout": 0.3, "average": 1.5}
    whole, plain = tiny_solver(name, **options), tiny_solver(name, **{**options, "average": 0.0})
    for solver, folder in ((whole, "whole"), (plain, "plain")):
        solver.fit(EIGHT, None)
        solver.save(tmp_path / folder)
    assert weights(tmp_path / "whole") != weights(tmp_path / "plain")

    def stop(trained: TrainingState) -> None:
        raise StoppedError

    for _ in range(3):
        with pytest.raises(StoppedError):
            tiny_solver(name, **options).fit(EIGHT, None, resume_from=tmp_path, after_epoch=stop)
    pieces = tiny_solver(name, **options)
    pieces.fit(EIGHT, None, resume_from=tmp_path)
    pieces.save(tmp_path / "pieces")
    assert weights(tmp_path / "pieces") == weights(tmp_path / "whole")


def test_the_loss_is_that_of_the_weights_in_training() -> None:
    averaged, plain = tiny_solver(average=1.0, epochs=3), tiny_solver(epochs=3)
    losses = [[entry["loss"] for entry in solver.fit(EIGHT, UNSEEN).history] for solver in (averaged, plain)]
    assert losses[0] == losses[1]
