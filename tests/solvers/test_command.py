"""Solvers that are programs."""

import math
import shlex
import sys
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.solvers.command import CommandSolver
from comdiv.solvers.runs import load_solver
from solvers.tiny import EIGHT, problem

MULTIPLIES = """
import json, sys
mode = sys.argv[1:]
for line in sys.stdin:
    record = json.loads(line)
    if mode[0] == "solve":
        for rank in range(int(mode[1])):
            expression = ["N0*N1", "N0+N1"][rank % 2]
            print(json.dumps({"id": record["id"], "expression": expression, "log_probability": -1 - rank}))
    else:
        print(json.dumps({"id": record["id"], "log_probability": -len(record["expression"]), "tokens": 3}))
"""


def program(folder: Path, code: str) -> CommandSolver:
    path = folder / "a program.py"
    path.write_text(code, encoding="utf-8")
    return CommandSolver(f"command:{shlex.quote(sys.executable)} {shlex.quote(str(path))}")


def test_a_program_solves_and_scores(tmp_path: Path) -> None:
    solver = program(tmp_path, MULTIPLIES)
    solutions = solver.solve(EIGHT[:3], beam=2)
    assert [solution.answer for solution in solutions] == [15, 36, 42]
    assert [hypothesis.expression for hypothesis in solutions[0].hypotheses] == [parse("N0*N1"), parse("N0+N1")]
    assert [hypothesis.log_probability for hypothesis in solutions[0].hypotheses] == [-1, -2]
    assert [(s.log_probability, s.tokens) for s in solver.score(EIGHT[:2])] == [(-5, 3), (-5, 3)]


def test_no_more_hypotheses_than_the_beam_are_taken(tmp_path: Path) -> None:
    (solution,) = program(tmp_path, MULTIPLIES.replace("int(mode[1])", "9")).solve(EIGHT[:1], beam=2)
    assert len(solution.hypotheses) == 2


def test_what_a_program_does_not_answer_is_ill_formed_and_scores_minus_infinity(tmp_path: Path) -> None:
    solver = program(
        tmp_path, MULTIPLIES.replace("record = json.loads(line)", "record = {'id': 'sum', 'expression': ''}")
    )
    answered, silent = solver.solve(EIGHT[:2])
    assert answered.expression is not None
    assert silent.ill_formed
    assert silent.expression is None
    assert [score.log_probability for score in solver.score(EIGHT[:2])] == [0, -math.inf]


@pytest.mark.parametrize("number", ["math.nan", "math.inf", "-math.inf"])
def test_numbers_that_are_none_are_as_bad_as_impossible(number: str, tmp_path: Path) -> None:
    code = f"import json, math; print(json.dumps({{'id': 'sum', 'log_probability': {number}, 'tokens': {number}}}))"
    (score,) = program(tmp_path, code).score(EIGHT[:1])
    assert (score.log_probability, score.tokens) == (-math.inf, 1)


@pytest.mark.parametrize("said", ["N0*", "import os", None, 7])
def test_an_expression_that_is_none_is_ill_formed(said: object, tmp_path: Path) -> None:
    (solution,) = program(tmp_path, f"import json; print(json.dumps({{'id': 'sum', 'expression': {said!r}}}))").solve(
        EIGHT[:1]
    )
    assert solution.ill_formed


def test_a_division_by_zero_is_undefined_not_ill_formed(tmp_path: Path) -> None:
    code = "import json; print(json.dumps({'id': 'sum', 'expression': 'N0/(N1-N1)'}))"
    (solution,) = program(tmp_path, code).solve(EIGHT[:1])
    assert (solution.undefined, solution.ill_formed, solution.answer) == (True, False, None)


def test_texts_arrive_as_utf_8_whatever_the_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    code = (
        "import json, sys\nrecord = json.loads(sys.stdin.buffer.read().decode('utf-8'))\n"
        "assert record['text'] == '有3个苹果和4个梨'\nprint(json.dumps({'id': record['id'], 'expression': 'N0+N1'}))"
    )
    (solution,) = program(tmp_path, code).solve([problem("梨", "有3个苹果和4个梨", "N0+N1", "zh")])
    assert solution.answer == 7


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit('no model here')", "ended with exit code 1: no model here"),
        ("import sys; sys.exit(3)", "ended with exit code 3: it said nothing"),
        ("print('{\"id\": ')", "its output is not JSON Lines"),
        ("print('[1, 2]')", "a line of its output is not a JSON object"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", "its output is not JSON Lines"),
    ],
)
def test_a_program_that_fails_is_reported_in_one_line(code: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ComdivError) as refused:
        program(tmp_path, code).solve(EIGHT)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_program_that_is_not_there_is_reported_in_one_line() -> None:
    with pytest.raises(ComdivError, match="cannot be run: No such file"):
        CommandSolver("command:there-is-no-such-program").solve(EIGHT)
    with pytest.raises(ComdivError, match="names no program"):
        CommandSolver("command:")


def test_a_command_is_kept_in_a_run_folder(tmp_path: Path) -> None:
    solver = program(tmp_path, MULTIPLIES)
    solver.save(tmp_path / "run")
    loaded = load_solver(tmp_path / "run", programs=True)
    assert loaded.name == solver.name
    assert loaded.solve(EIGHT[:3]) == solver.solve(EIGHT[:3])


def test_a_program_is_not_trained(tmp_path: Path) -> None:
    summary = program(tmp_path, "raise SystemExit(1)").fit(EIGHT, ())
    assert (summary.epochs, summary.problems) == (0, 8)
