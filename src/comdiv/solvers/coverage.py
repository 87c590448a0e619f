"""The soft coverage constraint: a bonus for expressions that use every quantity of the text.

Of a beam's hypotheses, those that leave no number out move up by so much log-probability as helps on validation. Texts
have numbers that nobody needs, so the bonus may well be none; the hard constraint lies in the grammar.
"""

from collections.abc import Sequence

from comdiv.expression import answers_agree, used_quantities
from comdiv.problem import Problem
from comdiv.solver import Hypothesis, Solution, solution_of

BONUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)  # candidates


def with_bonus(hypotheses: Sequence[Hypothesis], quantities: int, bonus: float) -> list[Hypothesis]:
    """The hypotheses by log-probability, plus the bonus where all of so many quantities are used; best first."""

    def worth(hypothesis: Hypothesis) -> float:
        expression = hypothesis.expression
        covers = expression is not None and used_quantities(expression) == list(range(quantities))
        return hypothesis.log_probability + bonus * covers

    return sorted(hypotheses, key=worth, reverse=True)


def learn_bonus(problems: Sequence[Problem], solutions: Sequence[Solution], quantities: Sequence[int]) -> float:
    """The bonus with the most right answers, given a beam for each problem; the smallest of equal ones."""

    def right(bonus: float) -> int:
        return sum(
            is_right(problem, solution_of(problem, with_bonus(solution.hypotheses, count, bonus)))
            for problem, solution, count in zip(problems, solutions, quantities, strict=True)
        )

    return max(BONUSES, key=lambda bonus: (right(bonus), -bonus))


def is_right(problem: Problem, solution: Solution) -> bool:
    """Whether a solution's answer is the problem's, within the tolerance that scoring has."""
    return solution.answer is not None and problem.answer is not None and answers_agree(solution.answer, problem.answer)
