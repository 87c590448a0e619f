"""The demo corpora give every rule of the table something to do (§III-B), in both languages."""

from pathlib import Path

import pytest

from comdiv.corpora.demo import generate
from comdiv.synthesis import SynthesisOptions, synthesize_dataset


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_rule_gives_a_product_on_the_demo_corpus(language: str, tmp_path: Path) -> None:
    facts = synthesize_dataset(list(generate(language)), tmp_path / "sd", SynthesisOptions(), corpus=f"demo-{language}")
    assert {rule for rule, entry in facts["rules"].items() if entry["made"] == 0} == set()
    assert len(facts["rules"]) == 13
    assert min(facts["composition"].values()) >= 20
    assert facts["twins"] == 0
