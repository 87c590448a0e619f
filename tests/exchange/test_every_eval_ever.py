"""Evaluations as records of Every Eval Ever: valid, and with their samples linked by hash."""

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from asking.endpoint_server import completion, endpoint
from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.evaluation import Prediction, evaluate_predictions, gold_answer, write_result
from comdiv.exchange.every_eval_ever import EveryEvalEverSettings, export_every_eval_ever, sample_hash
from comdiv.problem import write_problems
from command_line import run
from exchange.every_eval_ever_schema import RECORD, SAMPLE


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    problems = list(generate("en", 6))
    said = [Prediction.from_json({"id": p.id, "output": f"The answer is {gold_answer(p)}."}) for p in problems[:4]]
    said.append(Prediction.from_json({"id": problems[4].id, "output": "no idea"}))
    said.append(Prediction.from_json({"id": problems[5].id, "expression": "N0+N0+N0+N0+N0"}))
    evaluation = evaluate_predictions(problems, said)
    write_result(
        tmp_path / "my-run" / "evaluations" / "toys", said, evaluation, {"test": {"name": "toys", "version": "1"}}
    )
    write_problems(tmp_path / "toys.jsonl", problems)
    return tmp_path / "my-run"


def record_in(out: Path) -> tuple[Path, dict[str, Any]]:
    (path,) = [path for path in out.rglob("*.json") if path.name != "export.json"]
    return path, json.loads(path.read_text(encoding="utf-8"))


def samples_of(out: Path, record: dict[str, Any]) -> list[dict[str, Any]]:
    path = out / record["detailed_evaluation_results"]["file_path"]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_records_are_valid_and_link_their_samples(run_folder: Path, tmp_path: Path) -> None:
    settings = EveryEvalEverSettings(model="me/gts", organization="A lab", test=str(tmp_path / "toys.jsonl"))
    export_every_eval_ever(run_folder, tmp_path / "out", settings)
    path, record = record_in(tmp_path / "out")
    jsonschema.validate(record, RECORD)
    assert path.parent == tmp_path / "out/data/toys/me/gts"
    linked = record["detailed_evaluation_results"]
    assert linked["file_path"] == f"data/toys/me/gts/{path.stem}_samples.jsonl"
    content = (tmp_path / "out" / linked["file_path"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == linked["checksum"]
    samples = samples_of(tmp_path / "out", record)
    for sample in samples:
        jsonschema.validate(sample, SAMPLE)
        assert sample["evaluation_id"] == record["evaluation_id"]
        assert sample["model_id"] == record["model_info"]["id"]
        assert sample["evaluation_result_id"] == record["evaluation_results"][0]["evaluation_result_id"]
        assert sample["input"]["reference"]
    assert len(samples) == linked["total_rows"] == 6
    score = record["evaluation_results"][0]["score_details"]["score"]
    assert score == pytest.approx(sum(sample["evaluation"]["score"] for sample in samples) / 6)


def test_the_hash_of_a_sample_is_spelled_as_in_the_records_of_others() -> None:
    text = '{"raw":"Two plus two?","reference":["4"]}'
    assert sample_hash({"reference": ["4"], "raw": "Two plus two?"}) == hashlib.sha256(text.encode()).hexdigest()


def test_the_same_evaluation_gives_the_same_files(run_folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export_every_eval_ever(run_folder, tmp_path / name, EveryEvalEverSettings(model="me/gts"))
    one, two = ({p.relative_to(tmp_path / name) for p in (tmp_path / name).rglob("*")} for name in ("one", "two"))
    assert one == two


def test_texts_come_along_only_when_the_problems_are_named(run_folder: Path, tmp_path: Path) -> None:
    settings = EveryEvalEverSettings(model="me/gts")
    facts = export_every_eval_ever(run_folder / "evaluations" / "toys", tmp_path / "out", settings)
    assert facts["evaluations"] == {"toys": 6}
    for sample in samples_of(tmp_path / "out", record_in(tmp_path / "out")[1]):
        jsonschema.validate(sample, SAMPLE)
        assert sample["input"] == {"raw": f"problem {sample['sample_id']} of toys", "reference": []}


@pytest.mark.parametrize(
    ("place", "source"),
    [
        (None, {"source_type": "other"}),
        ("https://example.org/toys", {"source_type": "url", "url": ["https://example.org/toys"]}),
        (
            "hf:me/toys",
            {"source_type": "hf_dataset", "hf_repo": "me/toys", "hf_split": "test", "samples_number": 6},
        ),
    ],
)
def test_the_record_says_where_the_problems_are(
    run_folder: Path, tmp_path: Path, place: str | None, source: dict[str, Any]
) -> None:
    settings = EveryEvalEverSettings(model="me/gts", dataset=place)
    export_every_eval_ever(run_folder, tmp_path / "out", settings)
    record = record_in(tmp_path / "out")[1]
    jsonschema.validate(record, RECORD)
    told = record["evaluation_results"][0]["source_data"]
    assert told == {"dataset_name": "toys", "additional_details": {"version": "1"}, **source}


def test_a_model_that_was_asked_names_itself_and_how_it_was_asked(tmp_path: Path) -> None:
    problems = list(generate("en", 3))
    write_problems(tmp_path / "toys.jsonl", problems)
    with endpoint(lambda request: completion("I say the answer is 4.")) as server:
        arguments = ["--base-url", server.url, "--model", "Qwen/Qwen3:8B", "--out", tmp_path / "run"]
        run("ask", tmp_path / "toys.jsonl", *arguments, "--temperature", "0.5")
    run("export", "every-eval-ever", tmp_path / "run", "--out", tmp_path / "out", "--deployment", "self_deployed")
    path, record = record_in(tmp_path / "out")
    jsonschema.validate(record, RECORD)
    assert path.parent == tmp_path / "out/data/toys/Qwen/Qwen3_8B"
    assert record["model_info"]["id"] == "Qwen/Qwen3:8B"
    generation = record["evaluation_results"][0]["generation_config"]
    assert generation["generation_args"] == {"temperature": 0.5, "top_p": 1.0, "max_tokens": 512}
    assert generation["additional_details"]["prompt"] == "steps"
    assert samples_of(tmp_path / "out", record)[0]["output"]["raw"] == ["I say the answer is 4."]


@pytest.mark.parametrize("model", [None, "gts", "unknown/gts", "me/", "me//gts"])
def test_a_model_of_nobody_is_refused(run_folder: Path, tmp_path: Path, model: str | None) -> None:
    with pytest.raises(ComdivError, match="whose model it is: name it with --model DEVELOPER/NAME"):
        export_every_eval_ever(run_folder, tmp_path / "out", EveryEvalEverSettings(model=model))
    assert not (tmp_path / "out").exists()


def test_a_folder_without_an_evaluation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="has no evaluation"):
        export_every_eval_ever(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"interval": 3}, "interval"),
        ({"answer_accuracy": "high"}, "answer_accuracy"),
        ({"subsets": {"half": {"n": 1, "accuracy": 2}}}, "subsets.half.accuracy"),
        ({"test": ["toys"]}, "test"),
        ({"asked": "m"}, "asked"),
        ({"asked": {"temperature": float("nan")}}, "asked.temperature"),
        (
            {"subsets": {"half": {"n": 1, "accuracy": 0.5}}},
            r"subsets\.half: .* without an interval",
        ),
        ({"n": 10**200}, "n"),
    ],
)
def test_a_damaged_result_is_refused_in_one_line(
    damage: dict[str, object], message: str, run_folder: Path, tmp_path: Path
) -> None:
    path = run_folder / "evaluations" / "toys" / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with pytest.raises(ComdivError, match=rf"result\.json: {message}"):
        export_every_eval_ever(run_folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()
