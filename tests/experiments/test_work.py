"""What single cells do, in this process."""

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from comdiv.dataset import Dataset, read_dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell
from comdiv.experiments.plan import make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.work import Workplace, _is_allowed, work
from comdiv.problem import Problem, Provenance
from experiments.tiny import tiny_corpus, tiny_plan
from solvers.tiny import EIGHT, UNSEEN, problem

COLOURS = ("red", "green", "blue", "black", "white")
THINGS = ("pens", "cups", "balls", "hats", "boats", "books", "coins", "kites")
SPLIT = {"method": "iid", "test_size": 10}


def place_of(folder: Path, *needs: Path, inputs: Mapping[str, str] | None = None) -> Workplace:
    return Workplace(folder, needs, inputs or {}, lambda what, done, total, note: None)


def dataset_cell(base: Path, **dataset: Any) -> Cell:
    return plan_cells(make_plan(tiny_plan(datasets={"mine": dataset})), base)[0]


def do(cell: Cell, folder: Path, *needs: Path) -> dict[str, Any]:
    return work(cell.kind, cell.recipe, place_of(folder, *needs, inputs=cell.inputs))


def test_a_file_with_columns_of_its_own_is_split(tmp_path: Path) -> None:
    with (tmp_path / "mine.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["frage", "formel"])
        things = [f"{colour} {thing}" for colour in COLOURS for thing in THINGS]
        rows.writerows([[f"Tom has {n} {one} and gets {n + 3} more. How many?", f"{n}+{n + 3}"]
                        for n, one in enumerate(things, start=2)])  # fmt: skip
    columns = {"text": "frage", "equation": "formel"}
    cell = dataset_cell(tmp_path, corpus="mine.csv", columns=columns, split={**SPLIT, "k": 2})
    assert do(cell, tmp_path / "cell")["problems"] == {"train": 24, "validation": 6, "test": 10}


def test_a_limit_takes_the_same_problems_every_time(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    cell = dataset_cell(tmp_path, corpus="mine.jsonl", limit=30, split=SPLIT)
    for name in ("one", "two"):
        assert sum(do(cell, tmp_path / name)["problems"].values()) == 30
    texts = [(tmp_path / name / "dataset" / "train.jsonl").read_bytes() for name in ("one", "two")]
    assert texts[0] == texts[1]


def test_a_half_made_dataset_is_made_anew_and_a_whole_one_is_kept(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    cell = dataset_cell(tmp_path, corpus="mine.jsonl", split=SPLIT)
    do(cell, tmp_path / "cell")
    dataset = tmp_path / "cell" / "dataset"
    before = (dataset / "test.jsonl").stat().st_mtime_ns
    do(cell, tmp_path / "cell")
    assert (dataset / "test.jsonl").stat().st_mtime_ns == before
    (dataset / "test.jsonl").write_text("")
    do(cell, tmp_path / "cell")
    assert len(read_dataset(dataset).test) == 10


def test_a_corpus_that_changed_since_the_plan_was_made_is_refused(tmp_path: Path) -> None:
    path = tiny_corpus(tmp_path)
    cell = dataset_cell(tmp_path, corpus="mine.jsonl", split=SPLIT)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(ComdivError, match=r"mine\.jsonl has changed: .* the plan was made with"):
        do(cell, tmp_path / "cell")


def test_a_dataset_folder_is_copied_as_it_was_planned(tmp_path: Path) -> None:
    write_dataset(tmp_path / "mine", Dataset(EIGHT, UNSEEN, UNSEEN), title="mine")
    cell = dataset_cell(tmp_path, folder="mine")
    assert do(cell, tmp_path / "cell")["problems"] == {"train": 8, "validation": 2, "test": 2}
    write_dataset(tmp_path / "mine", Dataset(EIGHT[:3], UNSEEN, UNSEEN), title="mine", force=True)
    with pytest.raises(ComdivError, match="has changed since the plan was made"):
        do(cell, tmp_path / "other")


def test_the_set_after_some_rounds_has_their_problems_only(tmp_path: Path) -> None:
    def made_in(number: int) -> Problem:
        one = problem(f"new {number}", f"Ann has {number} red pens. How many?", "N0")
        return replace(one, provenance=Provenance(operation="operation 1", round=number))

    grown = Dataset((*EIGHT, made_in(1), made_in(2), made_in(3)), UNSEEN, UNSEEN)
    write_dataset(tmp_path / "grown" / "dataset", grown, title="grown")
    summary = work("rounds", {"rounds": 2}, place_of(tmp_path / "cell", tmp_path / "grown"))
    assert summary["problems"]["train"] == 10
    assert [p.id for p in read_dataset(tmp_path / "cell" / "dataset").train[8:]] == ["new 1", "new 2"]
    assert json.loads((tmp_path / "cell" / "dataset" / "dataset.json").read_text())["rounds_kept"] == 2


def test_methods_solve_together_and_are_reranked(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    methods = {
        "GTS": {"solver": "gts"},
        "LSTM": {"solver": "lstm"},
        "Both": {"of": ["GTS", "LSTM"]},
        "Re-ranked": {"of": ["GTS", "LSTM"], "plausible": "validation"},
        "Nested": {"of": ["GTS"], "plausible": "nested", "without": ["zero"]},
    }
    datasets = {"mine": {"corpus": "mine.jsonl", "split": SPLIT}}
    cells = plan_cells(make_plan(tiny_plan(datasets=datasets, methods=methods)), tmp_path)
    folders: dict[str, Path] = {}
    for cell in cells:
        folders[cell.key] = tmp_path / cell.key
        folders[cell.key].mkdir()
        do(cell, folders[cell.key], *(folders[need] for need in cell.needs))
    results = {
        cell.facts.method: json.loads((folders[cell.key] / "test" / "result.json").read_text())
        for cell in cells
        if cell.kind == "evaluation"
    }
    assert {name: (result["solver"], result["rerank"]) for name, result in results.items()} == {
        "GTS": ("gts", False),
        "LSTM": ("lstm", False),
        "Both": ("gts + lstm", False),
        "Re-ranked": ("gts + lstm", True),
        "Nested": ("gts", True),
    }
    assert all(result["n"] == 10 for result in results.values())


def test_a_run_is_allowed_only_what_the_plan_names(tmp_path: Path) -> None:
    """A folder of results may be a stranger's: its config.yaml decides neither programs nor who is sent a key."""
    tiny_corpus(tmp_path)
    asking = {"base_url": "http://localhost:1/v1", "model": "m", "key_variable": "OUR_KEY"}
    methods = {"mine": {"solver": "command:./solve.sh"}, "model": {"ask": asking}}
    cells = plan_cells(make_plan(tiny_plan(methods=methods, augmentations={})), tmp_path)
    inputs = {cell.facts.method: cell.inputs for cell in cells if cell.kind == "evaluation"}
    assert _is_allowed({"solver": "command:./solve.sh"}, inputs["mine"])
    assert not _is_allowed({"solver": "command:./evil.sh"}, inputs["mine"])
    assert _is_allowed({"solver": "ask", "settings": {**asking, "concurrency": 9}}, inputs["model"])
    for planted in ({"base_url": "http://evil.example/v1"}, {"key_variable": "ANOTHER_KEY"}):
        assert not _is_allowed({"solver": "ask", "settings": asking | planted}, inputs["model"])
    assert not _is_allowed({"solver": "ask", "settings": asking}, inputs["mine"])
