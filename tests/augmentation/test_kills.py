"""`kill -9` at random moments of the rounds, start again: the same bytes as without."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from augmentation.small import bytes_of, write_small_dataset

SETTINGS = ("hidden=8", "embedding=8", "layers=1", "epochs=3", "threads=1")


def command(data: Path, out: Path) -> list[str]:
    changes = [part for change in SETTINGS for part in ("--set", change)]
    options = ["--solver", "gts", "--rank", "given", "--rounds", "2", "--checks", "paper", "--per-problem", "2,1"]
    return [sys.executable, "-m", "comdiv", "augment", str(data), "--out", str(out), "--warm-start", *options, *changes]


def finish(arguments: list[str]) -> None:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def files_in(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*") if path.is_file())


def kill_when(arguments: list[str], out: Path, files: int, delay: float) -> bool:
    """Start, wait until so many files are there and a moment longer, kill; whether it was still at work."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while files_in(out) < files and process.poll() is None:
        time.sleep(0.002)
    time.sleep(delay)
    at_work = process.poll() is None
    if at_work:
        os.kill(process.pid, signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), errors
    return at_work


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(tmp_path: Path) -> None:
    data = write_small_dataset(tmp_path / "small")
    whole, out = tmp_path / "whole" / "out", tmp_path / "killed" / "out"
    finish(command(data, whole))
    source = random.Random(0)
    steps = range(1, files_in(whole) - 8, max(1, files_in(whole) // 5))
    hits = sum(kill_when(command(data, out), out, files, source.uniform(0, 0.2)) for files in steps)
    assert hits >= len(steps) // 2
    finish(command(data, out))
    assert bytes_of(out) == bytes_of(whole)
