"""Compounds for early stopping: made of validation problems, kept apart from train and test."""

from pathlib import Path

import pytest

from augmentation.small import bytes_of, english, options, write_small_dataset
from comdiv.augmentation import augment_dataset
from comdiv.dataset import Dataset, read_dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.reading import read


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twenty validation problems, and the test part is one that nobody can parse."""
    problems = english()
    folder = tmp_path / "small"
    write_dataset(folder, Dataset(problems[:12], problems[12:32], problems[32:]), title="small")
    (folder / "test.jsonl").write_bytes(b"no JSON\n")
    return folder


def test_compounds_of_validation_problems_stand_behind_them_and_nowhere_else(data: Path, tmp_path: Path) -> None:
    given = tuple(english()[12:32])
    report = augment_dataset(data, tmp_path / "out", options(compositional_validation=7))
    assert (tmp_path / "out" / "test.jsonl").read_bytes() == (data / "test.jsonl").read_bytes()
    (tmp_path / "out" / "test.jsonl").write_text("")
    made = read_dataset(tmp_path / "out")
    compounds = made.validation[len(given) :]
    assert made.validation[: len(given)] == given
    assert len(compounds) == 7
    assert report["validation"] == {"given": len(given), "new": 7}
    for problem in compounds:
        origin = problem.provenance
        assert (origin.operation, origin.round, origin.details["part"]) == ("operation 1", 0, "validation")
        assert set(origin.parents) <= {parent.id for parent in given}
    texts = {read(problem).mask_hash for problem in compounds}
    assert len(texts) == 7
    assert texts.isdisjoint(read(problem).mask_hash for problem in (*made.train, *given))
    assert "Validation has 7 more" in (tmp_path / "out" / "report.md").read_text()


def test_training_problems_do_not_change_the_compounds_and_a_ban_holds_for_them(data: Path, tmp_path: Path) -> None:
    def compounds(name: str, **changes: object) -> set[str]:
        augment_dataset(data, tmp_path / name, options(compositional_validation=1000, **changes))
        (tmp_path / name / "test.jsonl").write_text("")
        return {read(problem).mask_hash for problem in read_dataset(tmp_path / name).validation[20:]}

    first = compounds("first")
    assert compounds("only-2", operations=(2,)) == first
    banned = sorted(first)[:3]
    assert compounds("banned", ban=tuple(banned)).isdisjoint(banned)


def test_without_it_validation_is_copied_as_bytes(data: Path, tmp_path: Path) -> None:
    augment_dataset(data, tmp_path / "out", options())
    assert (tmp_path / "out" / "validation.jsonl").read_bytes() == (data / "validation.jsonl").read_bytes()


def test_same_seed_same_bytes(data: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        augment_dataset(data, tmp_path / name / "out", options(compositional_validation=5))
    assert bytes_of(tmp_path / "a" / "out") == bytes_of(tmp_path / "b" / "out")


def test_a_source_without_validation_is_refused(tmp_path: Path) -> None:
    folder = write_small_dataset(tmp_path / "small")
    (folder / "validation.jsonl").write_text("")
    with pytest.raises(ComdivError, match="no validation problems"):
        augment_dataset(folder, tmp_path / "out", options(compositional_validation=5))
    assert not (tmp_path / "out").exists()
