"""How much coherent new structure one round gives, on the real MAWPS."""

from pathlib import Path

import pytest

from augmentation.small import options
from comdiv.augmentation import augment_dataset

pytestmark = [pytest.mark.slow, pytest.mark.real_data]


def test_a_round_on_mawps_gives_hundreds_of_problems_and_fifty_new_templates(real_data: Path, tmp_path: Path) -> None:
    report = augment_dataset(real_data / "mawps.jsonl", tmp_path / "out", options(checks="full", operations=(1,)))
    made = report["rounds"][0]["operation 1"]
    assert made["kept"] >= 400
    assert made["new_templates"] >= 50
    assert report["templates"]["new"] == made["new_templates"]
    assert report["shapes"]["new"] == made["new_shapes"]
