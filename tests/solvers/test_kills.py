"""`kill -9` of trainings and evaluations, start again: the same bytes as without. More kills: `tests/kills`.

The solver is so small that a good part of its time goes into writing checkpoints: many kills fall there.
"""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from comdiv.dataset import Dataset, write_dataset
from kills.harness import finish, kill_once
from solvers.tiny import EIGHT, PRETRAINED, UNSEEN
from solvers.tiny_weights import tiny_weights

EPOCHS = 25
SETTINGS = {"hidden": 8, "embedding": 8, "layers": 1, "batch": 4, "most_tokens": 9, "dropout": 0.3}
SETTINGS |= {"epochs": EPOCHS, "patience": 0}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "tiny"
    write_dataset(folder, Dataset(EIGHT, UNSEEN, (*EIGHT, *UNSEEN)), title="tiny")
    return folder


def training(data: Path, run: Path, solver: str = "gts", weights: str | None = None) -> list[str]:
    settings = SETTINGS if weights is None else {**SETTINGS, "weights": weights}
    changes = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    command = [sys.executable, "-m", "comdiv", "train", solver, "--data", str(data), "--out", str(run)]
    return [*command, "--threads", "1", *changes]


@pytest.fixture(scope="module")
def uninterrupted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("uninterrupted") / "run"
    finish(training(data, run))
    return run


def epoch_reached(run: Path) -> int:
    """The newest checkpoint, 0 where there is none."""
    return max((int(path.name[-5:]) for path in run.glob("training_state/epoch-*")), default=0)


def kill_while(command: list[str], run: Path, epoch: int, delay: float) -> bool:
    """Kill a training some moments after an epoch is reached; whether it was still at work."""
    return kill_once(command, lambda: epoch_reached(run) >= epoch, delay)


def killed_and_finished(command: list[str], run: Path, kills: int, seed: int) -> int:
    """Kill a training again and again, each time some epochs later, then let it finish; how many kills hit."""
    source = random.Random(seed)
    hits = 0
    for number in range(kills):
        epoch = 1 + number * (EPOCHS - 8) // kills
        hits += kill_while(command, run, epoch, source.uniform(0, 0.06))
    finish(command)
    return hits


def files_of(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in ("model.safetensors", "vocabulary.json")}


def test_three_kills_change_nothing(data: Path, uninterrupted: Path, tmp_path: Path) -> None:
    assert killed_and_finished(training(data, tmp_path / "run"), tmp_path / "run", 3, seed=0) == 3
    assert files_of(tmp_path / "run") == files_of(uninterrupted)
    history = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    wanted = [json.loads(line) for line in (uninterrupted / "metrics.jsonl").read_text().splitlines()]
    assert [(e["epoch"], e["loss"], e["validation_accuracy"]) for e in history] == [
        (e["epoch"], e["loss"], e["validation_accuracy"]) for e in wanted
    ]


@pytest.mark.slow
@pytest.mark.parametrize("solver", PRETRAINED)
def test_kills_of_a_pretrained_solver_change_nothing(solver: str, data: Path, tmp_path: Path) -> None:
    weights = tiny_weights(solver)
    finish(training(data, tmp_path / "whole", solver, weights))
    killed = training(data, tmp_path / "run", solver, weights)
    assert killed_and_finished(killed, tmp_path / "run", 3, seed=2) >= 2
    assert files_of(tmp_path / "run") == files_of(tmp_path / "whole")
    whole = sorted(path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole" / "pretrained").iterdir())
    assert whole
    for path in whole:
        assert (tmp_path / "run" / path).read_bytes() == (tmp_path / "whole" / path).read_bytes()


@pytest.mark.slow
def test_kills_in_the_first_moments_change_nothing(data: Path, uninterrupted: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    for delay in (0.3, 0.8, 1.2, 1.6, 2.0, 2.4):
        kill_while(training(data, run), run, 0, delay)
    finish(training(data, run))
    assert files_of(run) == files_of(uninterrupted)


@pytest.mark.slow
def test_an_evaluation_killed_and_repeated_gives_the_same_result(
    data: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    def evaluating(out: Path) -> list[str]:
        command = [sys.executable, "-m", "comdiv", "evaluate", str(uninterrupted), str(data), "--out", str(out)]
        return [*command, "--json"]

    finish(evaluating(tmp_path / "whole"))
    for delay in (0.5, 1.0, 1.5, 2.0, 2.2, 2.4, 2.6):
        process = subprocess.Popen(evaluating(tmp_path / "killed"), stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.kill()
        process.wait()
        assert_complete_or_not_there(tmp_path / "killed")
    finish(evaluating(tmp_path / "killed"))
    for name in ("predictions.jsonl", "result.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def assert_complete_or_not_there(folder: Path) -> None:
    result = folder / "result.json"
    if result.exists():
        assert json.loads(result.read_text())["n"] == len(EIGHT) + len(UNSEEN)
