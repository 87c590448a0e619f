"""SD from Math23K: the paper's sizes, and enough seeds."""

from collections import Counter
from pathlib import Path

import pytest

from comdiv.corpora import read_corpus
from comdiv.dataset import Dataset, read_dataset
from comdiv.expression import template
from comdiv.synthesis import SynthesisOptions, synthesize_dataset
from comdiv.synthesis.release import find_release

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


def built(name: str, corpus: str, real_data: Path, folder: Path) -> Dataset:
    problems = read_corpus(real_data / f"{corpus}.jsonl").problems
    synthesize_dataset(problems, folder, SynthesisOptions(release=name), corpus=corpus)
    return read_dataset(folder)


def test_sd_1_0_has_the_papers_sizes_and_only_what_was_read(real_data: Path, tmp_path: Path) -> None:
    """Its bytes are checked while it is built."""
    made = built("sd", "math23k", real_data, tmp_path / "sd")
    assert (len(made.training_side), len(made.test)) == (1078, 745)
    assert made.facts["composition"] == {"structural": 668, "lexical": 77}
    decisions = find_release("sd").decisions
    assert all(decisions[p.id] for p in (*made.training_side, *made.test) if p.provenance.rule)
    assert {p.rule for p in made.test if p.composition == "lexical"} == {"10", "11", "12", "13"}


def test_the_control_has_one_product_of_each_seed(real_data: Path, tmp_path: Path) -> None:
    made = built("sd-disjoint", "math23k", real_data, tmp_path / "sd")
    assert len(made.test) == 745
    products = Counter(p.provenance.details["seed"] for p in made.training_side if p.provenance.rule)
    assert set(products.values()) == {1}


def test_sd_dev_has_other_seeds_than_sd(real_data: Path, tmp_path: Path) -> None:
    sd, dev = (built(name, "math23k", real_data, tmp_path / name) for name in ("sd", "sd-dev"))
    seeds = [{p.provenance.details.get("seed", p.id) for p in (*d.training_side, *d.test)} for d in (sd, dev)]
    assert not seeds[0] & seeds[1]
    assert {p.rule for p in dev.test} == {str(rule) for rule in range(1, 14)}


def test_sd_large_has_narrower_intervals_on_lexical_problems(real_data: Path, tmp_path: Path) -> None:
    made = built("sd-large", "math23k", real_data, tmp_path / "sd")
    assert made.facts["composition"] == {"structural": 1130, "lexical": 301}
    assert made.facts["twins"] == 0
    decisions = find_release("sd-large").decisions
    assert all(decisions[p.id] for p in made.test if p.composition == "lexical"), "none of them is unread"


def test_mawps_sd_is_in_english(real_data: Path, tmp_path: Path) -> None:
    made = built("mawps-sd", "mawps", real_data, tmp_path / "sd")
    assert made.facts["composition"] == {"structural": 21, "lexical": 170}
