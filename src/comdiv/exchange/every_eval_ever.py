"""Evaluations of a run as records of Every Eval Ever (schema 0.3.0): one file per evaluation, and one with its samples.

The files are laid out as that datastore expects: `data/COLLECTION/DEVELOPER/MODEL/UUID.json`, and beside it
`UUID_samples.jsonl`, linked by path and SHA-256. The problems' texts are included only if the user names the test
problems, because many corpora may not be passed on.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from comdiv.corpora.corpus_options import load_test
from comdiv.errors import ComdivError, shortened
from comdiv.evaluation import Prediction, gold_answer, read_predictions
from comdiv.evaluation.predictions import OUTPUT_KEYS
from comdiv.exchange.exports import Export, ExportSource, Facts, check_target, write_export
from comdiv.expression import format_number, to_infix
from comdiv.files import file_sha256, path_part, write_json_lines, write_text
from comdiv.loading import load_object, validate
from comdiv.observer import Observer
from comdiv.problem import Problem
from comdiv.settings import Settings

SCHEMA = "0.3.0"
_RESULT, _PREDICTIONS = "result.json", "predictions.jsonl"
_HUB = "hf:"
_SAID = ("words", *OUTPUT_KEYS)  # where a prediction has what the model said
_GENERATION = ("temperature", "top_p", "max_tokens")  # what the schema names; the rest are further details
_DETAILS = ("prompt", "shots", "samples", "seed")


class EveryEvalEverSettings(Settings):
    """Whose model it is, who evaluated it, and where the problems are: what the files of a run do not say."""

    model: str | None = Field(
        None, description="The model as DEVELOPER/NAME; by default the model that was asked, if it is named so."
    )
    organization: str = Field("not stated", description="Who evaluated.")
    relationship: Literal["first_party", "third_party", "collaborative", "other"] = Field(
        "other", description="The evaluator's relationship to the model."
    )
    deployment: Literal["self_deployed", "externally_managed", "unknown"] = Field(
        "unknown", description="Who ran the model: the evaluator, or a provider."
    )
    weights: Literal["open_weights", "closed_weights", "unknown"] = Field(
        "unknown", description="Whether the model's weights are public."
    )
    dataset: str | None = Field(
        None, description="Where the test problems are published: hf:OWNER/NAME, or an address."
    )
    test: str | None = Field(None, description="The test problems; without them, samples have ids but no texts.")

    @field_validator("dataset")
    @classmethod
    def _published(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith((_HUB, "http://", "https://")):
            raise ValueError("not a place: hf:OWNER/NAME, or an address that begins with https://")
        return value


@dataclass(frozen=True, slots=True)
class _ModelEvaluation:
    """One evaluation of a model, and how it is called in the record and in its samples."""

    name: str
    model: str
    time: str  # when its result was written, in seconds

    @property
    def identity(self) -> str:
        """The id of the evaluation, the same in the record and in every sample."""
        return f"{self.name}/{self.model}/{self.time}"

    @property
    def folder(self) -> str:
        """The one folder in which the datastore looks for it."""
        developer, _, model = self.model.partition("/")
        parts = {"the evaluation": self.name, "the developer": developer, "the model": model.replace("/", "_")}
        for what, part in parts.items():
            if part == "data":
                raise ComdivError(f"{what} 'data' has a name that the datastore reserves")
        return "/".join(["data", *(path_part(part.replace(":", "_"), what) for what, part in parts.items())])


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
    results = {folder: _result_of(folder / _RESULT) for folder in folders}
    model = _model(chosen, run, results.values())
    problems = {} if chosen.test is None else {problem.id: problem for problem in load_test(chosen.test).problems}

    def make(staging: Path) -> dict[str, Any]:
        sizes = {}
        for folder, result in results.items():
            time = str(int((folder / _RESULT).stat().st_mtime))
            evaluation = _ModelEvaluation(folder.resolve().name, model, time)
            predictions = read_predictions(folder / _PREDICTIONS)
            rows = [_sample(one, problems.get(one.id), evaluation) for one in predictions]
            unnamed = staging / "samples.jsonl"
            sizes[evaluation.name] = write_json_lines(unnamed, rows)
            checksum = file_sha256(unnamed)
            number = hashlib.sha256(f"{evaluation.identity} {checksum}".encode()).digest()
            stem = f"{evaluation.folder}/{UUID(bytes=number[:16], version=4)}"
            samples = f"{stem}_samples.jsonl"
            (staging / samples).parent.mkdir(parents=True, exist_ok=True)
            unnamed.rename(staging / samples)
            record = _record(result, chosen, evaluation)
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": samples,
                "hash_algorithm": "sha256",
                "checksum": checksum,
                "total_rows": len(rows),
            }
            write_text(staging / f"{stem}.json", json.dumps(record, ensure_ascii=False, indent=2) + "\n")
        return {"target": "every-eval-ever", "schema": SCHEMA, "model": model, "evaluations": sizes}

    return write_export(out, make, force=force)


Portion = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=10**9)]


class _PartResult(BaseModel):
    """A part of an evaluation; an empty one has neither an accuracy nor an interval."""

    n: Count
    accuracy: Portion | None = None
    interval: tuple[Portion, Portion] | None = None

    @model_validator(mode="after")
    def _has_an_interval(self) -> "_PartResult":
        if self.accuracy is not None and self.interval is None:
            raise ValueError("an accuracy without an interval")
        return self


class _Asked(BaseModel):
    """How a language model was asked."""

    model_config = ConfigDict(allow_inf_nan=False)

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: Count | None = None


class _Result(BaseModel):
    """What we need of a `result.json`."""

    n: Count
    answer_accuracy: Portion
    interval: tuple[Portion, Portion]
    subsets: dict[str, _PartResult] | None = None
    test: dict[str, Any] | None = None
    asked: _Asked | None = None
    versions: dict[str, str] = {}


def _result_of(path: Path) -> dict[str, Any]:
    """An evaluation, checked as far as we need it: a run may come from anywhere."""
    result = load_object(path)
    validate(result, _Result, str(path))
    return result


def _model(settings: EveryEvalEverSettings, run: Path, results: Iterable[Mapping[str, Any]]) -> str:
    """The model as DEVELOPER/NAME: the datastore files nothing under an unknown developer."""
    asked = {str((result.get("asked") or {}).get("model", "")) for result in results}
    model = settings.model or (asked.pop() if len(asked) == 1 else "")
    developer, _, name = model.partition("/")
    if not name or not all(model.split("/")) or developer.lower() == "unknown":
        said = f"'{shortened(model)}' does not say" if model else f"{run} does not say"
        raise ComdivError(f"{said} whose model it is: name it with --model DEVELOPER/NAME")
    return model


def _record(result: Mapping[str, Any], settings: EveryEvalEverSettings, evaluation: _ModelEvaluation) -> dict[str, Any]:
    name = evaluation.name
    parts = {
        name: {**result, "accuracy": result["answer_accuracy"]},
        **{f"{name}: {part}": share for part, share in (result.get("subsets") or {}).items()},
    }
    developer, _, model = evaluation.model.partition("/")
    generation = _generation(result.get("asked") or {})
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation.identity,
        "evaluation_timestamp": evaluation.time,
        "retrieved_timestamp": evaluation.time,
        "source_metadata": {
            "source_name": "comdiv",
            "source_type": "evaluation_run",
            "source_organization_name": settings.organization,
            "evaluator_relationship": settings.relationship,
        },
        "eval_library": {"name": "comdiv", "version": str(result.get("versions", {}).get("comdiv", "unknown"))},
        "model_info": {
            "name": model,
            "id": evaluation.model,
            "developer": developer,
            "additional_details": {"deployment_type": settings.deployment, "model_availability": settings.weights},
        },
        "evaluation_results": [
            {**_result(part, share, _source(result.get("test") or {}, settings, name, share)), **generation}
            for part, share in parts.items()
            if share.get("accuracy") is not None
        ],
    }


def _source(
    test: Mapping[str, Any], settings: EveryEvalEverSettings, name: str, share: Mapping[str, Any]
) -> dict[str, Any]:
    """The problems: a dataset of the hub, an address, or neither."""
    source = {
        "dataset_name": str(test.get("name", name)), "additional_details": {"version": str(test.get("version") or "")}
    }  # fmt: skip
    if settings.dataset is None:
        return {**source, "source_type": "other"}
    if not settings.dataset.startswith(_HUB):
        return {**source, "source_type": "url", "url": [settings.dataset]}
    repository = settings.dataset.removeprefix(_HUB)
    return {
        **source, "source_type": "hf_dataset", "hf_repo": repository, "hf_split": "test", "samples_number": share["n"]
    }  # fmt: skip


def _generation(asked: Mapping[str, Any]) -> dict[str, Any]:
    """How a language model's answers were drawn; nothing for solvers that are not asked."""
    arguments = {name: asked[name] for name in _GENERATION if asked.get(name) is not None}
    details = {name: str(asked[name]) for name in _DETAILS if name in asked}
    return {"generation_config": {"generation_args": arguments, "additional_details": details}} if asked else {}


def _result(name: str, share: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    low, high = share["interval"]
    return {
        "evaluation_result_id": name,
        "evaluation_name": name,
        "source_data": source,
        "metric_config": {
            "evaluation_description": "Share of problems whose answer is right: exactly if it is a whole number, "
            "otherwise within 0.0001 relative.",
            "metric_id": "accuracy",
            "metric_name": "accuracy",
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
                "confidence_interval": {"lower": low, "upper": high, "confidence_level": 0.95, "method": "Wilson"},
                "num_samples": share["n"],
            },
        },
    }


def _sample(prediction: Prediction, problem: Problem | None, evaluation: _ModelEvaluation) -> dict[str, Any]:
    gold = None if problem is None else gold_answer(problem)
    name = evaluation.name
    shown = {
        "raw": f"problem {prediction.id} of {name}" if problem is None else problem.text,
        "reference": [] if gold is None else [format_number(gold)],
    }
    answer = None if prediction.answer is None else format_number(prediction.answer)
    right = bool(prediction.right)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation.identity,
        "model_id": evaluation.model,
        "evaluation_name": name,
        "evaluation_result_id": name,
        "sample_id": prediction.id,
        "sample_hash": sample_hash(shown),
        "interaction_type": "single_turn",
        "input": shown,
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


def sample_hash(shown: Mapping[str, Any]) -> str:
    """What tells equal samples of different models: the hash that everybody's records have, spelled as they do."""
    return hashlib.sha256(json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _words(prediction: Prediction, answer: str | None) -> str:
    """What the model said; of a solver, its expression."""
    said = next((prediction.extra[key] for key in _SAID if prediction.extra.get(key)), None)
    if said is not None:
        return str(said)
    return to_infix(prediction.expression) if prediction.expression is not None else answer or ""


class EveryEvalEverExport(Export):
    """The evaluations of a run as records of Every Eval Ever (schema 0.3.0), with their samples."""

    settings = EveryEvalEverSettings
    example = "comdiv export every-eval-ever runs/qwen --out shared --model Qwen/Qwen3-8B --organization 'My lab'"
    folder_help = "A run with evaluations, or one evaluation (a folder with result.json)."

    def write(
        self, source: ExportSource, out: Path, settings: EveryEvalEverSettings, *, force: bool, observer: Observer
    ) -> Facts:
        if settings.organization == "not stated":
            observer.note("the record does not say who evaluated; add --organization NAME")
        return export_every_eval_ever(source.path, out, settings, force=force)

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        return [f"{name}: {rows:,} samples" for name, rows in facts["evaluations"].items()]
