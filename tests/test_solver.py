"""What everybody knows of solvers: from hypotheses to a solution."""

import subprocess
import sys
from fractions import Fraction

import pytest

from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.solver import Hypothesis, Solution, solution_of

PROBLEM = Problem("a", "en", "Tom has 3 bags of 12 apples and eats half.")


def test_the_first_hypothesis_is_the_solution_with_its_exact_value() -> None:
    hypotheses = [Hypothesis(parse("N0/N1"), -0.5), Hypothesis(parse("N0+N1"), -2.0)]
    solution = solution_of(read(PROBLEM), hypotheses)
    assert (solution.expression, solution.answer) == (parse("N0/N1"), Fraction(1, 4))
    assert solution.log_probability == -0.5
    assert solution.hypotheses == tuple(hypotheses)
    assert not solution.ill_formed
    assert not solution.undefined


def test_no_hypothesis_at_all_is_ill_formed() -> None:
    assert solution_of(read(PROBLEM), []) == Solution(None, None, float("-inf"), (), ill_formed=True)


def test_tokens_that_make_no_expression_are_ill_formed_not_undefined() -> None:
    solution = solution_of(read(PROBLEM), [Hypothesis(None, -1.0)])
    assert (solution.ill_formed, solution.undefined, solution.answer) == (True, False, None)


@pytest.mark.parametrize("text", ["N0/(N1-N1)", "0^(0-1)", "N0+N7"])
def test_an_expression_without_a_value_is_undefined_not_ill_formed(text: str) -> None:
    solution = solution_of(read(PROBLEM), [Hypothesis(parse(text), -1.0)])
    assert (solution.ill_formed, solution.undefined, solution.answer) == (False, True, None)


def test_number_words_have_values_where_the_problem_counts_them() -> None:
    words = Problem("a", "en", "Tom has three pens and 4 caps.", number_words=True)
    assert solution_of(read(words), [Hypothesis(parse("N0*N1"), 0.0)]).answer == 12


def test_the_interface_does_not_need_torch() -> None:
    code = "import sys, comdiv.solver, comdiv.solvers.runs; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
