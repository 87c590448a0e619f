"""From a model's replies to one problem to a prediction: each reply's answer, the majority, and its confidence."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from comdiv.asking.endpoint import Reply
from comdiv.evaluation.outcomes import resolve
from comdiv.evaluation.predictions import Prediction
from comdiv.expression import format_number
from comdiv.problem import Problem
from comdiv.reading import Reading, read

_SMALLEST = 1e-12  # in place of the probability 0, which has no logarithm
_WRAPPING = "`*$ \t.。;；"


def prediction_of(problem: Problem, reply: Reply, prompt: Literal["direct", "steps", "program"]) -> Prediction:
    """One reply as a prediction, with the value of its expression."""
    if prompt != "program":
        prediction = Prediction.from_json({"id": problem.id, "output": reply.text})
    else:
        prediction = _program(problem.id, reply.text)
    if prediction.unreadable and reply.finish == "length":
        prediction = replace(prediction, reason="the answer was cut off: raise --max-tokens")
    return resolve(replace(prediction, log_probability=reply.log_probability, extra={}), read(problem).values)


def _program(name: str, text: str) -> Prediction:
    """The last line that is an expression, bare or after a label such as `Expression:`; else an ill-formed one."""
    lines = [line.strip(_WRAPPING) for line in text.replace("：", ":").splitlines()]
    lines = [line for line in lines if line]
    for line in reversed(lines):
        for part in dict.fromkeys([line, line.rpartition(":")[2].strip(_WRAPPING)]):
            prediction = Prediction.from_json({"id": name, "expression": part})
            if prediction.expression is not None:
                return prediction
    last_line = lines[-1] if lines else ""
    return Prediction.from_json({"id": name, "expression": last_line} if last_line else {"id": name})


def majority(problem: Problem, replies: Sequence[Reply], prompt: Literal["direct", "steps", "program"]) -> Prediction:
    """The answer that most replies give, the earliest of equals, with the reply's words and the votes in `extra`.

    A reply without an answer has no vote, and is taken only if there are no others.
    """
    predictions = [prediction_of(problem, reply, prompt) for reply in replies]
    answers = [prediction.answer for prediction in predictions]
    given = [answer for answer in answers if answer is not None]
    best = max(dict.fromkeys(given), key=given.count, default=None)
    winner = answers.index(best)
    agreeing = [answer == best for answer in answers]
    votes = {} if len(replies) == 1 else {"votes": _votes(given), "samples": len(replies)}
    extra = {"words": replies[winner].text, "finish": replies[winner].finish, **votes}
    sure = None if best is None else confidence_in(replies, agreeing)
    return replace(predictions[winner], log_probability=sure, extra=extra)


def _votes(answers: Sequence[object]) -> dict[str, int]:
    counts = {format_number(answer): answers.count(answer) for answer in dict.fromkeys(answers)}  # type: ignore[arg-type]
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def confidence_in(replies: Sequence[Reply], agreeing: Sequence[bool]) -> float:
    """The log-probability of an answer, from the replies that agree on it and those that do not.

    If the endpoint gives probabilities: that of all distinct wordings that agree. Where none does, what the others
    leave, but at most the share of one further reply. Otherwise: the share of the votes, with half a vote added for
    and against, so that one reply is not a certainty.
    """
    n = len(replies)
    if any(reply.log_probability is None for reply in replies):
        return math.log((sum(agreeing) + 0.5) / (n + 1))
    wordings = {
        reply.text: (reply.log_probability or 0.0, agrees) for reply, agrees in zip(replies, agreeing, strict=True)
    }
    shares = {side: sum(math.exp(lp) for lp, agrees in wordings.values() if agrees == side) for side in (True, False)}
    if any(agreeing):
        return math.log(min(1.0, max(shares[True], _SMALLEST)))
    return math.log(min(1 / (n + 1), max(1 - shares[False], _SMALLEST)))


def own_confidence(reading: Reading, replies: Sequence[Reply], predictions: Sequence[Prediction]) -> float:
    """The log-probability that the model gives the problem's own answer."""
    agreeing = [prediction.answer is not None and reading.accepts(prediction.answer) for prediction in predictions]
    return confidence_in(replies, agreeing)
