"""A model as a solver: solving, scoring, coverage, keeping, and problems at the edge."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from comdiv.errors import ComdivError
from comdiv.expression import Reference, leaves, parse, used_quantities
from comdiv.language.en import English
from comdiv.language.numbers import NumberSpan
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solvers.batches import collate
from comdiv.solvers.beam import masked_log_softmax
from comdiv.solvers.neural import NeuralSolver, hold_out_validation
from comdiv.solvers.runs import read_config, write_config
from solvers.tiny import EIGHT, SOLVERS, UNSEEN, problem, tiny_solver, trained_solver

Trained = Callable[[str], NeuralSolver]
SIXTEEN = [
    Problem(f"{p.id} {n}", "en", f"{p.text} {'Well. ' * n}", p.expression, p.answer) for n in (0, 1) for p in EIGHT
]


# --- scoring ---


def walked_score(solver: NeuralSolver, one: Problem, *, constrained: bool) -> float:
    """The log-probability of a problem's own expression, token by token as decoding would write it."""
    model = solver.model
    assert model is not None
    (example,) = solver._encode(read_all([one]))
    assert example.target is not None
    batch = collate([example], torch.device("cpu"))
    total = 0.0
    with torch.no_grad():
        state = model.start(model.encode(batch), 1)
        columns = model.next_logits(state).shape[1]
        rules = model.rules(constrained=constrained, cover=False)
        syntax = rules.start(batch.quantity_counts, columns)
        for token in example.target.tolist():
            steps = masked_log_softmax(model.next_logits(state), rules.allowed(syntax, columns))
            total += float(steps[0, token])
            syntax = rules.advance(syntax, torch.tensor([token]))
            state = model.advance(state, torch.tensor([0]), torch.tensor([token]))
    return total


@pytest.mark.parametrize("constrained", [True, False])
@pytest.mark.parametrize("name", SOLVERS)
def test_the_score_is_the_sum_along_the_decoding(name: str, constrained: bool, trained: Trained) -> None:
    solver = trained(name).with_settings(constrained=constrained)
    scores = solver.score(EIGHT)
    for one, score in zip(EIGHT, scores, strict=True):
        assert score.log_probability == pytest.approx(walked_score(solver, one, constrained=constrained), abs=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
def test_the_grammar_takes_nothing_from_a_well_formed_expression(name: str, trained: Trained) -> None:
    free, masked = trained(name).with_settings(constrained=False), trained(name)
    pairs = list(zip(free.score(EIGHT), masked.score(EIGHT), strict=True))
    assert all(b.log_probability >= a.log_probability - 1e-6 for a, b in pairs)
    # Trees and deductions are never ill-formed: masks differ only where the room runs out.
    assert any(b.log_probability > a.log_probability + 1e-6 for a, b in pairs) == (name not in ("gts", "deductive"))


@pytest.mark.parametrize("name", SOLVERS)
def test_the_best_hypothesis_scores_what_the_solution_says(name: str, trained: Trained) -> None:
    solver = trained(name)
    for one, solution in zip(EIGHT, solver.solve(EIGHT, beam=3), strict=True):
        assert solution.expression is not None
        (score,) = solver.score([Problem("again", "en", one.text, solution.expression)])
        assert score.log_probability <= solution.log_probability + 1e-4  # another spelling may be the better one
        if solver.model_class.notation == "prefix":
            assert score.log_probability == pytest.approx(solution.log_probability, abs=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
def test_what_cannot_be_spelled_scores_minus_infinity(name: str, trained: Trained) -> None:
    foreign = [
        problem("constant never seen", "There are 3 things.", "N0*17"),
        Problem("a quantity that is not there", "en", "There are 3 things.", parse("N0+N7")),
        Problem("no expression", "en", "There are 3 things."),
        problem("longer than anything", "There are 3 things.", "+".join(["N0"] * 40)),
    ]
    scores = trained(name).score([foreign[0], EIGHT[0], *foreign[1:]])
    assert math.isfinite(scores[1].log_probability)
    assert [s.log_probability for n, s in enumerate(scores) if n != 1] == [-math.inf] * 4
    assert [s.tokens for n, s in enumerate(scores) if n != 1] == [0] * 4


def test_the_score_counts_the_tokens(trained: Trained) -> None:
    brackets = [EIGHT[5]]  # N2*(N0+N1)
    assert [trained(name).score(brackets)[0].tokens for name in SOLVERS] == [
        8,
        6,
        8,
        5,
        2,
        8,
        13,
    ]  # deductive: steps, gpt2: pieces


# --- solving ---


def test_beam_five_is_never_below_beam_one(trained: Trained) -> None:
    for name in SOLVERS:
        narrow, wide = (trained(name).solve([*EIGHT, *UNSEEN], beam=beam) for beam in (1, 5))
        for one, other in zip(narrow, wide, strict=True):
            assert other.log_probability >= one.log_probability - 1e-5
            assert len(one.hypotheses) == 1
            assert len(other.hypotheses) == 5


def test_nothing_to_solve_gives_nothing(trained: Trained) -> None:
    assert trained("gts").solve([]) == []
    assert trained("gts").score([]) == []


def test_an_untrained_solver_says_so() -> None:
    for use in (lambda s: s.solve(EIGHT), lambda s: s.score(EIGHT), lambda s: s.save(Path("nowhere"))):
        with pytest.raises(ComdivError, match="has not been trained"):
            use(tiny_solver())


@pytest.mark.parametrize("name", SOLVERS)
def test_without_the_grammar_ill_formed_output_is_counted_as_such(name: str) -> None:
    solver = trained_solver(name, epochs=1).with_settings(constrained=False)
    solutions = solver.solve([*EIGHT, *UNSEEN], beam=3)
    assert len(solutions) == 10
    for solution in solutions:
        assert solution.ill_formed == (solution.expression is None)


# --- coverage ---


@pytest.mark.parametrize("name", SOLVERS)
def test_hard_coverage_uses_every_quantity_once(name: str) -> None:
    solver = trained_solver(name, epochs=1).with_settings(cover="hard")
    for one, solution in zip(EIGHT, solver.solve(EIGHT, beam=3), strict=True):
        assert solution.expression is not None
        references = [leaf.index for leaf in leaves(solution.expression) if isinstance(leaf, Reference)]
        assert sorted(references) == list(range(len(references)))
        assert len(references) == len(solver._encode(read_all([one]))[0].quantity_positions)


def test_coverage_out_of_reach_falls_back_to_none() -> None:
    many = Problem("many", "en", " and ".join(str(n) for n in range(2, 22)))  # 20 quantities, 15 tokens
    solver = trained_solver("gts")
    (covered,), (free,) = solver.with_settings(cover="hard").solve([many]), solver.solve([many])
    assert covered == free
    assert covered.expression is not None


def test_hard_coverage_holds_without_the_grammar_too() -> None:
    solver = trained_solver("lstm", epochs=1).with_settings(cover="hard", constrained=False)
    for one, solution in zip(EIGHT, solver.solve(EIGHT), strict=True):
        assert solution.expression is not None
        assert used_quantities(solution.expression) == list(
            range(len(solver._encode(read_all([one]))[0].quantity_positions))
        )


def test_soft_coverage_is_a_bonus_on_the_hypotheses_of_the_beam(trained: Trained) -> None:
    none, soft = trained("gts"), trained("gts").with_settings(cover="soft")
    soft.cover_bonus = 0.0
    assert [s.expression for s in soft.solve(UNSEEN, beam=5)] == [s.expression for s in none.solve(UNSEEN, beam=5)]
    soft.cover_bonus = 1000.0
    for one, solution in zip(EIGHT, soft.solve(EIGHT, beam=5), strict=True):
        count = len(soft._encode(read_all([one]))[0].quantity_positions)
        covers = [used_quantities(h.expression) == list(range(count)) for h in solution.hypotheses if h.expression]
        assert covers == sorted(covers, reverse=True)


def test_the_bonus_is_learnt_on_validation_and_kept(tmp_path: Path) -> None:
    solver = tiny_solver("gts", epochs=3)
    solver.fit(EIGHT, EIGHT)
    solver.cover_bonus = 2.0
    solver.save(tmp_path)
    assert NeuralSolver.load(tmp_path).cover_bonus == 2.0


def test_the_smallest_of_equally_good_bonuses_is_learnt() -> None:
    solver = tiny_solver("gts", epochs=60, hidden=32)
    solver.fit(EIGHT, EIGHT)
    assert solver.accuracy(EIGHT) == 1.0
    assert solver.cover_bonus == 0.0  # everything is right without it


# --- keeping ---


@pytest.mark.parametrize("name", SOLVERS)
def test_a_saved_solver_solves_and_scores_the_same(name: str, tmp_path: Path, trained: Trained) -> None:
    trained(name).save(tmp_path)
    loaded = NeuralSolver.load(tmp_path)
    assert loaded.solve([*EIGHT, *UNSEEN], beam=3) == trained(name).solve([*EIGHT, *UNSEEN], beam=3)
    assert loaded.score(EIGHT) == trained(name).score(EIGHT)
    loaded.save(tmp_path / "again")
    for file in ("model.safetensors", "vocabulary.json", "config.yaml"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / file).read_bytes()


@pytest.mark.parametrize("file", ["model.safetensors", "vocabulary.json", "config.yaml"])
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "foreign"])
def test_a_damaged_run_is_refused_in_one_line(file: str, damage: str, tmp_path: Path, trained: Trained) -> None:
    trained("gts").save(tmp_path)
    path = tmp_path / file
    if damage == "missing":
        path.unlink()
    else:
        content = path.read_bytes()
        path.write_bytes({"empty": b"", "truncated": content[: len(content) // 2], "foreign": b"\x89PNG\xff[["}[damage])
    with pytest.raises(ComdivError) as refused:
        NeuralSolver.load(tmp_path)
    assert str(tmp_path) in str(refused.value)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_run_of_an_older_version_is_loaded(name: str, tmp_path: Path, trained: Trained) -> None:
    trained(name).save(tmp_path)
    config = read_config(tmp_path)
    others = {"heads": 8, "weights": "", "random_weights": False, "pretrained_rate": 1.0}  # every solver had them
    newer = {"forget"}  # as if no solver had had it
    settings = {key: value for key, value in config["settings"].items() if key not in newer}
    write_config(tmp_path, {**config, "settings": {**others, **settings}})
    assert NeuralSolver.load(tmp_path).solve(UNSEEN) == trained(name).solve(UNSEEN)


def test_a_setting_that_no_solver_has_is_refused_with_the_run(tmp_path: Path, trained: Trained) -> None:
    trained("gts").save(tmp_path)
    config = read_config(tmp_path)
    write_config(tmp_path, {**config, "settings": {**config["settings"], "hiden": 3}})
    with pytest.raises(ComdivError, match=r"is not a run of a solver: unknown setting 'hiden'\. Did you mean 'hidden'"):
        NeuralSolver.load(tmp_path)


def test_weights_of_another_size_are_refused_in_one_line(tmp_path: Path) -> None:
    trained_solver("gts", epochs=1).save(tmp_path)
    trained_solver("gts", epochs=1, hidden=8).save(tmp_path / "other")
    (tmp_path / "other" / "model.safetensors").replace(tmp_path / "model.safetensors")
    with pytest.raises(ComdivError, match="the weights do not fit"):
        NeuralSolver.load(tmp_path)


def test_a_device_that_is_not_there_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ComdivError, match="there is no cuda device; available: cpu"):
        tiny_solver("gts", device="cuda").fit(EIGHT, ())


# --- the edge ---

EDGES = {
    "without quantities": Problem("a", "en", "How many days has a week?"),
    "thirty quantities": problem("b", " and ".join(f"{n} nuts" for n in range(2, 32)), "N0+N29"),
    "empty": Problem("c", "en", ""),
    "unknown words": Problem("d", "en", "zyx wvu 3 tsr"),
    "five hundred tokens": problem("e", "Tom has 3 pens. " + "And then he went home. " * 100 + "And 4.", "N0+N1"),
    "division by zero": Problem("f", "en", "Share 0 nuts among 0 boys."),
    "another script": Problem("g", "zh", "小明有3个苹果"),
}


@pytest.mark.parametrize("cover", ["none", "soft", "hard"])
@pytest.mark.parametrize("name", SOLVERS)
def test_every_problem_at_the_edge_gets_a_solution(name: str, cover: str, trained: Trained) -> None:
    solver = trained(name).with_settings(cover=cover)
    for beam in (1, 4):
        solutions = solver.solve(list(EDGES.values()), beam=beam)
        assert len(solutions) == len(EDGES)
        for solution in solutions:
            assert solution.expression is not None
            assert (solution.answer is None) == solution.undefined


@pytest.mark.parametrize("name", SOLVERS)
def test_every_problem_at_the_edge_can_be_trained_on(name: str) -> None:
    solver = tiny_solver(name, epochs=1)
    edges = [Problem(p.id, p.language, p.text, p.expression or parse("1")) for p in EDGES.values()]
    summary = solver.fit(edges, ())
    assert (summary.problems, summary.left_out) == (len(EDGES), 0)
    assert all(math.isfinite(score.log_probability) for score in solver.score(edges))


@pytest.mark.parametrize("name", SOLVERS)
def test_one_training_problem_is_enough(name: str) -> None:
    solver = tiny_solver(name, epochs=30)
    summary = solver.fit(EIGHT[:1], ())
    assert (summary.problems, summary.best_validation_accuracy, summary.best_epoch) == (1, None, 30)
    assert solver.solve(EIGHT[:1])[0].answer == 8


def test_no_training_problem_is_refused_in_one_line() -> None:
    with pytest.raises(ComdivError, match="there are no training problems"):
        tiny_solver().fit((), ())
    with pytest.raises(ComdivError, match="no training problem has an expression that the solver can spell"):
        tiny_solver().fit([problem("a", "3 things", "N0*17")], ())


def test_training_problems_that_cannot_be_spelled_are_counted_and_left_out() -> None:
    foreign = [problem("seventeen", "3 things", "N0*17"), Problem("none", "en", "4 things")]
    summary = tiny_solver().fit([*EIGHT, *foreign], UNSEEN)
    assert (summary.problems, summary.left_out) == (8, 2)


def test_without_validation_problems_a_part_of_the_training_set_is_drawn() -> None:
    summary = tiny_solver().fit(SIXTEEN, ())
    assert summary.problems == 13  # a fifth of sixteen is three
    assert summary.best_validation_accuracy is not None


def test_where_nothing_is_to_be_held_back_all_are_trained_on_and_the_last_epoch_is_kept() -> None:
    summary = tiny_solver(epochs=3, patience=1).fit(SIXTEEN, None)
    assert (summary.problems, summary.epochs, summary.best_epoch) == (16, 3, 3)
    assert summary.best_validation_accuracy is None


def test_a_fifth_is_held_out_for_validation_and_twins_stay_together() -> None:
    pairs = [problem(f"{n}-{twin}", f"{twin + 1} {'word ' * n}.", "N0") for n in range(15) for twin in (0, 1)]

    def held_out(seed: int) -> tuple[list[str], ...]:
        parts = hold_out_validation(read_all(pairs), seed)
        return tuple([reading.problem.id for reading in part] for part in parts)

    train, validation = held_out(0)
    assert len(validation) == 6
    assert {*train, *validation} == {p.id for p in pairs}
    assert not {name.split("-")[0] for name in train} & {name.split("-")[0] for name in validation}
    assert held_out(0) == (train, validation)
    assert held_out(1)[1] != validation


def test_a_very_small_training_set_is_used_whole() -> None:
    few = read_all([problem(str(n), f"{n} things", "N0") for n in range(9)])
    assert hold_out_validation(few, 0) == (few, [])


def test_training_reads_every_text_once_however_many_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    numbers = English.numbers

    def counted(self: English, text: str, *, number_words: bool = False) -> list[NumberSpan]:
        texts.append(text)
        return numbers(self, text, number_words=number_words)

    monkeypatch.setattr(English, "numbers", counted)
    for name in SOLVERS:
        texts.clear()
        tiny_solver(name, epochs=4).fit(EIGHT, UNSEEN)
        assert sorted(texts) == sorted(p.text for p in (*EIGHT, *UNSEEN))
