"""`CompositionalSplit`: scikit-learn's conventions, and the same split for any order and any number of jobs."""

import doctest
import random
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import comdiv.splitting.splitter
from comdiv.errors import ComdivError
from comdiv.splitting import CompositionalSplit
from comdiv.splitting.splitter import stable_key

SENTENCES = [" ".join(words) for words in product(["a", "b", "c", "d"], ["eats", "sees"], ["x", "y", "z"])]


def pairs(sentence: str) -> list[tuple[str, str]]:
    return list(pairwise(sentence.split()))


def splitter(**changes: Any) -> CompositionalSplit:
    return CompositionalSplit(str.split, pairs, **{"test_size": 6, "atom_bound": 0.1, "steps_per_item": 50, **changes})


def test_the_example_in_the_documentation_runs() -> None:
    results = doctest.testmod(comdiv.splitting.splitter)
    assert (results.attempted > 5, results.failed) == (True, 0)


def test_train_and_test_are_all_indices_once() -> None:
    splits = list(splitter(n_splits=3).split(SENTENCES))
    assert len(splits) == splitter(n_splits=3).get_n_splits(SENTENCES) == 3
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(SENTENCES)))
        assert len(test) == 6


@settings(deadline=None, max_examples=15)
@given(st.permutations(range(len(SENTENCES))))
def test_the_order_of_the_items_changes_nothing(order: list[int]) -> None:
    [(_, test)] = splitter().split(SENTENCES)
    shuffled = [SENTENCES[place] for place in order]
    [(_, other)] = splitter().split(shuffled)
    assert {SENTENCES[place] for place in test} == {shuffled[place] for place in other}


def test_the_number_of_jobs_changes_nothing() -> None:
    one, two = ([test.tolist() for _, test in splitter(n_splits=4, n_jobs=jobs).split(SENTENCES)] for jobs in (None, 2))
    assert one == two
    assert len(set(map(tuple, one))) > 1  # consecutive seeds give different splits


def test_groups_and_equal_items_stay_on_one_side() -> None:
    items = [*SENTENCES, *SENTENCES[:4]]
    groups = [sentence[0] + sentence[-1] for sentence in items]  # twelve groups
    [(train, test)] = splitter(atom_bound=None, test_size=0.25).split(items, groups=groups)
    assert {groups[place] for place in train}.isdisjoint(groups[place] for place in test)
    [(train, test)] = splitter().split(items)
    assert {items[place] for place in train}.isdisjoint(items[place] for place in test)


def test_it_is_a_cross_validator_of_scikit_learn() -> None:
    labels = [sentence.endswith("x") for sentence in SENTENCES]
    learner = make_pipeline(CountVectorizer(token_pattern=r"\S+"), LogisticRegression())
    scores = cross_val_score(learner, SENTENCES, labels, cv=splitter(n_splits=2))
    assert scores.tolist() == [1.0, 1.0]
    search = GridSearchCV(learner, {"logisticregression__C": [1.0, 10.0]}, cv=splitter())
    assert search.fit(SENTENCES, labels).n_splits_ == 1


def test_a_seed_repeats_and_a_generator_or_none_goes_on() -> None:
    def tests(state: Any, times: int = 3) -> list[tuple[int, ...]]:
        same = splitter(random_state=state)
        return [tuple(test.tolist()) for _ in range(times) for _, test in same.split(SENTENCES)]

    assert len(set(tests(3))) == 1
    assert len(set(tests(None))) > 1
    for make in (np.random.default_rng, np.random.RandomState):
        assert tests(make(1)) == tests(make(1))
        assert len(set(tests(make(1)))) > 1


def test_items_may_be_mappings_arrays_or_objects_with_an_id() -> None:
    class Record:
        def __init__(self, text: str) -> None:
            self.text = text

    [(_, plain)] = splitter().split(SENTENCES)
    records = [Record(sentence) for sentence in SENTENCES]
    by_id = CompositionalSplit(
        lambda record: record.text.split(), lambda record: pairs(record.text), test_size=6, atom_bound=0.1,
        steps_per_item=50, id_of=lambda record: record.text,
    )  # fmt: skip
    [(_, test)] = by_id.split(records)
    assert test.tolist() == plain.tolist()
    [(_, test)] = splitter().split(np.array(SENTENCES))
    assert test.tolist() == plain.tolist()
    with pytest.raises(ComdivError, match="give id_of"):
        next(splitter(id_of=None).split(records))


@pytest.mark.parametrize(
    ("changes", "items", "message"),
    [
        ({"n_splits": 0}, SENTENCES, "n_splits is 0"),
        ({"test_size": 99}, SENTENCES, "does not fit 24 items"),
        ({"test_size": "0.2"}, SENTENCES, "test_size is a str"),
        ({"alpha": "papper"}, SENTENCES, "Did you mean 'paper'"),
        ({"n_jobs": 0}, SENTENCES, "n_jobs is 0"),
        ({"random_state": "x"}, SENTENCES, "random_state is a str"),
        ({}, [], "0 items are too few"),
        ({}, 3, "items of type int cannot be split"),
    ],
)
def test_mistakes_are_told_in_one_line(changes: dict[str, Any], items: Any, message: str) -> None:
    with pytest.raises(ComdivError, match=message):
        next(splitter(**changes).split(items))


def test_groups_of_another_length_are_refused() -> None:
    with pytest.raises(ComdivError, match="2 groups for 24 items"):
        next(splitter().split(SENTENCES, groups=[1, 2]))


def test_a_key_is_equal_for_equal_contents_alone() -> None:
    assert stable_key({"a": 1, "b": {2, 3}}) == stable_key({"b": {3, 2}, "a": 1})
    assert stable_key(np.array([1.0, 2.0])) == stable_key([1.0, 2.0])
    values = ["1", 1, 1.5, None, ("1",), {"1"}, {"1": 1}, ("1", "1"), (("1",), "1"), "['1']"]
    assert len({stable_key(value) for value in values}) == len(values)


def test_the_audit_is_the_same_for_any_order() -> None:
    [(train, test)] = splitter().split(SENTENCES)
    audit = splitter().audit(SENTENCES, train, test).to_json()
    order = list(range(len(SENTENCES)))
    random.Random(1).shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    other = splitter().audit([SENTENCES[old] for old in order], [place[i] for i in train], [place[i] for i in test])
    shown = {"nearest"}  # names are indices
    assert {k: v for k, v in other.to_json().items() if k not in shown} == {
        k: v for k, v in audit.items() if k not in shown
    }


def test_an_audit_of_overlapping_sides_is_refused() -> None:
    with pytest.raises(ComdivError, match="different indices of the 24 items"):
        splitter().audit(SENTENCES, [0, 1], [1, 2])
