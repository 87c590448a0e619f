"""How far judges agree (§V-D): Cohen's κ for two, Fleiss' for more, the share of good problems, the disagreements.

The paper reports 83 and 84 good of 100, and κ = 0.71. Two judges with these shares agree on an odd number of problems,
so κ can be 0.67 or 0.75, but not 0.71. Every κ here therefore comes with the table that it was computed from.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA, Judgement, judgements_by_judge
from comdiv.evaluation.significance import Interval, wilson_interval

Counts = npt.NDArray[np.int64]
_NO_VARIANCE = 1e-14  # but for rounding
_BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


@dataclass(frozen=True, slots=True)
class Kappa:
    """A κ with what it was computed from. `value` is None if every mark is the same: chance explains everything."""

    value: float | None
    interval: Interval | None
    observed: float  # the share of (pairs of) marks that agree
    expected: float  # the share that would agree by chance
    n: int

    @property
    def band(self) -> str:
        """The usual word for the value (Landis and Koch 1977)."""
        if self.value is None:
            return "undefined"
        if self.value < 0:
            return "poor"
        return next((word for top, word in _BANDS if self.value <= top), "almost perfect")

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        interval = None if self.interval is None else list(self.interval)
        return {
            "kappa": self.value,
            "interval": interval,
            "band": self.band,
            "observed": self.observed,
            "expected": self.expected,
            "n": self.n,
        }


def cohen_kappa(table: Sequence[Sequence[int]], confidence: float = 0.95) -> Kappa:
    """Cohen's κ of a square table: rows are the first judge's categories, columns the second's.

    The interval is the large-sample one (Fleiss, Cohen and Everitt 1969). If its variance is 0 (nothing is disputed, or
    a judge uses only one category), Wilson's interval of the observed agreement takes its place.
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise ValueError("a table of agreement is square and has no negative count")
    n = int(counts.sum())
    if n == 0:
        raise ValueError("a κ of nothing")
    shares = counts / n  # (categories, categories)
    rows, columns = shares.sum(1), shares.sum(0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    if math.isclose(expected, 1.0):
        return Kappa(None, None, observed, expected, n)
    value = (observed - expected) / (1 - expected)
    diagonal = float((np.diag(shares) * ((1 - expected) - (rows + columns) * (1 - observed)) ** 2).sum())
    crossed = (columns[:, None] + rows[None, :]) ** 2 * shares
    beside = (1 - observed) ** 2 * float(crossed.sum() - np.trace(crossed))
    correction = (observed * expected - 2 * expected + observed) ** 2
    variance = (diagonal + beside - correction) / n
    if variance < _NO_VARIANCE:
        agreeing = round(float(np.trace(counts)))
        return Kappa(value, _by_wilson(agreeing, n, expected, confidence), observed, expected, n)
    deviation = math.sqrt(variance) / (1 - expected) ** 2
    return Kappa(value, _around(value, deviation, confidence), observed, expected, n)


def fleiss_kappa(counts: Sequence[Sequence[int]], confidence: float = 0.95) -> Kappa:
    """Fleiss' κ of counts: one row per problem, one column per category, how many judges chose it; equal row sums.

    The interval comes from leaving out each problem in turn (jackknife), which assumes no distribution.
    """
    marks = np.asarray(counts, dtype=np.float64)
    if marks.ndim != 2 or not len(marks):
        raise ValueError("a κ of nothing")
    judges = marks.sum(1)
    if (marks < 0).any() or (judges != judges[0]).any() or judges[0] < 2:
        raise ValueError("every problem needs the same number of judges, at least two")
    n, most = len(marks), float(judges[0])
    agreeing = ((marks**2).sum(1) - most) / (most * (most - 1))  # (problems): pairs of judges that agree
    observed = float(agreeing.mean())
    shares = marks.sum(0) / (n * most)  # (categories)
    expected = float(shares @ shares)
    if math.isclose(expected, 1.0):
        return Kappa(None, None, observed, expected, n)
    value = (observed - expected) / (1 - expected)
    if math.isclose(observed, 1.0):
        return Kappa(value, _by_wilson(n, n, expected, confidence), observed, expected, n)
    if n < 2:
        return Kappa(value, None, observed, expected, n)
    others = (marks.sum(0) - marks) / ((n - 1) * most)  # (problems, categories): shares without that problem
    by_chance = (others**2).sum(1)
    without = (agreeing.sum() - agreeing) / (n - 1)
    settled = by_chance < 1 - 1e-12  # a κ without its only disputed problem is undefined
    left = np.where(settled, (without - by_chance) / np.where(settled, 1 - by_chance, 1.0), value)
    deviation = math.sqrt((n - 1) / n * float(((left - left.mean()) ** 2).sum()))
    return Kappa(value, _around(value, deviation, confidence), observed, expected, n)


def _around(value: float, deviation: float, confidence: float) -> Interval:
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * deviation
    return max(-1.0, value - half), min(1.0, value + half)


def _by_wilson(agreeing: int, n: int, expected: float, confidence: float) -> Interval:
    low, high = ((bound - expected) / (1 - expected) for bound in wilson_interval(agreeing, n, confidence))
    return max(-1.0, low), high


@dataclass(frozen=True, slots=True)
class GoodShare:
    """The number of problems that a judge found good, with Wilson's interval."""

    judge: str
    good: int
    n: int

    @property
    def share(self) -> float:
        return self.good / self.n

    @property
    def interval(self) -> Interval:
        return wilson_interval(self.good, self.n)

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {
            "judge": self.judge,
            "good": self.good,
            "n": self.n,
            "share": self.share,
            "interval": list(self.interval),
        }


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two judges: both good, only the first, only the second, neither; and their κ."""

    judges: tuple[str, str]
    table: tuple[tuple[int, int], tuple[int, int]]  # rows: the first judge's good, not good
    kappa: Kappa

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {"judges": list(self.judges), "table": [list(row) for row in self.table], **self.kappa.to_json()}


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """The judges on one question: good at all, or one of the three criteria."""

    criterion: str
    shares: tuple[GoodShare, ...]
    pairs: tuple[PairAgreement, ...]
    fleiss: Kappa | None  # of more than two judges

    @property
    def kappa(self) -> Kappa:
        """Cohen's of two judges, Fleiss' of more."""
        return self.pairs[0].kappa if self.fleiss is None else self.fleiss

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {
            "shares": [share.to_json() for share in self.shares],
            "cohen": [pair.to_json() for pair in self.pairs],
            "fleiss": None if self.fleiss is None else self.fleiss.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two or more judges who marked the same problems."""

    judges: tuple[str, ...]
    problems: tuple[str, ...]
    criteria: tuple[CriterionAgreement, ...]  # `good` first, then the three criteria if every judge gave them
    disagreements: tuple[tuple[Judgement, ...], ...]  # for each disputed problem, every judge's marks

    @property
    def good(self) -> CriterionAgreement:
        """The question that the paper asks."""
        return self.criteria[0]

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {
            "judges": list(self.judges),
            "n": len(self.problems),
            **{criterion.criterion: criterion.to_json() for criterion in self.criteria},
            "disagreements": [[judgement.to_json() for judgement in disputed] for disputed in self.disagreements],
        }


def agreement(judgements: Sequence[Judgement]) -> Agreement:
    """Shares, κ and disagreements; a judge who did not mark the same problems is an error that names them."""
    by_judge = judgements_by_judge(judgements)
    if len(by_judge) < 2:
        who = f"only '{next(iter(by_judge))}' did" if by_judge else "nobody did"
        raise ComdivError(f"agreement needs the marks of at least two judges: {who}")
    problems = tuple(next(iter(by_judge.values())))
    by_criteria = all(judgement.grammar is not None for judgement in judgements)
    questions = ("good", *CRITERIA) if by_criteria else ("good",)
    disputed = [name for name in problems if len({own[name].good for own in by_judge.values()}) > 1]
    return Agreement(
        judges=tuple(by_judge),
        problems=problems,
        criteria=tuple(_on_criterion(criterion, by_judge) for criterion in questions),
        disagreements=tuple(tuple(own[name] for own in by_judge.values()) for name in disputed),
    )


def _on_criterion(criterion: str, by_judge: Mapping[str, Mapping[str, Judgement]]) -> CriterionAgreement:
    marks = {judge: [bool(own[name].mark(criterion)) for name in own] for judge, own in by_judge.items()}
    good = np.array(list(marks.values())).sum(0)  # (problems): how many judges found it good
    pairs = []
    for first, second in combinations(marks, 2):
        both = list(zip(marks[first], marks[second], strict=True))
        table = (
            (both.count((True, True)), both.count((True, False))),
            (both.count((False, True)), both.count((False, False))),
        )
        pairs.append(PairAgreement((first, second), table, cohen_kappa(table)))
    counts = np.stack([good, len(marks) - good], 1)  # (problems, 2)
    return CriterionAgreement(
        criterion=criterion,
        shares=tuple(GoodShare(judge, sum(own), len(own)) for judge, own in marks.items()),
        pairs=tuple(pairs),
        fleiss=fleiss_kappa(counts.tolist()) if len(marks) > 2 else None,
    )
