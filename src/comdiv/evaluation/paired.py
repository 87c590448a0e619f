"""Is A better than B? Both answered the same problems, so the test is paired: what matters is where they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from comdiv.errors import ComdivError
from comdiv.evaluation.accuracy import Share
from comdiv.evaluation.intervals import Interval
from comdiv.evaluation.outcomes import judge_all
from comdiv.evaluation.predictions import Prediction
from comdiv.problem import Problem

_CELLS = 4_000_000  # drawn at once: 32 MB of indices


@dataclass(frozen=True, slots=True)
class McNemar:
    """The table of two solvers on the same problems, and the exact two-sided p of McNemar's test."""

    both: int
    only_a: int
    only_b: int
    neither: int
    p: float

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {
            "both": self.both,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "neither": self.neither,
            "p": self.p,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B on the same problems: `difference` is A's answer accuracy minus B's, with its bootstrap interval."""

    a: Share
    b: Share
    difference: float
    interval: Interval
    p: float
    mcnemar: McNemar
    seed: int
    resamples: int

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {
            "n": self.a.n,
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "difference": self.difference,
            "interval": list(self.interval),
            "p": self.p,
            "mcnemar": self.mcnemar.to_json(),
            "seed": self.seed,
            "resamples": self.resamples,
        }


def compare_predictions(
    problems: Sequence[Problem],
    a: Sequence[Prediction],
    b: Sequence[Prediction],
    seed: int = 0,
    resamples: int = 10_000,
) -> Comparison:
    """Compare two sets of predictions for the same problems; the same seed gives the same numbers."""
    a_right = [outcome.right for outcome in judge_all(problems, a)]
    b_right = [outcome.right for outcome in judge_all(problems, b)]
    difference, interval, p = paired_bootstrap(a_right, b_right, seed, resamples)
    n = len(problems)
    return Comparison(
        a=Share(sum(a_right), n),
        b=Share(sum(b_right), n),
        difference=difference,
        interval=interval,
        p=p,
        mcnemar=mcnemar(a_right, b_right),
        seed=seed,
        resamples=resamples,
    )


def paired_bootstrap(
    a_right: Sequence[int], b_right: Sequence[int], seed: int = 0, resamples: int = 10_000
) -> tuple[float, Interval, float]:
    """The difference A − B, its 95 % percentile interval, and the two-sided p, by drawing problems with replacement.

    A problem is right or wrong, or, over several trainings, right so many times: then the difference is in these.
    p is twice the share of draws on the rarer side of no difference, draws of none counted on both sides, and the
    sample itself counted as a draw, so that it is never 0. Exchanging A and B changes the sign and nothing else.
    """
    import numpy as np

    if resamples < 1:
        raise ComdivError(f"{resamples} resamples: at least one is needed")
    # (problems,): +1 where only A is right, −1 where only B is
    deltas = np.asarray(a_right, dtype=np.int16) - np.asarray(b_right, dtype=np.int16)
    n = len(deltas)
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS // n)
    sums = np.concatenate(
        [
            deltas[generator.integers(0, n, size=(min(at_once, resamples - done), n))].sum(axis=1, dtype=np.int64)
            for done in range(0, resamples, at_once)
        ]
    )  # (resamples,)
    low, high = np.quantile(sums, [0.025, 0.975]) / n
    rarer = min(int((sums <= 0).sum()), int((sums >= 0).sum()))
    p = min(1.0, 2 * (rarer + 1) / (resamples + 1))
    return int(deltas.sum(dtype=np.int64)) / n, (float(low), float(high)), p


def mcnemar(a_right: Sequence[bool], b_right: Sequence[bool]) -> McNemar:
    """McNemar's exact test: were A and B equally good, each of the problems where they differ would be a fair coin."""
    pairs = list(zip(a_right, b_right, strict=True))
    both, only_a = pairs.count((True, True)), pairs.count((True, False))
    only_b, neither = pairs.count((False, True)), pairs.count((False, False))
    differing = only_a + only_b
    term = tail = 1  # whole numbers to the end: 2^n is no float for n above 1,023
    for successes in range(min(only_a, only_b)):
        term = term * (differing - successes) // (successes + 1)  # the next binomial coefficient
        tail += term
    return McNemar(both, only_a, only_b, neither, min(1.0, 2 * tail / 2**differing))
