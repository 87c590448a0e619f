"""The two sides of a split: what a search sees of them, random draws, their measures, and the errors of a search."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from comdiv.errors import ComdivError
from comdiv.groups import Mask, draw_groups
from comdiv.splitting.divergence import Alphas, count_divergence
from comdiv.splitting.encoding import Encoded, Incidence, Integers


@dataclass(frozen=True, eq=False)
class Bounded:
    """A distribution that must be alike on both sides: its divergence is to be at most `bound`, if there is one."""

    name: str
    counts: Incidence
    alpha: float
    bound: float | None

    def divergence(self, test_mask: Mask) -> float:
        """Its divergence for a split."""
        return count_divergence(self.counts.totals(~test_mask), self.counts.totals(test_mask), self.alpha)

    def at_chance(self, train_size: int, test_size: int) -> "Bounded":
        """The same with a bound at least that of a random split: few problems cannot be divided more evenly.

        Near equality, the divergence is χ² times α(1-α)/2, and the mean of χ² is the number of kinds less one.
        """
        chance = (self.counts.width - 1) * self.alpha * (1 - self.alpha) / 2 * (1 / train_size + 1 / test_size)
        return self if self.bound is None or chance <= self.bound else replace(self, bound=min(chance, 1.0))


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """A corpus as the searches see it, under one view (one clustering of its quantities) or several.

    The compound divergence is the mean over the views. Since all have equally many compounds, it equals that of one
    table with the compounds of all. Atoms are bounded in each view.
    """

    views: Sequence[Encoded]
    alphas: Alphas
    bounded: Sequence[Bounded]  # the atoms of each view, then whatever else is bounded

    @classmethod
    def of(
        cls, views: Sequence[Encoded], alphas: Alphas, atom_bound: float | None, also_bounded: Sequence[Bounded] = ()
    ) -> "SearchSpace":
        """The space in which the atoms of each view are bounded, and what else is given."""
        atoms = [Bounded("atom", view.atoms, alphas.atoms, atom_bound) for view in views]
        return cls(views, alphas, [*atoms, *also_bounded])

    @property
    def encoded(self) -> Encoded:
        """The first view: items, lengths and groups are those of all."""
        return self.views[0]

    def compounds_of(self, groups: Integers, count: int) -> list[Incidence]:
        """The compounds of each view, summed by group."""
        return [view.compounds.merged(groups, count) for view in self.views]

    def compound_divergence(self, test_mask: Mask) -> float:
        """DBCA^c of §III-A for a split, the mean over the views."""
        return float(np.mean([compound_divergence(view, test_mask, self.alphas) for view in self.views]))


@dataclass(frozen=True, eq=False)
class SplitResult:
    """A split and its measures, all recomputed from the mask rather than taken from a search's running sums."""

    test_mask: Mask  # (items)
    compound_divergence: float  # the mean over the views
    atom_divergence: float  # the highest of the views
    length_ratio: float  # mean length in train / mean length in test
    exact_size: bool  # False: twin groups do not add up to the requested size, and the test side is smaller
    steps: int  # steps of the search

    @property
    def test_size(self) -> int:
        return int(self.test_mask.sum())


def split_result(space: SearchSpace, test_mask: Mask, wanted_size: int, steps: int) -> SplitResult:
    """The result for a mask."""
    return SplitResult(
        test_mask=test_mask,
        compound_divergence=space.compound_divergence(test_mask),
        atom_divergence=max(atom_divergence(view, test_mask, space.alphas) for view in space.views),
        length_ratio=length_ratio(space.encoded, test_mask),
        exact_size=int(test_mask.sum()) == wanted_size,
        steps=steps,
    )


def compound_divergence(encoded: Encoded, test_mask: Mask, alphas: Alphas) -> float:
    """DBCA^c of §III-A for a split."""
    return count_divergence(encoded.compounds.totals(~test_mask), encoded.compounds.totals(test_mask), alphas.compounds)


def atom_divergence(encoded: Encoded, test_mask: Mask, alphas: Alphas) -> float:
    """DBCA^a of §III-A for a split."""
    return count_divergence(encoded.atoms.totals(~test_mask), encoded.atoms.totals(test_mask), alphas.atoms)


def length_ratio(encoded: Encoded, test_mask: Mask) -> float:
    """Mean length in train over mean length in test (LR of Table I); infinite if test has no length at all."""
    test_mean = float(encoded.lengths[test_mask].mean())
    return float(encoded.lengths[~test_mask].mean()) / test_mean if test_mean > 0 else float("inf")


class BoundError(ComdivError):
    """No split met all bounds."""


def bound_missed(bounded: Sequence[Bounded], reached: Sequence[float]) -> BoundError:
    """The error for bounds that no split met; it names the one missed by the most."""
    pairs = [(limit, value) for limit, value in zip(bounded, reached, strict=True) if limit.bound is not None]
    worst, value = max(pairs, key=lambda pair: pair[1] - (pair[0].bound or 0.0))
    return BoundError(
        f"no split found with {worst.name} divergence at most {worst.bound:g}: the lowest reached is {value:.3g}; "
        f"allow a higher {worst.name.partition('-')[0]} bound, another test size, or no bound"
    )


def target_missed(target: float, nearest: float, lowest: float, highest: float) -> ComdivError:
    """The error for a target that the corpus cannot reach, or that lies below a random split's divergence."""
    return ComdivError(
        f"no split found with compound divergence {target:g} (nearest: {nearest:.3f}); at this size and atom bound, "
        f"targets from {lowest:.3f} (a random split) to {highest:.3f} are within reach"
    )


def size_of_test(size: float, items: int, what: str = "problems") -> int:
    """The number of test items for a size given as a share or a number."""
    if items < 2:
        raise ComdivError(f"{items} {what} are too few to split: at least 2 are needed")
    count = round(size * items) if 0 < size < 1 else size
    if not 0 < count < items or count != math.floor(count):
        raise ComdivError(
            f"a test size of {size:g} does not fit {items} {what}: use a share such as 0.2, or 1 to {items - 1}"
        )
    return int(count)


def check_test_size(encoded: Encoded, test_size: int) -> None:
    """Refuse, in one line, what cannot be split."""
    items = encoded.items
    if items < 2:
        raise ComdivError(f"nothing to split: {items} examples, at least 2 are needed")
    if not 0 < test_size < items:
        raise ComdivError(
            f"a test size of {test_size} leaves one side empty: of {items} examples, 1 to {items - 1} can go to test"
        )
    smallest_group = int(encoded.group_sizes.min())
    if smallest_group == items:
        raise ComdivError(f"all {items} examples are twins of each other, and twins stay on one side: no split exists")
    if smallest_group > test_size:
        raise ComdivError(
            f"a test size of {test_size} is smaller than the smallest group of twins ({smallest_group} examples), "
            "and twins stay on one side"
        )


def random_split(encoded: Encoded, test_size: int, seed: int = 0) -> Mask:
    """A random test set of whole groups, as a mask over items: the i.i.d. split of §V.

    If groups do not add up to `test_size`, the test set has the nearest smaller size that they can add up to.
    """
    check_test_size(encoded, test_size)
    return draw_groups(encoded.group_sizes, test_size, np.random.default_rng(seed))[encoded.groups]
