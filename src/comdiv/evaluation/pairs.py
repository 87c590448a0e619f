"""Compositional pairs: whoever solves two problems should also solve their composition by operation 1 (§IV).

Given triples (first problem, second problem, their composition), a solver that composes as well as it solves gets S1·S2
of the compositions right, because both parts must be solved. Any shortfall is the cost of composing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError
from comdiv.evaluation.significance import Interval, Share, resampled_indices
from comdiv.files import write_json_lines
from comdiv.loading import read_json_lines

TRIPLES = "pairs.jsonl"  # beside the test.jsonl that has the problems


@dataclass(frozen=True, slots=True)
class Triple:
    """The ids of two problems and of their composition; no problem is in two triples, so triples are independent."""

    first: str
    second: str
    composed: str

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {"id": self.composed, "first": self.first, "second": self.second}


@dataclass(frozen=True, slots=True)
class PairsResult:
    """S1, S2 and their product beside the observed share; 95 % intervals by drawing triples with replacement.

    `after_both` is the share of composed problems solved among those whose parts are both solved: composing alone.
    """

    first: Share
    second: Share
    both: Share
    composed: Share
    after_both: Share
    expected: float
    expected_interval: Interval
    difference: float
    difference_interval: Interval
    seed: int
    resamples: int

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in `result.json`."""
        return {
            "n": self.composed.n,
            "first": self.first.to_json(),
            "second": self.second.to_json(),
            "both": self.both.to_json(),
            "expected": self.expected,
            "expected_interval": list(self.expected_interval),
            "observed": self.composed.to_json(),
            "difference": self.difference,
            "difference_interval": list(self.difference_interval),
            "observed_after_both": self.after_both.to_json(),
            "seed": self.seed,
            "resamples": self.resamples,
        }


def evaluate_pairs(
    triples: Sequence[Triple], right: Mapping[str, bool], seed: int = 0, resamples: int = 10_000
) -> PairsResult:
    """Compare the composed problems with their parts; `right` says for every id whether its answer is right."""
    import numpy as np

    if not triples:
        raise ComdivError("there are no compositional pairs")
    names = {name for triple in triples for name in (triple.first, triple.second, triple.composed)}
    if missing := sorted(names - right.keys()):
        raise ComdivError(
            f"no test problem has the id '{missing[0]}' of a compositional pair ({len(missing)} such ids)"
        )
    # (triples, 3): first, second, composed
    solved = np.array([[right[t.first], right[t.second], right[t.composed]] for t in triples], dtype=np.int64)
    n = len(solved)
    # (resamples, 3): the accuracies of each draw
    means = np.concatenate([solved[draws].mean(axis=1) for draws in resampled_indices(n, seed, resamples)])
    promised = means[:, 0] * means[:, 1]
    both = solved[:, 0] * solved[:, 1]
    first, second, composed = (int(total) for total in solved.sum(axis=0))
    expected = (first / n) * (second / n)
    return PairsResult(
        first=Share(first, n),
        second=Share(second, n),
        both=Share(int(both.sum()), n),
        composed=Share(composed, n),
        after_both=Share(int((both * solved[:, 2]).sum()), int(both.sum())),
        expected=expected,
        expected_interval=_interval(promised),
        difference=composed / n - expected,
        difference_interval=_interval(means[:, 2] - promised),
        seed=seed,
        resamples=resamples,
    )


def _interval(values: Any) -> Interval:
    import numpy as np

    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def read_triples(path: Path) -> tuple[Triple, ...]:
    """The triples of a file; a problem that occurs in two of them is an error."""
    triples: list[Triple] = []
    seen: set[str] = set()
    for number, record in read_json_lines(path):
        fields = [record.get(key) for key in ("first", "second", "id")] if isinstance(record, dict) else []
        names = [name for name in fields if isinstance(name, str) and name]
        if len(names) != 3:
            raise ComdivError(
                f"{path}, line {number}: a pair needs the ids 'first', 'second' and 'id' (of their composition)"
            )
        if twice := [name for name in names if name in seen or names.count(name) > 1]:
            raise ComdivError(f"{path}, line {number}: the problem '{twice[0]}' is in a pair already")
        seen.update(names)
        triples.append(Triple(*names))
    return tuple(triples)


def write_triples(path: Path, triples: Iterable[Triple]) -> int:
    """Write triples as JSON Lines, atomically; returns how many."""
    return write_json_lines(path, (triple.to_json() for triple in triples))
