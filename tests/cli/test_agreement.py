"""`comdiv agreement` from end to end: files of judges in, κ and disagreements out."""

import csv
import json
from pathlib import Path

import pytest

import command_line
from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import Judgement, write_judgements


def run(*arguments: str | Path) -> str:
    return command_line.run("agreement", *arguments, columns=200).output


def marks(path: Path, judge: str, pattern: str) -> Path:
    """A file of judgements: `+` good, otherwise the initial of what is not."""
    write_judgements(
        path,
        (Judgement.of_criteria(f"p{n}", judge, m != "g", m != "f", m != "l") for n, m in enumerate(pattern)),
    )
    return path


@pytest.fixture
def ann(tmp_path: Path) -> Path:
    return marks(tmp_path / "ann.jsonl", "Ann", "++++gf++")


@pytest.fixture
def ben(tmp_path: Path) -> Path:
    return marks(tmp_path / "ben.jsonl", "Ben", "+++l+f++")


def test_two_files_give_shares_kappa_and_disagreements(ann: Path, ben: Path) -> None:
    printed = run(ann, ben)
    assert "8 problems, judged by Ann and Ben" in printed
    assert "Ann: 6 of 8 good, 95 % interval 40.9% to 92.9%" in printed
    assert "0.333" in printed
    assert "2 disagreements" in printed
    assert "p3: Ann good, Ben not good (logic)" in printed


def test_json_has_everything(ann: Path, ben: Path) -> None:
    record = json.loads(run(ann, ben, "--json"))
    assert record["good"]["cohen"][0]["table"] == [[5, 1], [1, 1]]
    assert record["good"]["cohen"][0]["kappa"] == pytest.approx(1 / 3)
    assert record["n"] == 8


def test_csv_without_a_judge_is_told_apart_by_its_name(ann: Path, tmp_path: Path) -> None:
    path = tmp_path / "ben.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "good"])
        writer.writerows([f"p{n}", "no" if n in (3, 5) else "yes"] for n in range(8))
    printed = run(ann, path)
    assert "judged by Ann and ben" in printed
    assert "grammar" not in printed.split("disagreements")[0]  # one judge was not asked


def test_the_same_name_in_two_files_is_two_judges(tmp_path: Path) -> None:
    files = [marks(tmp_path / f"{name}.jsonl", "me", pattern) for name, pattern in (("a", "++g"), ("b", "+f+"))]
    assert f"me ({files[0]}) and me ({files[1]})" in run(*files)


def test_a_label_studio_export_of_two_annotators_is_one_file(tmp_path: Path) -> None:
    def annotation(who: int, logic: str) -> dict[str, object]:
        marks = {"grammar": "good", "fluency": "good", "logic": logic}
        return {
            "completed_by": who,
            "result": [{"from_name": name, "value": {"choices": [mark]}} for name, mark in marks.items()],
        }

    tasks = [
        {"id": n, "data": {"problem_id": f"p{n}"}, "annotations": [annotation(1, first), annotation(2, second)]}
        for n, (first, second) in enumerate([("good", "good"), ("not good", "good"), ("not good", "not good")])
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    record = json.loads(run(path, "--json"))
    assert record["judges"] == ["1", "2"]
    assert record["good"]["cohen"][0]["table"] == [[1, 0], [1, 1]]


def test_three_judges_get_fleiss(ann: Path, ben: Path, tmp_path: Path) -> None:
    record = json.loads(run(ann, ben, marks(tmp_path / "cem.jsonl", "Cem", "++++++++"), "--json"))
    assert record["good"]["fleiss"]["kappa"] is not None
    assert len(record["good"]["cohen"]) == 3


def test_long_lists_are_cut_and_say_so(tmp_path: Path) -> None:
    a, b = marks(tmp_path / "a.jsonl", "A", "gggg"), marks(tmp_path / "b.jsonl", "B", "++++")
    assert "… and 3 more: --shown 4" in run(a, b, "--shown", "1")


def test_impossible_inputs_are_refused_by_name(ann: Path, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="judge 'Ben' has no mark for problem 'p7'"):
        run(ann, marks(tmp_path / "ben.jsonl", "Ben", "+++++++"))
    with pytest.raises(ComdivError, match="only 'Ann' did"):
        run(ann)
    with pytest.raises(ComdivError, match="No such file"):
        run(ann, tmp_path / "nobody.jsonl")
    half = tmp_path / "half.jsonl"
    half.write_text('{"id": "p0", "judge": "Cem", "grammar": true, "fluency": true}\n')
    with pytest.raises(ComdivError, match="no mark for logic"):
        run(ann, half)


def test_readers_verdicts_are_compared_by_one_of_their_marks(tmp_path: Path) -> None:
    def verdicts(reader: str, qualified: str) -> Path:
        path = tmp_path / f"{reader}.jsonl"
        records = (
            {"id": f"p{n}", "valid": True, "qualified": m == "+", "label": True, "reason": "", "reader": reader}
            for n, m in enumerate(qualified)
        )
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    files = verdicts("ann", "++-+"), verdicts("ben", "+--+")
    assert json.loads(run(*files, "--mark", "qualified", "--json"))["good"]["cohen"][0]["kappa"] == pytest.approx(0.5)
    assert "0 disagreements" in run(*files, "--mark", "valid")


def test_what_two_readers_leave_in_the_studio_is_compared(tmp_path: Path) -> None:
    def decisions(name: str, *lines: tuple[str, str]) -> Path:
        path = tmp_path / f"review-{name}.jsonl"
        path.write_text("".join(json.dumps({"id": i, "status": s, "by": name}) + "\n" for i, s in lines))
        return path

    ann = decisions("ann", ("p1", "rejected"), ("p1", "open"), ("p1", "accepted"), ("p2", "rejected"))
    ben = decisions("ben", ("p1", "accepted"), ("p2", "edited"))
    assert "2 problems, judged by ann and ben" in run(ann, ben)
    assert "0 disagreements" in run(ann, ben)  # an edit, too, says that something was wrong
