"""Making or trying several splits: which k, which targets, how many seeds, and their controls."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from comdiv.errors import ComdivError
from comdiv.settings import Settings
from comdiv.splitting.extraction import Extraction
from comdiv.splitting.measurement import divergence_to_report, iid_divergence
from comdiv.splitting.methods import SearchProgress, SplitSettings, split_problems

Criterion = Literal["lift", "divergence"]


class SplitSeries(Settings):
    """Which splits `comdiv split` makes of one corpus with the same settings."""

    k: tuple[int, ...] = Field(
        default=(10,), description="Number of clusters of quantities; if several are given (5,10,20), the best is used."
    )
    k_by: Criterion = Field(
        default="lift", description="Choose k by the lift over the i.i.d. divergence, or by divergence (the paper)."
    )
    target: tuple[float, ...] = Field(
        default=(), description="Compound divergence to reach; several (0.3,0.4) give one split each, for curves."
    )
    splits: int = Field(default=1, ge=1, description="How many splits, with consecutive seeds.")
    with_iid: bool = Field(default=False, description="Also write an i.i.d. control of the same size.")

    @field_validator("k", "target")
    @classmethod
    def _each_once(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        if len(set(values)) != len(values):
            raise ValueError("a value occurs twice")
        return values

    @field_validator("k")
    @classmethod
    def _at_least_one(cls, values: tuple[int, ...]) -> tuple[int, ...]:
        if not values or min(values) < 1:
            raise ValueError(f"k must be at least 1, not {min(values, default=0)}")
        return values

    def check(self, settings: SplitSettings) -> None:
        """Refuse options that contradict each other, before anything is read."""
        if len(self.k) > 1 and settings.method != "dbca":
            raise ComdivError(f"several --k to choose from go with --method dbca, not {settings.method}: name one")
        if len(self.target) > 1 and self.splits > 1:
            raise ComdivError("several --target and several --splits do not go together: one or the other")
        if settings.method == "length" and self.splits > 1:
            raise ComdivError("--method length gives the same test side for every seed: leave --splits out")
        if settings.method == "iid" and self.with_iid:
            raise ComdivError("--with-iid is a control for other methods: --method iid is one already")

    def folders(self, settings: SplitSettings, out: Path) -> Iterator[tuple[Path, SplitSettings, Path | None]]:
        """The folders to write, and where a control goes: a single split is `out` itself, several are inside it."""
        if len(self.target) > 1:
            for target in self.target:  # one control for all: they have the same size
                control = out / "iid" if target == self.target[-1] else None
                yield out / _target_name(target), settings.changed(target=target), control
        elif self.splits > 1:
            for number in range(1, self.splits + 1):
                seed = settings.seed + number - 1
                yield out / f"split-{number}", settings.changed(seed=seed), out / f"iid-{number}"
        else:
            yield out, settings, out / "iid"


def _target_name(target: float) -> str:
    """`target-0.30`, with more digits if two do not distinguish a target from its neighbours."""
    return f"target-{target:.2f}" if target == round(target, 2) else f"target-{target:g}"


def best_k(
    extraction: Extraction,
    settings: SplitSettings,
    candidates: Sequence[int],
    by: Criterion = "lift",
    progress: SearchProgress | None = None,
) -> tuple[int, dict[int, float]]:
    """The k whose split lies furthest above the i.i.d. divergence at the same k, and every candidate's score.

    The paper takes the k with the greatest divergence (`by="divergence"`, §V-A), which is degenerate: the divergence
    grows with k by sparsity alone. A target is ignored here: every k would reach it.
    """
    scores: dict[int, float] = {}
    for k in candidates:
        tried = settings.changed(target=None, k=k)
        test = split_problems(extraction, tried, progress)
        encoded = extraction.encoded(tried.extraction, twins=tried.twins)
        scores[k] = divergence_to_report(extraction, test, tried.extraction, settings.alpha)
        if by == "lift":
            scores[k] -= iid_divergence(encoded, int(test.sum()), settings.alpha)
    return max(candidates, key=lambda k: scores[k]), scores
