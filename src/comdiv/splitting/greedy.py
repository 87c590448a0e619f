"""The published swap search that §III-A cites (TMCD, Shaw et al. 2021), with incremental sums.

Starting from a random split, first every atom of test is brought into train. Then, cycling through train, the first
example whose move to test would raise the compound divergence is swapped with the first test example for which the swap
as a whole still raises it. An atom's last occurrence never leaves train. Twin groups count as one example and swap with
groups of equal size. Apart from that and the optional bound, the swaps are those of the published procedure.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from comdiv.errors import ComdivError
from comdiv.splitting.encoding import Incidence, Mask, side_by_side
from comdiv.splitting.sides import SearchSpace, bound_missed, random_split, target_missed

Progress = Callable[[int, int], None]
TARGET_TOLERANCE = 0.005
MARGIN = 1e-10  # running sums drift by less, so that a state within the bound here is also within it when recomputed
LEAST_RISE = 1e-12  # of a swap: less is rounding error, and swapping for that could go on for ever
PROGRESS_EVERY = 50  # swaps


class _Sums:
    """Counts on both sides with the numerator of their Chernoff coefficient: a move touches only its own ids."""

    def __init__(self, incidence: Incidence, in_test: Mask, alpha: float) -> None:
        spans = zip(incidence.offsets[:-1], incidence.offsets[1:], strict=True)
        ids, counts = incidence.ids.tolist(), incidence.counts.tolist()
        self.rows = [list(zip(ids[start:end], counts[start:end], strict=True)) for start, end in spans]
        self.alpha = alpha
        self.train: list[int] = incidence.totals(~in_test).tolist()
        self.test: list[int] = incidence.totals(in_test).tolist()
        self.train_total, self.test_total = sum(self.train), sum(self.test)
        self.numerator = sum(self._term(a, b) for a, b in zip(self.train, self.test, strict=True))

    def _term(self, train: int, test: int) -> float:
        return float(train**self.alpha * test ** (1.0 - self.alpha))

    def divergence(self, unit: int | None = None, sign: int = 1) -> float:
        """The divergence now, or after `unit` has gone to test (sign 1) or to train (sign -1)."""
        numerator, moved = self.numerator, 0
        for identifier, count in self.rows[unit] if unit is not None else ():
            train, test = self.train[identifier], self.test[identifier]
            numerator += self._term(train - sign * count, test + sign * count) - self._term(train, test)
            moved += sign * count
        train_total, test_total = self.train_total - moved, self.test_total + moved
        if train_total == 0 or test_total == 0:
            return 0.0  # nothing to compare: no move is worthwhile
        return 1.0 - numerator / self._term(train_total, test_total)

    def move(self, unit: int, sign: int) -> None:
        """Move a unit to test (sign 1) or to train (sign -1)."""
        for identifier, count in self.rows[unit]:
            train, test = self.train[identifier], self.test[identifier]
            self.train[identifier], self.test[identifier] = train - sign * count, test + sign * count
            self.numerator += self._term(train - sign * count, test + sign * count) - self._term(train, test)
            self.train_total -= sign * count
            self.test_total += sign * count


def _is_last_in_train(atoms: Sequence[_Sums], unit: int) -> bool:
    """Whether train would lose one of the unit's atoms altogether."""
    return any(sums.train[identifier] <= count for sums in atoms for identifier, count in sums.rows[unit])


def greedy(
    space: SearchSpace,
    test_size: int,
    target: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Mask, int]:
    """The split after the last swap, as a mask over items, and the number of swaps.

    With a target, swapping ends once it is passed; with a bound, a swap may not end above it unless it lowers that
    divergence.
    """
    encoded = space.encoded
    sizes = encoded.group_sizes.tolist()
    in_test = np.zeros(len(sizes), dtype=np.bool_)
    in_test[encoded.groups[random_split(encoded, test_size, seed)]] = True
    compounds = _Sums(side_by_side(space.compounds_of(encoded.groups, len(sizes))), in_test, space.alphas.compounds)
    atoms = [
        _Sums(bounded.counts.merged(encoded.groups, len(sizes)), in_test, bounded.alpha) for bounded in space.bounded
    ]
    bounds = [bounded.bound for bounded in space.bounded]
    train, test = np.flatnonzero(~in_test).tolist(), np.flatnonzero(in_test).tolist()
    _balance(train, test, sizes, compounds, atoms)
    by_chance = compounds.divergence()
    swaps = 0
    for swaps in _swaps(train, test, sizes, compounds, atoms, bounds):
        if progress and swaps % PROGRESS_EVERY == 0:
            progress(swaps, max(len(test), swaps))  # a guess: the number of swaps is not known in advance
        if target is not None and compounds.divergence() >= target:
            break
    if progress:
        progress(max(swaps, 1), max(swaps, 1))
    if target is not None and abs(compounds.divergence() - target) > TARGET_TOLERANCE:
        raise target_missed(target, compounds.divergence(), by_chance, compounds.divergence())
    result = np.zeros(len(sizes), dtype=np.bool_)
    result[test] = True
    test_mask: Mask = result[encoded.groups]
    reached = [bounded.divergence(test_mask) for bounded in space.bounded]
    if any(bound is not None and value > bound for bound, value in zip(bounds, reached, strict=True)):
        raise bound_missed(space.bounded, reached)
    return test_mask, swaps


def _balance(train: list[int], test: list[int], sizes: list[int], compounds: _Sums, atoms: Sequence[_Sums]) -> None:
    """Swap until every atom of test occurs in train: the published procedure's only constraint."""
    while True:
        lacking = {
            (kind, i)
            for kind, sums in enumerate(atoms)
            for i, (a, b) in enumerate(zip(sums.train, sums.test, strict=True))
            if b and not a
        }
        if not lacking:
            return
        pair = next(
            (
                (place, partner)
                for partner, bringer in enumerate(test)
                if any((kind, i) in lacking for kind, sums in enumerate(atoms) for i, _ in sums.rows[bringer])
                for place, unit in enumerate(train)
                if sizes[unit] == sizes[bringer] and not _is_last_in_train(atoms, unit)
            ),
            None,
        )
        if pair is None:
            raise ComdivError(
                f"{len(lacking)} atoms occur in test only, and no swap brings them into train; "
                "use the annealing search, a smaller test side, or coarser atoms"
            )
        place, partner = pair
        unit, bringer = train.pop(place), test.pop(partner)
        for sums in (compounds, *atoms):
            sums.move(unit, 1)
            sums.move(bringer, -1)
        train.append(bringer)
        test.append(unit)


def _swaps(
    train: list[int],
    test: list[int],
    sizes: list[int],
    compounds: _Sums,
    atoms: Sequence[_Sums],
    bounds: Sequence[float | None],
) -> Iterator[int]:
    """Swap in place until no swap raises the divergence, and yield the number of swaps after each."""
    swaps, train_start, test_start, idle = 0, 0, 0, 0
    # As published, except that a group may lack partners of its size, and a bound may forbid them all.
    ends_without_partner = not any(bound is not None for bound in bounds) and max(sizes) == 1
    while idle < len(train):
        place = train_start
        train_start = (place + 1) % len(train)
        idle += 1
        unit = train[place]
        before = compounds.divergence()
        if _is_last_in_train(atoms, unit) or compounds.divergence(unit, 1) <= before + LEAST_RISE:
            continue
        allowed = [
            1.0 if bound is None else max(bound - MARGIN, sums.divergence())
            for bound, sums in zip(bounds, atoms, strict=True)
        ]
        for sums in (compounds, *atoms):
            sums.move(unit, 1)
        partner = next(
            (
                index % len(test)
                for index in range(test_start, test_start + len(test))
                if sizes[test[index % len(test)]] == sizes[unit]
                and compounds.divergence(test[index % len(test)], -1) > before + LEAST_RISE
                and all(
                    sums.divergence(test[index % len(test)], -1) <= most
                    for sums, most in zip(atoms, allowed, strict=True)
                )
            ),
            None,
        )
        if partner is None:
            for sums in (compounds, *atoms):
                sums.move(unit, -1)
            if ends_without_partner:
                return
            continue
        for sums in (compounds, *atoms):
            sums.move(test[partner], -1)
        train[place], test[partner] = test[partner], unit
        test_start = (partner + 1) % len(test)
        swaps, idle = swaps + 1, 0
        yield swaps
