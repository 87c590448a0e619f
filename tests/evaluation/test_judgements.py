"""Judgements: one record, whoever made it and however it was saved; whatever is doubtful is refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import (
    CRITERIA,
    Judgement,
    judgements_by_judge,
    read_judgements,
    write_judgements,
)

MARKED = {"id": "p1", "judge": "ann", "grammar": True, "fluency": True, "logic": False, "good": False}


def written(tmp_path: Path, content: Any, name: str = "marks.jsonl") -> Path:
    path = tmp_path / name
    if not isinstance(content, str):
        content = "".join(json.dumps(record) + "\n" for record in content)
    path.write_text(content, encoding="utf-8")
    return path


def label_studio_task(name: str, *annotations: dict[str, Any]) -> dict[str, Any]:
    return {"id": 17, "data": {"problem_id": name, "text": "…"}, "annotations": list(annotations)}


def annotation(judge: Any, comment: str = "", **marks: str) -> dict[str, Any]:
    result = [
        {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [mark]}}
        for name, mark in marks.items()
    ]
    if comment:
        result.append({"from_name": "comment", "to_name": "text", "type": "textarea", "value": {"text": [comment]}})
    return {"completed_by": judge, "was_cancelled": False, "result": result, "updated_at": "2024-05-17T09:30:00.1Z"}


ALL_GOOD = {"grammar": "good", "fluency": "good", "logic": "good"}


@given(st.booleans(), st.booleans(), st.booleans(), st.text(max_size=5))
def test_a_judgement_survives_the_way_through_json(grammar: bool, fluency: bool, logic: bool, comment: str) -> None:
    judgement = Judgement.of_criteria("p", "ann", grammar, fluency, logic, comment, when="2024-05-17")
    assert Judgement.from_json(json.loads(json.dumps(judgement.to_json()))) == judgement
    assert judgement.good == (grammar and fluency and logic)


def test_good_may_be_given_alone() -> None:
    judgement = Judgement.from_json({"id": 7, "judge": "ann", "good": "yes"})
    assert judgement == Judgement("7", "ann", good=True)
    assert [judgement.mark(criterion) for criterion in ("good", *CRITERIA)] == [True, None, None, None]


def test_json_lines_are_written_and_read_back(tmp_path: Path) -> None:
    judgements = (
        Judgement.of_criteria("p1", "ann", True, True, True),
        Judgement("p1", "bob", good=False, comment="为什么?", when="2024-05-17T09:30:00+02:00"),
    )
    path = tmp_path / "marks.jsonl"
    assert write_judgements(path, judgements) == 2
    assert read_judgements(path) == judgements


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_spreadsheet_has_a_row_a_problem_and_its_name_is_the_judge(tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["id", "text", "grammar", "fluency", "logic", "comment"],
        ["p1", '"One, two; three"', "good", "Not Good", "1", "odd"],
        ["p2", "How many?", "yes", "TRUE", "good", ""],
    ]
    path = written(tmp_path, "".join(delimiter.join(row) + "\r\n" for row in rows), "ann.csv")
    assert read_judgements(path) == (
        Judgement.of_criteria("p1", "ann", True, False, True, "odd"),
        Judgement.of_criteria("p2", "ann", True, True, True),
    )
    assert {judgement.judge for judgement in read_judgements(path, judge="Bob")} == {"Bob"}


def test_a_label_studio_export_has_a_judgement_for_each_annotation(tmp_path: Path) -> None:
    tasks = [
        label_studio_task("p1", annotation(3, "hm", **ALL_GOOD), annotation({"id": 4, "email": "b@c.org"}, good="bad")),
        label_studio_task("p2", annotation(3, **{**ALL_GOOD, "logic": "not good"})),
    ]
    found = read_judgements(written(tmp_path, json.dumps(tasks), "export.json"))
    assert [(judgement.id, judgement.judge, judgement.good) for judgement in found] == [
        ("p1", "3", True),
        ("p1", "b@c.org", False),
        ("p2", "3", False),
    ]
    assert (found[0].comment, found[0].when) == ("hm", "2024-05-17T09:30:00.1Z")
    assert found[2].mark("logic") is False
    assert found[2].mark("grammar") is True


def test_label_studios_short_json_and_csv_are_read_as_well(tmp_path: Path) -> None:
    short = {"id": 17, "problem_id": "p1", **ALL_GOOD, "annotator": 3, "annotation_id": 8, "lead_time": 1.5}
    expected = (Judgement.of_criteria("p1", "3", True, True, True),)
    assert read_judgements(written(tmp_path, json.dumps([short]), "short.json")) == expected
    text = ",".join(short) + "\n" + ",".join(str(value) for value in short.values()) + "\n"
    assert read_judgements(written(tmp_path, text, "short.csv")) == expected


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"judge": "ann", "good": True}, "line 1: a judgement needs the 'id' of its problem"),
        ({**MARKED, "logic": None}, "problem 'p1', judge 'ann': no mark for logic"),
        ({**MARKED, "good": True}, "'good' contradicts grammar good, fluency good, logic not good"),
        ({**MARKED, "logic": "perhaps"}, "'logic' is 'perhaps': a mark is true or false"),
        ({**MARKED, "logic": 3}, "'logic' is '3': a mark is true or false"),
        ({**MARKED, "when": "yesterday"}, "'when' is 'yesterday', not a date"),
        ({**MARKED, "judge": {"a": 1}}, "'judge' is a dict, not a name"),
        ({"id": 5, "annotation_id": 1, "annotator": 1, "good": "good"}, "needs the column 'problem_id'"),
        ({"id": 5, "data": {"text": "x"}, "annotations": []}, "task 5 has neither 'problem_id' nor 'id' in its data"),
        (
            label_studio_task("p1", annotation(3, grammar="good", logic="good")),
            "problem 'p1', judge '3': no mark for f",
        ),
        (label_studio_task("p1", {"result": [{"value": {}}]}), "problem 'p1': an annotation without 'from_name'"),
        (label_studio_task("p1", {**annotation(3, **ALL_GOOD), "was_cancelled": True}), "problem 'p1' has no marks"),
    ],
)
def test_an_impossible_record_is_refused_by_name(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    with pytest.raises(ComdivError, match=r"marks\.jsonl") as error:
        read_judgements(written(tmp_path, [record]))
    assert message in str(error.value)


def test_a_problem_without_marks_is_an_error_unless_judges_may_be_unfinished(tmp_path: Path) -> None:
    path = written(tmp_path, [MARKED, {"id": "p2", "judge": "ann", "grammar": ""}, {"id": "p3"}])
    with pytest.raises(ComdivError, match=r"line 2, problem 'p2' has no marks \(2 such problems\)"):
        read_judgements(path)
    assert [judgement.id for judgement in read_judgements(path, unfinished=True)] == ["p1"]


def test_a_file_without_any_mark_is_no_file_of_judgements(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="there are no marks in it"):
        read_judgements(written(tmp_path, [{"id": "p1"}]), unfinished=True)


def test_a_judge_marks_a_problem_once(tmp_path: Path) -> None:
    with pytest.raises(
        ComdivError, match=r"line 2: judge 'ann' marked problem 'p1' twice, first in marks\.jsonl, line 1"
    ):
        read_judgements(written(tmp_path, [MARKED, MARKED]))


def test_judges_are_grouped_with_their_problems_in_one_order() -> None:
    marks = [Judgement(*key, good=True) for key in (("p1", "ann"), ("p2", "bob"), ("p2", "ann"), ("p1", "bob"))]
    grouped = judgements_by_judge(marks)
    assert {judge: list(own) for judge, own in grouped.items()} == {"ann": ["p1", "p2"], "bob": ["p1", "p2"]}


def test_judges_of_different_problems_cannot_be_compared() -> None:
    marks = [Judgement(*key, good=True) for key in (("p1", "ann"), ("p2", "ann"), ("p3", "ann"), ("p2", "bob"))]
    with pytest.raises(ComdivError, match=r"judge 'bob' has no mark for problem 'p1', .*\(2 such problems\)"):
        judgements_by_judge(marks)
    with pytest.raises(ComdivError, match="judge 'ann' marked problem 'p1' twice"):
        judgements_by_judge([*marks, marks[0]])


def test_only_good_and_the_criteria_can_be_asked_for() -> None:
    with pytest.raises(ComdivError, match="'style' is none of good, grammar, fluency, logic"):
        Judgement("p", "ann", good=True).mark("style")
