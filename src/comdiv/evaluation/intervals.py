"""How sure a number is: Wilson's interval for a share, Student's for a mean over seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev
from typing import Any

Interval = tuple[float, float]


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share: within [0, 1] and sensible at 0 and n, where the textbook's ± is not.

    Nothing seen, nothing known: of no trials it is (0, 1).
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
    # At the ends the formula gives 0 and 1 but for rounding; the share itself is always inside.
    return min(share, max(0.0, centre - half)) if successes else 0.0, max(
        share, centre + half
    ) if successes < n else 1.0


@dataclass(frozen=True, slots=True)
class SeedMean:
    """The mean over seeds with its t-interval; a single seed has neither a deviation nor an interval."""

    mean: float
    deviation: float | None
    interval: Interval | None
    seeds: int

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        interval = None if self.interval is None else list(self.interval)
        return {"mean": self.mean, "deviation": self.deviation, "interval": interval, "seeds": self.seeds}


def mean_over_seeds(values: Sequence[float], confidence: float = 0.95) -> SeedMean:
    """The mean of one number a seed; the interval is about other seeds, not about other problems."""
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


def _checked(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    return confidence
