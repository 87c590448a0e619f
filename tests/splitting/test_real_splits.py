"""The figures of the paper's Table I on the real corpora, and beyond: k = 10, its α, its sizes, atom bound 0.01."""

from functools import cache

import numpy as np
import pytest

from comdiv.corpora import read_corpus
from comdiv.splitting.extraction import Extraction, extract
from comdiv.splitting.measurement import Measurement, measure
from comdiv.splitting.methods import SplitSettings, split_problems

pytestmark = [pytest.mark.real_data, pytest.mark.slow, pytest.mark.usefixtures("real_data")]

TEST_SIZES = {"mawps": 474, "math23k": 4_619}
LEAST_DIVERGENCE = {"mawps": 0.95, "math23k": 0.90}  # the paper has 0.77 and 0.69


@cache
def extraction(name: str) -> Extraction:
    return extract(read_corpus(name).problems)


@cache
def iid(name: str) -> Measurement:
    return measured(name, SplitSettings(method="iid", test_size=TEST_SIZES[name]))


def measured(name: str, settings: SplitSettings, iid_divergence: float | None = None) -> Measurement:
    mask = split_problems(extraction(name), settings)
    return measure(extraction(name), mask, settings.extraction, iid=iid_divergence)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["mawps", "math23k"])
def test_compounds_diverge_while_atoms_and_lengths_do_not(name: str, seed: int) -> None:
    settings = SplitSettings(test_size=TEST_SIZES[name], seed=seed)
    found = measured(name, settings, iid(name).iid_compound_divergence)
    assert found.compound_divergence["paper"] >= LEAST_DIVERGENCE[name]
    assert found.atom_divergence["paper"] <= 0.01
    assert 0.97 <= found.length_ratio <= 1.03
    assert found.test_size == TEST_SIZES[name]
    assert found.twins == 0


def test_without_the_twin_rule_mawps_diverges_no_less() -> None:
    found = measured("mawps", SplitSettings(test_size=474, twins=False), iid("mawps").iid_compound_divergence)
    assert found.compound_divergence["paper"] >= LEAST_DIVERGENCE["mawps"]
    assert found.twins > 0


@pytest.mark.parametrize("name", ["mawps", "math23k"])
def test_a_target_of_the_paper_is_met_within_a_two_hundredth(name: str) -> None:
    settings = SplitSettings(test_size=TEST_SIZES[name], target=0.69)
    found = measured(name, settings, iid(name).iid_compound_divergence)
    assert 0.685 <= found.compound_divergence["paper"] <= 0.695
    assert found.atom_divergence["paper"] <= 0.01


@pytest.mark.parametrize("name", ["mawps", "math23k"])
def test_an_iid_split_diverges_far_less(name: str) -> None:
    found = iid(name)
    assert found.compound_divergence["paper"] < 0.35
    assert found.atom_divergence["paper"] < 0.01
    assert found.twins == 0


def test_almost_a_third_of_a_random_mawps_test_set_has_a_twin_in_train() -> None:
    shares = [
        measured("mawps", SplitSettings(method="iid", test_size=474, twins=False, seed=seed), 0.0).twin_share
        for seed in range(5)
    ]
    assert 0.24 <= float(np.mean(shares)) <= 0.36
