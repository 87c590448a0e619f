"""A table for comdiv's report: how often each method is wrong, the worst first."""

from collections.abc import Sequence

from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.accuracies import Number
from comdiv.experiments.reporting.tables import Column, Entry, Table, percent


def error_rates(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """One row per method and test set that has been run; None where nothing has."""
    tested = [number for number in numbers if number.part == "test" and number.subset is None and number.known]
    if not tested:
        return None
    return Table(
        name=f"{plan.name}-error-rates",
        title="Error rates",
        columns=(Column("Method", number=False), Column("Dataset", number=False), Column("Wrong, %")),
        rows=tuple(_row(number) for number in sorted(tested, key=lambda number: number.accuracy or 0.0)),
        caption="Share of the test problems that are not solved.",
    )


def _row(number: Number) -> tuple[Entry, ...]:
    error = 1 - (number.accuracy or 0.0)
    return Entry(number.method), Entry(str(number.facts.dataset)), Entry(percent(error), error)
