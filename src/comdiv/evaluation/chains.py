"""Composed problems and their parts: a solver of the parts should also solve their composition (§IV).

A chain is two or more problems and their composition by operation 1. A solver that composes as well as it solves gets
S1·S2·…·Sn of the compositions right, because every part must be solved. Any shortfall is the cost of composing. Two
controls narrow down its cause: unrelated stories around one problem (length alone), and the chains with other numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from comdiv.errors import ComdivError
from comdiv.evaluation.significance import Interval, Share, resampled_indices
from comdiv.files import write_json_lines
from comdiv.loading import read_json_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from comdiv.figures import Theme

CHAINS = "pairs.jsonl"  # beside the test.jsonl that has the problems

Condition = Literal["composed", "distractor", "renumbered"]


@dataclass(frozen=True, slots=True)
class Chain:
    """The ids of problems and of their composition; no problem is in two chains of one condition and length.

    In a `distractor`, only the first part must be solved; the others are unrelated stories.
    """

    parts: tuple[str, ...]
    composed: str
    condition: Condition = "composed"

    @property
    def needed(self) -> tuple[str, ...]:
        """The parts that must be solved."""
        return self.parts[:1] if self.condition == "distractor" else self.parts

    @property
    def group(self) -> tuple[Condition, int]:
        """Chains of the same condition and length are evaluated together."""
        return self.condition, len(self.parts)

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in a file."""
        return {"id": self.composed, "parts": list(self.parts), "condition": self.condition}


@dataclass(frozen=True, slots=True)
class ChainResult:
    """The accuracies on the parts and their product, beside the observed share; 95 % intervals by resampling chains.

    `after_all` is the share solved of the composed problems whose parts are all solved: composing alone.
    """

    condition: Condition
    length: int
    parts: tuple[Share, ...]
    all_parts: Share
    composed: Share
    after_all: Share
    expected: float
    expected_interval: Interval
    difference: float
    difference_interval: Interval
    seed: int
    resamples: int

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in `result.json`."""
        return {
            "condition": self.condition,
            "length": self.length,
            "n": self.composed.n,
            "parts": [share.to_json() for share in self.parts],
            "all_parts": self.all_parts.to_json(),
            "expected": self.expected,
            "expected_interval": list(self.expected_interval),
            "observed": self.composed.to_json(),
            "difference": self.difference,
            "difference_interval": list(self.difference_interval),
            "observed_after_all": self.after_all.to_json(),
            "seed": self.seed,
            "resamples": self.resamples,
        }


def evaluate_chains(
    chains: Sequence[Chain], right: Mapping[str, bool], seed: int = 0, resamples: int = 10_000
) -> tuple[ChainResult, ...]:
    """Compare composed problems with their parts, by condition and length; `right` says which ids are solved."""
    if not chains:
        raise ComdivError("there are no composed problems")
    names = {name for chain in chains for name in (*chain.needed, chain.composed)}
    if missing := sorted(names - right.keys()):
        raise ComdivError(f"no test problem has the id '{missing[0]}' of a chain ({len(missing)} such ids)")
    groups: dict[tuple[Condition, int], list[Chain]] = {}
    for chain in chains:
        groups.setdefault(chain.group, []).append(chain)
    order = get_args(Condition)
    return tuple(
        _evaluate_group(groups[group], right, seed, resamples)
        for group in sorted(groups, key=lambda group: (order.index(group[0]), group[1]))
    )


def _evaluate_group(chains: Sequence[Chain], right: Mapping[str, bool], seed: int, resamples: int) -> ChainResult:
    import numpy as np

    # (chains, parts + 1): the parts, then the composed problem
    solved = np.array([[right[name] for name in (*c.needed, c.composed)] for c in chains], dtype=np.int64)
    n = len(solved)
    # (resamples, parts + 1): the accuracies of each draw
    means = np.concatenate([solved[draws].mean(axis=1) for draws in resampled_indices(n, seed, resamples)])
    promised = means[:, :-1].prod(axis=1)
    every = solved[:, :-1].prod(axis=1)
    *parts, composed = (Share(int(total), n) for total in solved.sum(axis=0))
    expected = float(np.prod([share.correct / n for share in parts]))
    condition, length = chains[0].group
    return ChainResult(
        condition=condition,
        length=length,
        parts=tuple(parts),
        all_parts=Share(int(every.sum()), n),
        composed=composed,
        after_all=Share(int((every * solved[:, -1]).sum()), int(every.sum())),
        expected=expected,
        expected_interval=_interval(promised),
        difference=composed.correct / n - expected,
        difference_interval=_interval(means[:, -1] - promised),
        seed=seed,
        resamples=resamples,
    )


def _interval(values: Any) -> Interval:
    import numpy as np

    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def read_chains(path: Path) -> tuple[Chain, ...]:
    """The chains of a file; a problem in two chains of the same condition and length is an error.

    Pairs of older versions have `first` and `second` in place of `parts`.
    """
    chains: list[Chain] = []
    members: set[tuple[Condition, int, str]] = set()
    for number, record in read_json_lines(path):
        place = f"{path}, line {number}"
        chain = _chain(record, place)
        names = (*chain.needed, chain.composed)  # an unrelated story may occur twice
        if twice := [name for name in names if (*chain.group, name) in members or names.count(name) > 1]:
            raise ComdivError(f"{place}: the problem '{twice[0]}' is already in a chain of that length")
        members.update((*chain.group, name) for name in names)
        chains.append(chain)
    return tuple(chains)


def _chain(record: Any, place: str) -> Chain:
    fields = record if isinstance(record, dict) else {}
    parts = fields.get("parts", [fields.get("first"), fields.get("second")])
    names = [*(parts if isinstance(parts, list) else []), fields.get("id")]
    if len(names) < 3 or not all(isinstance(name, str) and name for name in names):
        raise ComdivError(f"{place}: a chain needs the ids of two or more 'parts', and the 'id' of their composition")
    condition = fields.get("condition", "composed")
    if condition not in get_args(Condition):
        raise ComdivError(f"{place}: 'condition' is none of {', '.join(get_args(Condition))}")
    return Chain(tuple(names[:-1]), names[-1], condition)


def write_chains(path: Path, chains: Iterable[Chain]) -> int:
    """Write chains as JSON Lines, atomically; returns how many."""
    return write_json_lines(path, (chain.to_json() for chain in chains))


def draw_chains(results: Sequence[ChainResult], theme: "Theme") -> "Figure":
    """Expected and observed accuracy by length, with 95 % intervals, and the controls."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for number, condition in enumerate(get_args(Condition)):
        rows = [row for row in results if row.condition == condition]
        if not rows:
            continue
        lengths = [row.length for row in rows]
        if condition != "distractor":  # whatever its length, only one part must be solved
            label = "expected" if condition == "composed" else f"expected, {condition}"
            axes.plot(lengths, [100 * row.expected for row in rows], "--", color=theme.series[number], label=label)
        observed = [100 * (row.composed.accuracy or 0) for row in rows]
        bounds = [row.composed.interval or (0, 0) for row in rows]
        below = [max(0, value - 100 * low) for value, (low, _) in zip(observed, bounds, strict=True)]
        above = [max(0, 100 * high - value) for value, (_, high) in zip(observed, bounds, strict=True)]
        label = "observed" if condition == "composed" else f"observed, {condition}"
        axes.errorbar(
            [length + 0.04 * number for length in lengths], observed, [below, above],
            fmt="o-", color=theme.series[number], capsize=2, label=label,
        )  # fmt: skip
    main = [row for row in results if row.condition == "composed"] or list(results)
    axes.set_xticks([row.length for row in main], [f"{row.length}\nn = {row.composed.n:,}" for row in main])
    axes.set_ylim(0, 105)
    axes.set(xlabel="problems in a chain", ylabel="solved (%)", title="Solved alone, and composed")
    axes.legend(fontsize=8)
    return figure
