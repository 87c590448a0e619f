"""Hugging Face datasets as corpora, with the real `datasets` package: folders, saved tables, objects in Python."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import datasets
import pytest

from comdiv.corpora import Columns, read_corpus, read_rows
from comdiv.corpora.hub import HubSource, hub_source
from comdiv.errors import ComdivError
from comdiv.expression import to_infix

ROWS = [
    {"question": "Ann has 3 bags of 12 apples. How many apples has she?", "formula": "3*12", "result": 36, "level": 1},
    {"question": "Ben had 9 pens and lost 4. How many are left?", "formula": "9-4", "result": 5, "level": 2},
]
COLUMNS = Columns("question", "formula", "result")
PARTS = datasets.DatasetDict(train=datasets.Dataset.from_list(ROWS), test=datasets.Dataset.from_list(ROWS[:1]))


def expressions(corpus: Any) -> list[str]:
    return [to_infix(problem.expression) for problem in corpus.problems]


def clone(folder: Path, suffix: str) -> Path:
    """A folder as one has it after cloning a repository: a card, and data files by part."""
    for part, rows in PARTS.items():
        (folder / "data").mkdir(parents=True, exist_ok=True)
        path = folder / "data" / f"{part}-00000-of-00001.{suffix}"
        rows.to_parquet(path) if suffix == "parquet" else rows.to_json(path)
    (folder / "README.md").write_text(
        "---\nlicense: mit\nconfigs:\n- config_name: main\n  data_files:\n"
        + "".join(f"  - split: {part}\n    path: data/{part}-*.{suffix}\n" for part in PARTS)
        + "---\n# Mine\n"
    )
    return folder


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_a_cloned_repository_is_read_part_after_part(suffix: str, tmp_path: Path) -> None:
    corpus = read_corpus(clone(tmp_path / "mine", suffix), columns=COLUMNS)
    assert expressions(corpus) == ["N0*N1", "N0-N1", "N0*N1"]
    assert [problem.answer for problem in corpus.problems] == [36, 5, 36]
    assert corpus.name == "mine"
    assert corpus.problems[0].extra == {"level": 1}
    again = read_corpus(f"hf:{tmp_path / 'mine'}/main#test", columns=COLUMNS)
    assert expressions(again) == ["N0*N1"]
    assert (again.name, again.version) == ("mine-main", corpus.version)


def test_the_version_changes_with_the_data(tmp_path: Path) -> None:
    folder = clone(tmp_path / "mine", "jsonl")
    before = read_corpus(folder, columns=COLUMNS).version
    path = next((folder / "data").glob("test*"))
    path.write_text(path.read_text().replace("Ann", "Eve"))
    assert read_corpus(folder, columns=COLUMNS).version != before


@pytest.mark.parametrize("parts", [PARTS, PARTS["test"]])
def test_what_save_to_disk_left_is_read(parts: Any, tmp_path: Path) -> None:
    parts.save_to_disk(tmp_path / "saved")
    assert expressions(read_corpus(tmp_path / "saved", columns=COLUMNS))[-1] == "N0*N1"


def test_columns_of_a_known_shape_need_no_names(tmp_path: Path) -> None:
    row = {"question": "Ann has 3 bags of 12 apples. How many?", "answer": "So <<3*12=36>>36.\n#### 36"}
    datasets.Dataset.from_list([row]).save_to_disk(tmp_path / "gsm")
    assert expressions(read_corpus(tmp_path / "gsm")) == ["N0*N1"]


def test_values_that_json_does_not_know_are_texts(tmp_path: Path) -> None:
    row = {**ROWS[0], "when": date(2024, 5, 17), "tags": ["a"], "raw": b"x"}
    datasets.Dataset.from_list([row]).save_to_disk(tmp_path / "saved")
    (problem,) = read_corpus(tmp_path / "saved", columns=COLUMNS).problems
    assert json.loads(json.dumps(problem.to_json()))["when"].startswith("2024-05-17")
    assert problem.extra["tags"] == ["a"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("hf:openai/gsm8k", HubSource("openai/gsm8k")),
        ("hf:openai/gsm8k/main", HubSource("openai/gsm8k", "main")),
        ("hf:openai/gsm8k/main#test", HubSource("openai/gsm8k", "main", "test")),
        ("hf:gsm8k#test", HubSource("gsm8k", None, "test")),
        ("hf:openai/gsm8k@e53f048", HubSource("openai/gsm8k", revision="e53f048")),
        ("hf:openai/gsm8k@v1.0/main#test", HubSource("openai/gsm8k", "main", "test", "v1.0")),
        ("hf:gsm8k@v1.0/main", HubSource("gsm8k", "main", revision="v1.0")),
        ("math23k", None),
    ],
)
def test_names_on_the_hub(source: str, expected: HubSource | None) -> None:
    assert hub_source(source) == expected


@pytest.mark.parametrize("source", ["hf:", "hf:a/b/c/d", "hf:a b", "hf:#test", "hf:a/b@", "hf:a/b@c@d", "hf:@main"])
def test_a_name_that_is_none_is_refused(source: str) -> None:
    with pytest.raises(ComdivError, match="is not a dataset: write hf:OWNER/NAME"):
        read_corpus(source)


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ("#nowhere", r"has no part 'nowhere'; there are: train, test"),
        ("/nothing", r"cannot be read as a Hugging Face dataset: BuilderConfig 'nothing' not found"),
    ],
)
def test_what_a_folder_does_not_have_is_one_line(tail: str, message: str, tmp_path: Path) -> None:
    folder = clone(tmp_path / "mine", "jsonl")
    with pytest.raises(ComdivError, match=message) as error:
        read_corpus(f"hf:{folder}{tail}", columns=COLUMNS)
    assert "\n" not in str(error.value)


def test_a_damaged_table_is_one_line(tmp_path: Path) -> None:
    folder = clone(tmp_path / "mine", "parquet")
    next((folder / "data").glob("train*")).write_bytes(b"PAR1 no more")
    with pytest.raises(ComdivError, match="cannot be read as a Hugging Face dataset"):
        read_corpus(folder, columns=COLUMNS)


def test_a_folder_that_is_neither_kind_says_how_to_insist(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(ComdivError, match=r"is not a dataset folder: .*write hf:"):
        read_corpus(tmp_path)


def test_a_name_that_cannot_be_fetched_says_what_to_download_and_where_to_put_it(tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "comdiv", "data", "stats", "hf:owner/name@v1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "hf download owner/name --revision v1 --repo-type dataset --local-dir FOLDER" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("source", "wanted"), [("owner/mine", None), ("owner/mine@0123456", "0123456")])
def test_a_dataset_from_the_hub_is_read_through_its_builder(
    source: str, wanted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Builder:
        """As much of a builder as is used: the hub's commit as hash, and the parts."""

        hash = "0123456789abcdef0123"

        def __init__(self, *asked: str | None, revision: str | None) -> None:
            assert (*asked, revision) == ("owner/mine", "main", wanted)

        def download_and_prepare(self) -> None:
            """Nothing to fetch."""

        def as_dataset(self) -> datasets.DatasetDict:
            return PARTS

    monkeypatch.setattr(datasets, "load_dataset_builder", Builder)
    corpus = read_corpus(f"hf:{source}/main#train", columns=COLUMNS)
    assert (corpus.name, corpus.version) == ("mine-main", "hub:0123456789abcdef")
    assert expressions(corpus) == ["N0*N1", "N0-N1"]


@pytest.mark.parametrize("rows", [PARTS["train"], PARTS["train"].to_iterable_dataset(), PARTS["train"].select([0, 1])])
def test_datasets_in_python_are_rows(rows: Any) -> None:
    corpus = read_rows(rows, COLUMNS, name="mine")
    assert expressions(corpus) == ["N0*N1", "N0-N1"]
    assert [problem.extra["level"] for problem in corpus.problems] == [1, 2]


@pytest.mark.parametrize(
    "parts", [PARTS, datasets.IterableDatasetDict({name: rows.to_iterable_dataset() for name, rows in PARTS.items()})]
)
def test_parts_are_not_rows(parts: Any) -> None:
    with pytest.raises(
        ComdivError, match=r"these are the parts train, test, not rows: read one of them, rows\['train'\]"
    ):
        read_rows(parts, COLUMNS)
