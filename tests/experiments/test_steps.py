"""Equal numbers of optimiser steps."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.experiments.work import equal_steps, steps_of, training_problems

SETTINGS = {"epochs": 40, "patience": 15, "halve_every": 20, "batch": 32, "hidden": 8}


def test_ten_times_the_problems_get_a_tenth_of_the_epochs() -> None:
    scaled = equal_steps(SETTINGS, problems=3200, like=320)
    assert scaled == {"epochs": 4, "patience": 2, "halve_every": 2, "batch": 32, "hidden": 8}
    assert steps_of(3200, 32, scaled["epochs"]) == steps_of(320, 32, 40) == 400


def test_a_tenth_of_the_problems_get_ten_times_the_epochs() -> None:
    assert equal_steps(SETTINGS, problems=320, like=3200)["epochs"] == 400


def test_no_patience_stays_no_patience() -> None:
    assert equal_steps({**SETTINGS, "patience": 0}, 100, 1000)["patience"] == 0


@given(st.integers(1, 500), st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 64))
def test_the_numbers_of_steps_agree_up_to_half_an_epoch_or_one_is_the_least(
    epochs: int, problems: int, like: int, batch: int
) -> None:
    settings = {"epochs": epochs, "patience": 0, "halve_every": 20, "batch": batch}
    scaled = equal_steps(settings, problems, like)["epochs"]
    an_epoch = steps_of(problems, batch, 1)
    difference = abs(steps_of(problems, batch, scaled) - steps_of(like, batch, epochs))
    assert scaled == 1 or difference <= an_epoch / 2


def test_a_dataset_without_counts_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "dataset.json").write_text("{}")
    with pytest.raises(ComdivError, match="does not say how many training problems"):
        training_problems(tmp_path)
