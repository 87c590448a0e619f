"""Several trained solvers as one: their beams pooled, every expression scored by all of them.

Members may be of different kinds and read with different encoders: only the interface of solvers is used.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from comdiv.errors import ComdivError
from comdiv.expression import Expression, in_text_order
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solver import Hypothesis, Score, Solution, Solver, TrainingSummary, solution_of
from comdiv.solvers.plausible import mean_weights, rerank

LEAST_BEAM = 5  # hypotheses of each member
UNSPELLABLE = -50.0  # log-probability of an expression that a member cannot write: the others may outweigh it


class Ensemble:
    """Trained solvers that decide together by the mean of their log-probabilities."""

    def __init__(self, members: Sequence[Solver]) -> None:
        self.members = list(members)
        self.name = " + ".join(member.name for member in members)

    def solve(self, problems: Sequence[Problem], *, beam: int = 1) -> list[Solution]:
        """Solutions from all members' hypotheses together. Members that re-rank their beams do so jointly."""
        readings = read_all(problems)
        beams = [member.solve(problems, beam=max(beam, LEAST_BEAM)) for member in self.members]
        pools = [_pooled(solutions) for solutions in zip(*beams, strict=True)]
        places = [(place, tree) for place, pool in enumerate(pools) for tree in pool]
        candidates = [replace(problems[place], expression=tree) for place, tree in places]
        hypotheses: list[list[Hypothesis]] = [[] for _ in problems]
        for (place, tree), score in zip(places, self.score(candidates), strict=True):
            hypotheses[place].append(Hypothesis(tree, score.log_probability))
        weights = mean_weights([_weights(member) for member in self.members])
        solutions = []
        for reading, unsorted in zip(readings, hypotheses, strict=True):
            best = sorted(unsorted, key=lambda hypothesis: -hypothesis.log_probability)
            best = rerank(reading, best, weights) if weights else best
            solutions.append(solution_of(reading, best[:beam]))
        return solutions

    def score(self, problems: Sequence[Problem]) -> list[Score]:
        """The mean log-probability of every problem's own expression; −inf if no member can write it."""
        scores = [member.score(problems) for member in self.members]
        return [_mean(same) for same in zip(*scores, strict=True)]

    def fit(self, *_: Any, **__: Any) -> TrainingSummary:
        raise ComdivError("an ensemble consists of trained solvers: train them one by one")

    def save(self, folder: Path) -> None:
        raise ComdivError("an ensemble has no folder of its own: name its runs")

    @classmethod
    def load(cls, folder: Path) -> Self:
        raise ComdivError("an ensemble has no folder of its own: name its runs")


def _pooled(solutions: Sequence[Solution]) -> list[Expression]:
    """The distinct expressions of several beams; the order of operands makes no difference."""
    trees = [h.expression for solution in solutions for h in solution.hypotheses if h.expression is not None]
    return list({in_text_order(tree): tree for tree in reversed(trees)}.values())[::-1]


def _mean(scores: Sequence[Score]) -> Score:
    logs = [score.log_probability for score in scores]
    if max(logs) == float("-inf"):
        return Score(max(logs), 0)
    return Score(sum(max(log, UNSPELLABLE) for log in logs) / len(logs), max(score.tokens for score in scores))


def _weights(member: Any) -> dict[str, float]:
    """The weights with which a member re-ranks; none if it does not."""
    reranks = getattr(getattr(member, "settings", None), "plausible", "none") != "none"
    return member.plausible if reranks else {}
