"""Whole datasets from the corpus made by hand: what is where, sizes, controls, reviews, reports."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from comdiv.dataset import Dataset, read_dataset
from comdiv.errors import ComdivError
from comdiv.expression import template
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.synthesis import SynthesisOptions, synthesize_dataset
from synthesis.handmade import corpus, made, problem

DECOMPOSED = {f"seed-{rule}" for rule in map(str, range(1, 10))}


def build(folder: Path, problems: list[Problem] | None = None, force: bool = False, **options: Any) -> Dataset:
    settings = SynthesisOptions(**options)
    synthesize_dataset(problems or corpus(), folder, settings, corpus="handmade", force=force)
    return read_dataset(folder)


def masked(given: Problem) -> str:
    return read(given).mask


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return build(tmp_path_factory.mktemp("sets") / "sd")


def test_seeds_are_the_structural_test_and_their_products_train(dataset: Dataset) -> None:
    structural = {p.id for p in dataset.test if p.composition == "structural"}
    assert structural == DECOMPOSED
    products = Counter(p.provenance.details["seed"] for p in dataset.training_side if p.provenance.rule)
    assert products == dict.fromkeys(DECOMPOSED, 2)


def test_reformulations_are_the_lexical_test_and_their_seeds_train(dataset: Dataset) -> None:
    lexical = {p.provenance.details["seed"] for p in dataset.test if p.composition == "lexical"}
    assert lexical == {p.id for p in dataset.training_side if not p.provenance.rule}
    rules = {p.provenance.rule for p in dataset.test if p.composition == "lexical"}
    assert rules
    assert rules <= {"10", "11", "12", "13"}


def test_no_test_text_and_no_structural_template_is_in_train(dataset: Dataset) -> None:
    assert not {masked(p) for p in dataset.test} & {masked(p) for p in dataset.training_side}
    simple = {template(p.expression) for p in dataset.training_side if p.expression is not None}
    for given in dataset.test:
        assert given.expression is not None
        assert (template(given.expression) in simple) == (given.composition == "lexical")


def test_the_facts_count_every_seed(dataset: Dataset) -> None:
    facts = dataset.facts
    assert facts["made_by"] == "comdiv synthesize"
    assert facts["composition"]["structural"] == 9
    for entry in facts["rules"].values():
        assert entry["seeds"] == entry["made"] + sum(entry["abandoned"].values())
        assert entry["chosen"] <= entry["made"] <= entry["seeds"] <= entry["problems"]
    assert sum(facts["novelty"].values()) == facts["composition"]["lexical"]
    assert {"paper", "keysers2020"} == facts["compound_divergence"].keys() == facts["atom_divergence"].keys()


def test_the_folder_has_a_card_and_a_report(tmp_path: Path) -> None:
    build(tmp_path / "sd")
    report = (tmp_path / "sd" / "report.md").read_text(encoding="utf-8")
    assert "| compound |" in report
    assert "0.82" in report
    assert "n1*(1-n2)" in report
    assert "Novelty" in report
    assert "synthetic dataset" in (tmp_path / "sd" / "README.md").read_text(encoding="utf-8")


def test_the_same_options_give_the_same_bytes(tmp_path: Path) -> None:
    build(tmp_path / "first", seed=3)
    build(tmp_path / "second", list(reversed(corpus())), seed=3)
    for name in ("train.jsonl", "validation.jsonl", "test.jsonl"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_without_a_validation_part_training_side_and_test_are_the_same(tmp_path: Path) -> None:
    cut, whole = build(tmp_path / "cut", size="12/10"), build(tmp_path / "whole", size="12/10", validation=0)
    assert cut.validation
    assert not whole.validation
    assert {p.id: p for p in whole.train} == {p.id: p for p in cut.training_side}
    assert whole.test == cut.test


def test_sizes_are_exact_and_no_seed_loses_both_products(tmp_path: Path) -> None:
    result = build(tmp_path / "sd", size="12/10")
    assert (len(result.training_side), len(result.test)) == (12, 10)
    assert result.facts["composition"] == {"structural": 9, "lexical": 1}
    products = Counter(p.provenance.details["seed"] for p in result.training_side if p.provenance.rule)
    assert products.keys() == DECOMPOSED


@pytest.mark.parametrize(
    ("size", "said"),
    [("30/10", "products"), ("20/50", "structural test problems are wanted, but only 9"), ("5/10", "at least one")],
)
def test_too_few_is_an_error_that_says_how_many_there_are(size: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=said):
        build(tmp_path / "sd", size=size)
    assert not (tmp_path / "sd").exists()


@pytest.mark.parametrize("disjoint", [False, True])
def test_the_greatest_size_that_is_named_can_be_had(disjoint: bool, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="a train of at most") as error:
        build(tmp_path / "sd", size="90/10", disjoint=disjoint)
    most = int(str(error.value).split()[-1])
    assert len(build(tmp_path / "sd", size=f"{most}/10", disjoint=disjoint).training_side) == most


def test_disjoint_sets_have_one_product_of_each_seed(tmp_path: Path) -> None:
    result = build(tmp_path / "sd", disjoint=True)
    products = Counter(p.provenance.details["seed"] for p in result.training_side if p.provenance.rule)
    assert products == dict.fromkeys(DECOMPOSED, 1)


def test_an_excluded_set_leaves_other_seeds(tmp_path: Path) -> None:
    more = [problem("late", "一本书有220页，小红已经看了30页，剩下的每天看19页，还要看多少天？", "(N0-N1)/N2")]
    first = build(tmp_path / "sd")
    second = build(tmp_path / "dev", [*corpus(), *more], exclude=tmp_path / "sd")
    assert [p.id for p in second.test if p.composition == "structural"] == ["late"]
    assert not {masked(p) for p in first.test} & {masked(p) for p in second.test}
    assert not {p.id for p in first.test} & {p.id for p in second.test}


def test_novelty_bounds_what_enters(tmp_path: Path) -> None:
    everything = build(tmp_path / "all").facts["novelty"]
    most = max(map(int, everything))
    assert build(tmp_path / "bound", novelty=most).facts["novelty"] == everything
    bounded = build(tmp_path / "none", novelty=0).facts["novelty"]
    assert all(int(value) == 0 for value in bounded)


def half(name: str) -> str:
    """The id of a product in the corpus made by hand, such as 6a."""
    return made(name[:-1]).products["ab".index(name[-1])].id


def review(path: Path, **decisions: str) -> Path:
    """A file of decisions about seeds (`seed_7`) and products (`half_6a`)."""
    names = {name: half(name[5:]) if name.startswith("half_") else name.replace("_", "-") for name in decisions}
    lines = [json.dumps({"id": names[name], "status": status}) for name, status in decisions.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_what_people_rejected_stays_out(tmp_path: Path) -> None:
    path = review(tmp_path / "mine.jsonl", half_6a="rejected", seed_7="rejected")
    result = build(tmp_path / "sd", review=path)
    ids = {p.id for p in (*result.training_side, *result.test)}
    assert half("6b") in ids
    assert not ids & {half("6a"), "seed-7", half("7a"), half("7b")}


def test_a_review_beside_the_dataset_counts_and_survives(tmp_path: Path) -> None:
    build(tmp_path / "sd")
    review(tmp_path / "sd" / "review.jsonl", seed_6="rejected")
    result = build(tmp_path / "sd", force=True)
    assert "seed-6" not in {p.id for p in result.test}
    assert (tmp_path / "sd" / "review.jsonl").is_file()


def test_an_edit_takes_the_products_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    edit = {"id": half("6a"), "status": "edited", "text": "书120页，看了30页，剩几页？", "expression": "N0-N1"}
    path.write_text(json.dumps(edit) + "\n", encoding="utf-8")
    result = build(tmp_path / "sd", review=path)
    assert "书120页，看了30页，剩几页？" in {p.text for p in result.training_side}


def test_only_accepted_problems_enter_where_asked(tmp_path: Path) -> None:
    path = review(tmp_path / "mine.jsonl", seed_6="accepted", half_6a="accepted", seed_7="accepted")
    result = build(tmp_path / "sd", review=path, only="accepted")
    assert [p.id for p in result.test] == ["seed-6"]
    assert [p.id for p in result.training_side] == [half("6a")]
    with pytest.raises(ComdivError, match="needs a review"):
        build(tmp_path / "other", only="accepted")


def test_the_error_of_only_accepted_says_what_is_missing(tmp_path: Path) -> None:
    path = review(tmp_path / "mine.jsonl", seed_6="accepted", seed_7="accepted", half_8a="accepted")
    with pytest.raises(ComdivError) as error:
        build(tmp_path / "sd", review=path, only="accepted")
    assert "of 13 seeds that have products, 11 are not accepted themselves, and 2 are" in str(error.value)
    assert "`comdiv studio`, which shows the seeds first" in str(error.value)


def test_a_corpus_where_nothing_applies_is_one_line(tmp_path: Path) -> None:
    alone = [problem("a", "小明有3个苹果，吃了1个，又买来2个，还有几个？", "N0-N1+N2")]
    with pytest.raises(ComdivError) as error:
        build(tmp_path / "sd", alone)
    assert str(error.value) == "handmade: no rule gives a product: 1 problems, 0 of them seeds of a rule"


@pytest.mark.parametrize("size", ["100", "0/5", "a/b", "5/0", "-1/2"])
def test_a_wrong_size_names_the_option(size: str) -> None:
    with pytest.raises(ComdivError, match="option size: the size must be TRAIN/TEST"):
        SynthesisOptions.checked(size=size)


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(ComdivError, match="Did you mean 'novelty'"):
        SynthesisOptions.checked(noveltie=1)
