"""What Every Eval Ever asks of the fields that we write, in our own words: a record and a sample, strictly.

Written from the published schema 0.2.2 and the rules of its migration to 0.3.0, not from the text of schema 0.3.0.
"""

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
DETAILS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}


def strict(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    properties = {**required, **optional}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


UNCERTAINTY = strict(
    {},
    confidence_interval=strict({"lower": NUMBER, "upper": NUMBER}, confidence_level=NUMBER, method=TEXT),
    num_samples={"type": "integer"},
)
METRIC = strict(
    {
        "lower_is_better": {"type": "boolean"}, "score_type": {"const": "continuous"},
        "min_score": NUMBER, "max_score": NUMBER,
    },
    evaluation_description=TEXT, metric_id=TEXT, metric_name=TEXT, metric_kind=TEXT, metric_unit=TEXT,
)  # fmt: skip
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
                "id": TEXT,
                "additional_details": {**DETAILS, "required": ["deployment_type", "model_availability"]},
            }
        ),
        "eval_library": strict({"name": TEXT, "version": TEXT}),
        "evaluation_results": {
            "type": "array",
            "minItems": 1,
            "items": strict(
                {
                    "evaluation_name": TEXT,
                    "source_data": strict(
                        {"dataset_name": TEXT, "source_type": {"const": "other"}}, additional_details=DETAILS
                    ),
                    "metric_config": METRIC,
                    "score_details": strict({"score": NUMBER}, uncertainty=UNCERTAINTY),
                },
                evaluation_result_id=TEXT,
            ),
        },
    },
    detailed_evaluation_results=strict(
        {
            "format": {"enum": ["jsonl", "json"]},
            "file_path": TEXT,
            "hash_algorithm": {"enum": ["sha256", "md5"]},
            "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "total_rows": {"type": "integer"},
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
                    "turn_idx": {"type": "integer", "minimum": 0},
                    "source": TEXT,
                    "extracted_value": TEXT,
                    "extraction_method": TEXT,
                    "is_terminal": {"type": "boolean"},
                }
            ),
        },
        "evaluation": strict({"score": NUMBER, "is_correct": {"type": "boolean"}}),
    },
    sample_hash=TEXT,
    messages={"type": "null"},
    error=TEXT,
)
