"""Which test problems a cell got right: predictions judged against the dataset that they were made for, each once.

Published results have neither texts nor predictions: there, ids tell which problems were right.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from comdiv.evaluation import read_predictions
from comdiv.evaluation.outcomes import judge_all
from comdiv.experiments.results import Cell, PlanResults
from comdiv.experiments.store import read_json
from comdiv.problem import Problem, read_problems

OUTCOMES_FILE = "outcomes.json"  # of a published evaluation: {"right": ids, "wrong": ids}
COMPOSITIONS_FILE = "compositions.json"  # of a published dataset: {"structural": ids, "lexical": ids}


class Judgements:
    """Right or wrong by problem, for every evaluation of these results. Test sets and judgements are kept in memory."""

    def __init__(self) -> None:
        self._right: dict[Path, Mapping[str, bool] | None] = {}

    def right(self, plan: PlanResults, cell: Cell, subset: str | None = None) -> Mapping[str, bool] | None:
        """Whether each test problem is right; None where that cannot be known any more.

        `subset` takes the problems of one composition only: structural or lexical.
        """
        if cell.folder not in self._right:
            self._right[cell.folder] = _outcomes(plan, cell)
        found = self._right[cell.folder]
        if found is None or subset is None:
            return found
        chosen = compositions_of(plan, cell).get(subset, frozenset())
        return {name: right for name, right in found.items() if name in chosen} or None


def _outcomes(plan: PlanResults, cell: Cell) -> Mapping[str, bool] | None:
    published = cell.folder / "test" / OUTCOMES_FILE
    if published.is_file():
        record = read_json(published)
        return {**dict.fromkeys(record["right"], True), **dict.fromkeys(record["wrong"], False)}
    predictions, problems = cell.predictions("test"), test_problems(plan, cell)
    if predictions is None or problems is None:
        return None
    return {outcome.id: outcome.right for outcome in judge_all(problems, read_predictions(predictions))}


def compositions_of(plan: PlanResults, cell: Cell) -> Mapping[str, frozenset[str]]:
    """The ids of structural and lexical test problems of the dataset that a cell comes from; none but of SD's kind."""
    source = _source(plan, cell)
    if source is None:
        return {}
    published = source.folder / "dataset" / COMPOSITIONS_FILE
    if published.is_file():
        return {name: frozenset(ids) for name, ids in read_json(published).items()}
    found = defaultdict(set)
    for problem in test_problems(plan, source) or ():
        if problem.composition:
            found[problem.composition].add(problem.id)
    return {name: frozenset(ids) for name, ids in found.items()}


def test_problems(plan: PlanResults, cell: Cell) -> tuple[Problem, ...] | None:
    """The test problems of a cell's dataset, if their texts are there."""
    return part_problems(plan, cell, "test")


def part_problems(plan: PlanResults, cell: Cell, part: str) -> tuple[Problem, ...] | None:
    """One part of the dataset that a cell comes from, before any augmentation."""
    source = _source(plan, cell)
    if source is None or source.dataset is None:
        return None
    path = source.dataset.with_name(f"{part}.jsonl")
    return read_part(path) if path.is_file() else None


def _source(plan: PlanResults, cell: Cell) -> Cell | None:
    return cell if cell.kind == "dataset" else plan.ancestor(cell, "dataset")


@lru_cache(maxsize=8)
def read_part(path: Path) -> tuple[Problem, ...]:
    """The problems of a file; several tables ask for the same one."""
    return tuple(read_problems(path))
