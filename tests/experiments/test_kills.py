"""`kill -9`, start again: nothing is done twice, and nothing half-done is taken for done. More kills: `tests/kills`."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.tiny import SETTINGS, results_of, times_done, tiny_corpus, tiny_plan, write_yaml

EPOCHS = 30
PLAN = tiny_plan(
    datasets={"comdiv": tiny_plan()["datasets"]["comdiv"]},
    training={"seeds": [0, 1], "settings": {**SETTINGS, "epochs": EPOCHS}},
)
CELLS = 1 + 2 + 2


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    tiny_corpus(folder)
    return write_yaml(folder / "tiny.yaml", PLAN)


def start(plan: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "comdiv", "run", str(plan), "--out", str(out), "--jobs", "2"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(plan: Path, out: Path) -> str:
    process = start(plan, out)
    _, said = process.communicate()
    assert process.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def uninterrupted(plan: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("uninterrupted")
    finish(plan, out)
    return results_of(out)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def training_worker(out: Path, process: subprocess.Popen[str], epoch: int) -> int:
    """Wait until a training has come so far, and return the process that does it."""
    while process.poll() is None:
        for log in out.glob("cells/training-*/log.txt"):
            text = log.read_text(encoding="utf-8")
            reached = [int(number) for number in re.findall(r"epoch (\d+)/", text)]
            if reached and reached[-1] >= epoch and " done in " not in text:
                return int(re.findall(r"process (\d+) on", text)[-1])
        time.sleep(0.01)
    raise AssertionError("the plan was over before a training had come so far")


def assert_all_done_once(out: Path) -> None:
    done = times_done(out)
    assert len(done) == CELLS
    assert set(done.values()) == {1}
    assert len(list(out.glob("cells/*/done.json"))) == CELLS


def test_a_killed_worker_is_started_again_and_a_killed_runner_goes_on(
    plan: Path, uninterrupted: dict[str, bytes], tmp_path: Path
) -> None:
    process = start(plan, tmp_path)
    os.kill(training_worker(tmp_path, process, 5), signal.SIGKILL)
    training_worker(tmp_path, process, 12)
    kill(process)
    assert len(list(tmp_path.glob("cells/*/done.json"))) < CELLS
    assert "done: comdiv" not in finish(plan, tmp_path)  # the dataset was there already
    assert_all_done_once(tmp_path)
    assert results_of(tmp_path) == uninterrupted
    logs = [log.read_text(encoding="utf-8") for log in tmp_path.glob("cells/training-*/log.txt")]
    assert any(log.count(" on comdiv, seed ") > 1 and f"epoch 1/{EPOCHS}" in log for log in logs)
    for log in logs:  # what was trained is not trained again, up to the epochs since the last checkpoint
        assert log.count(f"epoch 1/{EPOCHS} ") == 1


@pytest.mark.slow
def test_two_runners_at_once_share_the_work(plan: Path, uninterrupted: dict[str, bytes], tmp_path: Path) -> None:
    processes = [start(plan, tmp_path) for _ in range(2)]
    for process in processes:
        _, said = process.communicate()
        assert process.returncode == 0, said
    assert_all_done_once(tmp_path)
    assert results_of(tmp_path) == uninterrupted
