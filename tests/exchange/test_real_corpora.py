"""The real corpora: how many problems get new numbers, and how many pairs there are. Only counts stand here."""

import random

import pytest

from comdiv.corpora import read_corpus
from comdiv.exchange.composing import compose_chains
from comdiv.exchange.renumbering import renumber_problem
from comdiv.problem import Problem

pytestmark = [pytest.mark.real_data, pytest.mark.usefixtures("real_data")]


@pytest.mark.parametrize(("name", "least"), [("mawps", 160), ("svamp", 100)])
def test_problems_whose_numbers_all_act_get_new_ones(name: str, least: int) -> None:
    """SVAMP adds numbers that do not matter to its problems: half of them are refused."""
    drawn = random.Random(0).sample(read_corpus(name).problems, 200)
    renumbered = [problem for problem in drawn if isinstance(renumber_problem(problem), Problem)]
    assert len(renumbered) >= least


def test_mawps_gives_a_hundred_independent_pairs() -> None:
    pairs, _ = compose_chains(read_corpus("mawps").problems, compose="paste")
    assert len(pairs) >= 100
