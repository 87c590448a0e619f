"""SD from Math23K: the paper's sizes, and enough seeds."""

from pathlib import Path

import pytest

from comdiv.corpora import read_corpus
from comdiv.dataset import read_dataset
from comdiv.expression import template
from comdiv.synthesis import SynthesisOptions, synthesize_dataset

pytestmark = [pytest.mark.slow, pytest.mark.real_data]


def test_math23k_gives_the_papers_sizes(real_data: Path, tmp_path: Path) -> None:
    corpus = read_corpus(real_data / "math23k.jsonl")
    facts = synthesize_dataset(corpus.problems, tmp_path / "sd", SynthesisOptions(size="1078/745"), corpus="math23k")
    made = read_dataset(tmp_path / "sd")
    assert (len(made.training_side), len(made.test)) == (1078, 745)
    assert facts["composition"] == {"structural": 668, "lexical": 77}
    assert sum(facts["novelty"].values()) == 77
    assert facts["seeds"]["decomposition"] >= 1400
    assert facts["seeds"]["reformulation"] >= 1600
    assert facts["twins"] == 0
    simple = {template(p.expression) for p in made.training_side if p.expression is not None}
    composed = {template(p.expression) for p in made.test if p.expression and p.extra["composition"] == "structural"}
    assert not simple & composed
    assert all(p.answer is not None and p.answer > 0 for p in made.training_side if p.provenance.rule)
