"""The paper's numbers as data: internally consistent, and found for the methods and places they belong to."""

from pathlib import Path

import pytest

from comdiv.evaluation import relative_gap
from comdiv.experiments.plan import read_plan
from comdiv.experiments.reporting.paper import PaperTable, Place, read_paper

PAPER = read_paper()
PAIRS: dict[str, tuple[Place, Place]] = {
    "math23k": (("math23k", "iid", "test", None), ("math23k", "dbca", "test", None)),
    "mawps": (("mawps", "iid", "test", None), ("mawps", "dbca", "test", None)),
    "sd": (("math23k", "synthesis", "validation", None), ("math23k", "synthesis", "test", None)),
}


@pytest.mark.parametrize("method", PAPER.results.rows)
@pytest.mark.parametrize("corpus", PAIRS)
def test_printed_gaps_follow_from_the_printed_accuracies(method: str, corpus: str) -> None:
    easy, hard = (PAPER.results.get(method, place) for place in PAIRS[corpus])
    assert easy is not None
    assert hard is not None
    gap = relative_gap(easy.share, hard.share)
    assert gap is not None
    # The paper rounds to two digits below 2 and to one above, and cuts now and then: one unit of its last digit.
    unit = 0.01 if PAPER.gaps[method][corpus] < 2 else 0.1
    assert PAPER.gaps[method][corpus] == pytest.approx(gap, abs=unit)


@pytest.mark.parametrize(("method", "tolerance"), [("MathEN", 0.1), ("GTS", 0.1), ("MathEN+DA", 0.3), ("GTS+DA", 1.9)])
def test_structural_and_lexical_parts_add_up_to_the_whole_test(method: str, tolerance: float) -> None:
    """668 and 77 are the sizes that Tables II and III leave open. They fit the plain methods, and MathEN+DA nearly; no
    sizes fit all rows: with these, the paper's 16.8 and 63.8 for GTS+DA make 21.7, where Table II has 23.5."""
    parts = PAPER.composition_types.rows[method].values()
    whole = PAPER.results.get(method, ("math23k", "synthesis", "test", None))
    assert whole is not None
    assert sum(part.n for part in parts) == whole.n
    assert sum(part.percent * part.n for part in parts) / whole.n == pytest.approx(whole.percent, abs=tolerance)


def test_the_ablation_begins_with_the_method_of_table_two() -> None:
    for place, number in PAPER.ablation.rows["MathEN+DA"].items():
        assert PAPER.results.get("MathEN+DA", place) == number


def test_sizes_of_table_one_are_those_of_the_columns() -> None:
    for numbers in PAPER.results.rows.values():
        for (corpus, split, part, _), number in numbers.items():
            if part == "test" and split != "length":
                dataset = PAPER.dataset(corpus, split)
                assert dataset is not None
                assert dataset.test == number.n


def test_a_number_is_found_by_method_and_place_whatever_the_case() -> None:
    found = PAPER.accuracy("gts+da", ("math23k", "synthesis", "test", "structural"))
    assert found is not None
    assert (found.percent, found.n) == (16.8, 668)
    low, high = found.interval
    assert low < found.share < high
    assert PAPER.accuracy("GTS", ("demo-en", "dbca", "test", None)) is None


@pytest.mark.parametrize(("name", "table"), [("main-results", PAPER.results), ("ablation", PAPER.ablation)])
def test_plans_and_paper_have_the_same_names_for_the_same_things(name: str, table: PaperTable) -> None:
    plan = read_plan(Path(__file__).resolve().parents[3] / "experiments" / f"{name}.yaml")
    methods = {method.partition(" (")[0].casefold() for method in plan.methods}  # in brackets: whose weights
    assert {method.casefold() for method in table.rows} <= methods
    places = {
        (corpus, split) for numbers in table.rows.values() for corpus, split, _, _ in numbers if split != "length"
    }
    planned = {
        (dataset.corpus, "synthesis" if dataset.split is None else dataset.split.method)
        for dataset in plan.datasets.values()
    }
    assert places <= planned
