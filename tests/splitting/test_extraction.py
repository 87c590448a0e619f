"""A corpus made ready once for every split and measurement of it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import Context
from comdiv.splitting.extraction import ExtractionSettings, extract, mean_vectors

SETTINGS = ExtractionSettings(k=2)


def problem(name: str, text: str, expression: str | None) -> Problem:
    return Problem(name, "en", text, None if expression is None else parse(expression))


PROBLEMS = [
    problem("c", "7 pears and 9 pears", None),
    problem("a", "2 apples less 1 apples", "N0-N1"),
    problem("d", "no number here", None),
    problem("b", "3 apples less 5 apples", "N1-N0"),
]


class CountingVectoriser:
    """One of two vectors by the last word, and how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, contexts: Sequence[Context]) -> npt.NDArray[np.float64]:
        self.calls += 1
        return np.array([[float("pears" in context)] for context in contexts])


def test_problems_are_sorted_by_id_whatever_order_they_come_in() -> None:
    first, second = extract(PROBLEMS), extract(PROBLEMS[::-1])
    assert [p.id for p in first.problems] == ["a", "b", "c", "d"]
    assert first.problems == second.problems
    assert np.array_equal(first.clusters(2), second.clusters(2))


def test_features_and_templates_stand_beside_their_problems() -> None:
    extraction = extract(PROBLEMS)
    assert extraction.templates == ("n1-n2", "n2-n1", None, None)
    assert [len(contexts) for contexts in extraction.contexts] == [2, 2, 2, 0]
    assert extraction.operators().tolist() == [1, 1, 0, 0]


def test_clusters_are_given_problem_by_problem() -> None:
    extraction = extract(PROBLEMS, vectorise=CountingVectoriser())
    by_problem = [labels.tolist() for labels in extraction.clusters_by_problem(2)]
    apples, pears = by_problem[0][0], by_problem[2][0]
    assert by_problem == [[apples, apples], [apples, apples], [pears, pears], []]
    assert apples != pears


def test_clusters_are_computed_once_for_each_k_and_seed() -> None:
    vectorise = CountingVectoriser()
    extraction = extract(PROBLEMS, vectorise=vectorise)
    for settings in (SETTINGS, ExtractionSettings(k=2, commutative=False), ExtractionSettings(k=1, clusterings=3)):
        extraction.encoded(settings)
        extraction.views(settings, twins=False)
    assert vectorise.calls == 1  # the vectors are those of all clusterings
    assert extraction.clusters(2, 1) is extraction.clusters(2, 1)


def test_clusterings_side_by_side_are_those_of_one_after_the_other() -> None:
    problems = list(generate("en", 150))
    together, single = extract(problems), extract(problems)
    together.prepare(5, range(4))
    for seed in range(4):
        assert np.array_equal(together.clusters(5, seed), single.clusters(5, seed))


def test_an_earlier_dataset_was_made_with_one_clustering_of_the_papers_atoms() -> None:
    extraction = {"k": 5, "window": 2, "atoms": "clusters", "commutative": False, "seed": 4}
    recorded = ExtractionSettings.recorded({"settings": {"extraction": extraction}})
    assert recorded == ExtractionSettings(k=5, window=2, commutative=False, seed=4, clusterings=1)
    assert ExtractionSettings.recorded({}) == ExtractionSettings()


def test_units_are_labels_that_no_clustering_gave() -> None:
    texts = ("3 apples and 4 apples and 5 pears and 6.", "7 boxes")
    extraction = extract([problem(text, text, None) for text in texts])
    assert extraction.other_labels(1)["units"].tolist() == [0, 0, 1, 2, 1]


def test_embeddings_are_labels_that_put_words_of_like_meaning_together(tmp_path: Path) -> None:
    vectors = {"apples": [1.0, 0.1], "pears": [1.0, 0.0], "hours": [0.0, 1.0], "days": [0.1, 1.0]}
    entries = [f"{word} ".encode() + np.array(v, "<f4").tobytes() for word, v in vectors.items()]
    (tmp_path / "vectors").write_bytes(b"4 2\n" + b"".join(entries))
    extraction = extract([problem(word, f"3 {word}", None) for word in vectors], window=1)
    labels = replace(extraction, embeddings=mean_vectors(str(tmp_path / "vectors"))).other_labels(2)["embeddings"]
    by_word = {item.id: label for item, label in zip(extraction.problems, labels.tolist(), strict=True)}
    assert by_word["apples"] == by_word["pears"] != by_word["hours"] == by_word["days"]
    assert "embeddings" not in extraction.other_labels(2)


def test_vectors_of_another_language_are_refused(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_bytes(b"1 1\n" + "苹果 ".encode() + bytes(4))
    extraction = replace(extract(PROBLEMS), embeddings=mean_vectors(str(tmp_path / "vectors")))
    with pytest.raises(ComdivError, match="none of the words of the texts"):
        extraction.other_labels(2)


def test_the_same_settings_are_encoded_once() -> None:
    extraction = extract(PROBLEMS)
    assert extraction.encoded(SETTINGS) is extraction.encoded(ExtractionSettings(k=2))
    assert extraction.encoded(SETTINGS) is not extraction.encoded(SETTINGS, twins=False)


def test_atoms_compounds_lengths_and_twins_are_encoded() -> None:
    encoded = extract(PROBLEMS, vectorise=CountingVectoriser()).encoded(SETTINGS)
    assert np.diff(encoded.atoms.offsets).tolist() == [1, 1, 0, 0]  # different ones; both leaves are apples
    assert encoded.atoms.counts.tolist() == [2, 2]
    assert encoded.compounds.width == 1
    assert encoded.lengths.tolist() == [5, 5, 5, 3]
    assert encoded.groups.tolist() == [0, 0, 1, 2]


def test_without_twins_every_problem_is_a_group_of_its_own() -> None:
    assert extract(PROBLEMS).encoded(SETTINGS, twins=False).groups.tolist() == [0, 1, 2, 3]


def test_settings_with_another_window_are_refused() -> None:
    extraction = extract(PROBLEMS, window=1)
    assert extraction.contexts[0] == (("apples",), ("less", "apples"))
    with pytest.raises(ComdivError, match="extracted with window 1, not 3"):
        extraction.encoded(SETTINGS)


def test_progress_sees_every_problem() -> None:
    seen = []

    def track(problems: Iterable[Problem]) -> Iterable[Problem]:
        for item in problems:
            seen.append(item.id)
            yield item

    extract(PROBLEMS, track=track)
    assert seen == ["a", "b", "c", "d"]
