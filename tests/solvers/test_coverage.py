"""The soft coverage constraint: what a bonus does to the order of hypotheses, and which bonus is learnt."""

from fractions import Fraction

import pytest

from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solver import Hypothesis, Solution
from comdiv.solvers.beam import is_right, learn_bonus, with_bonus

LEAVES_ONE_OUT = Hypothesis(parse("N0+N1"), -0.2)
USES_ALL = Hypothesis(parse("N0+N1-N2"), -1.0)
NO_EXPRESSION = Hypothesis(None, -0.5)
BEAM = (LEAVES_ONE_OUT, NO_EXPRESSION, USES_ALL)


def problem(answer: int) -> Problem:
    return Problem(str(answer), "en", "Ann has 3, gets 4 and gives 2. How many?", answer=Fraction(answer))


@pytest.mark.parametrize(("bonus", "first"), [(0.0, LEAVES_ONE_OUT), (0.7, LEAVES_ONE_OUT), (0.9, USES_ALL)])
def test_a_bonus_lifts_what_uses_every_quantity(bonus: float, first: Hypothesis) -> None:
    assert with_bonus(BEAM, 3, bonus)[0] is first


def test_of_two_quantities_the_shorter_one_uses_all() -> None:
    assert with_bonus(BEAM, 2, 8.0) == [LEAVES_ONE_OUT, NO_EXPRESSION, USES_ALL]


def test_equally_probable_hypotheses_keep_their_order() -> None:
    twins = [Hypothesis(parse(text), -1.0) for text in ("N0-N1", "N1-N0")]
    assert with_bonus(twins, 2, 1.0) == twins


def test_the_smallest_bonus_that_helps_most_is_learnt() -> None:
    beam = Solution(None, None, -0.2, BEAM)
    assert learn_bonus(read_all([problem(5)]), [beam], [3]) == 1.0  # 0.5 does not reach
    assert learn_bonus(read_all([problem(7)]), [beam], [3]) == 0.0  # any other is as good or worse
    assert learn_bonus(read_all([problem(5), problem(7)]), [beam, beam], [3, 3]) == 0.0  # a tie: the smallest


def test_without_an_answer_nothing_is_right() -> None:
    solved = Solution(None, None, 0.0, ())
    assert not is_right(problem(5), solved)
