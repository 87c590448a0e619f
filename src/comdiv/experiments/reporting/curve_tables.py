"""The points of Figures 5a and 5b as tables: accuracy against divergence, accuracy and time against rounds."""

from collections.abc import Sequence
from statistics import fmean

from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.dataset_tables import compound_divergence
from comdiv.experiments.reporting.entries import number_entry
from comdiv.experiments.reporting.numbers import Number
from comdiv.experiments.reporting.result_tables import MakeEntry, main_numbers
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table

_CAPTION = "Answer accuracy in percent on test: mean over seeds ± half of its 95 % interval."
FEWEST_TARGETS = 3  # distinct ones, "none" among them, that make a curve


def has_curve(numbers: Sequence[Number]) -> bool:
    """Whether a plan has splits at several targets."""
    return len({number.facts.target for number in numbers}) >= FEWEST_TARGETS


def divergence_table(plan: PlanResults, numbers: Sequence[Number], entry: MakeEntry = number_entry) -> Table | None:
    """A row for each split, from the least to the greatest divergence that was asked for (Figure 5a)."""
    chosen = [number for number in main_numbers(numbers) if number.part == "test"]
    if not has_curve(chosen):
        return None
    chosen.sort(key=lambda number: (number.facts.corpus or "", number.method, number.facts.target or 0.0))
    rows = []
    for number in chosen:
        divergence = compound_divergence(plan, number.cells[0])
        reached = EMPTY if divergence is None else Entry(f"{divergence:.2f}", divergence)
        target = number.facts.target
        asked = Entry("i.i.d.", 0.0) if target is None else Entry(f"{target:g}", target)
        rows.append((Entry(number.facts.corpus or "", number.facts.corpus), Entry(number.method, number.method),
                     asked, reached, entry(number), _n(number)))  # fmt: skip
    columns = (
        Column("Corpus", number=False), Column("Method", number=False),
        Column("asked for", group="Compound divergence"), Column("reached", group="Compound divergence"),
        Column("Accuracy"), Column("n"),
    )  # fmt: skip
    return Table(f"{plan.name}-curve", "Accuracy against compound divergence", columns, tuple(rows), _CAPTION)


def rounds_table(plan: PlanResults, numbers: Sequence[Number], entry: MakeEntry = number_entry) -> Table | None:
    """A row for each number of rounds (Figure 5b)."""
    chosen = [n for n in main_numbers(numbers) if n.part == "test" and n.facts.rounds is not None]
    if not chosen:
        return None
    rows = []
    for number in chosen:
        trainings = [found for cell in number.cells if (found := plan.ancestor(cell, "training")) is not None]
        sizes = [int(one.summary["problems"]) for one in trainings if one.summary.get("problems") is not None]
        times = seconds_per_epoch(plan, number)
        rows.append(
            (
                Entry(number.method, number.method),
                Entry(number.facts.dataset or "", number.facts.dataset),
                Entry(str(number.facts.rounds), number.facts.rounds),
                Entry(f"{sizes[0]:,}", sizes[0]) if sizes else EMPTY,
                entry(number),
                _n(number),
                Entry(f"{fmean(times):.1f}", fmean(times)) if times else EMPTY,
            )
        )
    columns = (
        Column("Method", number=False), Column("Dataset", number=False), Column("Rounds"), Column("Training problems"),
        Column("Accuracy"), Column("n"), Column("Seconds an epoch"),
    )  # fmt: skip
    caption = f"{_CAPTION} Times depend on the machine."
    return Table(f"{plan.name}-curve", "Accuracy and time against rounds", columns, tuple(rows), caption)


def seconds_per_epoch(plan: PlanResults, number: Number) -> list[float]:
    """The training times behind a number, one a seed."""
    trainings = (plan.ancestor(cell, "training") for cell in number.cells)
    found = [one.summary.get("seconds_per_epoch") for one in trainings if one is not None]
    return [float(seconds) for seconds in found if seconds is not None]


def _n(number: Number) -> Entry:
    return Entry(f"{number.n:,}", number.n) if number.n else EMPTY
