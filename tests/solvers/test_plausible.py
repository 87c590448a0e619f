"""Plausibility by values: its features, its weights, and the re-ranking of any solver's beam."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from comdiv.corpora.demo import generate
from comdiv.expression import parse
from comdiv.reading import Reading, read
from comdiv.solver import Hypothesis, Solution, solution_of
from comdiv.solvers import neural
from comdiv.solvers.neural import NeuralSolver, nested_split
from comdiv.solvers.plausible import (
    FEATURES,
    LOG_PROBABILITY,
    Reranked,
    learn_reranking,
    learn_weights,
    plausibility_features,
    rerank,
)
from solvers.tiny import EIGHT, SOLVERS, UNSEEN, problem, tiny_solver, trained_solver


def features(expression: str, *values: str) -> dict[str, float]:
    row = plausibility_features(parse(expression), [Fraction(value) for value in values])
    assert row is not None
    return {name: value for name, value in zip(FEATURES, row, strict=True) if value}


@pytest.mark.parametrize(
    ("expression", "values", "wanted"),
    [
        ("N0+N1", ("3", "5"), {}),
        ("N0+N0", ("3", "5"), {"used twice": 1, "unused": 1}),
        ("N0-N1", ("3", "5"), {"negative": 1}),
        ("N0-N1", ("5", "5"), {"zero": 1}),
        ("N0/N1", ("12", "4"), {"even division": 1}),
        ("N0/N1", ("12", "5"), {"not whole": 1}),
        ("N0/N1", ("1/2", "5"), {}),
        ("N0*N1", ("12", "4"), {"missed division": 1, "even product": 1}),
        ("N0-N1", ("12", "4"), {"missed division": 1}),
        ("N0-N1", ("9", "4", "5"), {"unused": 1, "given": 1}),
        ("N0-N1+N2", ("3", "5", "9"), {"negative step": 1}),
        ("N0/N1*N2", ("3", "2", "4"), {"not whole step": 1}),
    ],
)
def test_features_are_what_they_are_called(expression: str, values: tuple[str, ...], wanted: dict[str, float]) -> None:
    assert features(expression, *values) == wanted


def test_an_expression_without_a_value_has_no_features_and_comes_last() -> None:
    assert plausibility_features(parse("N0/(N1-N1)"), [Fraction(3), Fraction(5)]) is None
    reading = read(problem("a", "3 and 5", "N0+N1"))
    undefined, defined = Hypothesis(parse("N0/(N1-N1)"), -0.1), Hypothesis(parse("N0+N1"), -5.0)
    broken = Hypothesis(None, -0.2)
    assert rerank(reading, [undefined, broken, defined], {LOG_PROBABILITY: 1.0})[0] == defined


def beams() -> tuple[list[Reading], list[Solution]]:
    """Problems whose solver prefers a product, which is right unless the division comes out even."""
    readings = [read(problem(f"{n}", f"{3 * n} nuts for {n} boys", "N0/N1")) for n in (4, 5, 6, 7)]
    readings += [read(problem(f"{n}*", f"{3 * n + 1} bags of {n} nuts", "N0*N1")) for n in (4, 5, 6, 7)]
    hypotheses = [Hypothesis(parse("N0*N1"), -0.5), Hypothesis(parse("N0/N1"), -1.5)]
    return readings, [solution_of(reading, hypotheses) for reading in readings]


def test_weights_learnt_on_beams_lift_what_was_right_there() -> None:
    readings, solutions = beams()
    weights = learn_weights(readings, solutions)
    assert weights["even division"] > 0 > weights["even product"]
    new = read(problem("new", "48 nuts for 8 boys", "N0/N1"))
    assert rerank(new, solutions[0].hypotheses, weights)[0].expression == parse("N0/N1")
    uneven = read(problem("uneven", "49 nuts for 8 boys", "N0*N1"))
    assert rerank(uneven, solutions[0].hypotheses, weights)[0].expression == parse("N0*N1")


def test_without_anything_to_learn_from_the_log_probability_decides() -> None:
    readings, solutions = beams()
    alone = [solution_of(r, s.hypotheses[:1]) for r, s in zip(readings, solutions, strict=True)]
    for nothing in (learn_weights([], []), learn_weights(readings, alone)):
        assert nothing == {LOG_PROBABILITY: 1.0} | dict.fromkeys(FEATURES, 0.0)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_learns_keeps_and_uses_the_weights(name: str, tmp_path: Path) -> None:
    solver = tiny_solver(name, plausible="validation", epochs=3)
    solver.fit(EIGHT, EIGHT)
    solver.save(tmp_path)
    stored = yaml.safe_load((tmp_path / "config.yaml").read_text(encoding="utf-8"))["learnt"]["plausible"]
    assert stored == solver.plausible
    assert set(stored) == {LOG_PROBABILITY, *FEATURES}
    loaded = NeuralSolver.load(tmp_path)
    assert loaded.solve(UNSEEN, beam=2) == solver.solve(UNSEEN, beam=2)
    plain = loaded.with_settings(plausible="none")
    for one, reranked, first in zip(EIGHT, loaded.solve(EIGHT), plain.solve(EIGHT, beam=10), strict=True):
        assert reranked.expression == rerank(read(one), first.hypotheses, solver.plausible)[0].expression


def test_a_solver_that_was_not_told_to_learns_none_and_its_old_runs_load(tmp_path: Path) -> None:
    solver = trained_solver(epochs=1)
    assert solver.plausible == {}
    solver.save(tmp_path)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text(encoding="utf-8"))
    del config["learnt"]["plausible"]
    (tmp_path / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    assert NeuralSolver.load(tmp_path).plausible == {}


# --- nested ---

SIXTY = list(generate("en", 60))


def test_a_nested_split_tears_the_training_problems_apart() -> None:
    train, test = nested_split([read(one) for one in SIXTY], seed=0)
    assert len(train) + len(test) == len(SIXTY)
    assert 0 < len(test) < len(train)


def test_nested_weights_come_from_training_problems_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    def spying(readings: list[Reading], solutions: list[Solution]) -> dict[str, float]:
        seen.append({reading.problem.id for reading in readings})
        return learn_weights(readings, solutions)

    monkeypatch.setattr(neural, "learn_weights", spying)
    solver = tiny_solver("gts", plausible="nested", epochs=1)
    solver.fit(SIXTY, UNSEEN, resume_from=tmp_path)
    assert seen
    assert seen[0] < {one.id for one in SIXTY}
    assert (tmp_path / "nested" / "training_state").is_dir()  # an interrupted one goes on
    assert set(solver.plausible) == {LOG_PROBABILITY, *FEATURES}


def test_a_feature_that_is_left_out_has_no_weight() -> None:
    solver = trained_solver("lstm", epochs=3)
    whole, without = (learn_reranking(solver, EIGHT, left_out) for left_out in ((), ("unused", "even division")))
    assert whole["unused"] != 0
    assert without["unused"] == without["even division"] == 0


def test_a_solver_is_reranked_with_weights_of_its_own() -> None:
    solver = trained_solver("lstm", epochs=3)
    least = {LOG_PROBABILITY: 0.0, **dict.fromkeys(FEATURES, 0.0), "unused": -1.0}
    for one, solution in zip(EIGHT, Reranked(solver, least).solve(EIGHT, beam=3), strict=True):
        rows = [h.expression and plausibility_features(h.expression, read(one).values) for h in solution.hypotheses]
        unused = [row[FEATURES.index("unused")] for row in rows if row]
        assert unused == sorted(unused)
        assert len(unused) <= 3
