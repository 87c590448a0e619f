"""`comdiv data`: what its users see and what programs read."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from comdiv.cli import app
from comdiv.errors import ComdivError

RUNNER = CliRunner()
OWN_ROWS = 'question,formula,result\n"Ann has 3 bags of 12 apples. How many apples has she?",3*12,36\n'


def run(*arguments: str) -> Result:
    result = RUNNER.invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_list_names_the_demo_and_the_published_corpora() -> None:
    rows = {row["name"]: row for row in json.loads(run("data", "list", "--json").output)}
    assert rows["sd"]["title"].startswith("1.0, SD of the paper's sizes")
    assert rows["mawps-sd"]["language"] == "en"
    assert rows["demo-en"]["here"] is True
    assert {"math23k", "mawps", "svamp", "asdiv", "ape210k", "gsm8k"} <= rows.keys()


def test_demo_writes_a_corpus_that_stats_can_count(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    assert "30 problems" in run("data", "demo", "zh", "--size", "30", "--out", str(path)).output
    statistics = json.loads(run("data", "stats", str(path), "--json").output)
    for key in ("problems", "evaluated", "agree"):
        assert statistics[key] == 30
    assert statistics["unreadable"] == statistics["not_expressible"] == 0
    assert statistics["templates"] >= 5
    assert statistics["leaves_aligned"] >= 60
    assert statistics["languages"] == ["zh"]


def test_demo_does_not_write_over_a_file_unless_told_to(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    path.write_text("mine")
    with pytest.raises(ComdivError, match="exists already"):
        run("data", "demo", "en", "--size", "3", "--out", str(path))
    assert path.read_text() == "mine"
    run("data", "demo", "en", "--size", "3", "--out", str(path), "--force")
    assert len(path.read_text().splitlines()) == 3


def test_demo_without_a_file_prints_json_lines() -> None:
    lines = run("data", "demo", "en", "--size", "2").output.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["demo-en-000001", "demo-en-000002"]


def test_convert_reads_columns_of_the_users_own(tmp_path: Path) -> None:
    source, target = tmp_path / "mine.csv", tmp_path / "mine.jsonl"
    source.write_text(OWN_ROWS)
    columns = ("--text", "question", "--equation", "formula", "--answer", "result")
    assert "1 problems of 1 records" in run("data", "convert", str(source), *columns, "--to", str(target)).output
    record = json.loads(target.read_text())
    assert record["expression"] == "N0*N1"
    assert record["answer"] == "36"


def test_columns_without_the_text_column_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "mine.csv"
    source.write_text(OWN_ROWS)
    with pytest.raises(ComdivError, match="--text COLUMN"):
        run("data", "stats", str(source), "--answer", "result")


def test_an_unknown_shape_is_answered_with_its_columns(tmp_path: Path) -> None:
    source = tmp_path / "mine.csv"
    source.write_text(OWN_ROWS)
    with pytest.raises(ComdivError, match="question, formula, result"):
        run("data", "stats", str(source))


def test_show_draws_the_tree_with_its_quantities() -> None:
    output = run("data", "show", "demo-en", "--limit", "1").output
    assert "demo-en-000001" in output
    assert "└─ N" in output
    assert "answer" in output


def test_show_marks_a_problem_whose_expression_contradicts_its_answer(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    good = {"id": "1", "language": "en", "text": "2 and 3 apples, how many?", "expression": "N0+N1", "answer": "5"}
    records = (good, {**good, "id": "2", "answer": "9"}, {**good, "id": "3", "answer": None})
    path.write_text("\n".join(json.dumps(record) for record in records))
    output = run("data", "show", str(path)).output
    assert output.count("contradiction: the expression gives 5") == 1
    counted = json.loads(run("data", "stats", str(path), "--json").output)
    assert (counted["contradicting"], counted["disagreeing"], counted["without_answer"]) == (["2"], ["2"], 1)


def test_show_finds_problems_by_id_and_names_those_that_are_not_there() -> None:
    (record,) = json.loads(run("data", "show", "demo-zh", "--id", "demo-zh-000007", "--json").output)
    assert record["id"] == "demo-zh-000007"
    with pytest.raises(ComdivError, match="no problem with the id nobody"):
        run("data", "show", "demo-zh", "--id", "nobody")


def test_damaged_records_are_said_aloud(tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    good = {"id": "1", "language": "en", "text": "2 and 3 apples, how many?", "expression": "N0+N1", "answer": "5"}
    path.write_text("\n".join(json.dumps(record) for record in (good, {**good, "id": "2", "expression": "N0+N7"})))
    result = run("data", "stats", str(path))
    assert "damaged.jsonl, line 2, id 2: there is no quantity N7" in result.stderr
    (complaint,) = json.loads(run("data", "stats", str(path), "--json").output)["complaints"]
    assert complaint.startswith("damaged.jsonl, line 2, id 2: ")


def test_download_refuses_an_unknown_name_before_fetching_anything() -> None:
    with pytest.raises(ComdivError, match="Did you mean 'svamp'"):
        run("data", "download", "mawps", "swamp")


def test_ids_and_file_names_with_brackets_are_shown_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "[red]mine.jsonl"
    wrong = {"id": "[/red]4", "language": "en", "text": "2 and 3, how many?", "expression": "N0+N1", "answer": "9"}
    path.write_text(json.dumps(wrong))
    output = run("data", "stats", str(path)).output
    assert "[red]mine" in output
    assert "[/red]4" in output


def test_stats_takes_a_tolerance_for_corpora_that_round(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text('question,formula,result\n"10 nuts for 3 squirrels. How many each?",10/3,3.3\n')
    columns = ("--text", "question", "--equation", "formula", "--answer", "result", "--json")
    for tolerance, agree in (("0.01", 0), ("2%", 1)):
        counted = json.loads(run("data", "stats", str(path), *columns, "--tolerance", tolerance).output)
        assert (counted["evaluated"], counted["agree"], counted["hold"]) == (1, agree, 1)  # as printed it holds
    for wrong in ("1", "-0.1", "much"):
        with pytest.raises(ComdivError, match=f"--tolerance {wrong}: "):
            run("data", "stats", str(path), *columns, "--tolerance", wrong)
