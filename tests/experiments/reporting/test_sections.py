"""The tables of a plan come from the registry, so that a package can add one."""

from collections.abc import Sequence
from pathlib import Path

from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.accuracies import Number, plan_numbers
from comdiv.experiments.reporting.report import make_report
from comdiv.experiments.reporting.sections import plan_section
from comdiv.experiments.reporting.tables import Column, Entry, Table
from comdiv.registry import TABLES
from experiments.synthetic import write_synthetic_results


def hours(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """A table that somebody else wrote: one row with the hours of a plan."""
    total = sum(cell.seconds or 0 for cell in plan.cells) / 3600
    return Table(f"{plan.name}-hours", "Hours", (Column("Hours"),), ((Entry(f"{total:.2f}", total),),))


def test_a_table_of_somebody_else_is_on_the_page_and_a_file(tmp_path: Path) -> None:
    runs = write_synthetic_results(tmp_path / "runs")
    plan = read_results(runs)[0]
    with TABLES.adding("hours", hours):
        section = plan_section(plan, plan_numbers(plan))
        make_report(runs, tmp_path / "report")
    assert section.tables[-1].title == "Hours"
    assert "Hours" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "report" / "tables" / "main-results-hours.csv").is_file()


def test_details_are_folded_away(tmp_path: Path) -> None:
    plan = read_results(write_synthetic_results(tmp_path))[0]
    section = plan_section(plan, plan_numbers(plan))
    names = [
        [table.name.removeprefix("main-results-") for table in tables] for tables in (section.tables, section.details)
    ]
    assert names[0] == ["datasets", "accuracy", "compositions", "structures", "coverage", "overlap"]
    assert names[1] == ["breakdown", "numbers", "augmentations", "trainings", "costs"]
