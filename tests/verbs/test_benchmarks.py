"""The twins of the verbs that make benchmarks: the same files as the command line, and nothing on the screen."""

from pathlib import Path

import pytest

import comdiv
from comdiv import CorpusOptions, Observer, SplitSeries, SplitSettings
from comdiv.dataset import PARTS
from comdiv.problem import write_problems
from command_line import run


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "toys.jsonl"
    write_problems(path, comdiv.generate("en", 120))
    return path


class Listening(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def parts(folder: Path) -> list[bytes]:
    return [(folder / f"{part}.jsonl").read_bytes() for part in PARTS]


def test_split_writes_what_the_command_line_writes(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = SplitSettings.checked(test_size=24, k=3, atom_bound=0.1, search="greedy", seed=2)
    facts = comdiv.split(corpus, tmp_path / "twin", settings)
    assert capsys.readouterr() == ("", "")
    options = ("--test-size", "24", "--k", "3", "--atom-bound", "0.1", "--search", "greedy", "--seed", "2")
    run("split", corpus, *options, "--out", tmp_path / "verb")
    assert parts(tmp_path / "twin") == parts(tmp_path / "verb")
    assert facts[str(tmp_path / "twin")]["settings"]["extraction"]["k"] == 3


def test_a_series_of_splits_has_a_control_each_and_is_told_about(corpus: Path, tmp_path: Path) -> None:
    listening, folders = Listening(), []
    settings = SplitSettings(method="template", test_size=20)
    series = SplitSeries(splits=2, with_iid=True)
    arguments = {"observer": listening, "each": lambda folder, measurement: folders.append(folder.name)}
    comdiv.split(corpus, tmp_path, settings, series, **arguments)  # type: ignore[arg-type]
    assert folders == ["split-1", "iid-1", "split-2", "iid-2"]
    comdiv.split(corpus, tmp_path, settings, series, **arguments)  # type: ignore[arg-type]
    assert len(folders) == 4  # they are there already
    assert sum("is there already" in note for note in listening.notes) == 4


def test_measure_takes_a_folder_with_its_settings_or_two_files(corpus: Path, tmp_path: Path) -> None:
    comdiv.split(corpus, tmp_path / "d", SplitSettings.checked(method="iid", test_size=30, k=4))
    whole = comdiv.measure(tmp_path / "d")
    assert (whole.train_size, whole.test_size) == (90, 30)
    assert comdiv.measure(tmp_path / "d", changes={"k": 4}) == whole
    assert comdiv.measure(tmp_path / "d", changes={"k": 2}) != whole
    sides = comdiv.measure(tmp_path / "d" / "train.jsonl", tmp_path / "d" / "test.jsonl", {"k": 2})
    assert (sides.train_size, sides.test_size) == (72, 30)


def test_columns_of_a_file_of_ones_own_are_named(tmp_path: Path) -> None:
    things = ("apples", "pens", "books", "cups", "hats", "keys", "maps", "nuts", "pies", "toys")
    rows = [f"Tom has 9 {thing} and gives away {n}. How many {thing} has he?,9-{n}" for n in (1, 2) for thing in things]
    (tmp_path / "mine.csv").write_text("\n".join(["question,formula", *rows]))
    reading = CorpusOptions(text="question", equation="formula")
    facts = comdiv.split(
        tmp_path / "mine.csv", tmp_path / "d", SplitSettings.checked(method="iid", test_size=4, k=1),
        reading=reading,
    )  # fmt: skip
    assert facts[str(tmp_path / "d")]["test_size"] == 4


def test_synthesize_and_augment_write_datasets(tmp_path: Path) -> None:
    facts = comdiv.synthesize("demo-zh", tmp_path / "sd")
    assert facts["composition"]["structural"] > 0
    options = comdiv.AugmentationOptions.preset(per_problem=(1, 0), growth=0.2, repeat_originals=1)
    report = comdiv.augment(tmp_path / "sd", tmp_path / "da", options, jobs=1)
    assert len(comdiv.read_dataset(tmp_path / "da").train) > facts["files"]["train.jsonl"]["problems"]
    assert report["rounds"]
