"""What the tests of solvers share."""

from collections.abc import Callable

import pytest
import torch

from comdiv.solvers.neural import NeuralSolver
from solvers.tiny import EIGHT, trained_solver

torch.set_num_threads(1)  # matrices of 16 by 16 gain nothing from more


@pytest.fixture(scope="session")
def trained() -> Callable[[str], NeuralSolver]:
    """The solver of a name, trained for a few epochs on the eight problems, once for all tests."""
    made: dict[str, NeuralSolver] = {}

    def solver(name: str) -> NeuralSolver:
        if name not in made:
            made[name] = trained_solver(name, EIGHT, epochs=10)
        return made[name]

    return solver
