"""A validation set where a dataset has none."""

import random
from collections.abc import Sequence

from comdiv.dataset import VALIDATION_SHARE
from comdiv.language import get_language
from comdiv.problem import Problem

LEAST = 10  # problems: a smaller training set is used whole, without validation


def drawn_validation(problems: Sequence[Problem], seed: int) -> tuple[list[Problem], list[Problem]]:
    """Train and validation: a share of the problems by seed, twins together; none of a very small set."""
    if len(problems) < LEAST:
        return list(problems), []
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        masked = get_language(problem.language).masked_text(problem.text, number_words=problem.number_words)
        groups.setdefault(masked, []).append(problem)
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    wanted = int(VALIDATION_SHARE * len(problems))
    validation: list[Problem] = []
    for masked in order:
        if len(validation) + len(groups[masked]) <= wanted:
            validation += groups[masked]
    chosen = {problem.id for problem in validation}
    return [problem for problem in problems if problem.id not in chosen], validation
