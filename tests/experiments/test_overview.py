"""A plan's results in a few rows."""

from pathlib import Path
from statistics import mean

from comdiv.experiments.archive import read_results
from comdiv.experiments.reporting.cell_tables import accuracies, best_settings
from experiments.synthetic import write_synthetic_results


def test_a_row_is_the_mean_over_the_seeds_that_are_done(tmp_path: Path) -> None:
    main_results, rounds = read_results(write_synthetic_results(tmp_path))
    rows = {(row["dataset"], row["method"], row["cover"]): row for row in accuracies(main_results)}
    assert len(rows) == 2 * 4 * 2
    chosen = rows["demo-en-comdiv", "GTS+DA", "hard"]
    cells = [
        cell
        for cell in main_results.of_kind("evaluation")
        if (cell.facts.dataset, cell.facts.method, cell.facts.cover) == ("demo-en-comdiv", "GTS+DA", "hard")
    ]
    assert chosen["test"] == mean(cell.summary["test"]["answer_accuracy"] for cell in cells)
    assert (chosen["n"], chosen["seeds"]) == (40, 3)
    assert rows["demo-en-comdiv", "MathEN", "none"]["seeds"] == 2  # one training failed
    assert [row["method"] for row in accuracies(rounds)] == [
        "GTS, 0 rounds", "GTS, 1 round", "GTS, 2 rounds", "GTS, 3 rounds",
    ]  # fmt: skip


def test_the_best_settings_are_those_of_the_best_validation(tmp_path: Path) -> None:
    main_results, _ = read_results(write_synthetic_results(tmp_path))
    row = best_settings(main_results)[0]
    assert (row["dataset"], row["method"], row["validation"], row["seeds"]) == ("demo-en-iid", "MathEN", 0.9, 3)
