"""Two models, programs or datasets never share what is kept: the same settings are not enough."""

import shutil
import sys
from pathlib import Path

import pytest

import comdiv
from augmentation.small import write_small_dataset
from comdiv.dataset import Dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.experiments.plan import make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.store import read_part
from comdiv.problem import write_problems
from comdiv.studio.shelf import Shelf
from experiments.tiny import tiny_corpus, tiny_plan, tiny_problems
from solvers.tiny import EIGHT, UNSEEN
from solvers.tiny_weights import tiny_weights

RANKER = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "expression": "N0", "log_probability": NUMBER}))
"""


def test_a_plans_cells_of_other_data_or_another_program_have_other_keys(tmp_path: Path) -> None:
    program = tmp_path / "solver.py"
    methods = {"GTS": {"solver": "gts"}, "mine": {"solver": f"command:{sys.executable} {program}"}}
    keys = []
    for size, number in ((60, "1"), (61, "1"), (61, "2")):
        tiny_corpus(tmp_path, size)
        program.write_text(RANKER.replace("NUMBER", number), encoding="utf-8")
        keys.append({c.label: c.key for c in plan_cells(make_plan(tiny_plan(methods=methods)), tmp_path)})
    first, data, program_too = keys
    assert not {key for key in first.values() if key in data.values()}
    renamed = {label for label in data if data[label] != program_too[label]}
    assert renamed == {label for label in data if label.startswith("mine")}


def test_a_run_does_not_go_on_from_other_weights(tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", Dataset(EIGHT, UNSEEN, ()), title="data")
    weights = Path(shutil.copytree(tiny_weights("bertgen"), tmp_path / "weights"))
    changes = {"weights": str(weights), "epochs": 1, "layers": 1, "batch": 8, "beam": 1, "most_tokens": 9}
    comdiv.train("bertgen", tmp_path / "data", tmp_path / "run", changes=changes)
    (weights / "model.safetensors").write_bytes((weights / "model.safetensors").read_bytes()[:-1] + b"!")
    with pytest.raises(ComdivError, match=r"is another run: weights\.model\.safetensors is \w+…?, not \w+…?"):
        comdiv.train("bertgen", tmp_path / "data", tmp_path / "run", changes=changes)


def test_an_augmentation_does_not_take_over_another_programs_scores(tmp_path: Path) -> None:
    data, program = write_small_dataset(tmp_path / "data"), tmp_path / "ranker.py"
    options = comdiv.AugmentationOptions.preset(per_problem=(1, 0), ranker=f"command:{sys.executable} {program}")
    program.write_text(RANKER.replace("NUMBER", "-1"), encoding="utf-8")
    comdiv.augment(data, tmp_path / "out", options, jobs=1, programs=True)
    comdiv.augment(data, tmp_path / "out", options, jobs=1, programs=True)  # the same again is there already
    program.write_text(RANKER.replace("NUMBER", "-2"), encoding="utf-8")
    with pytest.raises(ComdivError, match=r"is another augmentation: ranker\.ranker\.py is"):
        comdiv.augment(data, tmp_path / "out", options, jobs=1, programs=True)


def test_the_studio_loads_a_run_again_that_was_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "runs" / "gts"
    run.mkdir(parents=True)
    (run / "config.yaml").write_text("solver: gts\n", encoding="utf-8")
    monkeypatch.setattr(
        "comdiv.studio.shelf.load_solver", lambda folder, *, programs: (folder / "model.safetensors").read_bytes()
    )
    shelf = Shelf(tmp_path / "runs")
    for weights in (b"first", b"other"):
        (run / "new").write_bytes(weights)
        (run / "new").replace(run / "model.safetensors")
        assert shelf.solver("gts") == weights


def test_a_part_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    for problems in (tiny_problems()[:3], tiny_problems()[3:6]):
        write_problems(tmp_path / "test.jsonl", problems)
        assert list(read_part(tmp_path / "test.jsonl")) == problems
