"""`comdiv evaluate --predictions`: what its users see and what programs read."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from comdiv.cli.evaluate import evaluate
from comdiv.cli.options import VerbCommand
from comdiv.errors import ComdivError

APP = typer.Typer()
APP.command(cls=VerbCommand)(evaluate)

PROBLEMS: list[dict[str, Any]] = [
    {"id": "1", "language": "en", "text": "3 bags of 12 apples?", "expression": "N0*N1", "answer": "36"},
    {"id": "2", "language": "en", "text": "3 red and 12 green apples?", "expression": "N0+N1", "answer": "15"},
    {"id": "3", "language": "en", "text": "12 apples less 3?", "expression": "N0-N1", "answer": "9"},
    {"id": "4", "language": "en", "text": "12 apples for 3 boys?", "expression": "N0/N1", "answer": "4"},
]
SAID: list[dict[str, Any]] = [
    {"id": "1", "response": "3 times 12 is \\boxed{36}."},
    {"id": "2", "response": "I cannot tell."},
    {"id": "3", "expression": "N0-N1"},
    {"id": "99", "answer": 5},
]


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(APP, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def test_file(tmp_path: Path) -> Path:
    return lines(tmp_path / "gold.jsonl", PROBLEMS)


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return lines(tmp_path / "said.jsonl", SAID)


def test_json_has_the_accuracy_of_all_problems(test_file: Path, said: Path) -> None:
    record = json.loads(run("--predictions", str(said), str(test_file), "--json").stdout)
    assert (record["answer_accuracy"], record["n"], record["correct"]) == (0.5, 4, 2)
    assert record["interval"] == pytest.approx([0.15004, 0.84996], abs=1e-5)
    assert record["expression_accuracy"] == 0.25
    assert record["ill_formed"] == 0
    assert record["counts"]["unreadable"] == record["counts"]["missing"] == record["counts"]["unknown_ids"] == 1
    assert "by_template_seen" not in record


def test_the_table_says_it_in_words_and_the_losses_on_standard_error(test_file: Path, said: Path) -> None:
    result = run("--predictions", str(said), str(test_file))
    assert "said.jsonl on gold" in result.stdout
    assert "50.0%" in result.stdout
    assert "15.0% to 85.0%" in result.stdout
    assert "unreadable: 1   missing: 1" in result.stdout
    assert "said.jsonl: unreadable: id 2: response: no number in the text 'I cannot tell.'" in result.stderr
    assert "said.jsonl: 1 of 4 problems have no prediction; they count as wrong" in result.stderr
    assert "said.jsonl: 1 predictions are for other problems; they are not counted" in result.stderr


def test_a_dataset_folder_gives_its_test_side_and_its_training_templates(tmp_path: Path, said: Path) -> None:
    folder = tmp_path / "dataset"
    training = {"language": "en", "text": "5 boxes of 6 pens?", "answer": "30"}
    lines(folder / "test.jsonl", PROBLEMS)
    lines(folder / "train.jsonl", [{"id": "t", "expression": "N1*N0", **training}])
    lines(folder / "validation.jsonl", [{"id": "v", "expression": "N0/N1", **training}])
    record = json.loads(run("--predictions", str(said), str(folder), "--json").stdout)
    assert record["n"] == 4
    assert {name: part["n"] for name, part in record["by_template_seen"].items()} == {"seen": 2, "unseen": 2}
    lines(folder / "validation.jsonl", [])
    record = json.loads(run("--predictions", str(said), str(folder), "--json").stdout)
    assert {name: part["n"] for name, part in record["by_template_seen"].items()} == {"seen": 1, "unseen": 3}
    assert "dataset" in run("--predictions", str(said), str(folder)).stdout


def test_train_names_the_training_problems_as_a_file_or_a_folder(tmp_path: Path, test_file: Path, said: Path) -> None:
    training = lines(tmp_path / "data" / "train.jsonl", [{**PROBLEMS[1], "id": "t"}])
    for source in (training, training.parent):
        arguments = ("--predictions", str(said), str(test_file), "--train", str(source), "--json")
        parts = json.loads(run(*arguments).stdout)["by_template_seen"]
        assert (parts["seen"]["n"], parts["unseen"]["n"]) == (1, 3)


def test_out_has_every_prediction_with_its_value_and_a_result_with_hashes(
    tmp_path: Path, test_file: Path, said: Path
) -> None:
    out = tmp_path / "scored"
    run("--predictions", str(said), str(test_file), "--out", str(out))
    written = [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]
    assert [(record["id"], record["answer"]) for record in written] == [
        ("1", "36"),
        ("2", None),
        ("3", "9"),
        ("99", "5"),
    ]
    result = json.loads((out / "result.json").read_text())
    assert result["answer_accuracy"] == 0.5
    assert result["predictions"] == {"file": "said.jsonl", "sha256": hashlib.sha256(said.read_bytes()).hexdigest()}
    assert result["test"]["name"] == "gold"
    assert result["test"]["version"] == f"sha256:{hashlib.sha256(test_file.read_bytes()).hexdigest()[:16]}"
    assert {"comdiv", "python"} <= result["versions"].keys()


def test_what_out_wrote_evaluates_to_the_same_numbers(tmp_path: Path, test_file: Path, said: Path) -> None:
    out = tmp_path / "scored"
    first = run("--predictions", str(said), str(test_file), "--out", str(out), "--json").stdout
    assert run("--predictions", str(out / "predictions.jsonl"), str(test_file), "--json").stdout == first


def test_out_is_not_written_over_unless_told_to(tmp_path: Path, test_file: Path, said: Path) -> None:
    arguments = ("--predictions", str(said), str(test_file), "--out", str(tmp_path / "scored"))
    run(*arguments)
    with pytest.raises(ComdivError, match="exists already"):
        run(*arguments)
    run(*arguments, "--force")


def test_a_file_of_ones_own_is_scored_by_its_named_columns(tmp_path: Path) -> None:
    test = tmp_path / "mine.csv"
    test.write_text("key,question,result\na,How much is 3 and 4?,7\nb,How much is 5 and 5?,10\n")
    said = tmp_path / "said.csv"
    said.write_text("id,output\na,It is 7\nb,It is 11\n")
    columns = ("--text", "question", "--answer", "result", "--id-column", "key")
    record = json.loads(run("--predictions", str(said), str(test), *columns, "--json").stdout)
    assert (record["answer_accuracy"], record["expression_accuracy"], record["n"]) == (0.5, None, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["RUN"], "comdiv evaluate RUN FILE"),
        (["GOLD", "OTHER", "--predictions", "SAID"], "one argument, the test problems"),
        (["FOLDER", "--predictions", "SAID"], "has no test.jsonl"),
        (["GOLD", "--predictions", "SAID", "--train", "FOLDER"], "neither train.jsonl nor validation.jsonl"),
        (["GOLD", "--predictions", "nobody.jsonl"], "nobody.jsonl"),
        (["nobody.jsonl", "--predictions", "SAID"], "nobody.jsonl: no such file"),
    ],
)
def test_a_users_mistake_is_one_clear_line(
    arguments: list[str], message: str, tmp_path: Path, test_file: Path, said: Path
) -> None:
    (tmp_path / "empty").mkdir()
    paths = {"GOLD": str(test_file), "SAID": str(said), "FOLDER": str(tmp_path / "empty")}
    with pytest.raises(ComdivError, match=message):
        run(*(paths.get(argument, argument) for argument in arguments))


def test_brackets_in_a_file_name_are_no_markup(tmp_path: Path, test_file: Path) -> None:
    said = lines(tmp_path / "[bold]said.jsonl", SAID)
    assert "[bold]said.jsonl" in run("--predictions", str(said), str(test_file)).stdout


def test_importing_the_verb_and_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, comdiv.cli.evaluate, comdiv.evaluation\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'scipy', 'torch', 'sklearn'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
