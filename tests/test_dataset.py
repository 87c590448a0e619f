"""Dataset folders: complete or not there, never at the cost of what people put into them."""

import json
from pathlib import Path

import pytest
import yaml

from comdiv.dataset import FACTS, PARTS, Dataset, card, is_intact, read_dataset, read_facts, write_dataset
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.files import file_sha256
from comdiv.problem import Problem, Provenance


def problem(name: str, text: str = "2 bags of 3 apples", language: str = "en") -> Problem:
    provenance = Provenance(corpus="toys", version="1")
    return Problem(name, language, text, parse("N0*N1"), parse("6").value, provenance, extra={"grade": 3})


DATASET = Dataset(
    train=(problem("1"), problem("2")), validation=(problem("3"),), test=(problem("4", "两袋3个和4个", "zh"),),
    facts={"method": "iid", "note": "α"},
)  # fmt: skip


def write(folder: Path, dataset: Dataset = DATASET, *, force: bool = False) -> dict[str, object]:
    return write_dataset(folder, dataset, title="Toys: [a] title", paragraphs=["One.", "Two."], force=force)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    facts = write(tmp_path / "toys")
    found = read_dataset(tmp_path / "toys")
    assert (found.train, found.validation, found.test) == (DATASET.train, DATASET.validation, DATASET.test)
    assert found.facts == facts
    assert found.training_side == DATASET.train + DATASET.validation


def test_facts_have_sizes_and_hashes_of_the_files(tmp_path: Path) -> None:
    facts = write(tmp_path / "toys")
    assert facts == read_facts(tmp_path / "toys")
    assert facts["note"] == "α"
    assert facts["files"] == {
        f"{part}.jsonl": {"problems": count, "sha256": file_sha256(tmp_path / "toys" / f"{part}.jsonl")}
        for part, count in zip(PARTS, (2, 1, 1), strict=True)
    }


def test_the_same_dataset_gives_the_same_bytes_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_more_files_go_into_the_folder(tmp_path: Path) -> None:
    write_dataset(tmp_path / "toys", DATASET, title="Toys", more=lambda folder: (folder / "plot.svg").write_text("x"))
    assert (tmp_path / "toys" / "plot.svg").read_text() == "x"


def test_missing_folders_above_are_made_and_an_empty_folder_is_filled(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "toys")
    assert read_facts(tmp_path / "a" / "b" / "toys")
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    assert read_facts(tmp_path / "empty")


def fail(folder: Path) -> None:
    raise RuntimeError("the disk is full")


def test_an_exception_while_writing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="full"):
        write_dataset(tmp_path / "toys", DATASET, title="Toys", more=fail)
    assert list(tmp_path.iterdir()) == []


def test_an_exception_while_replacing_leaves_the_old_dataset_as_it_was(tmp_path: Path) -> None:
    write(tmp_path / "toys")
    before = contents(tmp_path)
    with pytest.raises(RuntimeError, match="full"):
        write_dataset(tmp_path / "toys", Dataset((), (), ()), title="Other", more=fail, force=True)
    assert contents(tmp_path) == before


def test_a_folder_with_anything_in_it_is_refused_without_force(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ComdivError, match="exists already"):
        write(tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_force_replaces_our_files_and_keeps_reviews_and_foreign_files(tmp_path: Path) -> None:
    folder = tmp_path / "toys"
    write(folder)
    (folder / "review.jsonl").write_text('{"id": "1", "status": "accepted"}\n')
    (folder / "iid").mkdir()
    (folder / "iid" / "train.jsonl").write_text("other")
    smaller = Dataset(DATASET.train[:1], (), DATASET.test, {"method": "length"})
    write(folder, smaller, force=True)
    assert (folder / "review.jsonl").read_text() == '{"id": "1", "status": "accepted"}\n'
    assert (folder / "iid" / "train.jsonl").read_text() == "other"
    assert read_dataset(folder).train == smaller.train
    assert read_facts(folder)["method"] == "length"
    assert [path.name for path in tmp_path.iterdir()] == ["toys"]


@pytest.mark.parametrize("stuck", ["README.md", "train.jsonl"])
def test_a_replacement_that_breaks_off_halfway_is_seen_as_incomplete(
    stuck: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "toys"
    write(folder)
    move = Path.replace

    def breaks_off(path: Path, target: Path) -> Path:
        if target == folder / stuck:
            raise OSError("the power fails")
        return move(path, target)

    monkeypatch.setattr(Path, "replace", breaks_off)
    with pytest.raises(OSError, match="power"):
        write(folder, Dataset(DATASET.train[:1], (), ()), force=True)
    with pytest.raises(ComdivError, match=r"it has no dataset\.json"):
        read_dataset(folder)


@pytest.mark.parametrize("missing", [FACTS, *(f"{part}.jsonl" for part in PARTS)])
def test_an_incomplete_folder_is_refused_and_says_what_is_missing(missing: str, tmp_path: Path) -> None:
    write(tmp_path / "toys")
    (tmp_path / "toys" / missing).unlink()
    with pytest.raises(ComdivError, match=f"is not a complete dataset folder: it has no {missing}"):
        read_dataset(tmp_path / "toys")


@pytest.mark.parametrize(("text", "reason"), [("{", "Expecting"), ("[1]", "not a JSON object")])
def test_damaged_facts_are_one_clear_line_with_the_file(text: str, reason: str, tmp_path: Path) -> None:
    write(tmp_path / "toys")
    (tmp_path / "toys" / FACTS).write_text(text)
    with pytest.raises(ComdivError, match=rf"dataset\.json: .*{reason}"):
        read_facts(tmp_path / "toys")


@pytest.mark.parametrize("force", [False, True])
def test_a_file_in_place_of_the_folder_is_one_clear_line(force: bool, tmp_path: Path) -> None:
    (tmp_path / "toys").write_text("mine")
    with pytest.raises(ComdivError, match="is a file" if force else "exists already"):
        write(tmp_path / "toys", force=force)
    with pytest.raises(ComdivError, match="cannot be written: "):
        write(tmp_path / "toys" / "inside")
    assert (tmp_path / "toys").read_text() == "mine"


def header(text: str) -> dict[str, object]:
    _, front, _ = text.split("---\n", 2)
    found = yaml.safe_load(front)
    assert isinstance(found, dict)
    return found


def test_the_card_has_a_header_that_names_the_splits_and_their_files(tmp_path: Path) -> None:
    write(tmp_path / "toys")
    text = (tmp_path / "toys" / "README.md").read_text()
    found = header(text)
    assert found["language"] == ["en", "zh"]
    assert found["configs"] == [
        {"config_name": "default", "data_files": [{"split": part, "path": f"{part}.jsonl"} for part in PARTS]}
    ]
    assert "\n# Toys: [a] title\n\nTrain / validation / test: 2 / 1 / 1 problems.\n\nOne.\n\nTwo.\n\n" in text


def test_an_empty_part_is_no_split_of_the_card() -> None:
    (config,) = header(card(Dataset(DATASET.train, (), DATASET.test), "Toys", []))["configs"]  # type: ignore[misc]
    assert [file["split"] for file in config["data_files"]] == ["train", "test"]


def test_json_lines_keep_unknown_keys_and_chinese_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "toys")
    (line,) = (tmp_path / "toys" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    assert "两袋3个和4个" in line
    assert json.loads(line)["grade"] == 3


def test_a_dataset_with_a_part_missing_or_changed_is_not_intact(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    facts = write(folder)
    assert is_intact(folder, facts)
    kept = (folder / "train.jsonl").read_bytes()
    (folder / "train.jsonl").write_bytes(kept + b"\n")
    assert not is_intact(folder, facts)
    (folder / "train.jsonl").unlink()
    assert not is_intact(folder, facts)
