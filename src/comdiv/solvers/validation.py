"""A validation set where a dataset has none."""

from collections.abc import Sequence

from comdiv.groups import draw_validation
from comdiv.problem import Problem
from comdiv.reading import read

LEAST = 10  # problems: a smaller training set is used whole, without validation


def drawn_validation(problems: Sequence[Problem], seed: int) -> tuple[list[Problem], list[Problem]]:
    """Train and validation: a share of the problems by seed, twins together; none of a very small set."""
    if len(problems) < LEAST:
        return list(problems), []
    held_out = draw_validation([read(problem).mask for problem in problems], seed=seed)
    train = [problem for problem, chosen in zip(problems, held_out, strict=True) if not chosen]
    return train, [problem for problem, chosen in zip(problems, held_out, strict=True) if chosen]
