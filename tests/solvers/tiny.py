"""Problems and solvers small enough for tests: eight problems, a few numbers a layer, one thread."""

from collections.abc import Sequence
from typing import Any

from comdiv.expression import parse, value_of
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.solvers.hyperparameters import SolverSettings, settings_class
from comdiv.solvers.inputs import Example, example_of
from comdiv.solvers.neural import NeuralSolver
from comdiv.solvers.runs import make_solver
from solvers.tiny_weights import tiny_weights

PRETRAINED = ("bertgen", "gpt2")
SOLVERS = ("lstm", "mathen", "transformer", "gts", "deductive", *PRETRAINED)


def problem(name: str, text: str, expression: str | None, language: str = "en") -> Problem:
    """A problem whose answer is its expression's value."""
    tree = None if expression is None else parse(expression)
    values = [quantity.value for quantity in get_language(language).quantities(text)]
    answer = None if tree is None else value_of(tree, values)
    return Problem(id=name, language=language, text=text, expression=tree, answer=answer)


def tiny_example(one: Problem, *options: Any) -> Example:
    """The example of a problem with its own expression."""
    return example_of(read(one), one.expression, *options)


EIGHT = (
    problem("sum", "Tom has 3 red and 5 green apples. How many has he?", "N0+N1"),
    problem("difference", "Ann had 9 pens and lost 4. How many are left?", "N0-N1"),
    problem("product", "There are 6 boxes of 7 eggs. How many eggs?", "N0*N1"),
    problem("quotient", "Share 12 nuts among 4 boys. How many each?", "N0/N1"),
    problem("two steps", "Sue buys 2 bags of 8 figs and eats 3 of them. How many remain?", "N0*N1-N2"),
    problem("brackets", "A shelf has 5 old and 7 new books, and 3 such shelves came. How many books?", "N2*(N0+N1)"),
    problem("constant", "A class of 20 pupils gets a new pupil. How many pupils now?", "N0+1"),
    problem("copy", "The bus has 31 seats. How many seats has the bus?", "N0"),
)
UNSEEN = (
    problem("new sum", "Tom has 8 red and 2 green pens. How many has he?", "N0+N1"),
    problem("new words", "Quokkas nibble 4 gumnuts.", "N0"),
)


def tiny_settings(solver: str = "gts", **changes: Any) -> SolverSettings:
    """Settings of a solver that trains in a second or two."""
    kind = settings_class(solver)
    small: dict[str, Any] = {"embedding": 16, "hidden": 16, "layers": 1, "heads": 2, "dropout": 0.0, "batch": 4}
    small |= {"epochs": 2, "learning_rate": 0.01, "most_tokens": 15, "threads": 1, "device": "cpu"}
    return kind.checked(**kind.own({**small, **changes}))


def tiny_solver(name: str = "gts", **changes: Any) -> NeuralSolver:
    """An untrained solver."""
    if name in PRETRAINED:
        changes = {"weights": tiny_weights(name), **changes}
    solver = make_solver(name, tiny_settings(name, **changes))
    assert isinstance(solver, NeuralSolver)
    return solver


def trained_solver(name: str = "gts", problems: Sequence[Problem] = EIGHT, **changes: Any) -> NeuralSolver:
    """A solver after a few steps: its weights mean something, and no two of its scores are equal."""
    solver = tiny_solver(name, **changes)
    solver.fit(problems, ())
    return solver
