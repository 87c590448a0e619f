"""Published results: the same numbers as the runs', without texts, weights, names of machines; added to, never lost."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import Judgement, read_judgements, write_judgements
from comdiv.experiments import archive, packing
from comdiv.experiments.archive import export_results, read_results, without_texts
from comdiv.experiments.cell import compact_json
from comdiv.experiments.keys import differences
from comdiv.experiments.plan import make_plan
from comdiv.experiments.reporting.accuracies import plan_numbers
from comdiv.experiments.reporting.pictures import plan_pictures
from comdiv.experiments.runner import run_plan
from comdiv.experiments.store import judgement_files
from experiments.synthetic import problems, write_synthetic_results
from experiments.tiny import tiny_plan

JUDGES, WHEN = ("Ann", "Ben"), "2024-05-17T09:30:00+00:00"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_synthetic_results(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def published(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "results"
    export_results(runs, folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def result_of(folder: Path, key: str) -> dict[str, Any]:
    found = [line["result"] for path in folder.glob("*.jsonl") for line in lines_of(path) if line.get("key") == key]
    return found[0]


def states(folder: Path) -> dict[str, str]:
    return {cell.key: cell.status for plan in read_results(folder) for cell in plan.cells}


def test_what_is_done_is_done_in_the_published_folder_and_nothing_else(runs: Path, published: Path) -> None:
    before = states(runs)
    assert "failed" in before.values()
    assert {key for key, state in states(published).items() if state == "done"} == {
        key for key, state in before.items() if state == "done"
    }


def test_it_has_the_same_numbers_and_paired_tests(runs: Path, published: Path) -> None:
    numbers = [
        [
            (number.method, number.facts, number.part, number.subset, number.shares, number.paired)
            for plan in read_results(folder)
            for number in plan_numbers(plan)
        ]
        for folder in (runs, published)
    ]
    assert any(paired and subset == "lexical" for _, _, _, subset, _, paired in numbers[1])
    assert numbers[1] == numbers[0]


def test_it_has_the_same_breakdowns_and_training_curves(runs: Path, published: Path) -> None:
    for plan, same in zip(read_results(runs), read_results(published), strict=True):
        numbers, others = plan_numbers(plan), plan_numbers(same)
        assert [one.breakdown for one in others] == [one.breakdown for one in numbers]
        drawn = [picture.alternative for picture in plan_pictures(plan, numbers)]
        assert [picture.alternative for picture in plan_pictures(same, others)] == drawn


def test_no_text_no_weights_and_no_machine_is_in_it(runs: Path, published: Path) -> None:
    texts = {problem.text for problem in problems()}
    for name, content in contents(published).items():
        written = content.decode("utf-8")
        assert not [text for text in texts if text in written or json.dumps(text)[1:-1] in written], name
        assert str(runs) not in written
        assert "example" not in written  # the host
    assert set(contents(published)) == {"main-results.jsonl", "rounds-curve.jsonl"}


def test_a_cell_says_which_files_it_came_from(runs: Path, published: Path) -> None:
    key = next(cell.key for plan in read_results(runs) for cell in plan.of_kind("evaluation") if cell.status == "done")
    result, done = result_of(published, key), json.loads((runs / "cells" / key / "done.json").read_text())
    name = "test/predictions.jsonl"
    assert result["originals"][name] == done["files"][name]["sha256"]
    (cell,) = (cell for plan in read_results(published) for cell in plan.cells if cell.key == key)
    assert cell.origin["versions"] == done["versions"]
    whole = json.loads((runs / "cells" / key / "cell.json").read_text())["recipe"]
    assert cell.recipe == differences("evaluation", whole)


def test_ids_stand_once_with_their_dataset(published: Path) -> None:
    lines = [line for path in published.glob("*.jsonl") for line in path.read_text().splitlines()]
    with_ids = [line for line in lines if '"ids":' in line]
    assert with_ids
    assert all(line.startswith('{"key":"dataset-') for line in with_ids)


def test_local_structures_are_published_with_their_dataset_and_added_where_they_lack(
    runs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    export_results(runs, folder)
    whole = contents(folder)
    assert any(b'"structures":' in content for content in whole.values())
    for path in folder.glob("*.jsonl"):  # as they were before structures were known
        bare = lines_of(path)
        for line in bare:
            line.get("result", {}).pop("structures", None)
        path.write_text("".join(f"{compact_json(line)}\n" for line in bare), encoding="utf-8")
    assert contents(folder) != whole
    export_results(runs, folder)
    assert contents(folder) == whole


def test_a_shared_cell_has_its_result_once(published: Path) -> None:
    keys = [line["key"] for path in published.glob("*.jsonl") for line in lines_of(path) if "result" in line]
    assert len(keys) == len(set(keys))


def test_publishing_again_changes_nothing(runs: Path, published: Path) -> None:
    before = contents(published)
    said = export_results(runs, published)
    assert (said["cells"]["added"], said["cells"]["kept"]) == (0, list(states(published).values()).count("done"))
    assert contents(published) == before
    export_results(runs, published, force=True)
    assert contents(published) == before


def test_several_sittings_add_up(runs: Path, published: Path, tmp_path: Path) -> None:
    first = tmp_path / "first"
    shutil.copytree(runs, first)
    (first / "plans" / "rounds-curve.json").unlink()
    assert export_results(first, tmp_path / "both")["plans"] == ["main-results"]
    assert export_results(runs, tmp_path / "both")["cells"]["added"] > 0
    assert contents(tmp_path / "both") == contents(published)


def test_other_numbers_under_the_same_key_are_told_and_taken_only_by_force(runs: Path, tmp_path: Path) -> None:
    export_results(runs, tmp_path / "results")
    other = tmp_path / "other"
    shutil.copytree(runs, other)
    cell = next(cell for plan in read_results(other) for cell in plan.of_kind("evaluation") if cell.status == "done")
    done = other / "cells" / cell.key / "done.json"
    record = json.loads(done.read_text())
    record["summary"]["test"]["correct"] += 1
    done.write_text(json.dumps(record))
    before = contents(tmp_path / "results")
    assert export_results(other, tmp_path / "results")["differing"] == [cell.label]
    assert contents(tmp_path / "results") == before
    export_results(other, tmp_path / "results", force=True)
    (taken,) = (one for plan in read_results(tmp_path / "results") for one in plan.cells if one.key == cell.key)
    assert taken.summary["test"]["correct"] == record["summary"]["test"]["correct"]


def test_a_plan_without_cells_that_are_published_replaces_the_published_one_only_by_force(
    runs: Path, tmp_path: Path
) -> None:
    older, folder = tmp_path / "older", tmp_path / "published"
    shutil.copytree(runs, older)
    plan = next(path for path in (older / "plans").iterdir() if path.stem == "main-results")
    record = json.loads(plan.read_text())
    last = next(cell["facts"]["method"] for cell in reversed(record["cells"]) if cell["kind"] == "evaluation")
    record["cells"] = [cell for cell in record["cells"] if cell["facts"].get("method") != last]
    plan.write_text(json.dumps(record))
    assert export_results(older, folder)["older_plans"] == []
    assert export_results(runs, folder)["older_plans"] == []  # more than there was is no loss
    everything = states(folder)
    assert export_results(older, folder)["older_plans"] == ["main-results"]
    assert states(folder) == everything
    assert export_results(older, folder, force=True)["older_plans"] == []
    assert len(states(folder)) < len(everything)


def test_published_results_can_be_published_again(published: Path, tmp_path: Path) -> None:
    export_results(published, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(published)


def test_lines_of_other_versions_stay_as_they_are_when_something_is_added(
    runs: Path, published: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(published, tmp_path / "results"))
    path, *_ = sorted(folder.glob("*.jsonl"))
    lines = lines_of(path)
    changed = next(line["result"] for line in lines if "result" in line)
    changed["versions"] = {"comdiv": "0.0.1"}  # after the others, as a merge may leave it
    path.write_text("".join(compact_json(line) + "\n" for line in lines), encoding="utf-8")
    before = path.read_bytes()
    export_results(runs, folder)
    assert path.read_bytes() == before


def test_marks_are_published_without_names_and_comments(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    marks = [Judgement.of_criteria("p1", judge, True, True, judge == "Ann", "see the text", WHEN) for judge in JUDGES]
    write_judgements(tmp_path / "runs" / "judgements" / "judgements.jsonl", marks)
    export_results(tmp_path / "runs", tmp_path / "results")
    (path,) = judgement_files(tmp_path / "results")
    assert [(mark.judge, mark.good, mark.comment, mark.when) for mark in read_judgements(path)] == [
        ("judge 1", True, "", ""), ("judge 2", False, "", ""),
    ]  # fmt: skip


def test_a_folder_that_holds_something_else_is_left_alone(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(ComdivError, match="holds something other than published results"):
        export_results(runs, tmp_path / "mine")
    with pytest.raises(ComdivError, match="is the folder of the runs: choose another one"):
        export_results(runs, runs)


def test_nothing_is_run_into_published_results(published: Path) -> None:
    before = contents(published)
    with pytest.raises(ComdivError, match="published results, which are for reading only"):
        run_plan(make_plan(tiny_plan()), published)
    assert contents(published) == before


@pytest.mark.parametrize(
    ("written", "published"),
    [
        ("/home/me/my problems/mine.jsonl", "mine.jsonl"),
        (r"C:\Users\me\mine.jsonl", "mine.jsonl"),
        ("command:python /home/me/solver.py --fast", "command:python solver.py --fast"),
        ("n1/n2*n3", "n1/n2*n3"),
        ("(c7/c7)", "(c7/c7)"),
        ("1078/745", "1078/745"),
        ("hf:owner/name", "hf:owner/name"),
    ],
)
def test_folders_of_a_machine_are_left_out_of_names(written: str, published: str) -> None:
    assert without_texts({"a": [written]}) == {"a": [published]}


@pytest.mark.parametrize("evil", ["../../evil", "/evil", "..", ".git", "a\x1b[2Jb", "x" * 300])
def test_a_key_or_a_plans_name_that_leads_elsewhere_is_refused(runs: Path, tmp_path: Path, evil: str) -> None:
    copy = tmp_path / "deep" / "runs"
    shutil.copytree(runs, copy)
    path = copy / "plans" / "main-results.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    victim = tmp_path / "evil"
    victim.mkdir()
    (victim / "kept.txt").write_text("mine")

    record["name"] = evil
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ComdivError, match=r"the plan '.*' cannot be part of a path"):
        export_results(copy, tmp_path / "deep" / "out")
    record["name"], record["cells"][0]["key"] = "main-results", evil
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ComdivError, match=r"the cell key '.*' cannot be part of a path"):
        export_results(copy, tmp_path / "deep" / "out")
    assert [one.name for one in victim.iterdir()] == ["kept.txt"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["deep", "evil"]


def test_the_name_of_a_published_plan_cannot_lead_elsewhere(published: Path, runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    shutil.copytree(published, folder)
    path = folder / "main-results.jsonl"
    header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(header.replace('"plan":"main-results"', '"plan":"../evil"', 1) + "".join(lines), encoding="utf-8")
    with pytest.raises(ComdivError, match=r"the plan '../evil' cannot be part of a path"):
        export_results(runs, folder)
    assert not (tmp_path / "evil.jsonl").exists()


def test_needs_are_short_where_they_are_clear() -> None:
    lines = [
        {"key": "dataset-aaaaaa11", "needs": []},
        {"key": "training-bbbbbb11", "needs": ["dataset-aaaaaa11"]},
        {"key": "training-cccccc11", "needs": ["dataset-aaaaaa11"]},
        {"key": "training-cccccc22", "needs": ["dataset-elsewhere"]},
        {"key": "evaluation-dddddd11", "needs": ["training-bbbbbb11", "training-cccccc11", "training-cccccc22"]},
    ]
    short = archive._with_short_needs(lines)
    assert [line["needs"] for line in short] == [
        [],
        ["aaaaaa"],
        ["aaaaaa"],
        ["dataset-elsewhere"],
        ["bbbbbb", "training-cccccc11", "training-cccccc22"],
    ]
    assert archive._with_whole_needs(short) == lines
    assert archive._with_whole_needs(lines) == lines


def test_cells_without_a_result_are_squeezed_into_the_first_line_and_keep_their_places(published: Path) -> None:
    squeezed = 0
    for plan in read_results(published):
        header, *lines = lines_of(plan.path)
        others = json.loads(packing.unsqueezed(header["others"]))
        assert all("result" in line for line in lines)
        assert all("result" not in line for _, line in others)
        assert [plan.cells[place].key for place, _ in others] == [line["key"] for _, line in others]
        squeezed += len(others)
    assert squeezed > 0


@pytest.mark.parametrize("others", ["zlib:AAAA", "[[0", '[["0", {}]]', '[[-1, {"key": "a"}]]', "{}", "7"])
def test_damaged_cells_without_a_result_are_refused_in_one_line(published: Path, tmp_path: Path, others: str) -> None:
    folder = tmp_path / "results"
    shutil.copytree(published, folder)
    path = folder / "main-results.jsonl"
    header, *lines = lines_of(path)
    path.write_text("".join(f"{compact_json(line)}\n" for line in [{**header, "others": others}, *lines]))
    with pytest.raises(ComdivError) as caught:
        read_results(folder)
    assert "\n" not in str(caught.value)
    assert "main-results.jsonl" in str(caught.value)
