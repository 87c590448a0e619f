"""The record and its file: round trips, messages that say where, flat memory."""

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.loading import parse_json
from comdiv.problem import Problem, ProblemError, Provenance, read_problems, write_problems
from strategies import trees

RECORD: dict[str, Any] = {
    "id": "shop-1",
    "language": "en",
    "text": "Tom has 3 apples and buys 4. How many has he?",
    "expression": "N0+N1",
    "answer": "7",
    "provenance": {"corpus": "mine", "version": "1"},
}


def with_changes(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in {**RECORD, **changes}.items() if value is not ...}


def write_lines(path: Path, *lines: str | dict[str, Any]) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_a_record_becomes_a_problem() -> None:
    problem = Problem.from_json(RECORD)
    assert problem == Problem(
        id="shop-1",
        language="en",
        text=RECORD["text"],
        expression=parse("N0+N1"),
        answer=Fraction(7),
        provenance=Provenance(corpus="mine", version="1"),
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"expression": None, "answer": None},
        {"answer": "2/3"},
        {"answer": "-0.5"},
        {"number_words": True},
        {"grade": 4, "tags": ["a", {"b": None}], "Ключ": "значение"},
        {"provenance": {}},
        {
            "provenance": {
                "operation": "join",
                "rule": "r1",
                "round": 2,
                "parents": ["a", "b"],
                "seed": 7,
                "by": {"x": []},
            }
        },
    ],
)
def test_a_record_survives_a_round_trip_with_keys_that_we_do_not_know(changes: dict[str, Any]) -> None:
    record = with_changes(**changes)
    assert Problem.from_json(record).to_json() == record


names = st.text(min_size=1, max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)


@given(
    st.builds(
        Problem,
        id=names,
        language=st.sampled_from(["en", "zh"]),
        text=names,
        expression=st.none() | trees(),
        answer=st.none() | st.fractions(),
        provenance=st.builds(
            Provenance, corpus=st.text(), parents=st.lists(names).map(tuple), details=st.just({"k": 1})
        ),
        number_words=st.booleans(),
        extra=st.dictionaries(names.map("my {}".format), values, max_size=3),
    )
)
def test_any_problem_is_read_back_from_its_line(problem: Problem) -> None:
    line = json.dumps(problem.to_json(), ensure_ascii=False)
    assert Problem.from_json(json.loads(line)) == problem


def test_an_unknown_key_can_never_replace_one_of_ours() -> None:
    problem = Problem("1", "en", "mine", extra={"text": "theirs", "grade": 3})
    assert problem.to_json()["text"] == "mine"
    assert problem.to_json()["grade"] == 3


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([1, 2], "a problem is a JSON object"),
        ("text", "a problem is a JSON object"),
        (with_changes(id=...), "'id' is missing"),
        (with_changes(id=""), "'id' is missing"),
        (with_changes(id=7), "'id' is a int, not a str"),
        (with_changes(text=...), "problem 'shop-1': 'text' is missing"),
        (with_changes(text=""), "problem 'shop-1': 'text' is missing"),
        (with_changes(text=["a"]), "problem 'shop-1': 'text' is a list, not a str"),
        (with_changes(language=...), "problem 'shop-1': 'language' is missing"),
        (with_changes(expression="N0+"), "problem 'shop-1': an operand is missing at position 4"),
        (with_changes(expression="N0+x"), "problem 'shop-1': unknown name 'x' at position 4"),
        (with_changes(expression=3), "problem 'shop-1': 'expression' is a int, not a str"),
        (with_changes(answer="nine"), "problem 'shop-1': unknown name 'nine' at position 1"),
        (with_changes(answer=[9]), "problem 'shop-1': an answer is a number or a text, not list"),
        (with_changes(answer=float("nan")), "problem 'shop-1': the answer nan is not a number"),
        (with_changes(provenance="mine"), "problem 'shop-1': 'provenance' is a str, not a dict"),
        (with_changes(provenance={"corpus": 1}), "problem 'shop-1': 'corpus' is a int, not a str"),
        (with_changes(provenance={"round": True}), "problem 'shop-1': 'round' is a bool, not a int"),
        (with_changes(provenance={"parents": [1]}), "problem 'shop-1': provenance 'parents' is not a list of ids"),
        (with_changes(number_words="yes"), "problem 'shop-1': 'number_words' is a str, not a bool"),
    ],
)
def test_what_is_no_problem_is_refused_with_file_line_and_id(record: Any, message: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mine.jsonl", with_changes(id="first"), "", json.dumps(record))
    with pytest.raises(ProblemError) as caught:
        list(read_problems(path))
    assert str(caught.value) == f"{path}, line 3: {message}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{no json}", "not valid JSON: Expecting property name enclosed in double quotes"),
        ('{"id": "1"', "not valid JSON: Expecting ',' delimiter"),
        ("[" * 100_000 + "]" * 100_000, "not valid JSON: nested too deeply"),
        ('{"id": 1' + "0" * 5_000 + "}", "not valid JSON: a number of 300 digits"),
    ],
    ids=["not valid JSON", "cut off", "deep", "digits"],
)
def test_a_line_that_is_no_json_is_refused_with_its_number(line: str, message: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mine.jsonl", RECORD, line)
    with pytest.raises(ProblemError) as caught:
        list(read_problems(path))
    assert str(caught.value).startswith(f"{path}, line 2: {message}")


def test_a_text_that_is_no_word_problem_any_more_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mine.jsonl", with_changes(text="x" * 20_001))
    with pytest.raises(ProblemError, match="'text' has 20,001 characters; the maximum is 20,000"):
        list(read_problems(path))


def test_an_escaped_pair_of_surrogates_is_one_character_and_half_of_one_is_replaced() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "😀"
    assert parse_json('["a\\ud83d", {"\\ude00b": "\\ud83d\\ude00"}]') == ["a\ufffd", {"\ufffdb": "😀"}]


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mine.jsonl", RECORD, with_changes(id="other"), RECORD)
    with pytest.raises(ProblemError, match=r"mine\.jsonl, line 3: the id 'shop-1' occurs twice"):
        list(read_problems(path))


def test_a_byte_order_mark_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(RECORD).encode() + b"\r\n\r\n   \n")
    assert [problem.id for problem in read_problems(path)] == ["shop-1"]


def test_a_file_that_is_not_utf8_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes('{"text": "苹果"}'.encode("gbk"))
    with pytest.raises(ProblemError, match=r"mine\.jsonl: not UTF-8"):
        list(read_problems(path))


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match=r"none\.jsonl: No such file or directory"):
        list(read_problems(tmp_path / "none.jsonl"))


def test_problems_before_a_mistake_are_read(tmp_path: Path) -> None:
    problems = read_problems(write_lines(tmp_path / "mine.jsonl", RECORD, "{"))
    assert next(problems).id == "shop-1"
    with pytest.raises(ProblemError, match="line 2"):
        next(problems)


def test_chinese_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    assert write_problems(path, [Problem("1", "zh", "小明有3个苹果")]) == 1
    assert "小明有3个苹果" in path.read_text(encoding="utf-8")
    assert path.read_bytes().endswith(b"}\n")


def test_an_error_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    write_problems(path, [Problem("old", "en", "old")])

    def interrupted() -> Iterator[Problem]:
        yield Problem("new", "en", "new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_problems(path, interrupted())
    assert [problem.id for problem in read_problems(path)] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_problems_are_written_and_read_with_flat_memory(tmp_path: Path) -> None:
    path, count = tmp_path / "large.jsonl", 5_000
    expression, answer = parse("N0-N1"), Fraction(7)
    text = "Tom has {} apples and eats 2 of them before dinner. How many apples are left for tomorrow?"
    problems = (Problem(f"problem-{n:09}", "en", text.format(n), expression, answer) for n in range(count))
    tracemalloc.start()
    try:
        assert write_problems(path, problems) == count
        _, peak_writing = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        assert sum(1 for _ in read_problems(path)) == count
        _, peak_reading = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 200 * count
    assert peak_writing < 1e6  # bytes: a buffer, however many problems there are
    assert peak_reading < 1e6 + 40 * count  # a buffer and the ids; the problems themselves have 1,500 each


_WRITE_AND_READ = """
import resource, sys
from pathlib import Path
from comdiv.expression import parse
from comdiv.problem import Problem, read_problems, write_problems
path, count = Path(sys.argv[1]), int(sys.argv[2])
text = "Tom has {} apples and eats 2 of them before dinner. How many apples are left for tomorrow?"
expression = parse("N0-N1")
assert write_problems(path, (Problem(f"problem-{n}", "en", text.format(n), expression) for n in range(count))) == count
assert sum(1 for _ in read_problems(path)) == count
sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the operating system does not tell a process's greatest size")
def test_a_million_problems_need_little_more_memory_than_a_thousand(tmp_path: Path) -> None:
    def greatest_size(count: int) -> int:
        """In bytes, of a process of its own: nothing else that ran here counts."""
        command = [sys.executable, "-c", _WRITE_AND_READ, str(tmp_path / f"{count}.jsonl"), str(count)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    few, many = greatest_size(1_000), greatest_size(1_000_000)
    assert (tmp_path / "1000000.jsonl").stat().st_size > 150e6
    assert many - few < 120e6  # the set of ids, some 100 bytes each; the problems themselves are 1.5 GB


def test_every_error_is_one_of_ours() -> None:
    assert issubclass(ProblemError, ComdivError)


def test_what_a_test_problem_is_for_is_part_of_the_record_and_written_last() -> None:
    record = {"id": "1", "language": "en", "text": "How many?", "expression": None, "answer": None, "provenance": {}}
    record |= {"split": "train", "composition": "structural", "rule": "13"}
    problem = Problem.from_json(record)
    assert (problem.composition, problem.rule, problem.extra) == ("structural", "13", {"split": "train"})
    assert json.dumps(problem.to_json()) == json.dumps(record)


@pytest.mark.parametrize("value", [None, "", 7, ["lexical"]])
def test_a_composition_that_is_no_text_is_a_key_that_we_do_not_know(value: Any) -> None:
    record = {"id": "1", "language": "en", "text": "How many?", "composition": value}
    problem = Problem.from_json(record)
    assert (problem.composition, problem.extra) == ("", {"composition": value})
    assert problem.to_json()["composition"] == value
