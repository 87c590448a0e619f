"""`comdiv run`: what its users see."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from comdiv.cli import app
from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell
from experiments.test_runner import Pretending
from experiments.tiny import tiny_corpus, tiny_plan, write_yaml


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    tiny_corpus(tmp_path)
    return write_yaml(tmp_path / "tiny.yaml", tiny_plan(presets={"smoke": {"training": {"seeds": [5]}}}))


def run(plan: Path, *options: str) -> Result:
    result = CliRunner().invoke(app, ["run", str(plan), "--out", str(plan.parent / "runs"), *options])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def pretending(monkeypatch: pytest.MonkeyPatch) -> Pretending:
    engine = Pretending(lambda cell: "failed" if cell.label == "comdiv" else "done")
    monkeypatch.setattr("comdiv.engine.make_engine", lambda *arguments: engine)
    return engine


def test_a_dry_run_lists_the_cells_and_runs_none(plan: Path) -> None:
    said = run(plan, "--dry-run", "--jobs", "1").stdout
    assert "· training     GTS on iid, seed 0\n" in said
    assert "6 cells (2 dataset, 2 training, 2 evaluation), 0 done" in said
    assert "left: 6 cells unlike any timed before, with 1 job\n" in said
    assert not (plan.parent / "runs").exists()


def test_a_dry_run_says_what_is_done(plan: Path, pretending: Pretending) -> None:
    run(plan)
    said = run(plan, "--dry-run").stdout
    assert "✓ dataset      iid\n" in said
    assert "✗ dataset      comdiv\n" in said
    assert "· training     GTS on comdiv, seed 0\n" in said
    record = json.loads(run(plan, "--dry-run", "--json").stdout)
    assert [cell["label"] for cell in record["cells"] if cell["done"]] == [
        "iid", "GTS on iid, seed 0", "GTS on iid, seed 0: evaluation",
    ]  # fmt: skip


def test_a_failed_cell_is_shown_with_its_reason_and_the_code_is_1(plan: Path, pretending: Pretending) -> None:
    result = run(plan)
    assert result.exit_code == 1
    assert "✗ failed: comdiv: it rained" in result.stdout
    assert "· not run: GTS on comdiv, seed 0: because of: comdiv" in result.stdout
    assert "tiny: 3 done, 1 failed, 2 not run; results in" in result.stdout
    assert "done: iid" in result.stderr


def test_json_is_for_programs(plan: Path, pretending: Pretending) -> None:
    pretending.outcome = lambda cell: "done"
    result = run(plan, "--json")
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert (record["plan"], record["counts"]) == ("tiny", {"done": 6})


def test_a_preset_has_results_of_its_own(plan: Path, pretending: Pretending) -> None:
    run(plan, "--preset", "smoke")
    names = [path.name for path in (plan.parent / "runs" / "plans").iterdir()]
    assert names == ["tiny@smoke.json"]
    assert "GTS on iid, seed 5" in pretending.started


def test_a_part_of_a_plan_is_run_and_the_rest_is_no_failure(plan: Path, pretending: Pretending) -> None:
    result = run(plan, "--dataset", "iid", "--method", "GTS")
    assert result.exit_code == 0
    assert pretending.started == ["iid", "GTS on iid, seed 0", "GTS on iid, seed 0: evaluation"]
    assert "tiny: 3 done; results in" in result.stdout
    assert "6 cells (2 dataset, 2 training, 2 evaluation), 3 done" in run(plan, "--dry-run").stdout
    assert "3 cells (1 dataset, 1 training, 1 evaluation), 3 done" in run(plan, "--dry-run", "--dataset", "iid").stdout


def test_what_is_done_is_published_and_nothing_is_run_there(plan: Path, pretending: Pretending) -> None:
    run(plan)
    published = plan.parent / "published"
    export = ["export", "results", str(plan.parent / "runs"), "--out", str(published)]
    assert CliRunner().invoke(app, export).output == f"{published}: 3 cells added, 1 plan\n"
    assert CliRunner().invoke(app, export).output == f"{published}: 3 cells kept, 1 plan\n"
    refused = CliRunner().invoke(app, ["run", str(plan), "--out", str(published)])
    assert "published results, which are for reading only" in str(refused.exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--preset", "smok"), "unknown preset of this plan 'smok'. Did you mean 'smoke'?"),
        (("--address", "localhost:1"), "--address goes with --engine ray"),
        (("--engine", "ray", "--address", "nowhere"), "--address nowhere: expected HOST:PORT"),
        (("--dataset", "idd"), "unknown dataset of this plan 'idd'. Did you mean 'iid'?"),
        (("--method", "GTS+DA"), "unknown method of this plan 'GTS+DA'. Did you mean 'GTS'?"),
        (("--samples", "3"), "--samples needs a plan with `tuning`"),
    ],
)
def test_a_users_mistake_is_one_line(options: tuple[str, ...], message: str, plan: Path) -> None:
    with pytest.raises(ComdivError, match=re.escape(message)):
        run(plan, *options)


def test_more_jobs_than_cores_are_fewer_and_say_so(
    plan: Path, pretending: Pretending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("comdiv.experiments.runner.usable_processors", lambda: 2)
    assert "8 jobs at a time are more than this machine has cores for: 2 instead" in run(plan, "--jobs", "8").stderr


def test_the_best_of_a_tuning_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_corpus(tmp_path)
    path = write_yaml(tmp_path / "t.yaml", tiny_plan(name="t", tuning={"ranges": {"batch": [4, 8, 16, 32]}}))

    class Measuring(Pretending):
        def summary(self, cell: Cell) -> dict[str, Any]:
            if cell.kind != "training":
                return super().summary(cell)
            return {"validation_accuracy": cell.facts.settings["batch"] / 64}

    monkeypatch.setattr("comdiv.engine.make_engine", lambda *arguments: Measuring(lambda cell: "done"))
    said = run(path).stdout
    rows = [line.split() for line in said.splitlines() if "batch=" in line]
    assert rows[:3] == [
        ["iid", "GTS", "50.0%", "1", "batch=32"],
        ["iid", "GTS", "25.0%", "1", "batch=16"],
        ["iid", "GTS", "12.5%", "1", "batch=8"],
    ]
