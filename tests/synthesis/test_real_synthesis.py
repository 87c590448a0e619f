"""SD from Math23K: the paper's sizes, and enough seeds."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from comdiv.corpora import read_corpus
from comdiv.dataset import read_dataset
from comdiv.expression import template
from comdiv.synthesis import SynthesisOptions, synthesize_dataset

PLANS = Path(__file__).parents[2] / "experiments"
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
    composed = {template(p.expression) for p in made.test if p.expression and p.composition == "structural"}
    assert not simple & composed
    assert all(p.answer is not None and p.answer > 0 for p in made.training_side if p.provenance.rule)


def test_the_control_has_the_size_that_the_plan_asks_for(real_data: Path, tmp_path: Path) -> None:
    plan = yaml.safe_load((PLANS / "composition-types.yaml").read_text(encoding="utf-8"))
    options = SynthesisOptions(**plan["datasets"]["sd-disjoint"]["synthesize"])
    corpus = read_corpus(real_data / "math23k.jsonl")
    synthesize_dataset(corpus.problems, tmp_path / "sd", options, corpus="math23k")
    made = read_dataset(tmp_path / "sd")
    assert len(made.test) == 745
    products = Counter(p.provenance.details["seed"] for p in made.training_side if p.provenance.rule)
    assert set(products.values()) == {1}
