"""Tables about several splits, local structures and costs, on outcomes small enough to count."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from comdiv.experiments.cell import Cell, Facts, PlanResults
from comdiv.experiments.reporting.accuracies import plan_numbers
from comdiv.experiments.reporting.split_tables import cost_table, costs, splits_table, structures_table
from comdiv.experiments.reporting.tables import Table

KNOWN, NEW = frozenset({"p0", "p1"}), frozenset({"p2"})


@dataclass(frozen=True)
class Told:
    """Details of cells that no folder holds."""

    right: tuple[bool, ...] = ()
    epochs: tuple[float, ...] = ()

    def dataset(self) -> Mapping[str, Any]:
        return {}

    def history(self) -> list[dict[str, Any]]:
        return [{"epoch": n, "loss": 1.0, "validation_accuracy": value} for n, value in enumerate(self.epochs, 1)]

    def frequencies(self) -> dict[str, Any]:
        return {}

    def outcomes(self) -> dict[str, bool]:
        return {f"p{place}": right for place, right in enumerate(self.right)}

    def test_ids(self) -> tuple[str, ...]:
        return tuple(self.outcomes())

    def compositions(self) -> dict[str, frozenset[str]]:
        return {}

    def structures(self) -> dict[str, frozenset[str]]:
        return {"all seen": KNOWN, "one unseen": NEW}


def plan(outcomes: Mapping[tuple[str, int, int], str]) -> PlanResults:
    """(method, seed of the split, seed of the training) → "101": the second of three problems was wrong."""
    cells: dict[str, Cell] = {}
    for (method, split, seed), right in outcomes.items():
        facts = Facts(dataset=f"mawps-robust-{split}", corpus="mawps", split="dbca", split_seed=split)
        data = f"dataset-{split}"
        cells[data] = Cell(data, "dataset", data, facts, (), {"split": {"seed": split}}, status="done", details=Told())
        plain = method.removesuffix("+DA") if method.endswith("+DA") else None
        facts = replace(facts, method=method, solver="gts", seed=seed, plain=plain, cover="none")
        trained, tested = f"training-{method}-{split}-{seed}", f"evaluation-{method}-{split}-{seed}"
        summary = {"epochs": 4, "seconds_per_epoch": 900.0, "problems": 10}
        details = Told(epochs=(0.1, 0.5, 0.4, 0.6))
        cells[trained] = Cell(
            trained, "training", trained, facts, (data,), summary=summary, status="done", details=details
        )
        bits = tuple(bit == "1" for bit in right)
        record = {"test": {"correct": sum(bits), "n": len(bits)}}
        origin = {"seconds": 3600.0}
        cells[tested] = Cell(
            tested, "evaluation", tested, facts, (trained, data), summary=record, status="done", origin=origin,
            details=Told(bits),
        )  # fmt: skip
    return PlanResults("mine", "", "", None, {}, Path(), tuple(cells.values()))


def column(table: Table | None, title: str) -> list[str]:
    assert table is not None
    (place,) = [place for place, one in enumerate(table.columns) if one.full_title == title]
    return [row[place].text for row in table.rows]


def tone(table: Table | None) -> str:
    assert table is not None
    return table.rows[-1][4].tone


AGREE = {(m, s, 0): "111" if m == "GTS+DA" else "001" for m in ("GTS", "GTS+DA") for s in (1, 2, 3)}


def test_splits_that_differ_in_their_seed_are_one_row_with_the_paired_difference() -> None:
    found = plan(AGREE)
    table = splits_table(found, plan_numbers(found))
    assert column(table, "Method") == ["GTS", "GTS+DA"]
    assert column(table, "Splits") == ["mawps-robust, 3 of them"] * 2
    assert column(table, "Accuracy") == ["33.3", "100.0"]
    assert column(table, "Difference from without augmentation") == ["–", "+66.7"]


def test_better_is_said_only_if_the_splits_agree() -> None:
    agree, differ = plan(AGREE), plan({**AGREE, ("GTS+DA", 3, 0): "000"})
    assert tone(splits_table(agree, plan_numbers(agree))) == "better"
    assert tone(splits_table(differ, plan_numbers(differ))) == ""


def test_one_split_is_no_table() -> None:
    found = plan({("GTS", 1, seed): "110" for seed in (0, 1, 2)})
    assert splits_table(found, plan_numbers(found)) is None


def test_accuracy_by_local_structures_is_the_mean_over_seeds() -> None:
    found = plan({("GTS", 1, 0): "110", ("GTS", 1, 1): "011"})
    table = structures_table(found, plan_numbers(found))
    assert column(table, "Structures all seen") == ["75.0"]
    assert column(table, "Structures one unseen") == ["50.0"]
    assert column(table, "Structures one operator") == ["–"]


def test_costs_are_processor_hours_of_all_seeds_and_what_the_last_quarter_brought() -> None:
    found = plan({("GTS", 1, 0): "110", ("GTS", 1, 1): "011"})
    (cost,) = costs(found)
    assert (cost.seeds, cost.training, cost.evaluation) == (2, 2.0, 2.0)
    assert cost.curve == pytest.approx((0.1, 0.5, 0.5, 0.6))
    assert cost.per_hour == pytest.approx(40)  # ten points in a quarter of an hour
    assert column(cost_table(found, ()), "Processor hours training") == ["2.00"]
