"""Hyper-parameters and the learning rate."""

import math
from itertools import pairwise

import pytest

from comdiv.errors import ComdivError
from comdiv.solvers.settings import PRESETS, SolverSettings, settings_for
from comdiv.solvers.training import LEAST, learning_rate


def rates(steps: int, per_epoch: int = 1, **settings: object) -> list[float]:
    made = SolverSettings(**{"learning_rate": 1.0, **settings})
    return [learning_rate(made, step, per_epoch) for step in range(steps)]


def test_a_constant_rate_is_constant() -> None:
    assert rates(3, schedule="constant") == [1.0] * 3


def test_halving_halves_by_epochs_not_by_steps() -> None:
    assert rates(12, per_epoch=2, schedule="halving", halve_every=2) == [1.0] * 4 + [0.5] * 4 + [0.25] * 4


def test_warm_up_rises_in_a_line_and_falls_with_the_inverse_square_root() -> None:
    found = rates(16, schedule="warm-up", warm_up=4)
    assert found[:4] == [0.25, 0.5, 0.75, 1.0]
    assert found[15] == pytest.approx(0.5)
    assert all(after < before for before, after in pairwise(found[3:]))


def test_one_cycle_rises_to_the_peak_and_ends_near_its_least() -> None:
    found = rates(100, schedule="one-cycle", epochs=100)
    assert max(found) == found[14] == 1.0
    assert found[0] < 0.1
    assert LEAST <= found[-1] < 0.02
    assert all(math.isfinite(rate) and rate > 0 for rate in found)


def test_one_cycle_works_for_a_single_step() -> None:
    assert rates(1, schedule="one-cycle", epochs=1) == [1.0]


@pytest.mark.parametrize("solver", ["lstm", "mathen", "transformer", "gts", "somebody-elses"])
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_fits_every_solver(preset: str, solver: str) -> None:
    settings = settings_for(solver, preset)
    assert settings.embedding % settings.heads == 0


def test_the_paper_preset_is_the_papers_table() -> None:
    gts, lstm = settings_for("gts", "paper"), settings_for("lstm", "paper")
    transformer = settings_for("transformer", "paper")
    assert (gts.embedding, gts.hidden, gts.batch, gts.learning_rate, gts.dropout) == (128, 512, 64, 1e-3, 0.5)
    assert (gts.schedule, gts.halve_every, gts.weight_decay, gts.beam, gts.epochs) == ("halving", 20, 1e-5, 5, 100)
    assert (lstm.batch, lstm.hidden, lstm.layers) == (32, 512, 2)
    assert (transformer.layers, transformer.heads, transformer.embedding, transformer.warm_up) == (4, 8, 512, 1500)


def test_texts_are_read_as_numbers() -> None:
    assert settings_for("gts", "cpu", {"hidden": "128", "dropout": "0.25"}).hidden == 128


@pytest.mark.parametrize(
    ("solver_preset", "changes", "message"),
    [
        ("cpu", {"hiden": "3"}, "unknown setting 'hiden'. Did you mean 'hidden'?"),
        ("papr", {}, "unknown preset 'papr'. Did you mean 'paper'?"),
        ("cpu", {"hidden": "many"}, "setting hidden: "),
        ("cpu", {"dropout": "1.5"}, "setting dropout: "),
        ("cpu", {"schedule": "cosine"}, "setting schedule: "),
    ],
)
def test_a_wrong_setting_is_answered_in_one_line(solver_preset: str, changes: dict[str, str], message: str) -> None:
    with pytest.raises(ComdivError) as refused:
        settings_for("gts", solver_preset, changes)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)
