"""Solve: a problem in words, one or more runs, and their solutions side by side."""

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from comdiv.errors import ComdivError
from comdiv.expression import to_infix
from comdiv.problem import Problem
from comdiv.reading import Reading, read
from comdiv.solver import Hypothesis, Solution, SolvedStep
from comdiv.studio import views
from comdiv.studio.pages import is_partial, render
from comdiv.verbs.solving import solution_steps, typed_problem

if TYPE_CHECKING:
    from comdiv.studio.app import Studio

LONGEST_TEXT = 5_000  # characters
WIDEST_BEAM = 20
LEVELS = 10  # shades of attention in the style sheet


@dataclass(frozen=True, slots=True)
class Alternative:
    """A hypothesis of the beam, for display."""

    expression: str
    value: str
    confidence: float


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """What the solver attended to when it wrote a token: words with a shade from 0 to 9, and the numbers' shares."""

    token: str
    words: list[tuple[str, int, bool]]
    numbers: list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of the deduction, for display: what is computed, how probable it was, and what else was considered."""

    text: str
    value: str
    probability: float | None
    others: tuple["StepRow", ...] = ()


@dataclass(frozen=True, slots=True)
class Solved:
    """One run's card: its solution, or why there is none."""

    run: str
    solver: str
    error: str = ""
    answer: str = ""
    in_numbers: str = ""
    expression: str = ""
    tree: Markup | None = None
    confidence: float = 0.0
    note: str = ""
    alternatives: tuple[Alternative, ...] = ()
    attention: tuple[AttentionRow, ...] = ()
    steps: tuple[StepRow, ...] = ()
    seconds: float = 0.0


def add_solve(app: FastAPI, studio: "Studio") -> None:
    """The form at `/solve`, which is answered with cards."""

    @app.get("/solve")
    def form(id: str = "", part: str = "") -> HTMLResponse:
        entry = studio.library.find(id, part) if id else None
        text = entry.problem.text if entry else ""
        return render("solve.html", **_values(studio, text))

    @app.post("/solve")
    def solve(
        request: Request,
        text: Annotated[str, Form()] = "",
        run: Annotated[list[str] | None, Form()] = None,
        beam: Annotated[int, Form(ge=1, le=WIDEST_BEAM)] = 5,
    ) -> HTMLResponse:
        reading = read(_problem(text))
        if not run:
            raise ComdivError("choose at least one run")
        kinds = {known.name: known.solver for known in studio.shelf.runs()}
        cards = [solved(studio, name, kinds.get(name, ""), reading, beam) for name in dict.fromkeys(run)]
        values = _values(studio, reading.text, run, beam) | {
            "cards": cards,
            "pieces": views.pieces(reading, range(len(reading.numbers))),
        }
        return render("solutions.html" if is_partial(request) else "solve.html", **values)


def _values(studio: "Studio", text: str, chosen: list[str] | None = None, beam: int = 5) -> dict[str, Any]:
    runs = studio.shelf.runs()
    return {
        "studio": studio,
        "here": "solve",
        "text": text,
        "runs": runs,
        "chosen": chosen or [known.name for known in runs[:1]],
        "beam": beam,
        "cards": None,
    }


def _problem(text: str) -> Problem:
    text = " ".join(text.split())
    if not text:
        raise ComdivError("there is no problem to solve: write or paste one")
    if len(text) > LONGEST_TEXT:
        raise ComdivError(f"the text has {len(text):,} characters; at most {LONGEST_TEXT:,} are allowed")
    return typed_problem(text)


def solved(studio: "Studio", name: str, kind: str, reading: Reading, beam: int) -> Solved:
    """One run's solution. A run that cannot answer says why; the others still answer."""
    start = time.perf_counter()
    try:
        solver = studio.shelf.solver(name)
        solution = solver.solve([reading.problem], beam=beam)[0]
        attention = _attention(solver, reading, solution)
        steps = tuple(_step_row(step) for step in solution_steps(solver, reading.problem, solution))
    except ComdivError as error:
        return Solved(name, kind, error=str(error))
    expression = solution.expression
    note = "its tokens are not an expression" if solution.ill_formed else ""
    return Solved(
        run=name,
        solver=kind,
        answer=views.number(solution.answer),
        in_numbers=views.in_numbers(reading, expression),
        expression="" if expression is None else to_infix(expression),
        tree=None if expression is None else views.tree(reading, expression),
        confidence=_confidence(solution.log_probability),
        note="it divides by zero" if solution.undefined else note,
        alternatives=tuple(_alternative(reading, other) for other in solution.hypotheses[1:]),
        attention=attention,
        steps=steps,
        seconds=time.perf_counter() - start,
    )


def _alternative(reading: Reading, hypothesis: Hypothesis) -> Alternative:
    expression = hypothesis.expression
    shown = views.in_numbers(reading, expression) if expression is not None else "no expression"
    return Alternative(shown, views.written_value(reading, expression), _confidence(hypothesis.log_probability))


def _step_row(step: SolvedStep) -> StepRow:
    text = f"{views.number(step.left)} {step.operator} {views.number(step.right)}"
    return StepRow(text, views.number(step.value), step.probability, tuple(map(_step_row, step.others)))


def _confidence(log_probability: float) -> float:
    return min(1.0, math.exp(min(0.0, log_probability)))


def _attention(solver: Any, reading: Reading, solution: Solution) -> tuple[AttentionRow, ...]:
    """For a solver with attention (`NeuralSolver.attention`), what it attended to for every token that it wrote."""
    if not hasattr(solver, "attention") or solution.expression is None:
        return ()
    weights = solver.attention(reading.problem, solution.expression)
    if weights is None:
        return ()
    quantities = reading.plain_quantities
    words = list(weights.words)
    for quantity, place in zip(quantities, weights.quantities, strict=True):  # the number itself, not N0
        words[place] = quantity.text
    return tuple(
        AttentionRow(
            token=token,
            words=[
                (word, min(LEVELS - 1, int(LEVELS * weight / max(row))), place in weights.quantities)
                for place, (word, weight) in enumerate(zip(words, row, strict=True))
            ],
            numbers=[
                (quantity.text, row[place]) for quantity, place in zip(quantities, weights.quantities, strict=True)
            ],
        )
        for token, row in zip(weights.tokens, weights.weights, strict=True)
    )
