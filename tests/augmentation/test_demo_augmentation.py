"""The demo corpora give operation 1 something to join across scenarios, with the full checks (§IV)."""

from pathlib import Path

import pytest

from comdiv.augmentation import AugmentationOptions, augment_dataset
from comdiv.corpora.demo import generate
from comdiv.problem import read_problems, write_problems


@pytest.mark.parametrize("language", ["en", "zh"])
def test_operation_1_joins_scenarios_of_the_demo_corpus(language: str, tmp_path: Path) -> None:
    problems = list(generate(language))
    scenario = {problem.id: problem.provenance.details["scenario"] for problem in problems}
    write_problems(tmp_path / "train.jsonl", problems)
    options = AugmentationOptions.preset("comdiv", checks="full", operations=(1,), repeat_originals=1)
    augment_dataset(tmp_path / "train.jsonl", tmp_path / "out", options)
    made = [p for p in read_problems(tmp_path / "out" / "train.jsonl") if p.provenance.operation == "operation 1"]
    assert len(made) >= 100
    across = [p for p in made if len({scenario[parent] for parent in p.provenance.parents}) > 1]
    assert len(across) >= len(made) / 3
