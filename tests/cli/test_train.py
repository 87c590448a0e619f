"""`comdiv train`: what its users see, and what is in a run folder."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from typer.testing import CliRunner, Result

from comdiv.cli import app
from comdiv.dataset import Dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.solvers.runs import data_of, load_solver, make_solver
from comdiv.solvers.training import TrainingState
from solvers.tiny import EIGHT, UNSEEN, problem
from solvers.tiny_weights import tiny_weights

SMALL = ("hidden=8", "embedding=8", "layers=1", "batch=4", "epochs=2", "most_tokens=9")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "train-solvers.md"


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_dataset(tmp_path / "tiny", Dataset(EIGHT, UNSEEN, (*EIGHT, *UNSEEN)), title="tiny")
    return tmp_path / "tiny"


def train(data: Path, out: Path, *options: str, solver: str = "gts", settings: tuple[str, ...] = SMALL) -> Result:
    changes = [part for change in settings for part in ("--set", change)]
    arguments = ["train", solver, "--data", str(data), "--out", str(out), "--threads", "1", *changes, *options]
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.mark.parametrize("solver", ["lstm", "mathen", "transformer", "gts"])
def test_a_run_folder_is_all_that_solving_needs(solver: str, data: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "a"
    result = train(data, run, solver=solver)
    assert f"{solver}, best epoch" in result.stdout
    assert "of 2, validation accuracy" in result.stdout
    names = {path.name for path in run.iterdir()}
    assert names == {"config.yaml", "vocabulary.json", "model.safetensors", "metrics.jsonl", "training_state"}
    run.rename(tmp_path / "elsewhere")
    assert len(load_solver(tmp_path / "elsewhere").solve(UNSEEN)) == 2


def test_json_is_for_programs(data: Path, tmp_path: Path) -> None:
    record = json.loads(train(data, tmp_path / "run", "--json").stdout)
    assert (record["solver"], record["epochs"], record["problems"], record["left_out"]) == ("gts", 2, 8, 0)
    assert 0 <= record["validation_accuracy"] <= 1


def test_the_configuration_has_all_that_made_the_run(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "run", "--seed", "7", "--preset", "paper")
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert (config["solver"], config["preset"]) == ("gts", "paper")
    assert (config["settings"]["seed"], config["settings"]["hidden"], config["settings"]["halve_every"]) == (7, 8, 20)
    assert set(config["data"]["sha256"]) == {"train", "validation"}
    assert set(config["versions"]) == {"comdiv", "torch", "numpy"}
    assert "cover_bonus" in config["learnt"]


def test_other_word_vectors_under_the_same_name_are_refused(data: Path, tmp_path: Path) -> None:
    vectors, settings = tmp_path / "words.vector", (*SMALL, f"vectors={tmp_path / 'words.vector'}")
    for number in (1, 2):
        vectors.write_bytes(b"1 3\nhow " + bytes([number]) * 12)
        if number == 1:
            train(data, tmp_path / "run", settings=settings)
            train(data, tmp_path / "run", settings=settings)
    with pytest.raises(ComdivError, match=r"is another run: vectors\.words\.vector is \w+…?, not \w+…?"):
        train(data, tmp_path / "run", settings=settings)


def test_metrics_have_a_line_an_epoch(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "run")
    entries = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [entry["epoch"] for entry in entries] == [1, 2]
    assert set(entries[0]) == {
        "epoch",
        "loss",
        "validation_accuracy",
        "learning_rate",
        "problems_per_second",
        "processor_seconds",
    }


def test_the_same_command_goes_on_or_does_nothing(data: Path, tmp_path: Path) -> None:
    first = train(data, tmp_path / "run").stdout
    weights = (tmp_path / "run" / "model.safetensors").read_bytes()
    (tmp_path / "run" / "model.safetensors").unlink()  # as if it had been stopped before the end
    assert train(data, tmp_path / "run").stdout == first
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == weights


@pytest.mark.parametrize(
    ("settings", "options", "difference"),
    [
        ((*SMALL[1:], "hidden=16"), (), "hidden is 8, not 16"),
        (SMALL, ("--seed", "3"), "seed is 0, not 3"),
        (SMALL, ("--select", "last"), "select is best, not last"),
    ],
)
def test_other_settings_in_the_same_folder_are_refused_by_name(
    settings: tuple[str, ...], options: tuple[str, ...], difference: str, data: Path, tmp_path: Path
) -> None:
    train(data, tmp_path / "run")
    with pytest.raises(ComdivError, match=f"is another run: {difference}"):
        train(data, tmp_path / "run", *options, settings=settings)


def test_the_last_epoch_can_be_kept_and_validation_problems_left_alone(data: Path, tmp_path: Path) -> None:
    result = train(data, tmp_path / "run", "--select", "last")
    assert "best epoch 2 of 2, no validation problems" in result.stdout
    assert yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["select"] == "last"
    assert train(data, tmp_path / "run", "--select", "last").stdout == result.stdout


def test_another_solver_or_other_data_in_the_same_folder_are_refused(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "run")
    with pytest.raises(ComdivError, match="solver is gts, not lstm"):
        train(data, tmp_path / "run", solver="lstm")
    write_dataset(tmp_path / "other", Dataset(EIGHT[:5], UNSEEN, ()), title="other")
    with pytest.raises(ComdivError, match=r"train.jsonl is [0-9a-f]+…?, not [0-9a-f]+…?; choose another folder"):
        train(tmp_path / "other", tmp_path / "run")


def test_a_file_in_place_of_the_dataset_is_told_its_folder(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=f"train.jsonl is a file, and a dataset is a folder: give {data}$"):
        train(data / "train.jsonl", tmp_path / "run")
    (tmp_path / "mine.jsonl").write_text("{}")
    with pytest.raises(ComdivError, match=r"mine.jsonl is a file, and a dataset is a folder; `comdiv split` makes one"):
        train(tmp_path / "mine.jsonl", tmp_path / "run")
    with pytest.raises(ComdivError, match=f"there is no folder {tmp_path / 'nowhere'}"):
        train(tmp_path / "nowhere", tmp_path / "run")


def test_every_prediction_of_an_evaluation_says_whether_it_is_right(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "run")
    evaluate(tmp_path / "run", data)
    folder = tmp_path / "run" / "evaluations" / "tiny"
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    assert {type(line["right"]) for line in lines} == {bool}
    assert sum(line["right"] for line in lines) == json.loads((folder / "result.json").read_text())["correct"]


def test_a_folder_of_something_else_is_refused_and_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.jpg").write_bytes(b"x")
    with pytest.raises(ComdivError, match="exists and is not a run of a solver"):
        train(data, tmp_path / "photos")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["me.jpg"]


def test_a_folder_with_nothing_but_a_half_written_file_is_a_run_that_was_killed(data: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".config.yaml.abc.part").write_text("solver: g")
    assert "best epoch" in train(data, tmp_path / "run").stdout


@pytest.mark.parametrize(
    ("solver", "settings", "message"),
    [
        ("gst", SMALL, "unknown solver 'gst'. Did you mean 'gts'?"),
        ("gts", ("epoch=3",), "unknown setting 'epoch'. Did you mean 'epochs'?"),
        ("gts", ("hidden",), "--set hidden: write it as in --set hidden=128"),
        ("gts", ("hidden=",), "--set hidden=: write it as in"),
        ("gts", ("hidden=0",), "setting hidden: "),
        ("transformer", ("embedding=9",), "embedding=9 cannot be divided among heads=8"),
    ],
)
def test_a_users_mistake_is_one_line(
    solver: str, settings: tuple[str, ...], message: str, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(ComdivError, match=re.escape(message)):
        train(data, tmp_path / "run", solver=solver, settings=settings)


def test_a_pretrained_run_has_its_tokenizer_and_names_its_library(data: Path, tmp_path: Path) -> None:
    settings = (*SMALL, f"weights={tiny_weights('bertgen')}")
    train(data, tmp_path / "run", solver="bertgen", settings=settings)
    assert (tmp_path / "run" / "pretrained" / "tokenizer.json").is_file()
    assert "transformers" in yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["versions"]
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    assert len(load_solver(tmp_path / "elsewhere").solve(UNSEEN)) == 2


def test_after_a_mistake_that_stopped_it_at_once_the_folder_is_free_for_the_right_command(
    data: Path, tmp_path: Path
) -> None:
    with pytest.raises(ComdivError, match="there is no such folder"):
        train(data, tmp_path / "run", solver="bertgen", settings=(*SMALL, "weights=/no/such/folder"))
    assert list((tmp_path / "run").iterdir()) == []
    train(data, tmp_path / "run")
    assert (tmp_path / "run" / "model.safetensors").is_file()


def test_a_folder_that_is_no_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="is not a complete dataset folder"):
        train(tmp_path, tmp_path / "run")


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    foreign = problem("seventeen", "There are 3 things.", "N0*17")
    write_dataset(tmp_path / "data", Dataset((*EIGHT, foreign), UNSEEN, ()), title="tiny")
    result = train(tmp_path / "data", tmp_path / "run")
    assert "1 training problems were left out" in result.stderr


def test_an_empty_validation_part_is_no_obstacle(tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", Dataset(EIGHT, (), ()), title="tiny")
    assert "no validation problems" in train(tmp_path / "data", tmp_path / "run").stdout


def test_a_disk_that_fills_up_is_one_line(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from comdiv.solvers import runs

    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device")

    real = runs.write_text
    monkeypatch.setattr(runs, "write_text", lambda p, t: full(p, t) if p.name == "metrics.jsonl" else real(p, t))
    with pytest.raises(ComdivError, match=r"cannot be written: .*No space left on device; the same command resumes it"):
        train(data, tmp_path / "run")


def test_the_progress_of_a_stopped_training_is_not_lost(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from comdiv.solvers import neural

    real = neural.train

    def interrupted(*arguments: Any, after_epoch: Any, **options: Any) -> TrainingState:
        def stop(trained: TrainingState) -> None:
            after_epoch(trained)
            raise KeyboardInterrupt

        return real(*arguments, after_epoch=stop, **options)

    with monkeypatch.context() as patched:
        patched.setattr(neural, "train", interrupted)
        train(data, tmp_path / "run")
    assert (tmp_path / "run" / "metrics.jsonl").read_text().count("\n") == 1
    assert "of 2" in train(data, tmp_path / "run").stdout


def test_every_verb_and_setting_of_the_documentation_exists() -> None:
    from comdiv.solvers.hyperparameters import SETTINGS_CLASSES

    known = {name for settings in SETTINGS_CLASSES.values() for name in settings.model_fields}
    text = PAGE.read_text(encoding="utf-8")
    for verb in re.findall(r"comdiv (\w+) ", text):
        assert CliRunner().invoke(app, [verb, "--help"]).exit_code == 0, verb
    for name in re.findall(r"--set (\w+)=", text):
        assert name in known


def test_a_file_in_the_place_of_the_run_is_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    with pytest.raises(ComdivError, match="exists and is not a run of a solver"):
        train(data, tmp_path / "run")
    assert (tmp_path / "run").read_text() == "mine"


def test_weights_are_as_readable_as_other_files(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "run")
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert len(modes) > 4
    assert set(modes.values()) == {modes["config.yaml"]}


def evaluate(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["evaluate", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_run_is_evaluated_on_a_table_with_columns_of_its_own(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "run")
    table = tmp_path / "mine.csv"
    table.write_text("question,formula\nTom has 3 bags of 4 pens. How many pens?,3*4\n")
    result = evaluate(tmp_path / "run", table, "--text", "question", "--equation", "formula", "--json")
    record = json.loads(result.stdout)
    assert record["n"] == 1
    assert record["by_template_seen"] is not None  # the columns are not looked for in what the run was trained on


def test_what_a_run_was_trained_on_is_found_from_any_folder(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train(Path("tiny"), Path("runs/a"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert data_of(Path("../runs/a")) == data
    (data / "train.jsonl").write_text((data / "train.jsonl").read_text() * 2)
    assert data_of(Path("../runs/a")) is None  # no longer what it was trained on
    assert "--train tells templates seen from unseen" in evaluate("../runs/a", "../tiny").stderr


def test_an_evaluation_of_other_problems_is_not_written_over(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "run")
    evaluate(tmp_path / "run", data)
    written = (tmp_path / "run" / "evaluations" / "tiny" / "result.json").read_bytes()
    evaluate(tmp_path / "run", data)  # the same again
    write_dataset(tmp_path / "other" / "tiny", Dataset(EIGHT, UNSEEN, UNSEEN), title="tiny")
    others = {"test.version is .*, not .*": (tmp_path / "other" / "tiny",), "beam is 5, not 2": (data, "--beam", "2")}
    for difference, other in others.items():
        with pytest.raises(ComdivError, match=f"has another evaluation: {difference}; use --out FOLDER"):
            evaluate(tmp_path / "run", *other)
    assert (tmp_path / "run" / "evaluations" / "tiny" / "result.json").read_bytes() == written
    evaluate(tmp_path / "run", data, "--beam", "2", "--force")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ComdivError, match="exists and is no evaluation"):
        evaluate(tmp_path / "run", data, "--out", tmp_path / "file")


def test_an_evaluation_never_runs_a_program_unasked(data: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.yaml").write_text(f'solver: "command:touch {tmp_path / "proof"}"\n')
    with pytest.raises(ComdivError, match="this would run the program `touch "):
        evaluate(tmp_path / "run", data)
    assert not (tmp_path / "proof").exists()


def test_the_run_of_a_program_was_trained_on_nothing_that_could_be_missed(data: Path, tmp_path: Path) -> None:
    program = tmp_path / "solve.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin:\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'expression': 'N0'}))\n"
    )
    make_solver(f"command:{sys.executable} {program}", programs=True).save(tmp_path / "run")
    assert "was trained on" not in evaluate(tmp_path / "run", data, "--programs").stderr
