"""Which test problems a cell got right: predictions judged against the dataset that they were made for, each once."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from comdiv.evaluation import read_predictions
from comdiv.evaluation.outcomes import judge_all
from comdiv.experiments.results import Cell, PlanResults
from comdiv.problem import Problem, read_problems


class Judgements:
    """Right or wrong by problem, for every evaluation of these results. Test sets and judgements are kept in memory."""

    def __init__(self) -> None:
        self._right: dict[Path, Mapping[str, bool]] = {}

    def right(self, plan: PlanResults, cell: Cell, subset: str | None = None) -> Mapping[str, bool] | None:
        """Whether each test problem is right; None where the texts or predictions are not there (shared results).

        `subset` takes the problems of one composition only: structural or lexical.
        """
        predictions = cell.predictions("test")
        problems = test_problems(plan, cell)
        if predictions is None or problems is None:
            return None
        if predictions not in self._right:
            outcomes = judge_all(problems, read_predictions(predictions))
            self._right[predictions] = {outcome.id: outcome.right for outcome in outcomes}
        found = self._right[predictions]
        if subset is None:
            return found
        chosen = {problem.id for problem in problems if problem.extra.get("composition") == subset}
        return {name: right for name, right in found.items() if name in chosen} or None


def test_problems(plan: PlanResults, cell: Cell) -> tuple[Problem, ...] | None:
    """The test problems of a cell's dataset, if their texts are there."""
    return part_problems(plan, cell, "test")


def part_problems(plan: PlanResults, cell: Cell, part: str) -> tuple[Problem, ...] | None:
    """One part of the dataset that a cell comes from, before any augmentation."""
    source = cell if cell.kind == "dataset" else plan.ancestor(cell, "dataset")
    if source is None or source.dataset is None:
        return None
    path = source.dataset.with_name(f"{part}.jsonl")
    return read_part(path) if path.is_file() else None


@lru_cache(maxsize=8)
def read_part(path: Path) -> tuple[Problem, ...]:
    """The problems of a file; several tables ask for the same one."""
    return tuple(read_problems(path))
