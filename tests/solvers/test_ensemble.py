"""Several trained solvers as one: pooled beams, summed log-probabilities, steps of what they find."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.solver import Hypothesis, Score, Solution, Solver, solution_of, steps_of
from comdiv.solvers.ensemble import UNSPELLABLE, Ensemble
from comdiv.solvers.neural import NeuralSolver
from comdiv.solvers.plausible import FEATURES, LOG_PROBABILITY
from comdiv.solvers.runs import load_runs
from solvers.tiny import EIGHT, problem, trained_solver

TWELVE = problem("a", "12 nuts for 4 boys", "N0/N1")


class Opinion:
    """A solver with a fixed opinion: log-probabilities by expression."""

    def __init__(self, name: str, **opinions: float) -> None:
        self.name = name
        self.opinions = {{"sum": "N0+N1", "quotient": "N0/N1", "product": "N1*N0"}[k]: v for k, v in opinions.items()}

    def solve(self, problems: Sequence[Problem], *, beam: int = 1) -> list[Solution]:
        beams = [Hypothesis(parse(e), v) for e, v in sorted(self.opinions.items(), key=lambda one: -one[1])]
        return [solution_of(read(one), beams[:beam]) for one in problems]

    def score(self, problems: Sequence[Problem]) -> list[Score]:
        known = {parse(e): v for e, v in self.opinions.items()}
        return [Score(known.get(one.expression, float("-inf")), 3) for one in problems]  # type: ignore[arg-type]


def ensemble(*members: Opinion) -> Ensemble:
    return Ensemble(members)  # type: ignore[arg-type]


def test_the_highest_sum_of_log_probabilities_wins() -> None:
    both = ensemble(Opinion("a", sum=-0.1, quotient=-1.0), Opinion("b", sum=-5.0, quotient=-1.0))
    (solution,) = both.solve([TWELVE], beam=2)
    assert both.name == "a + b"
    assert [h.expression for h in solution.hypotheses] == [parse("N0/N1"), parse("N0+N1")]
    assert [h.log_probability for h in solution.hypotheses] == pytest.approx([-1.0, -2.55])
    assert solution.answer == 3


def test_what_one_member_cannot_write_others_may_carry() -> None:
    (solution,) = ensemble(Opinion("a", quotient=-0.1), Opinion("b", sum=-0.2)).solve([TWELVE], beam=2)
    assert [h.log_probability for h in solution.hypotheses] == pytest.approx(
        [(UNSPELLABLE - 0.1) / 2, (UNSPELLABLE - 0.2) / 2]
    )
    (nobody,) = ensemble(Opinion("a"), Opinion("b")).score([TWELVE])
    assert nobody.log_probability == float("-inf")


def test_the_order_of_operands_makes_no_second_hypothesis(trained: Callable[[str], NeuralSolver]) -> None:
    both = Ensemble([trained("gts"), trained("deductive"), trained("lstm")])
    for solution in both.solve(EIGHT, beam=10):
        trees = [h.expression for h in solution.hypotheses]
        assert parse("N0+N1") not in trees or parse("N1+N0") not in trees
        assert solution.hypotheses[0].log_probability == max(h.log_probability for h in solution.hypotheses)


def test_the_sum_is_what_the_members_say(trained: Callable[[str], NeuralSolver]) -> None:
    members = [trained("gts"), trained("deductive")]
    scores = [member.score(EIGHT) for member in members]
    for together, a, b in zip(Ensemble(members).score(EIGHT), *scores, strict=True):
        assert together.log_probability == pytest.approx((a.log_probability + b.log_probability) / 2)


def test_members_that_rerank_do_so_together(trained: Callable[[str], NeuralSolver]) -> None:
    members = [trained(name).with_settings(plausible="validation") for name in ("gts", "lstm")]
    for member in members:
        member.plausible = {LOG_PROBABILITY: 0.0, **dict.fromkeys(FEATURES, 0.0), "unused": -1.0}
    (solution,) = Ensemble(members).solve([EIGHT[4]], beam=10)
    unused = [3 - len({c for c in str(h.expression) if c.isdigit()} & {"0", "1", "2"}) for h in solution.hypotheses]
    assert unused == sorted(unused)


def test_several_runs_are_an_ensemble_and_one_is_itself(trained: Callable[[str], NeuralSolver], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("gts", "deductive")]
    for folder in folders:
        trained(folder.name).save(folder)
    assert isinstance(load_runs(folders), Ensemble)
    assert isinstance(load_runs(folders[:1]), NeuralSolver)


def test_an_ensemble_is_neither_trained_nor_saved(tmp_path: Path) -> None:
    both: Solver = ensemble(Opinion("a"), Opinion("b"))
    for attempt in (lambda: both.fit(EIGHT, ()), lambda: both.save(tmp_path), lambda: Ensemble.load(tmp_path)):
        with pytest.raises(ComdivError, match="an ensemble"):
            attempt()


# --- steps ---


def test_the_steps_of_an_expression_are_its_operations_left_first() -> None:
    steps = steps_of(parse("(N0-N1)/(N2-1)"), [Fraction(9), Fraction(3), Fraction(4)])
    assert [(s.operator, s.left, s.right, s.value) for s in steps] == [
        ("-", 9, 3, 6), ("-", 4, 1, 3), ("/", 6, 3, 2),
    ]  # fmt: skip
    assert steps_of(parse("N0"), [Fraction(9)]) == []


def test_a_solver_that_deduces_tells_how_probable_its_steps_were() -> None:
    solver = trained_solver("deductive", EIGHT, epochs=60, hidden=32, embedding=32)
    first, second = solver.steps(EIGHT[4], parse("N0*N1-N2"))
    assert (first.operator, first.left, first.right, first.value) == ("*", 2, 8, 16)
    assert (second.operator, second.left, second.right, second.value) == ("-", 16, 3, 13)
    for step in (first, second):
        assert step.probability is not None
        assert step.probability > 0.5  # it knows the eight by heart
        assert step.probability + sum(other.probability or 0 for other in step.others) <= 1 + 1e-6
        assert len(step.others) == 3
    assert solver.steps(EIGHT[7], parse("N0")) == ()


def test_steps_multiply_to_the_expressions_probability(trained: Callable[[str], NeuralSolver]) -> None:
    solver = trained("deductive")
    (score,) = solver.score([EIGHT[5]])
    total = 1.0
    assert EIGHT[5].expression is not None
    for step in solver.steps(EIGHT[5], EIGHT[5].expression):
        assert step.probability is not None
        total *= step.probability
    assert 2.718281828**score.log_probability <= total + 1e-6  # whether a step is the last is counted there, too


def test_other_solvers_tell_the_steps_alone(trained: Callable[[str], NeuralSolver]) -> None:
    (step,) = trained("gts").steps(EIGHT[0], parse("N0+N1"))
    assert (step.value, step.probability, step.others) == (8, None, ())
