"""Evaluations as records of Every Eval Ever: valid, and with their samples linked by hash."""

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.evaluation import Prediction, evaluate_predictions, gold_answer, write_result
from comdiv.exchange.every_eval_ever import EveryEvalEverSettings, export_every_eval_ever
from comdiv.problem import write_problems
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


def test_records_are_valid_and_link_their_samples(run_folder: Path, tmp_path: Path) -> None:
    settings = EveryEvalEverSettings(model="me/gts", organization="A lab", test=str(tmp_path / "toys.jsonl"))
    export_every_eval_ever(run_folder, tmp_path / "out", settings)
    record = json.loads((tmp_path / "out/toys.json").read_text(encoding="utf-8"))
    jsonschema.validate(record, RECORD)
    linked = record["detailed_evaluation_results"]
    content = (tmp_path / "out" / linked["file_path"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == linked["checksum"]
    samples = [json.loads(line) for line in content.splitlines()]
    for sample in samples:
        jsonschema.validate(sample, SAMPLE)
        assert sample["evaluation_id"] == record["evaluation_id"]
        assert sample["input"]["reference"]
    assert len(samples) == linked["total_rows"] == 6
    score = record["evaluation_results"][0]["score_details"]["score"]
    assert score == pytest.approx(sum(sample["evaluation"]["score"] for sample in samples) / 6)


def test_texts_come_along_only_when_the_problems_are_named(run_folder: Path, tmp_path: Path) -> None:
    facts = export_every_eval_ever(run_folder / "evaluations" / "toys", tmp_path / "out")
    assert facts["evaluations"] == {"toys": 6}
    for line in (tmp_path / "out/toys_samples.jsonl").read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        jsonschema.validate(sample, SAMPLE)
        assert sample["input"] == {"raw": f"problem {sample['sample_id']} of toys", "reference": []}


def test_a_folder_without_an_evaluation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="has no evaluation"):
        export_every_eval_ever(tmp_path, tmp_path / "out")
