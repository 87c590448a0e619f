"""From a test mask to a dataset: validation, figures and facts."""

from itertools import chain

import numpy as np
import pytest

from comdiv.corpora import Columns, read_rows
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.splitting.extraction import Extraction, ExtractionSettings, extract
from comdiv.splitting.measurement import markdown_table, measure, table_rows
from comdiv.splitting.methods import SplitSettings, split_problems
from comdiv.splitting.outputs import build_dataset, card_paragraphs, corpus_facts, smaller_test_note

SETTINGS = SplitSettings(method="iid", test_size=20, extraction=ExtractionSettings(k=3))
SOURCE = {"corpus": "toys", "version": "1", "problems": 100}


def corpus(sizes: list[int]) -> Extraction:
    """Groups of twins of the given sizes."""
    texts = [f"{10 * group + twin} {'x' * (group + 1)} and 2 {'yz'[group % 2]}" for group, size in enumerate(sizes)
             for twin in range(size)]  # fmt: skip
    expressions = ["N0+N1", "N0*N1", "N0-N1"]
    return extract([Problem(f"{n:03}", "en", t, parse(expressions[n % 3])) for n, t in enumerate(texts)])


EXTRACTION = corpus([1] * 60 + [2] * 20)


def first(count: int, extraction: Extraction) -> np.ndarray:
    mask = np.zeros(len(extraction.problems), dtype=np.bool_)
    mask[:count] = True
    return mask


def test_validation_is_a_fifth_of_the_training_side() -> None:
    mask = split_problems(EXTRACTION, SETTINGS)
    dataset, _ = build_dataset(EXTRACTION, mask, SETTINGS, SOURCE)
    assert [len(part) for part in (dataset.train, dataset.validation, dataset.test)] == [64, 16, 20]


@pytest.mark.parametrize(("share", "wanted"), [(0.0, 0), (0.29, 29), (0.5, 50)])
def test_the_share_of_validation_can_be_chosen(share: float, wanted: int) -> None:
    extraction = corpus([1] * 101)
    settings = SETTINGS.changed(test_size=1, validation=share)
    dataset, _ = build_dataset(extraction, first(1, extraction), settings, SOURCE)
    assert len(dataset.validation) == wanted
    assert dataset.facts["settings"]["validation_share"] == share


def test_every_problem_is_in_one_part_and_sorted_by_id() -> None:
    dataset, _ = build_dataset(EXTRACTION, split_problems(EXTRACTION, SETTINGS), SETTINGS, SOURCE)
    ids = [[problem.id for problem in part] for part in (dataset.train, dataset.validation, dataset.test)]
    assert sorted(chain.from_iterable(ids)) == [problem.id for problem in EXTRACTION.problems]
    assert all(part == sorted(part) for part in ids)


@pytest.mark.parametrize("seed", range(5))
def test_twins_lie_together_in_train_validation_or_test(seed: int) -> None:
    settings = SETTINGS.changed(seed=seed)
    dataset, _ = build_dataset(EXTRACTION, split_problems(EXTRACTION, settings), settings, SOURCE)
    text_of = {p.id: mask for p, mask in zip(EXTRACTION.problems, EXTRACTION.masks, strict=True)}
    sides = [{text_of[p.id] for p in part} for part in (dataset.train, dataset.validation, dataset.test)]
    assert sum(len(side) for side in sides) == 80
    assert len(set.union(*sides)) == 80


def test_validation_is_drawn_by_seed() -> None:
    mask = split_problems(EXTRACTION, SETTINGS)
    drawn = [build_dataset(EXTRACTION, mask, SETTINGS.changed(seed=seed), SOURCE)[0].validation for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("sizes", [[1, 1, 1], [1, 9], [1, 4, 4]], ids=["two problems", "one group", "large groups"])
def test_a_training_side_too_small_for_validation_has_none(sizes: list[int]) -> None:
    extraction = corpus(sizes)
    settings = SplitSettings(method="iid", test_size=1, extraction=ExtractionSettings(k=1))
    dataset, _ = build_dataset(extraction, first(1, extraction), settings, SOURCE)
    assert dataset.validation == ()
    assert len(dataset.train) == sum(sizes) - 1


def test_figures_are_between_test_and_train_with_validation() -> None:
    mask = split_problems(EXTRACTION, SETTINGS)
    dataset, measurement = build_dataset(EXTRACTION, mask, SETTINGS, SOURCE)
    assert measurement == measure(EXTRACTION, mask, SETTINGS.extraction)
    assert dataset.facts["train_size"] == len(dataset.training_side) == 80
    assert dataset.facts["test_size"] == dataset.facts["wanted_test_size"] == 20
    for name in ("compound_divergence", "atom_divergence", "length_ratio", "twins", "iid_compound_divergence"):
        assert dataset.facts[name] == getattr(measurement, name)


def test_facts_have_source_every_setting_and_versions() -> None:
    settings = SETTINGS.changed(seed=7, alpha="keysers2020")
    facts = build_dataset(EXTRACTION, split_problems(EXTRACTION, settings), settings, SOURCE)[0].facts
    assert facts["made_by"] == "comdiv split"
    assert facts["source"] == SOURCE
    assert facts["alpha"] == "keysers2020"
    assert facts["settings"].keys() == {
        "method", "test_size", "alpha", "atom_bound", "operator_bound", "without_expression", "length_weight", "target",
        "search", "steps_per_item", "twins", "seed", "extraction", "validation_share",
    }  # fmt: skip
    assert facts["settings"]["seed"] == 7
    assert facts["settings"]["extraction"] == {
        "k": 3, "clusterings": 10, "window": 3, "compounds": "subtrees", "commutative": True, "seed": 0,
    }  # fmt: skip
    assert {"comdiv", "numpy", "scikit-learn", "numba"} <= facts["versions"].keys()


def test_the_card_has_method_seed_and_every_line_of_the_table() -> None:
    _, measurement = build_dataset(EXTRACTION, split_problems(EXTRACTION, SETTINGS), SETTINGS, SOURCE)
    how, table = card_paragraphs(measurement, SETTINGS, SOURCE)
    assert how == "Split of toys (1) by method `iid`, seed 0, k = 3 clusters of quantities, 10 clusterings."
    assert table == markdown_table(measurement)
    assert "| training / test problems | 80 / 20 |" in table
    assert table.count("\n") == len(table_rows(measurement)) + 1


def test_a_corpus_without_a_version_gets_no_empty_brackets() -> None:
    _, measurement = build_dataset(EXTRACTION, split_problems(EXTRACTION, SETTINGS), SETTINGS, SOURCE)
    assert card_paragraphs(measurement, SETTINGS, {"corpus": "rows", "version": ""})[0].startswith("Split of rows by")


def test_a_smaller_test_side_than_wanted_is_said_in_facts_and_card() -> None:
    pairs = corpus([2] * 10)
    settings = SplitSettings(method="iid", test_size=5, extraction=ExtractionSettings(k=2))
    dataset, measurement = build_dataset(pairs, split_problems(pairs, settings), settings, SOURCE)
    assert (dataset.facts["wanted_test_size"], dataset.facts["test_size"]) == (5, 4)
    note = "The test side has 4 problems instead of 5: twins stay together."
    assert smaller_test_note(measurement, settings) == note
    assert note in card_paragraphs(measurement, settings, {**SOURCE, "problems": 20})
    assert smaller_test_note(measurement, settings.changed(test_size=4)) == ""
    assert "templates and twins" in smaller_test_note(measurement, settings.changed(method="template"))


def test_the_hash_of_a_corpus_changes_with_the_columns_it_is_read_by() -> None:
    rows = [{"question": "2 bags of 3 apples", "one": "2*3", "other": "2+3"}]
    facts = [corpus_facts(read_rows(rows, Columns("question", column, None))) for column in ("one", "one", "other")]
    assert facts[0] == facts[1]
    assert facts[0] != facts[2]
    assert facts[0].keys() == {"corpus", "version", "problems", "sha256"}
