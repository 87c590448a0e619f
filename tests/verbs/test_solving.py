"""The twins of the verbs about solvers: evaluate, compare, and what they refuse."""

import json
import shlex
import sys
from pathlib import Path

import pytest

import comdiv
from comdiv import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem, write_problems


@pytest.fixture
def test_file(tmp_path: Path) -> Path:
    texts = ["Ann has 3 pens and buys 4. How many?", "Ann has 9 pens and loses 2. How many?"]
    expressions = ["N0+N1", "N0-N1"]
    problems = [
        Problem(id=str(n), language="en", text=text, expression=comdiv.parse(expression))
        for n, (text, expression) in enumerate(zip(texts, expressions, strict=True), start=1)
    ]
    write_problems(tmp_path / "test.jsonl", problems)
    return tmp_path / "test.jsonl"


def predictions(path: Path, **answers: str) -> Path:
    path.write_text("".join(json.dumps({"id": name[1:], "answer": said}) + "\n" for name, said in answers.items()))
    return path


def test_predictions_are_scored(test_file: Path, tmp_path: Path) -> None:
    said = predictions(tmp_path / "said.jsonl", p1="7", p2="8")
    evaluation = comdiv.evaluate(test_file, predictions=[said], out=tmp_path / "out")
    assert evaluation.answer_accuracy == 0.5
    assert (tmp_path / "out" / "result.json").is_file()


def test_two_sets_of_predictions_are_compared(test_file: Path, tmp_path: Path) -> None:
    right = predictions(tmp_path / "right.jsonl", p1="7", p2="7")
    wrong = predictions(tmp_path / "wrong.jsonl", p1="7", p2="8")
    comparison = comdiv.compare(right, wrong, test_file, comdiv.ComparisonSettings(resamples=100))
    assert comparison.difference == 0.5


def test_a_run_or_predictions_are_evaluated_and_not_both(test_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="name a run or predictions to evaluate, and not both"):
        comdiv.evaluate(test_file)
    with pytest.raises(ComdivError, match="and not both"):
        comdiv.evaluate(test_file, run=tmp_path, predictions=[test_file])


def test_a_solver_is_trained_evaluated_and_solves(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    settings = comdiv.SplitSettings(method="iid", test_size=20)
    corpus = comdiv.Corpus("tiny", "1", tuple(comdiv.generate("en", 100)), comdiv.read_corpus("demo-en").report)
    comdiv.split(corpus, tmp_path / "data", settings)
    changes = {"epochs": 1, "hidden": 8, "embedding": 8}
    summary = comdiv.train("lstm", tmp_path / "data", tmp_path / "runs" / "a", changes=changes)
    assert summary.epochs == 1
    evaluation = comdiv.evaluate(tmp_path / "data", run=tmp_path / "runs" / "a")
    assert evaluation.n == 20
    text = "Tom has 3 bags. How many?"
    [(problem, solution)] = comdiv.solve(text, runs=tmp_path / "runs")
    assert problem.text == text
    assert len(solution.hypotheses) <= 5


def test_several_runs_are_evaluated_together_beside_the_first(tmp_path: Path, test_file: Path) -> None:
    pytest.importorskip("torch")
    from solvers.tiny import trained_solver

    runs = [tmp_path / "gts", tmp_path / "deductive"]
    for run in runs:
        trained_solver(run.name, epochs=1, plausible="validation").save(run)
    evaluation = comdiv.evaluate(test_file, run=runs)
    folder = runs[0] / "evaluations" / f"{test_file.stem}-with-deductive"
    result = json.loads((folder / "result.json").read_text())
    assert [origin["folder"] for origin in result["run"]] == ["gts", "deductive"]
    assert (result["solver"], evaluation.n) == ("gts + deductive", 2)
    comdiv.evaluate(test_file, run=runs)  # made again
    namesake = tmp_path / "elsewhere" / "deductive"
    trained_solver("deductive", epochs=2, plausible="validation").save(namesake)
    with pytest.raises(ComdivError, match=r"has another evaluation: run is .*; use --out FOLDER or --force"):
        comdiv.evaluate(test_file, run=[runs[0], namesake])
    comdiv.evaluate(test_file, run=runs[0], settings=comdiv.SolvingSettings(rerank=False))
    plain = json.loads((runs[0] / "evaluations" / f"{test_file.stem}-not-reranked" / "result.json").read_text())
    assert plain["rerank"] is False


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A run from elsewhere whose program says nothing, beside `test.jsonl`."""
    (tmp_path / "program.py").write_text("import sys; sys.stdin.read()")
    write_problems(
        tmp_path / "test.jsonl", [Problem("a", "en", "3 red and 4 green apples. How many apples?", parse("N0+N1"))]
    )
    command = f"command:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'program.py'))}"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.yaml").write_text(json.dumps({"solver": command}))
    return tmp_path / "run"


def test_an_evaluation_that_was_killed_while_it_wrote_is_made_again(theirs: Path) -> None:
    folder = theirs / "evaluations" / "test"
    folder.mkdir(parents=True)
    (folder / ".predictions.jsonl.abc.part").write_text("half")
    comdiv.evaluate(theirs.parent / "test.jsonl", run=theirs, settings=comdiv.SolvingSettings(programs=True))
    assert sorted(path.name for path in folder.iterdir()) == ["predictions.jsonl", "result.json"]


@pytest.mark.parametrize("link", ["evaluations", "evaluations/test", "evaluations/test/predictions.jsonl"])
def test_an_evaluation_is_written_through_no_link_of_a_run_from_elsewhere(link: str, theirs: Path) -> None:
    mine = theirs.parent / "mine"
    mine.mkdir()
    (mine / "file").write_text("precious")
    (theirs / link).parent.mkdir(parents=True, exist_ok=True)
    (theirs / link).symlink_to(mine / "file" if link.endswith("jsonl") else mine)
    with pytest.raises(ComdivError, match=r"leads out of .*by a link"):
        comdiv.evaluate(theirs.parent / "test.jsonl", run=theirs, settings=comdiv.SolvingSettings(programs=True))
    assert [(path.name, path.read_text()) for path in mine.iterdir()] == [("file", "precious")]
