"""The fuzzer itself: what it found once stays mended, it finds what is planted, and a seed gives the same cases."""

import json
import random
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from fuzz import __main__ as driver
from fuzz.damage import damaged_bytes, damaged_value
from fuzz.minimise import minimise
from fuzz.target import Target, examine, write_case
from fuzz.targets import TARGETS

CASES = sorted(driver.CASES.glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_was_found_once_ends_as_it_should(path: Path) -> None:
    record = json.loads(path.read_text())
    finding = examine(TARGETS[record["target"]], record["case"])
    assert finding is None, f"{finding.error}\n{finding.signature}\n{path}"


QUICK = {
    "expressions": 1000, "rows": 20, "predictions": 100, "replies": 40, "logs": 40, "texts": 40, "folders": 12,
    "exchanged": 12,
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_cases_of_every_target_end_as_they_should(name: str) -> None:
    target = TARGETS[name]
    findings = [examine(target, target.case(0, number)) for number in range(QUICK[name])]
    assert [finding for finding in findings if finding is not None] == []


@pytest.mark.parametrize("name", TARGETS)
def test_a_seed_and_a_number_give_the_same_case(name: str) -> None:
    target = TARGETS[name]
    assert [target.case(7, number) for number in range(5)] == [target.case(7, number) for number in range(5)]
    assert target.case(7, 1) != target.case(8, 1)


def careless(text: str) -> None:
    """A function with two defects."""
    if "42" in text:
        raise KeyError(text)
    while "∞" in text:
        pass
    if "?" in text:
        raise ComdivError("not a number")


PLANTED = Target("planted", lambda source: "".join(source.choices("0123456789 ?", k=40)), careless)


def test_errors_of_ours_are_fine_and_anything_else_is_a_finding() -> None:
    assert examine(PLANTED, "7") is None
    assert examine(PLANTED, "7?") is None
    finding = examine(PLANTED, "x42")
    assert finding is not None
    assert "KeyError" in finding.error
    endless = examine(PLANTED, "∞", seconds=0.05)
    assert endless is not None
    assert "Endless" in endless.error


def test_a_planted_defect_is_found_minimised_and_written_where_tests_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TARGETS, "planted", PLANTED)
    monkeypatch.setattr(driver, "CASES", tmp_path)
    assert driver.main(["--target", "planted", "--seed", "3", "--count", "200"]) == 1
    (path,) = tmp_path.iterdir()
    record = json.loads(path.read_text())
    assert record["case"] == "42"
    assert "KeyError in test_fuzz.py, careless" in record["signature"]
    said = capsys.readouterr().out
    assert f"python -m fuzz --target planted --seed 3 --case {record['number']}" in said
    assert "planted" in said.splitlines()[-1]
    assert "200" in said.splitlines()[-1]
    assert driver.main(["--target", "planted", "--seed", "3", "--case", str(record["number"])]) == 1


def test_without_findings_the_exit_code_is_0_and_processes_share_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert driver.main(["--target", "texts", "--target", "predictions", "--seed", "1", "--count", "30", "-j", "2"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()[-2:]] == [
        ["texts", "30"],
        ["predictions", "30"],
    ]


def test_the_smallest_case_keeps_what_matters() -> None:
    case = {"name": "x" * 50, "rows": [{"a": 1}, {"b": "needle in hay"}, 7, None], "more": [1, 2, 3]}
    assert minimise(case, lambda one: "needle" in json.dumps(one)) == {"rows": [{"b": "needle"}]}


def test_damage_is_of_many_kinds_and_never_none() -> None:
    value = {"id": "a", "list": [1, {"deep": [True, None]}], "text": "some words"}
    values = {json.dumps(damaged_value(value, random.Random(seed))) for seed in range(200)}
    assert len(values) > 50
    content = b'{"id": "a", "text": "some words and more"}' * 20
    assert sum(damaged_bytes(content, random.Random(seed)) != content for seed in range(200)) > 190


def test_a_case_is_a_file_that_says_everything(tmp_path: Path) -> None:
    finding = examine(PLANTED, "42")
    assert finding is not None
    record = json.loads(write_case(tmp_path, finding).read_text())
    assert record.keys() == {"target", "error", "signature", "seed", "number", "case"}
