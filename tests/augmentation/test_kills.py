"""`kill -9` at random moments of the rounds, start again: the same bytes as without."""

import random
import sys
from pathlib import Path

import pytest

from augmentation.small import bytes_of, write_small_dataset
from killing import finish, kill_once

SETTINGS = ("hidden=8", "embedding=8", "layers=1", "epochs=3", "threads=1")


def command(data: Path, out: Path) -> list[str]:
    changes = [part for change in SETTINGS for part in ("--set", change)]
    options = ["--solver", "gts", "--rank", "given", "--rounds", "2", "--checks", "paper", "--per-problem", "2,1"]
    return [sys.executable, "-m", "comdiv", "augment", str(data), "--out", str(out), "--warm-start", *options, *changes]


def files_in(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(tmp_path: Path) -> None:
    data = write_small_dataset(tmp_path / "small")
    whole, out = tmp_path / "whole" / "out", tmp_path / "killed" / "out"
    finish(command(data, whole))
    source = random.Random(0)
    steps = range(1, files_in(whole) - 8, max(1, files_in(whole) // 5))
    hits = sum(
        kill_once(command(data, out), lambda files=files: files_in(out) >= files, source.uniform(0, 0.2))
        for files in steps
    )
    assert hits >= len(steps) // 2
    finish(command(data, out))
    assert bytes_of(out) == bytes_of(whole)
