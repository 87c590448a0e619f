"""Predictions: what a solver or language model said about each problem, in files of many kinds.

Samples logged by lm-evaluation-harness and logs of Inspect (`.eval`, JSON) are read unchanged.

A record has an `id` and at least one of these; the first one present counts: the model's words (`prediction`, `output`,
`response`, `completion`), an `expression` (over `N0`… or over numbers), an `answer`, a `text`. The model's words come
first because people write them beside the gold `answer` of their data, which must not be scored instead.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from comdiv.corpora.formats import read_records
from comdiv.errors import ComdivError, located
from comdiv.evaluation.answers import extract_answer
from comdiv.evaluation.inspect_logs import inspect_samples
from comdiv.expression import Expression, ExpressionError, format_number, parse_answer, parse_equation, to_infix
from comdiv.files import write_json_lines
from comdiv.solver import Solution

OUTPUT_KEYS = ("prediction", "output", "response", "completion")
_OWN_KEYS = frozenset(["id", "expression", "answer", "log_probability", "ill_formed", "undefined", "right", "reason"])
_FLAGS = {"true": True, "1": True, "false": False, "0": False, "": False}


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction. If there is an expression, it decides; the answer is then its value, once that is known.

    `percent` says that the answer was written as 20 %: it is 0.2, but also right if the gold answer is 20.
    `right` is the outcome of an evaluation; None before one, and in files of older versions.
    `reason` says why a prediction is ill-formed, undefined or unreadable; `extra` keeps the record's other keys.
    """

    id: str
    expression: Expression | None = None
    answer: Fraction | None = None
    log_probability: float | None = None
    ill_formed: bool = False
    undefined: bool = False
    reason: str = ""
    percent: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    right: bool | None = None

    @property
    def unreadable(self) -> bool:
        """Whether there is nothing to judge, not even a failed expression."""
        return self.expression is None and self.answer is None and not self.ill_formed and not self.undefined

    def to_json(self) -> dict[str, Any]:
        """The record in `predictions.jsonl`."""
        record: dict[str, Any] = {"id": self.id}
        record["expression"] = None if self.expression is None else to_infix(self.expression)
        record["answer"] = None if self.answer is None else _written(self.answer, self.percent)
        known = self.log_probability is not None and math.isfinite(self.log_probability)
        record["log_probability"] = self.log_probability if known else None  # JSON has no infinity
        record["ill_formed"] = self.ill_formed
        record["undefined"] = self.undefined
        if self.right is not None:
            record["right"] = self.right
        if self.reason:
            record["reason"] = self.reason
        return {**record, **self.extra}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Prediction":
        """The prediction of a record; what cannot be read goes into `reason`, and only a missing id is an error."""
        extra = {key: value for key, value in record.items() if key not in _OWN_KEYS}
        right = record.get("right")
        blank = cls(
            _id(record),
            log_probability=_log_probability(record),
            right=right if isinstance(right, bool) else None,
            extra=extra,
        )
        for key in OUTPUT_KEYS:
            if not _is_blank(record.get(key)):
                return _from_words(blank, key, record[key])
        bare = replace(
            blank,
            ill_formed=_flag(record, "ill_formed"),
            undefined=_flag(record, "undefined"),
            reason=str(record.get("reason") or ""),
        )
        if not _is_blank(record.get("expression")):
            return _from_expression(bare, record)
        for key in ("answer", "text"):
            if not _is_blank(record.get(key)):
                return _from_words(bare, key, record[key])
        if bare.unreadable and not bare.reason:
            return replace(bare, reason="neither an answer, an expression nor a text")
        return bare

    @classmethod
    def from_solution(cls, problem_id: str, solution: Solution) -> "Prediction":
        """A solver's solution as a prediction, with its hypotheses."""
        hypotheses = [
            {
                "expression": None if hypothesis.expression is None else to_infix(hypothesis.expression),
                "log_probability": hypothesis.log_probability if math.isfinite(hypothesis.log_probability) else None,
            }
            for hypothesis in solution.hypotheses
        ]
        return cls(
            problem_id,
            solution.expression,
            solution.answer,
            solution.log_probability,
            solution.ill_formed,
            solution.undefined,
            extra={"hypotheses": hypotheses} if hypotheses else {},
        )


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """The predictions of a JSON Lines, JSON, CSV or Inspect file, one per record, readable or not; ids are unique."""
    places: dict[str, str] = {}
    predictions = []
    for where, record in inspect_samples(path) or read_records(path):
        with located(where):
            prediction = Prediction.from_json(_logged_sample(record))
        if prediction.id in places:
            raise ComdivError(f"{where}: the id '{prediction.id}' occurs twice, first in {places[prediction.id]}")
        places[prediction.id] = where
        predictions.append(prediction)
    return tuple(predictions)


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> int:
    """Write `predictions.jsonl`, atomically; returns how many."""
    return write_json_lines(path, (prediction.to_json() for prediction in predictions))


def predictions_by_id(predictions: Sequence[Prediction]) -> dict[str, Prediction]:
    """The predictions by their problems' ids; two for one problem are an error."""
    by_id: dict[str, Prediction] = {}
    for prediction in predictions:
        if prediction.id in by_id:
            raise ComdivError(f"there are two predictions with the id '{prediction.id}'")
        by_id[prediction.id] = prediction
    return by_id


def _logged_sample(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record of a sample logged by lm-evaluation-harness: the problem's id and the model's unfiltered words."""
    document, responses = record.get("doc"), record.get("resps")
    if not isinstance(document, dict) or not isinstance(responses, list):
        return record
    words: Any = responses
    while isinstance(words, list):  # one list per request, with one response
        words = words[0] if words else None
    return {"id": document.get("id"), "output": words}


def _from_words(prediction: Prediction, key: str, value: Any) -> Prediction:
    try:
        if isinstance(value, str):
            answer = extract_answer(value)
            return replace(prediction, expression=answer.expression, answer=answer.answer, percent=answer.percent)
        return replace(prediction, answer=parse_answer(value))
    except ExpressionError as error:
        return replace(prediction, reason=f"{key}: {error}")


def _from_expression(prediction: Prediction, record: Mapping[str, Any]) -> Prediction:
    text = record["expression"]
    try:
        if not isinstance(text, str):
            raise ExpressionError(f"a {type(text).__name__}, not a text")
        expression = _parse(text)
    except ExpressionError as error:
        return replace(prediction, ill_formed=True, reason=f"expression '{str(text)[:60]}': {error}")
    try:  # the expression decides: an unreadable answer beside it does not matter
        answer = None if _is_blank(record.get("answer")) else parse_answer(record["answer"])
    except ExpressionError:
        answer = None
    return replace(prediction, expression=expression, answer=answer)


def _parse(text: str) -> Expression:
    """Parse `N0*N1`, `3*12`, `x = 3*12`, or `3*12 = 36`, which merely repeats the result."""
    try:
        return parse_equation(text)
    except ExpressionError:
        left, _, right = text.partition("=")
        if right and "=" not in right:
            try:
                parse_answer(right)
            except ExpressionError:
                pass
            else:
                return parse_equation(left)
        raise


def _written(answer: Fraction, percent: bool) -> str:
    return f"{format_number(answer * 100)}%" if percent else format_number(answer)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _id(record: Mapping[str, Any]) -> str:
    value = record.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        keys = ", ".join(str(key) for key in record)
        raise ComdivError(f"a prediction needs the 'id' of its problem; this record has {keys[:200] or 'no keys'}")
    return str(value)


def _flag(record: Mapping[str, Any], key: str) -> bool:
    value = record.get(key)
    flag = value if value is None or isinstance(value, bool) else _FLAGS.get(str(value).strip().lower(), "")
    if flag == "":
        raise ComdivError(f"'{key}' is {str(value)[:40]!r}, neither true nor false")
    return bool(flag)


def _log_probability(record: Mapping[str, Any]) -> float | None:
    value = record.get("log_probability")
    if _is_blank(value):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        raise ComdivError(f"'log_probability' is {str(value)[:40]!r}, not a number") from error
