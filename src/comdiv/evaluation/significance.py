"""How sure a number is: Wilson's interval for a share, Student's for a mean over seeds, paired tests for A against B.

A and B answered the same problems, so only the problems on which they differ matter.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING, Any

from comdiv.errors import ComdivError
from comdiv.evaluation.outcomes import outcomes_of
from comdiv.evaluation.predictions import Prediction
from comdiv.problem import Problem

if TYPE_CHECKING:
    import numpy as np

Interval = tuple[float, float]
_CELLS = 4_000_000  # indices drawn at once: 32 MB
_KEPT = 16_000_000  # of draws × problems that are kept for the next comparison: 32 MB


def as_list(interval: Interval | None) -> list[float] | None:
    """An interval as it stands in a file."""
    return None if interval is None else list(interval)


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share: within [0, 1] and sensible at 0 and n, unlike the textbook's ±.

    Without any trials it is (0, 1).
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + _checked(confidence) / 2)
    share = successes / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At the ends the formula gives 0 and 1 except for rounding; the share itself is always inside.
    low = min(share, max(0.0, centre - half)) if successes else 0.0
    return low, max(share, centre + half) if successes < n else 1.0


@dataclass(frozen=True, slots=True)
class Share:
    """The share of n problems that is right, with Wilson's 95 % interval; both are None if n is 0."""

    correct: int
    n: int

    @property
    def accuracy(self) -> float | None:
        """The share that is right."""
        return self.correct / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        """Where the share would plausibly lie for other problems of the same kind."""
        return wilson_interval(self.correct, self.n) if self.n else None

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {"n": self.n, "correct": self.correct, "accuracy": self.accuracy, "interval": as_list(self.interval)}


@dataclass(frozen=True, slots=True)
class SeedMean:
    """The mean over seeds with its t-interval; a single seed has neither a deviation nor an interval."""

    mean: float
    deviation: float | None
    interval: Interval | None
    seeds: int

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {**asdict(self), "interval": as_list(self.interval)}


def mean_over_seeds(values: Sequence[float], confidence: float = 0.95) -> SeedMean:
    """The mean of one number per seed; the interval is about other seeds, not about other problems."""
    if not values:
        raise ValueError("a mean of nothing")
    mean = fmean(values)
    if len(values) == 1:
        return SeedMean(mean, None, None, 1)
    from scipy.special import stdtrit

    deviation = stdev(values)
    quantile = float(stdtrit(len(values) - 1, 0.5 + _checked(confidence) / 2))
    half = quantile * deviation / math.sqrt(len(values))
    return SeedMean(mean, deviation, (mean - half, mean + half), len(values))


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
        return asdict(self)


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
            "interval": as_list(self.interval),
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
    a_right = [outcome.right for outcome in outcomes_of(problems, a)]
    b_right = [outcome.right for outcome in outcomes_of(problems, b)]
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

    A problem is right or wrong or, over several trainings, right a number of times; the difference is between those.
    p is twice the share of draws on the rarer side of zero. Draws with no difference count on both sides, and the
    sample itself counts as a draw, so p is never 0. Exchanging A and B changes only the sign.
    """
    import numpy as np

    # (problems,): +1 where only A is right, −1 where only B is
    deltas = np.asarray(a_right, dtype=np.int16) - np.asarray(b_right, dtype=np.int16)
    n = len(deltas)
    differing = np.flatnonzero(deltas)
    if n * resamples <= _KEPT:
        sums = _drawn_times(n, seed, resamples)[:, differing] @ deltas[differing].astype(np.int64)  # (resamples,)
    else:
        parts = [deltas[draws].sum(axis=1, dtype=np.int64) for draws in resampled_indices(n, seed, resamples)]
        sums = np.concatenate(parts)
    low, high = np.quantile(sums, [0.025, 0.975]) / n
    rarer = min(int((sums <= 0).sum()), int((sums >= 0).sum()))
    p = min(1.0, 2 * (rarer + 1) / (resamples + 1))
    return int(deltas.sum(dtype=np.int64)) / n, (float(low), float(high)), p


@lru_cache(maxsize=4)
def _drawn_times(n: int, seed: int, resamples: int) -> "np.ndarray[Any, Any]":
    """How often each draw has each problem, (resamples, problems); kept, because a report compares many pairs."""
    import numpy as np

    draws = list(resampled_indices(n, seed, resamples))
    return np.concatenate([_times(indices, n) for indices in draws])


def _times(indices: "np.ndarray[Any, Any]", n: int) -> "np.ndarray[Any, Any]":
    """How often each row has each index below n."""
    import numpy as np

    places = indices + n * np.arange(len(indices))[:, None]
    return np.bincount(places.ravel(), minlength=n * len(indices)).reshape(-1, n).astype(np.uint16)


def resampled_indices(n: int, seed: int, resamples: int) -> Iterator[Any]:
    """Bootstrap draws of n out of n with replacement: arrays of (draws, n) indices, `resamples` draws in total."""
    import numpy as np

    if resamples < 1:
        raise ComdivError(f"{resamples} resamples: at least one is needed")
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS // n)
    for done in range(0, resamples, at_once):
        yield generator.integers(0, n, size=(min(at_once, resamples - done), n))


def mcnemar(a_right: Sequence[bool], b_right: Sequence[bool]) -> McNemar:
    """McNemar's exact test: if A and B were equally good, each problem on which they differ would be a fair coin."""
    pairs = list(zip(a_right, b_right, strict=True))
    both, only_a = pairs.count((True, True)), pairs.count((True, False))
    only_b, neither = pairs.count((False, True)), pairs.count((False, False))
    differing = only_a + only_b
    term = tail = 1  # integers throughout: 2^n is not a float for n above 1,023
    for successes in range(min(only_a, only_b)):
        term = term * (differing - successes) // (successes + 1)  # the next binomial coefficient
        tail += term
    return McNemar(both, only_a, only_b, neither, min(1.0, 2 * tail / 2**differing))


def _checked(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    return confidence
