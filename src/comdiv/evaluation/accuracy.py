"""How good predictions are: answer accuracy with its interval, its parts, and the gap between two test sets.

On disk, an evaluation is `predictions.jsonl` with the values of expressions and `result.json` with versions and hashes.
"""

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError
from comdiv.evaluation.chains import Chain, ChainResult, evaluate_chains
from comdiv.evaluation.outcomes import Outcome, gold_answer, outcomes_of
from comdiv.evaluation.predictions import Prediction, write_predictions
from comdiv.evaluation.significance import Interval, Share, wilson_interval
from comdiv.expression import local_structures, operator_count, structures_of, template
from comdiv.files import file_sha256, write_text
from comdiv.problem import Problem

UNKNOWN = "unknown"  # the part of the problems without a gold expression
STRUCTURES = KNOWN, NEW, NO_PAIR = "all seen", "one unseen", "one operator"  # of the local structures of a problem
FAILURES = ("ill_formed", "undefined", "unreadable", "missing")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result on one test set. Every problem counts, and those in `counts` as wrong: `ill_formed`, `undefined`,
    `unreadable`, `missing`. It also has predictions for unknown ids and problems without a gold answer.

    `expression_accuracy` ignores order and grouping of operands, over the problems with a gold expression; None if
    there are none, or no expression was predicted. `by_template_seen` is None if the training templates are unknown.
    `outcomes` has one outcome per problem, in order, for comparisons and subsets.
    """

    answers: Share
    expressions: Share | None
    counts: Mapping[str, int]
    by_operator_count: Mapping[str, Share]
    by_template_seen: Mapping[str, Share] | None = None
    subsets: Mapping[str, Share] = field(default_factory=dict)
    chains: Sequence[ChainResult] = ()
    outcomes: Sequence[Outcome] = field(default=(), repr=False, compare=False)

    @property
    def right(self) -> dict[str, bool]:
        """By id, whether the answer to a problem is right: the input of paired tests."""
        return {outcome.id: outcome.right for outcome in self.outcomes}

    @property
    def n(self) -> int:
        """The number of test problems."""
        return self.answers.n

    @property
    def correct(self) -> int:
        """The number of problems with the right answer."""
        return self.answers.correct

    @property
    def answer_accuracy(self) -> float:
        """The share of problems with the right answer."""
        return self.correct / self.n

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the answer accuracy."""
        return wilson_interval(self.correct, self.n)

    @property
    def expression_accuracy(self) -> float | None:
        """The share of predicted expressions that are equivalent to the gold one."""
        return self.expressions.accuracy if self.expressions else None

    def to_json(self) -> dict[str, Any]:
        """The record in `result.json`."""
        record: dict[str, Any] = {
            "answer_accuracy": self.answer_accuracy,
            "interval": list(self.interval),
            "n": self.n,
            "correct": self.correct,
            "expression_accuracy": self.expression_accuracy,
            "expression_n": self.expressions.n if self.expressions else 0,
            **{kind: self.counts[kind] / self.n for kind in FAILURES},
            "counts": dict(self.counts),
            "by_operator_count": _parts_json(self.by_operator_count),
        }
        if self.by_template_seen is not None:
            record["by_template_seen"] = _parts_json(self.by_template_seen)
        if self.subsets:
            record["subsets"] = _parts_json(self.subsets)
        if self.chains:
            record["chains"] = [result.to_json() for result in self.chains]
        return record


def evaluate_predictions(
    problems: Sequence[Problem],
    predictions: Sequence[Prediction],
    training_templates: Collection[str] | None = None,
    subsets: Mapping[str, Collection[str]] | None = None,
    chains: Sequence[Chain] | None = None,
) -> Evaluation:
    """Compare every problem's prediction with its answer, and count.

    `subsets` are named sets of ids that are reported separately; `chains` are composed problems with their parts.
    Problems of a synthetic dataset say which `composition` they test: each composition is a subset of its own.
    """
    outcomes = outcomes_of(problems, predictions)
    counts = Counter(outcome.kind for outcome in outcomes)
    known = {problem.id for problem in problems}
    subsets = {**_compositions(problems), **(subsets or {})}
    seen: dict[str, Share] | None = None
    if training_templates is not None:
        seen = {"seen": Share(0, 0), "unseen": Share(0, 0)}  # both are reported, even where one is empty
        seen |= _shares(outcomes, [_seen(problem, training_templates) for problem in problems])
    return Evaluation(
        answers=_share(outcomes),
        expressions=_expression_share(outcomes, predictions, known),
        counts={
            **{kind: counts[kind] for kind in FAILURES},  # type: ignore[index]
            "unknown_ids": sum(prediction.id not in known for prediction in predictions),
            "without_gold": sum(gold_answer(problem) is None for problem in problems),
        },
        by_operator_count=_shares(outcomes, [_operators(problem) for problem in problems]),
        by_template_seen=seen,
        subsets={name: _subset_share(name, ids, outcomes, known) for name, ids in subsets.items()},
        chains=evaluate_chains(chains, {outcome.id: outcome.right for outcome in outcomes}) if chains else (),
        outcomes=outcomes,
    )


def _compositions(problems: Iterable[Problem]) -> dict[str, list[str]]:
    """The ids by what is new about a problem: its structure, or its words (§III-B)."""
    ids: dict[str, list[str]] = {}
    for problem in problems:
        if problem.composition:
            ids.setdefault(problem.composition, []).append(problem.id)
    return dict(sorted(ids.items(), reverse=True))  # structural before lexical, as in Table III


def templates_of(problems: Iterable[Problem]) -> frozenset[str]:
    """The templates of a training set, for `training_templates` of `evaluate_predictions`."""
    return frozenset(template(problem.expression) for problem in problems if problem.expression is not None)


def structure_parts(test: Iterable[Problem], training_side: Iterable[Problem]) -> dict[str, frozenset[str]]:
    """Ids of test problems by whether all their pairs of operators were seen in training; some have no pair."""
    seen = structures_of(problem.expression for problem in training_side if problem.expression is not None)
    parts: dict[str, set[str]] = {name: set() for name in STRUCTURES}
    for problem in test:
        if problem.expression is not None:
            structures = local_structures(problem.expression)
            parts[NO_PAIR if not structures else KNOWN if structures <= seen else NEW].add(problem.id)
    return {name: frozenset(ids) for name, ids in parts.items()}


def templates_hash(templates: Iterable[str]) -> str:
    """A hash of training templates, which `result.json` keeps: whoever checks it must compare with the same ones."""
    return hashlib.sha256("\n".join(sorted(templates)).encode()).hexdigest()


def relative_gap(iid_accuracy: float, compositional_accuracy: float) -> float | None:
    """How much better a solver is without new compositions: Acc_iid / Acc_comdiv − 1 (Table II); None if undefined."""
    return iid_accuracy / compositional_accuracy - 1 if compositional_accuracy else None


def _share(outcomes: Sequence[Outcome]) -> Share:
    return Share(sum(outcome.right for outcome in outcomes), len(outcomes))


def _shares(outcomes: Sequence[Outcome], parts: Sequence[str]) -> dict[str, Share]:
    """The share of each part, in the order of the parts, the unknown one last."""
    members: dict[str, list[Outcome]] = {}
    for outcome, part in zip(outcomes, parts, strict=True):
        members.setdefault(part, []).append(outcome)
    return {
        part: _share(members[part]) for part in sorted(members, key=lambda part: (part == UNKNOWN, len(part), part))
    }


def _expression_share(
    outcomes: Sequence[Outcome], predictions: Sequence[Prediction], known: Collection[str]
) -> Share | None:
    verdicts = [outcome.expression_right for outcome in outcomes if outcome.expression_right is not None]
    tried = any((p.expression is not None or p.ill_formed) and p.id in known for p in predictions)
    return Share(sum(verdicts), len(verdicts)) if verdicts and tried else None


def _subset_share(name: str, ids: Collection[str], outcomes: Sequence[Outcome], known: Collection[str]) -> Share:
    wanted = set(ids)
    if foreign := sorted(wanted - set(known)):
        raise ComdivError(f"subset '{name}': no test problem has the id '{foreign[0]}' ({len(foreign)} such ids)")
    return _share([outcome for outcome in outcomes if outcome.id in wanted])


def _operators(problem: Problem) -> str:
    return UNKNOWN if problem.expression is None else str(operator_count(problem.expression))


def _seen(problem: Problem, training_templates: Collection[str]) -> str:
    if problem.expression is None:
        return UNKNOWN
    return "seen" if template(problem.expression) in training_templates else "unseen"


def _parts_json(parts: Mapping[str, Share]) -> dict[str, Any]:
    return {name: share.to_json() for name, share in parts.items()}


def write_result(
    folder: Path, predictions: Sequence[Prediction], evaluation: Evaluation, origin: Mapping[str, Any]
) -> None:
    """Write both files; `origin` says what was tested and whose predictions they are.

    `result.json` is written last: a folder that has it is complete.
    """
    from comdiv import __version__

    resolved = {outcome.id: outcome.prediction for outcome in evaluation.outcomes}
    path = folder / "predictions.jsonl"
    (folder / "result.json").unlink(missing_ok=True)
    unjudged = (replace(one, right=None) for one in sorted(predictions, key=lambda one: one.id))
    write_predictions(path, (resolved.get(one.id) or one for one in unjudged))  # others are not in the test set
    result = {
        **evaluation.to_json(),
        **origin,
        "files": {path.name: {"sha256": file_sha256(path)}},
        "versions": {"comdiv": __version__, "python": platform.python_version()},
    }
    write_text(folder / "result.json", json.dumps(result, ensure_ascii=False, indent=2) + "\n")
