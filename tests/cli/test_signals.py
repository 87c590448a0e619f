"""Ctrl+C and SIGTERM: one line that says what was kept and how to go on, the usual exit codes, nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from comdiv.cli import console
from comdiv.dataset import Dataset, write_dataset
from experiments.tiny import SETTINGS, tiny_corpus, tiny_plan, tiny_problems, write_yaml

Stopped = tuple[int, str]  # exit code, standard error
GOES_ON = "the same command continues"


def stopped(arguments: Sequence[str | Path], at_work: Callable[[], bool], number: signal.Signals) -> Stopped:
    """Start a command, wait until it is at work, and send the signal to its whole group, as a terminal does."""
    command = [sys.executable, "-m", "comdiv", *map(str, arguments)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while not at_work():
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        os.killpg(process.pid, number)
        _, said = process.communicate(timeout=120)
    finally:
        if process.poll() is None:  # a test that fails leaves nothing behind
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, said


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "data"
    problems = tiny_problems()
    write_dataset(folder, Dataset(tuple(problems[:50]), tuple(problems[50:60]), tuple(problems[60:])), title="tiny")
    return folder


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_training_says_what_it_keeps_and_goes_on(
    data: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    changes = [word for name, value in {**SETTINGS, "epochs": 5000}.items() for word in ("--set", f"{name}={value}")]
    run = tmp_path / "run"
    ended = stopped(["train", "gts", "--data", data, "--out", run, *changes], (run / "metrics.jsonl").is_file, number)
    assert ended == (code, f"comdiv: stopped by {number.name}; finished epochs are kept: {GOES_ON}\n")
    assert list(tmp_path.iterdir()) == [run]
    assert not list(run.rglob("*.part"))


def test_a_stopped_split_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    claim = tmp_path / ".out.claim"
    verb = ["split", tiny_corpus(tmp_path), "--out", out, "--steps-per-item", "5000000", "--k", "3"]
    code, said = stopped(verb, lambda: claim.is_file() and claim.stat().st_size > 0, signal.SIGTERM)  # it is owned
    assert (code, said) == (143, "comdiv: stopped by SIGTERM; nothing was written: the same command starts again\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.jsonl"]


def test_a_stopped_plan_ends_its_workers_and_goes_on(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    training = {"seeds": [0], "settings": {**SETTINGS, "epochs": 5000}}
    plan = write_yaml(tmp_path / "plan.yaml", tiny_plan(training=training))
    runs = tmp_path / "runs"
    ended = stopped(
        ["run", plan, "--out", runs, "--jobs", "1"],
        lambda: any(runs.glob("cells/training-*/run/metrics.jsonl")),
        signal.SIGINT,
    )
    assert ended[0] == 130
    assert ended[1].splitlines()[-1] == (f"comdiv: stopped by SIGINT; finished cells and epochs are kept: {GOES_ON}")
    assert "Traceback" not in ended[1]
    metrics = next(runs.glob("cells/training-*/run/metrics.jsonl"))
    before = metrics.stat().st_mtime_ns
    time.sleep(1)  # nobody writes on
    assert metrics.stat().st_mtime_ns == before


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_stopped_augmentation_says_one_line_whoever_does_the_work(data: Path, tmp_path: Path, engine: str) -> None:
    out = tmp_path / "out"
    verb = [
        "augment",
        data,
        "--preset",
        "structure",
        "--out",
        out,
        "--rounds",
        "30",
        "--growth",
        "9",
        "--max-growth",
        "99",
        "--engine",
        engine,
    ]
    code, said = stopped([*verb, "--jobs", "2"], (out / "rounds" / "1" / "candidates.jsonl").is_file, signal.SIGTERM)
    assert (code, said) == (143, f"comdiv: stopped by SIGTERM; finished steps are kept: {GOES_ON}\n")


def test_a_stopped_studio_says_that_everything_is_kept(data: Path, tmp_path: Path) -> None:
    verb = [sys.executable, "-m", "comdiv", "studio", str(data), "--runs", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(verb, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert " is open at http://" in process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == f"comdiv: stopped by SIGINT; every decision is kept: {GOES_ON}"
    assert "Traceback" not in said


def test_long_work_without_a_terminal_prints_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "LINE_EVERY", 0.05)
    with console.TERMINAL.progress("training") as report:
        for epoch in range(1, 31):
            time.sleep(0.01)
            report("epoch", epoch, 30, "loss 0.5")
    monkeypatch.setattr(console, "SHOWN_EVERY", 0.0)
    assert sum(1 for _ in console.TERMINAL.tracked((time.sleep(0.03) for _ in range(5)), "counting")) == 5
    lines = capsys.readouterr().err.splitlines()
    trained = [line for line in lines if line.startswith("epoch: ")]
    assert 1 <= len(trained) <= 8
    assert trained[0].endswith(" of 30 loss 0.5")
    assert any(line.startswith("counting: ") for line in lines)
