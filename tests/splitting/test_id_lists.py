"""Splits as lists of ids: read and refused; `comdiv split --ids` makes the same dataset again."""

import json
from pathlib import Path

import pytest

from comdiv.corpora.demo import generate
from comdiv.dataset import PARTS, read_dataset
from comdiv.errors import ComdivError
from comdiv.problem import write_problems
from comdiv.splitting.id_lists import IdLists, read_id_lists
from comdiv.verbs.benchmarks import split
from command_line import refused, run


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "toys.jsonl"
    write_problems(path, generate("en", 120))
    return path


@pytest.fixture(scope="module")
def dataset(corpus: Path) -> Path:
    folder = corpus.parent / "split"
    run("split", corpus, "--out", folder, "--clusterings", "2", "--k", "4", "--seed", "3", "--steps-per-item", "50")
    return folder


@pytest.fixture(scope="module")
def lists(dataset: Path) -> Path:
    path = dataset.parent / "ids.json"
    path.write_text(json.dumps(IdLists.of(read_dataset(dataset)).to_json()))
    return path


def test_a_split_is_rebuilt_to_the_byte_from_its_ids(corpus: Path, dataset: Path, lists: Path, tmp_path: Path) -> None:
    run("split", corpus, "--ids", lists, "--out", tmp_path / "again")
    for name in (*(f"{part}.jsonl" for part in PARTS), "dataset.json", "README.md"):
        assert (tmp_path / "again" / name).read_bytes() == (dataset / name).read_bytes()
    again = run("split", corpus, "--ids", lists, "--out", tmp_path / "again")
    assert "is there already, made with the same settings" in " ".join(again.stderr.split())


def test_the_ids_of_test_alone_make_the_same_test_side(corpus: Path, dataset: Path, tmp_path: Path) -> None:
    test = [problem.id for problem in read_dataset(dataset).test]
    for name, text in (("ids.txt", "\n".join(test) + "\n\n"), ("ids.json", json.dumps(test))):
        (tmp_path / name).write_text(text)
        facts = split(corpus, tmp_path / "out" / name, ids=tmp_path / name)
        assert [problem.id for problem in read_dataset(tmp_path / "out" / name).test] == test
        assert facts[str(tmp_path / "out" / name)]["settings"]["test_size"] == len(test)


def test_another_corpus_is_noted_and_unknown_ids_are_refused(lists: Path, tmp_path: Path) -> None:
    write_problems(tmp_path / "longer.jsonl", generate("en", 121))
    said = run("split", tmp_path / "longer.jsonl", "--ids", lists, "--out", tmp_path / "out").stderr
    assert "differs from the corpus that ids.json was made from" in " ".join(said.split())
    write_problems(tmp_path / "shorter.jsonl", generate("en", 60))
    message = refused("split", tmp_path / "shorter.jsonl", "--ids", lists, "--out", tmp_path / "other")
    assert "ids are unknown): is it another corpus or version?" in " ".join(message.split())


def test_problems_that_no_list_has_are_told(corpus: Path, lists: Path, tmp_path: Path) -> None:
    shorter = json.loads(lists.read_text())
    shorter["train"] = shorter["train"][:-5]
    (tmp_path / "ids.json").write_text(json.dumps(shorter))
    said = " ".join(run("split", corpus, "--ids", tmp_path / "ids.json", "--out", tmp_path / "out").stderr.split())
    assert "5 problems are in no part of it." in said
    assert "without an operator" not in said
    assert "twins stay together" not in said


def test_options_that_contradict_the_file_are_refused(corpus: Path, lists: Path, tmp_path: Path) -> None:
    arguments = ("split", corpus, "--ids", lists, "--out", tmp_path / "out")
    assert "has the options of the split: leave them out" in refused(*arguments, "--seed", "4")
    assert "leave out --k, --target, --splits and --with-iid" in refused(*arguments, "--with-iid")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no ids of test problems"),
        ("[]", "it has no ids of test problems"),
        ("a\nb\na\n", "the id 'a' occurs twice"),
        ('{"test": ["a"], "train": ["b"]}', "train and validation go together"),
        ('{"test": ["a"], "train": ["a"], "validation": []}', "the id 'a' occurs twice"),
        ('{"test": "a"}', "test: Input should be a valid tuple"),
        ('{"test": ["a"', "not valid JSON"),
    ],
)
def test_a_file_that_is_no_list_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "ids"
    path.write_text(text)
    with pytest.raises(ComdivError, match=message):
        read_id_lists(path)
