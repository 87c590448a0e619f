"""What one accuracy per test set does not show: local structures, variation over several splits, and cost."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from comdiv.evaluation.accuracy import STRUCTURES
from comdiv.evaluation.significance import Share
from comdiv.evaluation.variance import NestedMean, nested_mean
from comdiv.experiments.cell import Cell, PlanResults, processor_seconds, right_answers
from comdiv.experiments.reporting.accuracies import Number, single_numbers
from comdiv.experiments.reporting.cell_tables import compound_divergence, split_families
from comdiv.experiments.reporting.pictures import training_history
from comdiv.experiments.reporting.tables import (
    EMPTY,
    Column,
    Entry,
    Table,
    Tone,
    interval_text,
    percent,
    signed_percent,
    tabulate,
)

Right = Mapping[str, bool]


def _tested(numbers: Sequence[Number]) -> list[Number]:
    """One per method and test set, with at least one seed."""
    return [number for number in single_numbers(numbers) if number.part == "test" and number.known]


# --- local structures ---


def structures_table(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Accuracy by whether training has the problem's pairs of operators, beside the divergence of the whole split."""
    rows = [(number, parts) for number in _tested(numbers) if (parts := _by_structure(number))]
    columns = [
        Column.words("Method", lambda row: row[0].method),
        Column.words("Dataset", lambda row: row[0].dataset),
        Column.numbers("Compound divergence", lambda row: compound_divergence(plan, row[0].cells[0]), ".2f"),
        *(_structure_column(name) for name in STRUCTURES),
    ]
    caption = (
        "Local structures: an operator and one below it, with what their operands are (quantity, constant, computed "
        "further below). Answer accuracy in percent on the test problems whose structures are all in the training side "
        "of the dataset (before any augmentation), on those with one that is not, and on those with one operator."
    )
    return tabulate(f"{plan.name}-structures", "By local structures", columns, rows, caption)


def _by_structure(number: Number) -> dict[str, list[Share]]:
    """For each part one share per seed."""
    shares: dict[str, list[Share]] = defaultdict(list)
    for cell in number.cells:
        for name in STRUCTURES if cell.status == "done" else ():
            if right := right_answers(cell, name):
                shares[name].append(Share(sum(right.values()), len(right)))
    return shares


def _structure_column(name: str) -> Column:
    def show(row: tuple[Number, Mapping[str, Sequence[Share]]]) -> Entry:
        shares = row[1].get(name)
        if not shares:
            return EMPTY
        accuracy = fmean(share.correct / share.n for share in shares)
        return Entry.share(accuracy, f"n = {shares[0].n:,}")

    return Column(name, "Structures", show=show)


# --- several splits of one corpus ---


@dataclass(slots=True)
class _OverSplits:
    """A method on splits that differ in their seeds only: dataset → seed of the training → outcomes."""

    method: str
    plain: str | None
    family: str
    outcomes: dict[str, dict[int | None, Right]] = field(default_factory=dict)

    def mean(self) -> NestedMean:
        return nested_mean([_table(seeds) for seeds in self.outcomes.values()])

    def over(self, other: "_OverSplits") -> NestedMean | None:
        """The mean difference on the splits and seeds that both have."""
        tables = []
        for dataset, seeds in self.outcomes.items():
            theirs = other.outcomes.get(dataset, {})
            both = [seed for seed in seeds if seed in theirs and seeds[seed].keys() == theirs[seed].keys()]
            if both:
                ours = _table({seed: seeds[seed] for seed in both})
                base = _table({seed: theirs[seed] for seed in both})
                tables.append([[a - b for a, b in zip(*rows, strict=True)] for rows in zip(ours, base, strict=True)])
        return nested_mean(tables) if len(tables) > 1 else None


def _table(seeds: Mapping[int | None, Right]) -> list[list[int]]:
    """(seeds, problems), problems by id."""
    return [[int(right[name]) for name in sorted(right)] for right in seeds.values()]


def splits_table(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Methods over several splits of one corpus: what another split, seed and problems would give."""
    rows = list(_over_splits(plan, numbers))
    first = {row.family: row for row in reversed(rows)}  # the plan's first method is what all others are compared with
    named = {(row.family, row.method): row for row in rows}
    entries = [(row, row.mean(), named.get((row.family, row.plain or "")), first[row.family]) for row in rows]
    columns = [
        Column.words("Method", lambda row: row[0].method),
        Column.words("Splits", lambda row: f"{row[0].family}, {row[1].splits} of them"),
        Column.numbers("Seeds of each", lambda row: row[1].seeds),
        Column("Accuracy", show=lambda row: Entry.share(row[1].mean, interval_text(row[1].interval))),
        Column("without augmentation", "Difference from", show=lambda row: _difference(row[0], row[2])),
        Column("the first method", "Difference from", show=lambda row: _difference(row[0], row[3])),
        *(
            Column(title, "Deviation from", show=_deviation(name))
            for title, name in (("problems", "from_problems"), ("seeds", "from_seeds"), ("splits", "from_splits"))
        ),
    ]
    caption = (
        "Mean answer accuracy in percent over splits, seeds and problems with the 95 % interval of a nested bootstrap "
        "over all three; differences are paired. Deviations: by how many points a split's accuracy varies with other "
        "problems, another seed, and another split beyond both."
    )
    return tabulate(f"{plan.name}-splits", "Over several splits", columns, entries, caption)


def _over_splits(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[_OverSplits]:
    families = split_families(plan)
    rows: dict[tuple[str, str], _OverSplits] = {}
    for number in _tested(numbers):
        if (family := families.get(number.dataset)) is None:
            continue
        row = rows.setdefault((family, number.method), _OverSplits(number.method, number.facts.plain, family))
        done = {cell.facts.seed: right_answers(cell) for cell in number.cells if cell.status == "done"}
        if known := {seed: right for seed, right in done.items() if right}:
            row.outcomes[number.dataset] = known
    yield from (row for row in rows.values() if len(row.outcomes) > 1)


def _difference(row: _OverSplits, other: _OverSplits | None) -> Entry:
    difference = None if other is None or other is row else row.over(other)
    if difference is None:
        return EMPTY
    tone: Tone = "" if not difference.excludes_zero else "better" if difference.mean > 0 else "worse"
    lines = (f"{interval_text(difference.interval)}",)
    return Entry(signed_percent(difference.mean), 100 * difference.mean, lines, tone)


def _deviation(name: str) -> Callable[[tuple[_OverSplits, NestedMean, object, object]], Entry]:
    def show(row: tuple[_OverSplits, NestedMean, object, object]) -> Entry:
        value = getattr(row[1], name)
        return EMPTY if value is None else Entry(percent(value), 100 * value)

    return show


# --- what it cost, and what more would bring ---

QUARTERS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Cost:
    """A method on a dataset: hours of one processor over its seeds, and how its validation accuracy grew."""

    method: str
    dataset: str
    seeds: int
    training: float  # hours of all seeds
    evaluation: float
    curve: tuple[float, ...]  # the best validation accuracy so far after each quarter of the epochs; may be empty

    @property
    def per_hour(self) -> float | None:
        """By how much the last quarter of a training raised it, in points for each hour that this quarter took."""
        hours = self.training / self.seeds / len(QUARTERS)
        return None if not self.curve or not hours else 100 * (self.curve[-1] - self.curve[-2]) / hours


def costs(plan: PlanResults) -> list[Cost]:
    """One per method and dataset with a finished training."""
    groups: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    tested: dict[tuple[str, str], float] = defaultdict(float)
    for cell in plan.cells:
        place = (cell.facts.method or "", cell.facts.dataset or "")
        if cell.status == "done" and cell.kind == "training":
            groups[place].append(cell)
        elif cell.status == "done" and cell.kind == "evaluation":
            tested[place] += (cell.seconds or 0) / 3600
    return [
        Cost(
            *place,
            len(cells),
            sum(processor_seconds(cell) or 0 for cell in cells) / 3600,
            tested[place],
            _curve(cells),
        )
        for place, cells in groups.items()
    ]


def _curve(cells: Sequence[Cell]) -> tuple[float, ...]:
    """The mean over trainings."""
    curves = []
    for cell in cells:
        history = [entry["validation_accuracy"] for entry in training_history(cell) if entry.get("validation_accuracy")]
        if len(history) >= len(QUARTERS):
            curves.append([max(history[: max(1, round(quarter * len(history)))]) for quarter in QUARTERS])
    return tuple(map(fmean, zip(*curves, strict=True))) if curves else ()


def _quarter_column(place: int, quarter: float) -> Column:
    def share(cost: Cost) -> float | None:
        return cost.curve[place] if cost.curve else None

    return Column.shares(f"{quarter:.0%}", share, group="Validation (%) after")


def cost_table(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Processor hours of each row, and what another hour of the same training would buy."""
    columns = [
        Column.words("Method", lambda cost: cost.method),
        Column.words("Dataset", lambda cost: cost.dataset),
        Column.numbers("Seeds", lambda cost: cost.seeds),
        Column.numbers("training", lambda cost: cost.training, ".2f", group="Processor hours"),
        Column.numbers("evaluation", lambda cost: cost.evaluation, ".2f", group="Processor hours"),
        *(_quarter_column(place, quarter) for place, quarter in enumerate(QUARTERS)),
        Column.numbers("Points per hour, last quarter", lambda cost: cost.per_hour, ".1f"),
    ]  # fmt: skip
    caption = (
        "Hours of one processor, all seeds together. Best validation accuracy so far after each quarter of the epochs, "
        "mean over seeds; and by how many points the last quarter of a training raised it for each hour that it took."
    )
    return tabulate(f"{plan.name}-costs", "What it cost", columns, costs(plan), caption, detail=True)
