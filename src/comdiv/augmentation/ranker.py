"""The data ranker (§IV): a solver trained on the current set says which new problems it is sure of."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from comdiv.expression import template
from comdiv.problem import Problem
from comdiv.solver import Solver

MakeSolver = Callable[..., Solver]  # as `comdiv.solvers.registry.make_solver`: name, preset=…, changes=…
Rank = Literal["prediction", "given"]


@dataclass(frozen=True, slots=True)
class RankingTask:
    """Where a trained ranker lies, and what it is asked: enough to rank a shard on any machine that sees the folder."""

    solver_class: type[Solver]
    folder: Path
    rank: Rank


def rank_shard(task: RankingTask, problems: Sequence[Problem]) -> list[float]:
    """The scores of some problems."""
    return confidence(task.solver_class.load(task.folder), problems, task.rank)


def confidence(solver: Solver, problems: Sequence[Problem], rank: Rank) -> list[float]:
    """`prediction`: log-probability of the solver's own best expression, the product over its tokens (the paper).

    `given`: of the problem's own expression, for each token, so that long ones are not punished.
    """
    if rank == "prediction":
        return [solution.log_probability for solution in solver.solve(problems)]
    return [score.log_probability / max(1, score.tokens) for score in solver.score(problems)]


def kept_of(
    problems: Sequence[Problem], scores: Sequence[float], share: float, keep_by: Literal["joint", "stratum"]
) -> list[str]:
    """The ids of the best share, best first: exactly ⌊share · n⌋ of them, but at least one. Ties go by id.

    `stratum`: the share is kept within each operation and template; what rounding leaves goes to the greatest rests.
    """
    exact = Fraction(share).limit_denominator(1_000_000)  # 0.2 of 10 is 2, whatever binary fractions say
    ranked = sorted(zip(problems, scores, strict=True), key=lambda pair: (-_number(pair[1]), pair[0].id))
    wanted = max(1, math.floor(exact * len(ranked))) if ranked else 0
    if keep_by == "joint":
        return [problem.id for problem, _ in ranked[:wanted]]
    strata: dict[str, list[str]] = {}
    for problem, _ in ranked:
        strata.setdefault(stratum(problem), []).append(problem.id)
    places = {name: math.floor(exact * len(members)) for name, members in strata.items()}
    by_rest = sorted(strata, key=lambda name: (places[name] - exact * len(strata[name]), name))
    for name in by_rest[: wanted - sum(places.values())]:
        places[name] += 1
    chosen = {problem for name, members in strata.items() for problem in members[: places[name]]}
    return [problem.id for problem, _ in ranked if problem.id in chosen]


def stratum(problem: Problem) -> str:
    """Operation and template of a new problem."""
    shown = "" if problem.expression is None else template(problem.expression)
    return f"{problem.provenance.operation}: {shown}"


def _number(score: float) -> float:
    """A score that can be sorted: what is no number is the least."""
    return -math.inf if math.isnan(score) else score
