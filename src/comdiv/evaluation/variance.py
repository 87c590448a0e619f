"""Splits, seeds and problems told apart: how sure a mean over all three is, and which of them it varies with.

One compositional split is one draw, as one training is, and other problems would give another number again. A mean over
all of them says what to expect of another split of the same corpus.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

from comdiv.evaluation.significance import Interval

if TYPE_CHECKING:
    import numpy as np

Outcomes = Sequence[Sequence[float]]  # of one split: for each seed one value per problem, in the same order


@dataclass(frozen=True, slots=True)
class NestedMean:
    """A mean over splits, seeds and problems with its 95 % interval over all three.

    The deviations are standard deviations of a split's accuracy: from drawing other problems, from another seed, and
    from another split beyond both. None: there is only one of them, and nothing is known of others.
    """

    mean: float
    interval: Interval
    splits: int
    seeds: int  # of the split that has the fewest
    from_problems: float
    from_seeds: float | None
    from_splits: float | None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero."""
        return self.interval[0] > 0 or self.interval[1] < 0


def nested_mean(splits: Sequence[Outcomes], seed: int = 0, resamples: int = 10_000) -> NestedMean:
    """The mean of the splits' means, with the interval of a nested bootstrap.

    Values are right or wrong (1 or 0), or the difference of two methods on the same problems and seeds. A draw takes
    splits with replacement, of each of them its seeds, and its problems, which all seeds share. Of n splits or seeds
    n − 1 are drawn, so that the spread of a few is not underestimated. With three splits the interval reaches about
    from the worst to the best: it excludes zero only if they agree.
    """
    import numpy as np

    tables = [np.asarray(outcomes, dtype=np.float64) for outcomes in splits]  # each (seeds, problems)
    if not tables or any(table.ndim != 2 or 0 in table.shape for table in tables):
        raise ValueError("every split needs at least one seed and one problem, and every seed the same problems")
    if resamples < 1:
        raise ValueError(f"{resamples} resamples: at least one is needed")
    generator = np.random.default_rng(seed)
    draw_size = max(1, len(tables) - 1)
    # (resamples, draw_size): the splits of each draw
    draws = generator.integers(0, len(tables), size=(resamples, draw_size))
    means = np.empty(draws.shape)
    for split, table in enumerate(tables):
        places = draws == split
        means[places] = _drawn_means(table, int(places.sum()), generator)
    low, high = np.quantile(means.mean(axis=1), [0.025, 0.975])
    by_split = [float(table.mean()) for table in tables]
    return NestedMean(fmean(by_split), (float(low), float(high)), len(tables), min(map(len, tables)), *_parts(tables))


def _drawn_means(table: "np.ndarray[Any, Any]", draws: int, generator: "np.random.Generator") -> Any:
    """Means of one split (seeds, problems) with seeds and problems drawn anew: (draws)."""
    seeds, problems = table.shape
    times = generator.multinomial(max(1, seeds - 1), [1 / seeds] * seeds, size=draws)  # (draws, seeds)
    by_problem = times @ table / times.sum(axis=1, keepdims=True)  # (draws, problems)
    weights = generator.multinomial(problems, [1 / problems] * problems, size=draws)  # (draws, problems)
    return (by_problem * weights).sum(axis=1) / problems


def _parts(tables: "Sequence[np.ndarray[Any, Any]]") -> tuple[float, float | None, float | None]:
    """The deviations from problems, seeds and splits; a part that the others explain is 0, never less."""
    problems = fmean(variance(table.mean(axis=0)) / table.shape[1] if table.shape[1] > 1 else 0.0 for table in tables)
    several = [table for table in tables if len(table) > 1]
    seeds = fmean(variance(table.mean(axis=1)) for table in several) if several else None
    if len(tables) == 1:
        return sqrt(problems), None if seeds is None else sqrt(seeds), None
    explained = problems + (0.0 if seeds is None else seeds / fmean(map(len, tables)))
    splits = max(0.0, variance([float(table.mean()) for table in tables]) - explained)
    return sqrt(problems), None if seeds is None else sqrt(seeds), sqrt(splits)
