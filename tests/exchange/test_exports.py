"""Which splits a folder holds, and what their parts are called."""

from dataclasses import replace
from pathlib import Path

import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.exchange.exports import find_splits
from exchange.conftest import small_dataset

PROBLEMS = list(generate("en", 20))


def test_a_folder_has_its_own_split_and_those_in_it(split_folder: Path) -> None:
    assert [split.name for split in find_splits(split_folder)] == ["compositional", "iid"]


def test_several_splits_without_one_of_the_folders_own(tmp_path: Path) -> None:
    for name in ("target-0.50", "target-0.30", "iid"):
        small_dataset(PROBLEMS, tmp_path / name, "dbca")
    assert [split.name for split in find_splits(tmp_path)] == ["iid", "target-0.30", "target-0.50"]


@pytest.mark.parametrize(
    ("method", "name"), [("dbca", "compositional"), ("iid", "iid"), ("length", "length"), (None, "compositional")]
)
def test_a_split_is_called_by_what_it_tests(method: str | None, name: str, tmp_path: Path) -> None:
    small_dataset(PROBLEMS, tmp_path / "made", method)
    assert [split.name for split in find_splits(tmp_path / "made")] == [name]


def test_two_splits_of_one_name_are_refused(tmp_path: Path) -> None:
    small_dataset(PROBLEMS, tmp_path / "made", "iid")
    small_dataset(PROBLEMS, tmp_path / "made" / "iid", "iid")
    with pytest.raises(ComdivError, match="two splits that would be called 'iid'"):
        find_splits(tmp_path / "made")


def test_names_that_become_one_and_halves_called_like_a_split_are_refused(tmp_path: Path) -> None:
    """Otherwise one would replace the other's files."""
    for name in ("seed-1", "seed_1"):
        small_dataset(PROBLEMS, tmp_path / "made" / name, "dbca")
    with pytest.raises(ComdivError, match="two splits that would be called 'seed_1'"):
        find_splits(tmp_path / "made")
    named = [replace(problem, composition="iid") for problem in PROBLEMS]
    small_dataset(named, tmp_path / "halves", "dbca")
    small_dataset(PROBLEMS, tmp_path / "halves" / "iid", "iid")
    with pytest.raises(ComdivError, match="two splits that would be called 'iid'"):
        find_splits(tmp_path / "halves")


def test_structural_comes_before_lexical(synthesised_folder: Path) -> None:
    (split,) = find_splits(synthesised_folder)
    assert [(part.name, len(part.test)) for part in split.parts] == [
        ("compositional", 6),
        ("structural", 3),
        ("lexical", 3),
    ]
