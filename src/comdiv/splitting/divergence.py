"""§III-A: how far apart two sides of a split are, as one minus the Chernoff coefficient of their frequencies.

D = 1 - Σ pᵢ^α qᵢ^(1-α), with p the frequencies in train and q those in test: 0 for equal distributions, 1 for disjoint
ones. Atoms and compounds have an α each, and the literature disagrees on which is which (see `ALPHA_PRESETS`).
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from comdiv.errors import ComdivError, unknown_name

Thing = TypeVar("Thing", bound=Hashable)

# Rounding makes equal distributions differ by about 1e-16: a divergence below this is no difference.
ROUNDING = 1e-12


def check_alpha(alpha: float, what: str = "the divergence") -> None:
    """Refuse an α outside (0, 1): at 0 and 1 the coefficient no longer compares two distributions."""
    if not 0.0 < alpha < 1.0:
        raise ComdivError(f"alpha of {what} is {alpha:g}; it must lie between 0 and 1, both excluded")


@dataclass(frozen=True)
class Alphas:
    """The weight of train in the Chernoff coefficient, for atoms and for compounds."""

    atoms: float
    compounds: float

    def __post_init__(self) -> None:
        for what, alpha in (("atoms", self.atoms), ("compounds", self.compounds)):
            check_alpha(alpha, what)


# `paper` is as printed in §III-A; `keysers2020` is used by the inventors of DBCA and by the code that the paper cites.
ALPHA_PRESETS: Mapping[str, Alphas] = {
    "paper": Alphas(atoms=0.1, compounds=0.5),
    "keysers2020": Alphas(atoms=0.5, compounds=0.1),
}
PAPER = ALPHA_PRESETS["paper"]


def alphas_named(name: str) -> Alphas:
    """The preset of that name."""
    if name not in ALPHA_PRESETS:
        raise unknown_name("alpha preset", name, ALPHA_PRESETS)
    return ALPHA_PRESETS[name]


def divergence(train_counts: Mapping[Thing, int], test_counts: Mapping[Thing, int], alpha: float) -> float:
    """The divergence between two counters (§III-A), whatever they count."""
    keys = list(dict.fromkeys([*train_counts, *test_counts]))
    train = np.array([train_counts.get(key, 0) for key in keys], dtype=np.float64)
    test = np.array([test_counts.get(key, 0) for key in keys], dtype=np.float64)
    return count_divergence(train, test, alpha)


def count_divergence(train_counts: npt.NDArray[Any], test_counts: npt.NDArray[Any], alpha: float) -> float:
    """The divergence between two arrays of counts that share their index."""
    check_alpha(alpha)
    for side, counts in (("train", train_counts), ("test", test_counts)):
        if counts.size and counts.min() < 0:
            raise ComdivError(f"a count of the {side} side is negative")
        if counts.sum() <= 0:
            raise ComdivError(f"the {side} side is empty: without counts there is no divergence")
    p = train_counts / train_counts.sum()
    q = test_counts / test_counts.sum()
    distance = 1.0 - float(np.sum(p**alpha * q ** (1.0 - alpha)))
    return 0.0 if distance < ROUNDING else min(distance, 1.0)
