"""Judging elsewhere: what goes out to Label Studio and spreadsheets comes back as judgements."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA, Judgement, read_judgements
from comdiv.exchange.human_evaluation import draw_sheets, export_csv, export_label_studio, labelling_interface
from comdiv.expression import parse
from comdiv.problem import Problem

ODD = Problem("=cmd()", "en", '=1+1 has 3 "bags", each\nof 12 <b>. How many?', parse("N2*N3"))


@pytest.fixture
def problems(split_folder: Path) -> tuple[Problem, ...]:
    return read_dataset(split_folder).test


def test_sheets_show_what_a_judge_needs_and_nothing_that_tells_who_wrote_it(problems: tuple[Problem, ...]) -> None:
    (sheet,) = draw_sheets([ODD])
    assert sheet == {"id": ODD.id, "text": ODD.text, "equation": "3*12", "answer": ""}
    drawn = draw_sheets(problems, 4, seed=1)
    assert drawn == draw_sheets(problems[::-1], 4, seed=1)  # the order of the file does not matter
    assert len({sheet["id"] for sheet in drawn}) == 4
    assert drawn != draw_sheets(problems, 4, seed=2)


@pytest.mark.parametrize(
    ("count", "sample", "message"),
    [(0, None, "no problems to judge"), (3, 4, "cannot draw a sample of 4 from 3 problems")],
)
def test_a_sample_is_not_larger_than_what_it_is_from(
    problems: tuple[Problem, ...], count: int, sample: int | None, message: str
) -> None:
    with pytest.raises(ComdivError, match=message):
        draw_sheets(problems[:count], sample)


def test_a_spreadsheet_goes_out_empty_and_comes_back_filled(problems: tuple[Problem, ...], tmp_path: Path) -> None:
    path = tmp_path / "ann.csv"
    export_csv([*problems, ODD], path, sample=11, seed=2)
    with pytest.raises(ComdivError, match=r"ann\.csv, line [0-9]+, problem '.*' has no marks \(11 such problems\)"):
        read_judgements(path)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["id", "text", "equation", "answer", "judge", *CRITERIA, "comment"]
    for row in rows:
        row |= {"grammar": "good", "fluency": "good", "logic": "not good" if row["id"] == "'=cmd()" else "good"}
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    judgements = read_judgements(path)
    assert {judgement.id for judgement in judgements} == {problem.id for problem in problems} | {"=cmd()"}
    assert [judgement.id for judgement in judgements if not judgement.good] == ["=cmd()"]
    assert {judgement.judge for judgement in judgements} == {"ann"}


def test_no_cell_of_a_spreadsheet_is_a_formula(tmp_path: Path) -> None:
    export_csv([ODD], tmp_path / "sheet.csv", judge="@ann")
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["id"], row["text"], row["judge"]) == ("'=cmd()", f"'{ODD.text}", "'@ann")


def test_a_sheet_is_not_written_over_unless_told(problems: tuple[Problem, ...], tmp_path: Path) -> None:
    path = tmp_path / "ann.csv"
    path.write_text("hours of work")
    with pytest.raises(ComdivError, match="exists already"):
        export_csv(problems, path)
    assert path.read_text() == "hours of work"
    export_csv(problems, path, force=True)


def test_label_studio_gets_tasks_and_a_form_and_its_export_comes_back(
    problems: tuple[Problem, ...], tmp_path: Path
) -> None:
    export_label_studio([*problems, ODD], tmp_path / "ls", sample=5, seed=1)
    tasks = json.loads((tmp_path / "ls/tasks.json").read_text(encoding="utf-8"))
    assert len(tasks) == 5
    form = ElementTree.parse(tmp_path / "ls/labels.xml").getroot()
    shown = {element.get("value") for element in form.iter("Text")}
    assert shown == {"$text", "$equation", "$answer"}
    assert {name.removeprefix("$") for name in shown if name} < tasks[0]["data"].keys()
    exported = []
    for number, task in enumerate(tasks, start=1):
        result = [
            {
                "from_name": choices.get("name"),
                "to_name": choices.get("toName"),
                "type": "choices",
                "value": {"choices": [[choice.get("value") for choice in choices][number == 2]]},
            }
            for choices in form.iter("Choices")
        ]
        exported.append({"id": number, **task, "annotations": [{"completed_by": 1, "result": result}]})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported), encoding="utf-8")
    ids = [sheet["id"] for sheet in draw_sheets([*problems, ODD], 5, seed=1)]
    assert read_judgements(path) == tuple(
        Judgement.of_criteria(name, "1", *[number != 2] * 3) for number, name in enumerate(ids, start=1)
    )


def test_the_form_asks_for_every_criterion() -> None:
    form = ElementTree.fromstring(labelling_interface())
    assert [choices.get("name") for choices in form.iter("Choices")] == list(CRITERIA)
    assert all(choices.get("required") == "true" for choices in form.iter("Choices"))
