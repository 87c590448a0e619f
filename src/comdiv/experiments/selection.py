"""A part of a plan: the cells of some of its datasets, methods and seeds, and all that these need.

So a large plan is run in several sittings or on several machines; what is left shows as not run.
"""

from collections.abc import Collection, Sequence
from typing import TypeVar

from comdiv.errors import ComdivError, unknown_name
from comdiv.experiments.cell import Cell, Facts
from comdiv.experiments.plan import Plan

AnyCell = TypeVar("AnyCell", Cell, Cell)


def selected(
    plan: Plan,
    cells: Sequence[AnyCell],
    datasets: Collection[str] = (),
    methods: Collection[str] = (),
    seeds: Collection[int] = (),
) -> tuple[AnyCell, ...]:
    """The cells of these datasets, methods and seeds of trainings, as the plan names them; none named: of all.

    Measurements have neither method nor seed.
    """
    _check("dataset", datasets, plan.datasets)
    _check("method", methods, plan.methods)
    for seed in seeds:
        if seed not in plan.training.seeds:
            there = ", ".join(map(str, plan.training.seeds))
            raise ComdivError(f"seed {seed} is none of this plan's ({there})")
    chosen = {
        cell.key
        for cell in cells
        if (not datasets or _origin(cell.facts) in datasets)
        and (not methods or cell.facts.method in methods)
        and (not seeds or cell.facts.seed is None or cell.facts.seed in seeds)
        and (cell.facts.method is not None or cell.facts.augmentation is None)  # augmentations: if they are needed
    }
    for cell in reversed(cells):  # each comes after those that it needs
        if cell.key in chosen:
            chosen.update(cell.needs)
    return tuple(cell for cell in cells if cell.key in chosen)


def _origin(facts: Facts) -> str | None:
    """The dataset as the plan names it; a split with targets makes one for each."""
    if facts.target is None or facts.dataset is None:
        return facts.dataset
    return facts.dataset.removesuffix(f"-{facts.target:.2f}")


def _check(what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ComdivError(str(unknown_name(f"{what} of this plan", name, known)))
