"""Statistics of a plan, on results small enough to be worked out by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from comdiv.dataset import Dataset, write_dataset
from comdiv.evaluation import Prediction, Share, wilson_interval
from comdiv.evaluation.predictions import write_predictions
from comdiv.evaluation.significance import paired_bootstrap
from comdiv.experiments.cell import Cell, Facts, PlanResults
from comdiv.experiments.reporting.accuracies import Number, plan_numbers
from comdiv.experiments.reporting.accuracy_tables import accuracy_entry, accuracy_table, numbers_table
from comdiv.experiments.store import RunDetails
from comdiv.expression import parse
from comdiv.problem import Problem

# Of ten problems, which ones each method gets right; by seed.
PLAIN = {0: {0, 1, 2}, 1: {0, 1}, 2: {0, 1, 2, 3}}
AUGMENTED = {0: {0, 1, 2, 4, 5}, 1: {0, 1, 4, 5, 6}, 2: {1, 4, 5, 6, 7, 8}}
LEXICAL = {7, 8, 9}


def problem(place: int) -> Problem:
    kind = "lexical" if place in LEXICAL else "structural"
    return Problem(str(place), "en", f"{place} and 2 pears?", parse("N0+N1"), Fraction(place + 2), composition=kind)


def evaluation(
    folder: Path, facts: Facts, right: set[int] | None, needs: tuple[str, ...], name: str = "evaluation"
) -> Cell:
    """An evaluation cell with its predictions; None: it failed."""
    key = f"{name}-{facts.method}-{facts.seed}"
    if right is None:
        return Cell(key, "evaluation", key, facts, needs, status="failed", reason="out of memory")
    predictions = [Prediction(str(n), answer=Fraction(n + 2) if n in right else Fraction(0)) for n in range(10)]
    write_predictions(folder / key / "test" / "predictions.jsonl", predictions)
    subsets = {
        name: {"correct": len(right & ids), "n": len(ids)}
        for name, ids in (("lexical", LEXICAL), ("structural", set(range(10)) - LEXICAL))
    }
    summary = {"test": {"correct": len(right), "n": 10, "subsets": subsets}, "validation": {"correct": 4, "n": 5}}
    details = RunDetails(folder / key, folder / "data")
    return Cell(key, "evaluation", key, facts, needs, status="done", summary=summary, details=details)


def results(folder: Path, runs: Mapping[str, Mapping[int, set[int] | None]]) -> PlanResults:
    write_dataset(folder / "data" / "dataset", Dataset((), (), tuple(map(problem, range(10)))), title="ten problems")
    facts = Facts(dataset="ten", corpus="math23k", split="synthesis")
    cells = [Cell("data", "dataset", "ten", facts, (), status="done", folder=folder / "data")]
    for method, seeds in runs.items():
        for seed, right in seeds.items():
            plain = method.removesuffix("+DA") if method.endswith("+DA") else None
            named = Facts("ten", "math23k", "synthesis", method=method, plain=plain, seed=seed, cover="none")
            cells.append(evaluation(folder, named, right, ("data",)))
    return PlanResults("plan", "", "", None, {}, folder / "plans" / "plan.json", tuple(cells))


def number(numbers: Sequence[Number], method: str, part: str = "test", subset: str | None = None) -> Number:
    return next(n for n in numbers if (n.method, n.part, n.subset) == (method, part, subset))


@pytest.fixture
def numbers(tmp_path: Path) -> list[Number]:
    return plan_numbers(results(tmp_path, {"GTS": PLAIN, "GTS+DA": AUGMENTED}))


def test_the_mean_is_over_seeds_and_each_seed_counts_once(numbers: list[Number]) -> None:
    gts = number(numbers, "GTS")
    assert gts.accuracies == [0.3, 0.2, 0.4]
    assert gts.accuracy == pytest.approx(0.3)
    assert gts.n == 10
    assert list(gts.shares) == ["seed 0", "seed 1", "seed 2"]


def test_the_interval_over_seeds_is_students(numbers: list[Number]) -> None:
    """0.3, 0.2, 0.4: deviation 0.1, t(2) at 97.5 % is 4.3027, so the half width is 4.3027 · 0.1 / √3 = 0.24842."""
    gts = number(numbers, "GTS")
    assert gts.half_width == pytest.approx(0.24842, abs=1e-5)
    assert gts.over_seeds == pytest.approx((0.05158, 0.54842), abs=1e-5)
    assert gts.over_problems == wilson_interval(3, 10)


def test_a_part_that_is_not_evaluated_has_no_number(tmp_path: Path) -> None:
    both = results(tmp_path, {"GTS": {0: {0}}})
    assert [n.part for n in plan_numbers(both) if n.subset is None] == ["validation", "test"]
    asked = replace(both, plan={"evaluate": {"parts": ["test"]}})
    assert [n.part for n in plan_numbers(asked) if n.subset is None] == ["test"]
    (data, one) = both.cells
    whole = replace(both, cells=(data, replace(one, summary={"test": one.summary["test"]})))  # nothing was held back
    found = plan_numbers(whole)
    assert [n.part for n in found if n.subset is None] == ["test"]
    table = accuracy_table(whole, found)
    assert table is not None
    assert [column.title for column in table.columns] == ["Method", "test"]


def test_with_two_seeds_there_is_no_interval_over_seeds(tmp_path: Path) -> None:
    two = plan_numbers(results(tmp_path, {"GTS": {0: {0}, 1: {1, 2}}}))
    assert number(two, "GTS").over_seeds is None
    assert number(two, "GTS").over_problems is not None


def test_the_paired_difference_is_the_mean_over_problems_and_common_seeds(numbers: list[Number]) -> None:
    """+DA is right 16 times of 30, plain 9 times: a difference of 7/30 on ten problems, drawn as ten, not as thirty."""
    (paired,) = number(numbers, "GTS+DA").paired
    assert paired.against == "GTS"
    assert paired.difference == pytest.approx(7 / 30)
    assert (paired.n, len(paired.by_seed)) == (10, 3)
    ours = [sum(n in AUGMENTED[seed] for seed in AUGMENTED) for n in range(10)]
    theirs = [sum(n in PLAIN[seed] for seed in PLAIN) for n in range(10)]
    _, (low, high), p = paired_bootstrap(ours, theirs)
    assert paired.interval == pytest.approx((low / 3, high / 3))
    assert paired.p == p
    assert paired.interval[0] < paired.difference < paired.interval[1]


def test_the_difference_is_told_seed_by_seed(numbers: list[Number]) -> None:
    """Problems are drawn, trainings are not: what one more training might give, only the seeds can show."""
    augmented = number(numbers, "GTS+DA")
    assert augmented.paired[0].by_seed == pytest.approx((0.2, 0.3, 0.2))
    assert accuracy_entry(augmented).lines[-1] == "by seed +20.0, +30.0, +20.0"
    table = numbers_table(PlanResults("plan", "", "", None, {}, Path(), ()), [augmented])
    assert table is not None
    shown = {column.full_title: entry.text for column, entry in zip(table.columns, table.rows[0], strict=True)}
    assert shown["Over seeds each"] == "50.0, 50.0, 60.0"
    assert shown["Paired test by seed"] == "+20.0, +30.0, +20.0"


def test_one_seed_has_nothing_to_tell_seed_by_seed(tmp_path: Path) -> None:
    one = number(plan_numbers(results(tmp_path, {"GTS": {0: {0}}, "GTS+DA": {0: {0, 1}}})), "GTS+DA")
    assert not any("by seed" in line for line in accuracy_entry(one).lines)


def test_subsets_are_compared_on_their_own_problems(numbers: list[Number]) -> None:
    """Of the lexical 7, 8, 9 plain solves none; +DA solves 7 and 8 once: 2 of 9."""
    lexical = number(numbers, "GTS+DA", subset="lexical")
    assert lexical.accuracy == pytest.approx(2 / 9)
    (paired,) = lexical.paired
    assert paired.difference == pytest.approx(2 / 9)
    assert paired.n == 3


def test_only_seeds_that_both_methods_have_are_compared(tmp_path: Path) -> None:
    runs: dict[str, Mapping[int, set[int] | None]] = {"GTS": {0: {0}, 1: None}, "GTS+DA": {0: {0, 1}, 1: {0, 1, 2}}}
    found = plan_numbers(results(tmp_path, runs))
    (paired,) = number(found, "GTS+DA").paired
    assert (paired.difference, paired.by_seed) == (pytest.approx(0.1), (pytest.approx(0.1),))


def test_a_failed_seed_is_lacking_and_a_method_without_any_is_unknown(tmp_path: Path) -> None:
    found = plan_numbers(results(tmp_path, {"GTS": {0: {0}, 1: None}, "LSTM": {0: None}}))
    assert number(found, "GTS").accuracy == pytest.approx(0.1)
    assert [cell.reason for cell in number(found, "GTS").lacking] == ["out of memory"]
    lstm = number(found, "LSTM")
    assert (lstm.known, lstm.accuracy, lstm.over_problems, lstm.n) == (False, None, None, 0)


def test_results_without_texts_have_numbers_but_no_paired_test(tmp_path: Path) -> None:
    plan = results(tmp_path, {"GTS": PLAIN, "GTS+DA": AUGMENTED})
    (tmp_path / "data" / "dataset" / "test.jsonl").unlink()
    found = plan_numbers(plan)
    assert number(found, "GTS+DA").accuracy == pytest.approx(16 / 30)
    assert number(found, "GTS+DA").paired == ()


def test_parts_are_pooled_over_seeds(tmp_path: Path) -> None:
    plan = results(tmp_path, {"GTS": PLAIN})
    assert set(number(plan_numbers(plan), "GTS").breakdown) == {"lexical", "structural"}
    by_count = {"1": {"correct": 2, "n": 9}, "2": {"correct": 0, "n": 1}}
    cells = [
        replace(cell, summary={**cell.summary, "test": {**cell.summary["test"], "by_operator_count": by_count}})
        if cell.kind == "evaluation"
        else cell
        for cell in plan.cells
    ]
    parts = number(plan_numbers(replace(plan, cells=tuple(cells))), "GTS").breakdown
    assert parts["1 operator"] == Share(6, 27)
    assert parts["2 operators"] == Share(0, 3)
    assert parts["lexical"] == Share(0, 9)


def test_numbers_know_where_the_paper_has_them(numbers: list[Number]) -> None:
    assert number(numbers, "GTS", subset="structural").place == ("math23k", "synthesis", "test", "structural")


def test_equal_steps_compare_with_the_training_that_has_them(tmp_path: Path) -> None:
    """GTS was trained twice: as it is, and with as many steps as GTS+DA. Only the second is a fair comparison."""
    plan = results(tmp_path, {"GTS": {0: {0}}, "GTS+DA": {0: {0, 1, 2, 3}}})
    facts = Facts("ten", "math23k", "synthesis", method="GTS", seed=0, steps="equal", steps_like="GTS+DA", cover="none")
    longer = evaluation(tmp_path, facts, {0, 1, 2}, ("data",), "longer")
    found = plan_numbers(replace(plan, cells=(*plan.cells, longer)))
    (paired,) = number(found, "GTS+DA").paired
    assert paired.difference == pytest.approx(0.1)
    assert paired.other == pytest.approx(0.3)
    assert number(found, "GTS").accuracy == pytest.approx(0.1)
    assert number(found, "GTS, steps of GTS+DA").accuracy == pytest.approx(0.3)
