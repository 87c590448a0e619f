"""`comdiv solve`: a problem in words, an answer."""

import json
import os
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

from comdiv.cli import app
from comdiv.errors import ComdivError
from comdiv.verbs.solving import newest_run
from solvers.tiny import EIGHT, problem, trained_solver

SUM = EIGHT[0].text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that knows the eight problems by heart."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("runs") / "gts"
    trained_solver("gts", epochs=60, hidden=32).save(folder)
    return folder


def solve(*arguments: str, typed: str | None = None) -> Result:
    result = CliRunner().invoke(app, ["solve", *arguments], input=typed)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_answer_expression_tree_and_confidence_are_shown(run: Path) -> None:
    result = solve(SUM, "--run", str(run))
    assert "N0 + N1" in result.stdout.replace("N0+N1", "N0 + N1")
    assert "8" in result.stdout
    assert "confidence" in result.stdout
    assert result.stdout.count("  or ") == 4  # the other hypotheses of the beam
    assert f"solved by {run}" in result.stderr


def test_problems_are_read_from_standard_input_one_a_line(run: Path) -> None:
    result = solve("--run", str(run), "--json", typed=f"{SUM}\n\n{EIGHT[2].text}\n")
    assert [record["answer"] for record in json.loads(result.stdout)] == ["8", "42"]


def test_json_has_the_hypotheses(run: Path) -> None:
    (record,) = json.loads(solve(SUM, "--run", str(run), "--beam", "3", "--json").stdout)
    assert (record["expression"], record["undefined"]) == ("N0+N1", False)
    assert len(record["hypotheses"]) == 3
    assert record["hypotheses"][0]["log_probability"] == record["log_probability"] <= 0


def test_steps_show_the_computation(run: Path) -> None:
    two = solve(EIGHT[4].text, "--run", str(run), "--steps").stdout
    assert "1. 2 * 8 = 16" in two
    assert "2. 16 - 3 = 13" in two
    (record,) = json.loads(solve(SUM, "--run", str(run), "--steps", "--json").stdout)
    assert record["steps"] == [{"step": "3 + 5 = 8", "probability": None}]


def test_a_deduction_shows_probabilities_and_what_else_was_considered(tmp_path: Path) -> None:
    trained_solver("deductive", epochs=60, hidden=32, embedding=32).save(tmp_path)
    (record,) = json.loads(solve(SUM, "--run", str(tmp_path), "--steps", "--json").stdout)
    (step,) = record["steps"]
    assert step["step"] == "3 + 5 = 8"
    assert step["probability"] > step["others"][0]["probability"]
    assert "1. 3 + 5 = 8   " in solve(SUM, "--run", str(tmp_path), "--steps").stdout


def test_several_runs_solve_together(run: Path, tmp_path: Path) -> None:
    trained_solver("lstm", epochs=60, hidden=32).save(tmp_path / "lstm")
    result = solve(SUM, "--run", str(run), "--run", str(tmp_path / "lstm"), "--json")
    assert json.loads(result.stdout)[0]["answer"] == "8"
    assert f"solved by {run} and {tmp_path / 'lstm'}" in result.stderr


@pytest.mark.parametrize("cover", ["none", "soft", "hard"])
def test_coverage_is_an_option(cover: str, run: Path) -> None:
    (record,) = json.loads(solve("Ann had 9 pens, 2 caps.", "--run", str(run), "--cover", cover, "--json").stdout)
    assert record["answer"] is not None
    if cover == "hard":
        assert "N0" in record["expression"]
        assert "N1" in record["expression"]


@pytest.mark.parametrize("text", ["7", "¿ 7 ?", "1 " * 600])
def test_any_text_with_a_number_gets_an_answer(text: str, run: Path) -> None:
    assert "confidence" in solve(text, "--run", str(run)).stdout


def test_nothing_at_all_is_refused_in_one_line(run: Path) -> None:
    with pytest.raises(ComdivError, match="there is no problem to solve"):
        solve("--run", str(run), typed="\n  \n")


def test_a_folder_that_is_no_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="is not a run of a solver"):
        solve(SUM, "--run", str(tmp_path))


def test_coverage_does_not_apply_to_programs(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text('solver: "command:cat"\n')
    with pytest.raises(ComdivError, match="decodes by itself"):
        solve(SUM, "--run", str(tmp_path), "--cover", "hard", "--programs")


def test_a_run_folder_never_runs_a_program_unasked(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f'solver: "command:touch {tmp_path / "proof"}"\n')
    said = r"this would run the program `touch .*proof`; add --programs if you trust it"
    with pytest.raises(ComdivError, match=said):
        solve(SUM, "--run", str(tmp_path))
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize("text", ["Why is the sky blue?", "", "¿?", "How many apples are there?"])
def test_a_text_without_a_number_is_refused(run: Path, text: str) -> None:
    with pytest.raises(ComdivError, match="there is no number in"):
        solve(text, "--run", str(run))


def test_number_words_are_read_where_there_are_no_digits(run: Path) -> None:
    result = solve("Tom has three apples and four pears. How many fruits?", "--run", str(run), "--json")
    assert json.loads(result.stdout)[0]["expression"] is not None


def test_a_text_in_another_language_than_the_runs_is_told(run: Path) -> None:
    result = solve("小明有3个苹果和4个梨，一共有几个？", "--run", str(run))
    assert "is Chinese, but" in " ".join(result.stderr.split())


def test_without_a_run_the_newest_of_that_language_is_taken_and_named(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chinese = [problem(str(n), f"小明有{n + 2}个苹果和{n}个梨，一共有几个？", "N0+N1", "zh") for n in range(1, 5)]
    for age, (name, problems) in enumerate([("new-zh", chinese), ("new-en", EIGHT), ("old-en", EIGHT)]):
        trained_solver("gts", problems, epochs=1).save(tmp_path / "runs" / name)
        os.utime(tmp_path / "runs" / name / "model.safetensors", (1e9 - age, 1e9 - age))
    (tmp_path / "runs" / "half").mkdir()
    (tmp_path / "runs" / "half" / "model.safetensors").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert "solved by runs/new-en" in solve(SUM).stderr
    assert "solved by runs/new-zh" in solve(chinese[0].text).stderr
    assert newest_run(tmp_path / "runs", "en").name == "new-en"


def test_without_any_run_the_way_to_one_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ComdivError, match="no run for language 'en' in runs/: train one with `comdiv train`"):
        solve(SUM)
