"""The library: reading folders and files, searching, filters, lineage."""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem, Provenance, write_problems
from comdiv.studio.library import SOURCE, WHOLE, Library, Query


@pytest.fixture(scope="module")
def library(dataset: Path) -> Library:
    return Library.read(dataset)


def ids(library: Library, **asked: str) -> list[str]:
    return [entry.problem.id for entry in library.search(Query.of(asked))]


def test_a_dataset_folder_is_read_part_by_part(library: Library) -> None:
    assert library.sizes == {"train": 93, "validation": 20, "test": 52}
    assert library.is_split
    assert library.name == "small"
    assert library.review.name == "review.jsonl"
    assert "files" in library.facts


def test_a_single_file_is_one_part_and_its_review_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    write_problems(path, [Problem("a", "en", "Tom has 3 cats.", parse("N0"), Fraction(3))])
    library = Library.read(path)
    assert library.sizes == {WHOLE: 1}
    assert not library.is_split
    assert library.review == tmp_path / "mine.review.jsonl"


def test_a_review_that_leads_out_of_its_dataset_by_a_link_is_refused(dataset: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(dataset, tmp_path / "copy"))
    (copy / "review.jsonl").symlink_to(tmp_path / "mine.jsonl")
    with pytest.raises(ComdivError, match=r"review\.jsonl leads out of .*copy by a link"):
        Library.read(copy)


def test_a_corpus_by_name_is_reviewed_where_the_user_stands() -> None:
    library = Library.read("demo-en")
    assert library.review == Path("demo-en.review.jsonl")
    assert library.sizes[WHOLE] > 100


def test_sources_are_found_as_parents_but_are_no_part_of_the_dataset(dataset: Path, tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    write_problems(path, [Problem("lost", "en", "Somebody lost 3 keys.", parse("N0"), Fraction(3))])
    library = Library.read(dataset, [path])
    found = library.find("lost")
    assert found is not None
    assert found.part == SOURCE


def test_nothing_to_show_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="is not a dataset folder"):
        Library.read(tmp_path)
    (tmp_path / "train.jsonl").write_text("\n")
    with pytest.raises(ComdivError, match="empty"):
        Library.read(tmp_path)


def test_all_words_must_occur_in_whatever_case(library: Library) -> None:
    assert ids(library, words="BAGS apples tom") == ["p1"]
    assert ids(library, words="苹果") == ['"><svg onload=x>']
    assert ids(library, words="p2") == ["p2"]
    assert ids(library, words="nothing has these words") == []


def test_filters_are_taken_together(library: Library) -> None:
    assert ids(library, made_by="rule 4") == ["p1"]
    assert ids(library, made_by="operation 1", round="2") == ["p3"]
    assert ids(library, made_by="operation 1", round="1") == []
    assert ids(library, part="train", score_from="0.06") == ["p1", "p2"]
    assert ids(library, score_from="0.06", score_to="0.1") == ["p2"]
    assert {entry.operators for entry in library.search(Query(operators="2"))} == {2}
    assert len(ids(library, part="validation")) == 20


def test_a_template_is_found_however_it_is_written(library: Library) -> None:
    wanted = ids(library, template="n1*n2")
    assert "p1" in wanted
    assert ids(library, template="n2 × n1") == wanted
    assert ids(library, template="n1−n2") == ids(library, template="n1-n2")
    assert ids(library, template="nonsense(") == []


def test_orders(library: Library) -> None:
    operators = [entry.operators or 0 for entry in library.search(Query(sort="operators"))]
    assert operators == sorted(operators, reverse=True)
    assert ids(library, sort="score")[:3] == ["p1", "p2", "p3"]
    lengths = [len(entry.problem.text) for entry in library.search(Query(sort="length"))]
    assert lengths == sorted(lengths, reverse=True)
    with pytest.raises(ComdivError, match="unknown order 'colour'; known: file"):
        ids(library, sort="colour")


@pytest.mark.parametrize("asked", [{"operators": "two"}, {"round": "x"}, {"score_from": "low"}])
def test_what_is_no_number_is_said(library: Library, asked: dict[str, str]) -> None:
    with pytest.raises(ComdivError, match="is not a number"):
        ids(library, **asked)


def test_facets_count_values_in_a_sensible_order(library: Library) -> None:
    assert library.facets["part"] == [("train", 93), ("validation", 20), ("test", 52)]
    assert library.facets["made_by"] == [("operation 1", 1), ("rule 4", 1), ("rule 11", 1)]
    assert [int(value) for value, _ in library.facets["operators"]] == sorted(
        int(value) for value, _ in library.facets["operators"]
    )
    assert "composition" not in library.facets


def test_children_and_neighbours(library: Library) -> None:
    assert [entry.problem.id for entry in library.children("p1")] == ["p2", "p3"]
    first, last = library.entries[0], library.entries[-1]
    assert library.neighbours(first)[0] is None
    assert library.neighbours(last)[1] is None
    assert [entry.problem.id for entry in library.products] == ["p1", "p2", "p3"]


def test_an_id_in_two_parts_is_found_by_its_part(tmp_path: Path) -> None:
    for part, text in (("train", "Tom has 3 cats."), ("test", "Ann has 4 dogs.")):
        problem = Problem("same", "en", text, parse("N0"), Fraction(3), Provenance(operation="mix"))
        write_problems(tmp_path / f"{part}.jsonl", [problem])
    library = Library.read(tmp_path)
    found = library.find("same", "test")
    assert found is not None
    assert found.part == "test"
    assert found.made_by == "mix"
    assert library.find("other") is None
