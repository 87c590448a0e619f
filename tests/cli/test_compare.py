"""`comdiv compare`: two prediction files on the same problems."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from comdiv.cli.evaluate import compare
from comdiv.cli.options import VerbCommand
from comdiv.errors import ComdivError

APP = typer.Typer()
APP.command(cls=VerbCommand)(compare)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(APP, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """Ten problems with the answers 1 to 10: A has the first eight right, B the first three and nothing on the 10th."""
    rows = {"test": "question,result\n", "a": "id,answer\n", "b": "id,answer\n"}
    for number in range(1, 11):
        rows["test"] += f"What is {number}?,{number}\n"
        rows["a"] += f"{number},{number if number <= 8 else 0}\n"
        rows["b"] += f"{number},{number if number <= 3 else 0}\n" if number < 10 else ""
    for name, text in rows.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), str(tmp_path / "test.csv")


COLUMNS = ("--text", "question", "--answer", "result")


def test_json_has_both_accuracies_the_difference_and_the_table(files: tuple[str, str, str]) -> None:
    a, b, test = files
    record = json.loads(run(a, b, "--test", test, *COLUMNS, "--json").stdout)
    assert (record["a"]["accuracy"], record["b"]["accuracy"], record["n"]) == (0.8, 0.3, 10)
    assert record["difference"] == pytest.approx(0.5)
    assert record["interval"] == pytest.approx([0.2, 0.8])
    assert record["mcnemar"] == {"both": 3, "only_a": 5, "only_b": 0, "neither": 2, "p": 0.0625}
    assert record["test"]["name"] == "test"


def test_exchanging_the_files_changes_the_sign(files: tuple[str, str, str]) -> None:
    a, b, test = files
    forth = json.loads(run(a, b, "--test", test, *COLUMNS, "--json").stdout)
    back = json.loads(run(b, a, "--test", test, *COLUMNS, "--json").stdout)
    assert back["difference"] == -forth["difference"]
    assert back["p"] == forth["p"]


def test_the_tables_are_for_people_and_the_missing_are_said_aloud(files: tuple[str, str, str]) -> None:
    a, b, test = files
    result = run(a, b, "--test", test, *COLUMNS)
    assert "A − B: +50.0 points, 95 % interval +20.0 to +80.0" in " ".join(result.stdout.split())
    assert "A right  3        5" in result.stdout
    assert "p = 0.062 (McNemar's exact test)" in result.stdout
    assert "b.csv: 1 of 10 problems have no prediction; they count as wrong" in result.stderr


def test_a_folder_stands_for_the_predictions_in_it(files: tuple[str, str, str], tmp_path: Path) -> None:
    _, b, test = files
    folder = tmp_path / "scored"
    folder.mkdir()
    (folder / "predictions.jsonl").write_text('{"id": "1", "answer": "1"}\n')
    record = json.loads(run(str(folder), b, "--test", test, *COLUMNS, "--json").stdout)
    assert (record["a"]["accuracy"], record["b"]["accuracy"]) == (0.1, 0.3)


def test_without_test_problems_the_user_is_told_to_name_them(files: tuple[str, str, str]) -> None:
    a, b, _ = files
    with pytest.raises(ComdivError, match="--test FILE"):
        run(a, b)
