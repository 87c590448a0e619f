"""What Every Eval Ever 0.3.0 asks of the fields that we write, in our own words: a record and a sample, strictly.

The record follows the published `eval.schema.json` of version 0.3.0, the checks of its validator, and the rules for the
paths and hashes of records. The sample follows `instance_level_eval.schema.json` 0.2.2 and the rules for samples of the
time of 0.3.0: its own 0.3.0 text could not be read. Both are stricter than the originals: a field that we do not mean
to write is refused.
"""

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
DETAILS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}  # every value is a text
SAMPLES_PATH = (
    "^data/[^/]+/[^/]+/[^/]+/"
    "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}_samples\\.jsonl$"
)


def strict(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    properties = {**required, **optional}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


UNCERTAINTY = strict(
    {},
    confidence_interval=strict(
        {"lower": NUMBER, "upper": NUMBER}, confidence_level={**NUMBER, "minimum": 0, "maximum": 1}, method=TEXT
    ),
    num_samples=WHOLE,
)
METRIC = strict(
    {  # a continuous score needs both bounds
        "lower_is_better": {"type": "boolean"}, "score_type": {"const": "continuous"},
        "min_score": NUMBER, "max_score": NUMBER,
    },
    evaluation_description=TEXT, metric_id=TEXT, metric_name=TEXT, metric_kind=TEXT, metric_unit=TEXT,
)  # fmt: skip
SOURCE_DATA = {
    "oneOf": [
        strict(
            {"dataset_name": TEXT, "source_type": {"const": "url"}, "url": {**TEXTS, "minItems": 1}},
            additional_details=DETAILS,
        ),
        strict(
            {"dataset_name": TEXT, "source_type": {"const": "hf_dataset"}},
            hf_repo=TEXT, hf_split=TEXT, samples_number=WHOLE, sample_ids=TEXTS, additional_details=DETAILS,
        ),
        strict({"dataset_name": TEXT, "source_type": {"const": "other"}}, additional_details=DETAILS),
    ]
}  # fmt: skip
GENERATION = strict(
    {},
    generation_args=strict({}, temperature=NUMBER, top_p=NUMBER, max_tokens={"type": "integer", "minimum": 1}),
    additional_details=DETAILS,
)
RECORD = strict(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "retrieved_timestamp": {"type": "string", "pattern": "^[0-9]+$"},
        "source_metadata": strict(
            {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "source_organization_name": TEXT,
                "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
            },
            source_name=TEXT,
        ),
        "model_info": strict(
            {
                "name": TEXT,
                "id": {"type": "string", "pattern": "^[^/]+(/[^/]+)+$"},  # the path is made of it
                "additional_details": strict(
                    {
                        "deployment_type": {"enum": ["self_deployed", "externally_managed", "unknown"]},
                        "model_availability": {"enum": ["open_weights", "closed_weights", "unknown"]},
                    }
                ),
            },
            developer=TEXT,
        ),
        "eval_library": strict({"name": TEXT, "version": TEXT}),
        "evaluation_results": {
            "type": "array",
            "minItems": 1,
            "items": strict(
                {
                    "evaluation_name": TEXT,
                    "source_data": SOURCE_DATA,
                    "metric_config": METRIC,
                    "score_details": strict({"score": NUMBER}, uncertainty=UNCERTAINTY),
                },
                evaluation_result_id=TEXT,
                generation_config=GENERATION,
            ),
        },
    },
    evaluation_timestamp=TEXT,
    detailed_evaluation_results=strict(
        {
            "format": {"const": "jsonl"},
            "file_path": {"type": "string", "pattern": SAMPLES_PATH},
            "hash_algorithm": {"const": "sha256"},  # the schema knows md5, too; its validator takes this alone
            "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "total_rows": {"type": "integer", "minimum": 1},
        }
    ),
)
SAMPLE = strict(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "model_id": TEXT,
        "evaluation_name": TEXT,
        "sample_id": TEXT,
        "interaction_type": {"const": "single_turn"},
        "input": strict({"raw": TEXT, "reference": TEXTS}),
        "output": strict({"raw": TEXTS}),
        "answer_attribution": {
            "type": "array",
            "items": strict(
                {
                    "turn_idx": WHOLE,
                    "source": TEXT,
                    "extracted_value": TEXT,
                    "extraction_method": TEXT,
                    "is_terminal": {"type": "boolean"},
                }
            ),
        },
        "evaluation": strict({"score": NUMBER, "is_correct": {"type": "boolean"}}),
    },
    evaluation_result_id=TEXT,
    sample_hash={"type": "string", "pattern": "^[0-9a-f]{64}$"},
    messages={"type": "null"},
    error=TEXT,
)
