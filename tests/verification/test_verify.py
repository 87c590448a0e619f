"""`comdiv verify`: what is true passes, and one changed bit, digit, hash, row or prediction does not."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import comdiv
from comdiv.dataset import Dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.experiments.archive import export_results
from comdiv.experiments.cell import compact_json
from comdiv.files import file_sha256
from comdiv.verbs import verifying
from comdiv.verification import ledger as kinds
from comdiv.verification.ledger import Ledger
from comdiv.verification.plans import check_published
from command_line import RUNNER, run
from experiments.tiny import SETTINGS, tiny_corpus, tiny_plan, write_yaml
from solvers.tiny import EIGHT, UNSEEN

CLONE = Path(__file__).parents[2]
HERE = comdiv.VerificationSettings(corpora=False)
Change = Callable[[Any], None]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that `comdiv run` filled: a dataset, a measurement, an augmentation, a training, an evaluation."""
    folder = tmp_path_factory.mktemp("plan")
    tiny_corpus(folder)
    split = {"test_size": 10, "steps_per_item": 2, "k": 3}
    plan = tiny_plan(
        datasets={"comdiv": {"corpus": "mine.jsonl", "split": split}},
        measure={"k": [3]},
        augmentations={"DA": {"options": {"per_problem": [1, 0], "growth": 0.2}}},
        methods={"GTS+DA": {"solver": "gts", "augmentation": "DA"}},
        training={"seeds": [0], "settings": {**SETTINGS, "epochs": 1}},
    )
    comdiv.run(write_yaml(folder / "plan.yaml", plan), folder / "runs", jobs=1)
    return folder / "runs"


@pytest.fixture(scope="module")
def published(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "published"
    export_results(runs, folder)
    return folder


@pytest.fixture
def copy(runs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs, tmp_path / "runs"))


def cell(root: Path, kind: str) -> Path:
    (folder,) = (root / "cells").glob(f"{kind}-*")
    return folder


def change_json(path: Path, change: Change) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def found(path: Path) -> list[str]:
    return [str(difference) for difference in comdiv.verify(path, HERE).differences]


# --- a folder of runs ---


def test_what_comdiv_run_wrote_is_true(runs: Path) -> None:
    verification = comdiv.verify(runs, HERE)
    assert verification.differences == ()
    checked = {what for what, count, _, _ in verification.rows() if count}
    assert {kinds.HASHES, kinds.KEYS, kinds.NUMBERS, kinds.COUNTS, kinds.CURVES, kinds.DIVERGENCES} <= checked
    assert not verification.unchecked


@pytest.mark.parametrize(
    ("kind", "name", "change", "place"),
    [
        ("evaluation", "test/result.json", lambda r: r.update(correct=r["correct"] + 1), "test/result.json: correct"),
        ("evaluation", "test/result.json", lambda r: r["interval"].reverse(), "interval[0]"),
        ("evaluation", "done.json", lambda r: r["summary"]["test"].update(n=11), "done.json: summary.test.n"),
        ("evaluation", "test/outcomes.json", lambda r: r["wrong"].pop(), "test/outcomes.json: n"),
        ("training", "done.json", lambda r: r["summary"].update(best_epoch=2), "done.json: summary.best_epoch"),
        ("training", "cell.json", lambda r: r["recipe"]["settings"].update(seed=7), "cell.json: key"),
        ("dataset", "dataset/dataset.json", lambda r: r.update(twins=9), "dataset/dataset.json: twins"),
        ("dataset", "done.json", lambda r: r["summary"]["problems"].update(test=11), "summary.problems.test"),
        ("measurement", "done.json", lambda r: r["summary"]["atom_divergence"].update(paper=0.5), "atom_divergence"),
    ],
)
def test_a_digit_is_noticed(kind: str, name: str, change: Change, place: str, copy: Path) -> None:
    change_json(cell(copy, kind) / name, change)
    assert [line for line in found(copy) if place in line and ": expected " in line and ", found " in line]


def test_a_prediction_is_noticed_even_if_all_hashes_are_made_to_fit(copy: Path) -> None:
    folder = cell(copy, "evaluation") / "test"
    lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])
    record["right"] = not record["right"]
    (folder / "predictions.jsonl").write_text("\n".join([json.dumps(record), *lines[1:]]) + "\n", encoding="utf-8")
    hashed = found(copy)
    assert len([line for line in hashed if "predictions.jsonl: " in line and "sha256" in line]) == 1
    sha256 = file_sha256(folder / "predictions.jsonl")
    change_json(folder / "result.json", lambda r: r["files"]["predictions.jsonl"].update(sha256=sha256))
    assert any(f"{record['id']}: right: expected {not record['right']}" in line for line in found(copy))


def test_a_byte_of_weights_problems_or_a_marker_is_noticed(copy: Path) -> None:
    model = cell(copy, "training") / "run" / "model.safetensors"
    data = model.read_bytes()
    model.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    train = cell(copy, "dataset") / "dataset" / "train.jsonl"
    train.write_text(train.read_text(encoding="utf-8").replace("Tom", "Tim", 1), encoding="utf-8")
    (cell(copy, "augmentation") / "done.json").write_text("{", encoding="utf-8")
    lines = found(copy)
    for name in ("model.safetensors", "dataset/train.jsonl", "a file that can be read, found"):
        assert any(name in line for line in lines), name


# --- published results ---


def test_published_results_are_true_and_say_what_cannot_be_checked(published: Path) -> None:
    verification = comdiv.verify(published, HERE)
    assert verification.is_true
    reasons = {why for _, why in verification.unchecked}
    assert any("predictions are not published" in why for why in reasons)
    assert any("is checked only in comdiv's own clone" in why for why in reasons)


def flip(record: dict[str, Any]) -> None:
    data = bytearray(base64.b64decode(record["right"]))
    data[0] ^= 0b1000_0000
    record["right"] = base64.b64encode(bytes(data)).decode()


def one_more(record: dict[str, Any]) -> None:
    right, _, n = record["summary"]["test"]["answers"].partition("/")
    record["summary"]["test"]["answers"] = f"{int(right) + 1}/{n}"


@pytest.mark.parametrize(
    ("kind", "change", "place"),
    [
        ("evaluation", flip, "test.correct: expected"),
        ("evaluation", one_more, "test.correct: expected"),
        ("training", lambda r: r["summary"].update(validation_accuracy=0.75), "validation_accuracy: expected"),
        ("training", lambda r: r["recipe"]["settings"].update(hidden=9), "key: expected"),
        ("augmentation", lambda r: r["summary"]["report"]["source"].update(test="0" * 64), "source.test: expected"),
        ("augmentation", lambda r: r["summary"]["report"].update(new=999), "new: expected"),
        ("dataset", lambda r: r["dataset"].update(test_size=11), "test_size: expected 10, found 11"),
        ("measurement", lambda r: r["summary"]["compound_divergence"].update(paper=0.1), "compound_divergence.paper"),
    ],
)
def test_a_published_bit_digit_or_hash_is_noticed(
    kind: str, change: Change, place: str, published: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(published, tmp_path / "published"))
    (path,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    (line,) = (line for line in lines if line.get("key", "").startswith(kind))
    change(line["result"])
    path.write_text("".join(compact_json(line) + "\n" for line in lines), encoding="utf-8")
    differences = found(folder)
    assert [one for one in differences if place in one and one.startswith(path.name)]


def test_a_published_split_is_made_again_from_its_ids_where_the_corpus_is(tmp_path: Path) -> None:
    split = {"corpus": "demo-en", "split": {"method": "iid", "k": 2}}
    plan = {"name": "sizes", "datasets": {"iid": split}, "measure": {"k": [2]}}
    comdiv.run(write_yaml(tmp_path / "plan.yaml", plan), tmp_path / "runs", jobs=1)
    export_results(tmp_path / "runs", tmp_path / "published")
    whole = comdiv.verify(tmp_path / "published")
    assert whole.is_true
    assert whole.checked[kinds.PARTS] == 7  # four facts of the source, three hashes
    path = tmp_path / "published" / "sizes.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    record = lines[1]["result"]
    record["originals"]["dataset/train.jsonl"] = "0" * 64
    record["dataset"]["length_ratio"] += 0.1
    path.write_text("".join(compact_json(line) + "\n" for line in lines), encoding="utf-8")
    differing = [(one.what, one.key) for one in comdiv.verify(tmp_path / "published").differences]
    assert differing == [(kinds.PARTS, "iid: train.jsonl"), (kinds.DIVERGENCES, "iid.length_ratio")]


def test_a_key_from_elsewhere_makes_no_dataset_outside(tmp_path: Path) -> None:
    split = {"corpus": "demo-en", "split": {"method": "iid", "k": 2}}
    plan = {"name": "sizes", "datasets": {"iid": split}, "measure": {"k": [2]}}
    comdiv.run(write_yaml(tmp_path / "plan.yaml", plan), tmp_path / "runs", jobs=1)
    export_results(tmp_path / "runs", tmp_path / "published")
    path = tmp_path / "published" / "sizes.jsonl"
    header, line, *_ = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    up = "/".join([".."] * 20)
    for change in ({"key": f"dataset-x/{up}{tmp_path}/evil"}, {"needs": [f"{up}{tmp_path}/evil"]}):
        path.write_text("".join(compact_json(one) + "\n" for one in (header, {**line, **change})), encoding="utf-8")
        verification = comdiv.verify(tmp_path / "published")
        assert [why for _, why in verification.unchecked if "cannot be part of a path" in why]
    assert not (tmp_path / "evil").exists()


def test_every_number_that_is_committed_follows_from_what_is_committed() -> None:
    results = CLONE / "experiments" / "results"
    ledger = Ledger(results)
    check_published(ledger, results, lambda what, done, total, note: None)
    assert ledger.differences == []
    assert ledger.checked[kinds.NUMBERS] > 1_900
    assert ledger.checked[kinds.COUNTS] > 50_000


def test_a_changed_row_of_the_page_is_noticed_and_every_other_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (CLONE / "docs" / "results.md").read_text(encoding="utf-8").splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if line.startswith("| GTS |"))
    lines[place] = lines[place].replace("| GTS |", "| GTS (ours) |")
    (tmp_path / "results.md").write_text("".join(lines), encoding="utf-8")
    monkeypatch.setattr(verifying, "PAGE", tmp_path / "results.md")
    ledger = Ledger(CLONE)
    verifying.check_page(ledger, CLONE / "experiments" / "results")
    (difference,) = ledger.differences
    assert difference.key == f"line {place + 1}"
    assert difference.found.startswith("| GTS (ours) |")


def test_a_program_that_lies_beside_results_from_elsewhere_is_not_run(published: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(published, clone / "experiments" / "results")
    (clone / "docs" / "_tools").mkdir(parents=True)
    (clone / "docs" / "_tools" / "results_page.py").write_text(f"open({str(tmp_path / 'evil')!r}, 'w')")
    assert found(clone / "experiments" / "results") == []
    assert not (tmp_path / "evil").exists()


# --- a run, a dataset, the verb ---


SMALL = {**{name: value for name, value in SETTINGS.items() if name != "heads"}, "epochs": 1, "threads": 1}


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_dataset(Path("tiny"), Dataset(EIGHT, UNSEEN, UNSEEN), title="tiny")
    comdiv.train("gts", Path("tiny"), Path("runs/gts"), changes=SMALL)
    comdiv.evaluate("tiny", run=Path("runs/gts"))
    return tmp_path / "runs" / "gts"


def test_a_run_with_its_evaluations_is_true_until_something_changes(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(trained) == []
    assert found(trained.parent) == []
    monkeypatch.chdir(trained)
    verification = comdiv.verify(trained / "evaluations" / "tiny", HERE)
    assert verification.is_true
    assert any("are not here" in why for _, why in verification.unchecked)  # an evaluation alone lacks its problems
    train = trained.parents[1] / "tiny" / "train.jsonl"
    train.write_text(train.read_text(encoding="utf-8").replace("has", "had", 1), encoding="utf-8")
    (line,) = found(trained)
    assert "train.jsonl: data of" in line
    (trained / "evaluations" / "tiny" / "predictions.jsonl").write_text("", encoding="utf-8")
    assert len(found(trained)) > 1


def test_an_evaluation_of_several_runs_together_is_checked_too(trained: Path) -> None:
    comdiv.train("gts", Path("tiny"), Path("runs/second"), changes={**SMALL, "seed": 1})
    comdiv.evaluate("tiny", run=[Path("runs/gts"), Path("runs/second")])
    verification = comdiv.verify(trained, HERE)
    assert verification.differences == ()
    assert any("an ensemble's other runs" in why for _, why in verification.unchecked)
    change_json(trained / "evaluations" / "tiny-with-second" / "result.json", lambda r: r.update(n=99))
    assert len(found(trained)) > 0


def test_a_dataset_is_true_and_its_corpus_is_looked_up(tmp_path: Path) -> None:
    run("split", "demo-en", "--out", tmp_path / "data", "--method", "iid", "--k", "2")
    whole = comdiv.verify(tmp_path / "data")
    assert whole.is_true
    assert whole.checked[kinds.PARTS] > 4
    change_json(tmp_path / "data" / "dataset.json", lambda r: r["source"].update(sha256="0" * 64))
    (difference,) = comdiv.verify(tmp_path / "data").differences
    assert (difference.file, difference.key, difference.found) == ("dataset.json", "source.sha256", "0" * 64)


def test_the_verb_has_an_exit_code_a_table_and_json(trained: Path) -> None:
    from comdiv.cli import app

    result = run("verify", trained)
    assert "hashes of files" in result.stdout
    assert "0 differences" in result.stdout
    change_json(trained / "evaluations" / "tiny" / "result.json", lambda r: r.update(n=99))
    wrong = RUNNER.invoke(app, ["verify", str(trained)])
    assert wrong.exit_code == 1
    assert "result.json: n: expected 2, found 99" in " ".join(wrong.stdout.split())
    told = RUNNER.invoke(app, ["verify", str(trained), "--json"])
    assert told.exit_code == 1
    record = json.loads(told.stdout)
    assert record["true"] is False
    assert {"what", "file", "key", "expected", "found"} == record["differences"][0].keys()


def test_what_is_nothing_of_ours_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ComdivError, match="neither published results nor a folder of runs"):
        comdiv.verify(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ComdivError, match=r"there is no folder experiments/results: name what to verify"):
        comdiv.verify()
