"""Evaluations of a run as records of Every Eval Ever (schema 0.3): one file per evaluation, and one with its samples.

The samples are linked by their SHA-256. Texts of the problems come along only if the user names the test problems:
many corpora may not be passed on.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from comdiv.corpora.corpus_options import load_test
from comdiv.errors import ComdivError
from comdiv.evaluation import Prediction, gold_answer, read_predictions
from comdiv.evaluation.predictions import OUTPUT_KEYS
from comdiv.exchange.exports import Export, ExportSource, Facts, Note, check_target, write_export
from comdiv.expression import format_number, to_infix
from comdiv.files import file_sha256, path_part, write_json_lines, write_text
from comdiv.loading import load_object
from comdiv.problem import Problem
from comdiv.settings import Settings

SCHEMA = "0.3.0"
_RESULT, _PREDICTIONS = "result.json", "predictions.jsonl"


class EveryEvalEverSettings(Settings):
    """Whose evaluation it is: what the files of a run do not say."""

    model: str | None = Field(None, description="The model's id, as DEVELOPER/NAME; the run's name by default.")
    organization: str = Field("not stated", description="Who evaluated.")
    relationship: Literal["first_party", "third_party", "collaborative", "other"] = Field(
        "other", description="What the evaluator has to do with the model."
    )
    test: str | None = Field(None, description="The test problems; without them, samples have ids but no texts.")


def export_every_eval_ever(
    run: Path, out: Path, settings: EveryEvalEverSettings | None = None, *, force: bool = False
) -> dict[str, Any]:
    """Write the evaluations of a run folder, or one evaluation folder, as records; return the facts."""
    check_target(out, force=force)
    chosen = settings or EveryEvalEverSettings.checked()
    own = [run] if (run / _RESULT).is_file() else []
    folders = own or sorted(path.parent for path in run.glob(f"evaluations/*/{_RESULT}"))
    if not folders:
        raise ComdivError(f"{run} has no evaluation: `comdiv evaluate` makes one")
    problems = {} if chosen.test is None else {problem.id: problem for problem in load_test(chosen.test).problems}
    model = chosen.model or run.resolve().name

    def make(staging: Path) -> dict[str, Any]:
        sizes = {}
        for folder in folders:
            name = path_part(folder.resolve().name, "the evaluation")
            result = load_object(folder / _RESULT)
            stamp = str(int((folder / _RESULT).stat().st_mtime))
            identity = f"{name}/{model}/{stamp}"
            samples = staging / f"{name}_samples.jsonl"
            rows = (
                _sample(prediction, problems.get(prediction.id), identity, model, name)
                for prediction in read_predictions(folder / _PREDICTIONS)
            )
            sizes[name] = write_json_lines(samples, rows)
            record = _record(result, chosen, identity, model, name, stamp)
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": samples.name,
                "hash_algorithm": "sha256",
                "checksum": file_sha256(samples),
                "total_rows": sizes[name],
            }
            write_text(staging / f"{name}.json", json.dumps(record, ensure_ascii=False, indent=2) + "\n")
        return {"target": "every-eval-ever", "schema": SCHEMA, "model": model, "evaluations": sizes}

    return write_export(out, make, force=force)


def _record(
    result: Mapping[str, Any], settings: EveryEvalEverSettings, identity: str, model: str, name: str, stamp: str
) -> dict[str, Any]:
    test = result.get("test", {})
    parts = {
        name: {**result, "accuracy": result["answer_accuracy"]},
        **{f"{name}: {part}": share for part, share in (result.get("subsets") or {}).items()},
    }
    return {
        "schema_version": SCHEMA,
        "evaluation_id": identity,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "comdiv",
            "source_type": "evaluation_run",
            "source_organization_name": settings.organization,
            "evaluator_relationship": settings.relationship,
        },
        "eval_library": {"name": "comdiv", "version": str(result.get("versions", {}).get("comdiv", "unknown"))},
        "model_info": {
            "name": model.rpartition("/")[2],
            "id": model,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            _result(part, share, str(test.get("name", name)), str(test.get("version", "")))
            for part, share in parts.items()
            if share.get("accuracy") is not None
        ],
    }


def _result(name: str, share: Mapping[str, Any], test: str, version: str) -> dict[str, Any]:
    low, high = share["interval"]
    return {
        "evaluation_result_id": name,
        "evaluation_name": name,
        "source_data": {
            "dataset_name": test, "source_type": "other", "additional_details": {"version": version}
        },
        "metric_config": {
            "evaluation_description": "Share of problems whose answer is right: exactly if it is a whole number, "
            "otherwise within 0.0001 relative.",
            "metric_id": "accuracy",
            "metric_name": "Answer accuracy",
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": share["accuracy"],
            "uncertainty": {
                "confidence_interval": {"lower": low, "upper": high, "confidence_level": 0.95},
                "num_samples": share["n"],
            },
        },
    }  # fmt: skip


def _sample(prediction: Prediction, problem: Problem | None, identity: str, model: str, name: str) -> dict[str, Any]:
    gold = None if problem is None else gold_answer(problem)
    raw = f"problem {prediction.id} of {name}" if problem is None else problem.text
    reference = [] if gold is None else [format_number(gold)]
    answer = None if prediction.answer is None else format_number(prediction.answer)
    right = bool(prediction.right)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": identity,
        "model_id": model,
        "evaluation_name": name,
        "sample_id": prediction.id,
        "sample_hash": hashlib.sha256(json.dumps([raw, reference], ensure_ascii=False).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": reference},
        "output": {"raw": [_words(prediction, answer)]},
        "messages": None,
        "answer_attribution": [] if answer is None else [
            {
                "turn_idx": 0, "source": "output.raw", "extracted_value": answer,
                "extraction_method": "expression" if prediction.expression is not None else "number",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(right), "is_correct": right},
        **({"error": prediction.reason} if prediction.reason else {}),
    }  # fmt: skip


def _words(prediction: Prediction, answer: str | None) -> str:
    """What the model said; of a solver, its expression."""
    said = next((prediction.extra[key] for key in OUTPUT_KEYS if prediction.extra.get(key)), None)
    if said is not None:
        return str(said)
    return to_infix(prediction.expression) if prediction.expression is not None else answer or ""


class EveryEvalEverExport(Export):
    """The evaluations of a run as records of Every Eval Ever (schema 0.3), with their samples."""

    reads = "folder"
    settings = EveryEvalEverSettings
    example = "comdiv export every-eval-ever runs/gts --out shared --organization 'My lab' --test mawps-comdiv"
    folder_help = "A run with evaluations, or one evaluation (a folder with result.json)."

    def write(
        self, source: ExportSource, out: Path, settings: EveryEvalEverSettings, *, force: bool, note: Note, **_: Any
    ) -> Facts:
        if settings.organization == "not stated":
            note("the record does not say who evaluated; name it with --organization")
        return export_every_eval_ever(source.path, out, settings, force=force)

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        return [f"{name}: {rows:,} samples" for name, rows in facts["evaluations"].items()]
