"""Problems as flat rows, for tables that want one type a column: Hugging Face datasets, data frames, SQL.

The record of a corpus has keys that come and go and a nested `provenance`; a row has the same columns always, with the
nested parts as JSON texts and a few columns that people would otherwise compute. `restored_record` undoes it.
"""

import json
from collections.abc import Mapping
from typing import Any

from comdiv.expression import ExpressionError, evaluate, format_number, operator_count, template, to_infix
from comdiv.language import get_language
from comdiv.problem import KEYS, Problem, parse_json

# name → type, as Hugging Face calls them; `composition` is structural or lexical in a synthesised set (§III-B)
COLUMNS = {
    "id": "string",
    "language": "string",
    "text": "string",
    "expression": "string",
    "equation": "string",
    "answer": "string",
    "value": "float64",
    "template": "string",
    "operators": "int32",
    "composition": "string",
    "number_words": "bool",
    "provenance": "string",
    "extra": "string",
    "canary": "string",
}
_GREATEST = 10**300  # a float ends a little above; exact answers do not
_COMPUTED = ("equation", "value", "template", "operators", "canary")


def flat_row(problem: Problem, canary: str = "") -> dict[str, Any]:
    """The row of a problem: every column, in order. `equation` is the expression over the numbers themselves."""
    extra = dict(problem.extra)
    composition = extra.pop("composition", None)
    if composition is not None and not isinstance(composition, str):
        extra["composition"], composition = composition, None
    expression, answer = problem.expression, problem.answer
    return {
        "id": problem.id,
        "language": problem.language,
        "text": problem.text,
        "expression": None if expression is None else to_infix(expression),
        "equation": equation_over_numbers(problem),
        "answer": None if answer is None else format_number(answer),
        "value": None if answer is None or abs(answer) > _GREATEST else float(answer),
        "template": None if expression is None else template(expression),
        "operators": None if expression is None else operator_count(expression),
        "composition": composition,
        "number_words": problem.number_words,
        "provenance": json.dumps(problem.provenance.to_json(), ensure_ascii=False),
        "extra": json.dumps(extra, ensure_ascii=False),
        "canary": canary,
    }


def equation_over_numbers(problem: Problem) -> str | None:
    """The expression with the text's numbers in the places of `N0`, `N1`…: `3*12`; None where it has no value."""
    if problem.expression is None:
        return None
    quantities = get_language(problem.language).quantities(problem.text, number_words=problem.number_words)
    values = [quantity.value for quantity in quantities]
    try:
        evaluate(problem.expression, values)
    except ExpressionError:
        return None

    def written(index: int) -> str:
        number = format_number(values[index])
        return f"({number})" if "/" in number or number.startswith("-") else number

    return to_infix(problem.expression, written)


def restored_record(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record of a flat row; any other record as it is. What only the table needed is gone."""
    if not isinstance(record.get("provenance"), str):
        return record
    plain = {key: value for key, value in record.items() if key not in (*_COMPUTED, "extra") and value is not None}
    try:
        plain["provenance"] = parse_json(record["provenance"] or "{}")
        extra = parse_json(record.get("extra") or "{}")
    except ValueError:
        return record  # not a row of ours: the reader says what is wrong with it
    return {**plain, **{key: value for key, value in extra.items() if key not in KEYS}}
