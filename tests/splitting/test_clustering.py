"""Clusters of quantities by the words around them."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

import comdiv.splitting.extraction
from comdiv.errors import ComdivError
from comdiv.reading import Context, read_text
from comdiv.splitting.extraction import cluster_contexts, tf_idf

APPLES = [("red", "apples"), ("green", "apples"), ("ripe", "apples")]
HOURS = [("long", "hours"), ("short", "hours"), ("two", "hours")]


def test_chinese_measure_words_of_one_character_are_kept() -> None:
    first, second = read_text("小明有3个苹果和5条鱼", "zh").contexts(3)
    assert first == ("小明", "有", "个", "苹果", "和")
    assert second[-2:] == ("条", "鱼")
    assert tf_idf([first, second]).shape == (2, len({*first, *second}))


def test_vectors_have_length_one() -> None:
    vectors = tf_idf([("a", "b", "b"), ("a",)]).toarray()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1])


def test_contexts_with_the_same_words_lie_in_one_cluster() -> None:
    labels = cluster_contexts([*APPLES, *HOURS], k=2).tolist()
    assert labels[:3] == [labels[0]] * 3
    assert labels[3:] == [1 - labels[0]] * 3


def test_an_empty_context_gets_a_cluster_of_its_own() -> None:
    labels = cluster_contexts([APPLES[0], (), HOURS[0], ()], k=2).tolist()
    assert [labels[1], labels[3]] == [2, 2]
    assert sorted([labels[0], labels[2]]) == [0, 1]


def test_clusters_are_determined_by_the_seed() -> None:
    generator = np.random.default_rng(0)
    contexts = [tuple(generator.choice(list("abcdefghij"), size=4).tolist()) for _ in range(200)]
    first = cluster_contexts(contexts, k=6, seed=1)
    assert np.array_equal(first, cluster_contexts(contexts, k=6, seed=1))
    assert not np.array_equal(first, cluster_contexts(contexts, k=6, seed=2))


def test_many_quantities_are_clustered_in_batches_and_by_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comdiv.splitting.extraction, "MINI_BATCH_ABOVE", 5)
    labels = cluster_contexts([*APPLES, *HOURS], k=2)
    assert len(set(labels.tolist())) == 2
    assert np.array_equal(labels, cluster_contexts([*APPLES, *HOURS], k=2))


@pytest.mark.parametrize(
    ("contexts", "found"),
    [
        ([], 0),
        ([(), ()], 0),
        ([*APPLES, *APPLES], 3),
        ([("a", "b"), ("b", "a"), ("c",), ("d",)], 4),  # TF-IDF knows no order: three different vectors
    ],
)
def test_too_few_different_contexts_are_one_clear_line(contexts: list[Context], found: int) -> None:
    with pytest.raises(ComdivError, match=re.escape(f"{found} different contexts of quantities are too few for k = 4")):
        cluster_contexts(contexts, k=4)


def test_as_many_clusters_as_contexts_are_possible() -> None:
    assert sorted(cluster_contexts(APPLES, k=3).tolist()) == [0, 1, 2]


@pytest.mark.parametrize("k", [0, -1])
def test_k_is_at_least_one(k: int) -> None:
    with pytest.raises(ComdivError, match=f"k must be at least 1, not {k}"):
        cluster_contexts(APPLES, k=k)


def test_any_function_from_contexts_to_vectors_will_do() -> None:
    def by_first_letter(contexts: Sequence[Context]) -> npt.NDArray[np.float64]:
        return np.array([[float(context[0][0] == "r")] for context in contexts])

    labels = cluster_contexts([*APPLES, *HOURS], k=2, vectorise=by_first_letter).tolist()  # red and ripe, the rest
    assert labels[0] == labels[2]
    assert [labels[1], *labels[3:]] == [1 - labels[0]] * 4
