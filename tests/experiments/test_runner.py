"""The runner: order, failures, deaths; first with an engine that only pretends, then with real processes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from comdiv.engine import Ended, LocalEngine, cause_of_death
from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.plan import make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.runner import ATTEMPTS, State, fitting_jobs, run_plan, tasks_of
from comdiv.experiments.store import begin_cell, fail_cell, finish_cell
from comdiv.experiments.worker import Task
from experiments.tiny import SETTINGS, summary_of, times_done, tiny_corpus, tiny_plan

PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "expression": "N0"}))
"""
TWO_COVERS = {"evaluate": {"cover": ["none", "hard"]}}


class Pretending:
    """An engine that runs nothing: `outcome` says of each cell whether it is done, fails, or kills its process."""

    def __init__(self, outcome: Callable[[Cell], str], jobs: int = 2) -> None:
        self.outcome, self.jobs = outcome, jobs
        self.waiting: list[Task] = []
        self.started: list[str] = []
        self.closed = False

    def free(self) -> int:
        return self.jobs - len(self.waiting)

    def start(self, task: Task) -> None:
        assert len(self.waiting) < self.jobs
        self.waiting.append(task)
        self.started += [cell.label for cell in task.cells]

    def ended(self, timeout: float) -> list[Ended]:
        task = self.waiting.pop(0)
        for cell in task.cells:
            match self.outcome(cell):
                case "done":
                    finish_cell(begin_cell(task.root, cell), self.summary(cell), {}, [])
                case "failed":
                    fail_cell(begin_cell(task.root, cell), "it rained", {})
                    return [Ended(task)]
                case _:
                    return [Ended(task, "the process was ended by SIGKILL")]
        return [Ended(task)]

    def summary(self, cell: Cell) -> dict[str, Any]:
        return {"test": {"n": 10, "correct": 5, "answer_accuracy": 0.5}} if cell.kind == "evaluation" else {}

    def close(self) -> None:
        self.closed = True


def run(folder: Path, engine: Any = None, watch: Any = None, **changes: Any) -> PlanResults:
    plan = make_plan(tiny_plan(**changes))
    return run_plan(plan, folder / "runs", engine or LocalEngine(2), base=folder, watch=watch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny_corpus(tmp_path)
    return tmp_path


def test_all_cells_run_once_each_after_its_needs(folder: Path) -> None:
    engine = Pretending(lambda cell: "done")
    results = run(folder, engine, **TWO_COVERS)
    assert {cell.status for cell in results.cells} == {"done"}
    assert sorted(engine.started) == sorted(cell.label for cell in results.cells)
    assert engine.started.index("iid") < engine.started.index("GTS on iid, seed 0")
    assert engine.closed


def test_what_is_done_is_not_done_again(folder: Path) -> None:
    run(folder, Pretending(lambda cell: "done"))
    engine = Pretending(lambda cell: "done")
    run(folder, engine, **TWO_COVERS)
    assert sorted(engine.started) == [
        "GTS on comdiv, seed 0, cover hard: evaluation",
        "GTS on iid, seed 0, cover hard: evaluation",
    ]


def test_a_failure_stops_its_dependants_and_nobody_else(folder: Path) -> None:
    engine = Pretending(lambda cell: "failed" if cell.label == "iid" else "done")
    results = run(folder, engine, **TWO_COVERS)
    by_label = {cell.label: cell for cell in results.cells}
    assert (by_label["iid"].status, by_label["iid"].reason) == ("failed", "it rained")
    waiting = by_label["GTS on iid, seed 0, cover hard: evaluation"]
    assert (waiting.status, waiting.reason) == ("not run", "because of: iid")
    assert by_label["GTS on comdiv, seed 0, cover hard: evaluation"].status == "done"
    assert "GTS on iid, seed 0" not in engine.started


def test_what_failed_is_tried_again_by_the_next_run(folder: Path) -> None:
    run(folder, Pretending(lambda cell: "failed" if cell.kind == "training" else "done"))
    engine = Pretending(lambda cell: "done")
    assert {cell.status for cell in run(folder, engine).cells} == {"done"}
    assert "iid" not in engine.started


def test_a_task_whose_process_dies_goes_on_in_another(folder: Path) -> None:
    deaths = ["GTS on iid, seed 0: evaluation"] * 2

    def outcome(cell: Cell) -> str:
        if cell.label in deaths:
            deaths.remove(cell.label)
            return "dies"
        return "done"

    engine = Pretending(outcome)
    states: list[State] = []
    results = run(folder, engine, states.append)
    assert {cell.status for cell in results.cells} == {"done"}
    assert engine.started.count("GTS on iid, seed 0") == 1  # it was done when its evaluation died
    assert engine.started.count("GTS on iid, seed 0: evaluation") == 3
    news = [line for state in states for line in state.news]
    assert "again: GTS on iid, seed 0: evaluation: the process was ended by SIGKILL" in news


def test_a_task_whose_process_always_dies_fails_with_its_death(folder: Path) -> None:
    engine = Pretending(lambda cell: "dies" if cell.label == "GTS on iid, seed 0" else "done")
    results = run(folder, engine)
    failed = next(cell for cell in results.cells if cell.status == "failed")
    assert failed.reason == f"the process was ended by SIGKILL, {ATTEMPTS} times"
    assert engine.started.count("GTS on iid, seed 0") == ATTEMPTS


def test_evaluations_share_the_process_of_their_training(folder: Path) -> None:
    cells = plan_cells(make_plan(tiny_plan(**TWO_COVERS)), folder)
    tasks = tasks_of(folder / "runs", cells, threads=1)
    assert [len(task.cells) for task in tasks] == [1, 1, 3, 3]
    for cell in cells:
        if cell.kind != "evaluation":
            finish_cell(begin_cell(folder / "runs", cell), {}, {}, [])
    assert [len(task.cells) for task in tasks_of(folder / "runs", cells, threads=1)] == [2, 2]


def test_jobs_never_take_more_cores_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("comdiv.experiments.runner.usable_processors", lambda: 8)
    assert [fitting_jobs(wanted, threads) for wanted, threads in ((None, 1), (3, 1), (20, 1), (8, 3), (1, 99))] == [
        8, 3, 8, 2, 1,
    ]  # fmt: skip


def test_a_death_is_named_by_its_signal() -> None:
    assert cause_of_death(0) == ""
    assert cause_of_death(-9) == "the process was ended by SIGKILL: perhaps out of memory"
    assert cause_of_death(3) == "the process ended with code 3; see its log"


def test_a_whole_plan_with_a_method_that_fails(folder: Path) -> None:
    """The path from a corpus to numbers, with real processes; one method cannot work and stops nobody."""
    (folder / "answer.py").write_text(PROGRAM)
    results = run(
        folder,
        measure={"k": [3]},
        datasets={"comdiv": tiny_plan()["datasets"]["comdiv"]},
        methods={
            "GTS": {"solver": "gts"},
            "broken": {"solver": "gts", "settings": {"learning_rate": 1e30, "clip": 1e30}},
            "program": {"solver": f"command:{sys.executable} {folder / 'answer.py'}"},
        },
    )
    by_label = {cell.label: cell for cell in results.cells}
    broken = by_label["broken on comdiv, seed 0"]
    assert broken.status == "failed"
    assert "the loss is not a number" in broken.reason
    log = broken.file("log.txt")
    assert log is not None
    assert "Traceback" in log.read_text()
    assert by_label["broken on comdiv, seed 0: evaluation"].reason == "because of: broken on comdiv, seed 0"
    others = [cell for label, cell in by_label.items() if not label.startswith("broken")]
    assert {cell.status for cell in others} == {"done"}
    evaluation = by_label["GTS on comdiv, seed 0: evaluation"]
    result = evaluation.file("test/result.json")
    assert result is not None
    assert json.loads(result.read_text())["n"] == 10 == evaluation.summary["test"]["n"]
    assert evaluation.summary["test"]["subsets"]["text in train"]["n"] == 0
    training = by_label["GTS on comdiv, seed 0"]
    assert training.file("run/metrics.jsonl") is not None
    assert (training.summary["epochs"], training.summary["steps"]) == (2, 10)
    assert not (folder / "runs" / "cells" / training.key / "run" / "training_state").exists()
    program = by_label["program on comdiv, seed 0: evaluation"]
    assert program.summary["test"]["n"] == 10
    measurement = by_label["comdiv, k = 3"]
    assert measurement.file("measurement/report.json") is not None
    assert set(times_done(folder / "runs").values()) == {0, 1}  # 0: the broken one
    assert summary_of(folder / "runs", by_label["comdiv"].key)["problems"] == {
        "train": 40, "validation": 10, "test": 10,
    }  # fmt: skip


def test_the_settings_of_tiny_plans_are_used(folder: Path) -> None:
    cell = next(c for c in plan_cells(make_plan(tiny_plan()), folder) if c.kind == "training")
    own = {name: value for name, value in SETTINGS.items() if name != "heads"}  # GTS has none
    assert {name: cell.recipe["settings"][name] for name in own} == own
