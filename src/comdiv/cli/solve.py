"""`comdiv solve`: a problem in words, its answer, expression and tree."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json
from comdiv.cli.options import JsonOption, Options, takes

if TYPE_CHECKING:
    from comdiv.problem import Problem
    from comdiv.solver import Solution, SolvedStep
    from comdiv.verbs.solving import SolvingSettings


@takes(settings=Options("comdiv.verbs.solving:SolvingSettings"))
def solve(
    settings: "SolvingSettings",
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The problem; without it, one per line on standard input.")
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(
            help="Run folder; by default the newest run in runs/ for the text's language. Several runs solve together."
        ),
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="Show the computation step by step.")] = False,
    json: JsonOption = False,
) -> None:
    """Solve a problem with trained solvers."""
    from comdiv.verbs import solving

    texts = [text] if text is not None else [line.strip() for line in sys.stdin if line.strip()]
    solutions = solving.solve_with_steps(texts, run, settings, observer=TERMINAL)
    if json:
        print_json([_record(*solved[:2], solved[2] if steps else None) for solved in solutions])
        return
    for problem, solution, computation in solutions:
        _print(problem, solution)
        if steps:
            _print_steps(computation)


def _record(problem: "Problem", solution: "Solution", steps: "Sequence[SolvedStep] | None" = None) -> dict[str, object]:
    from comdiv.expression import format_number, to_infix

    record: dict[str, object] = {} if steps is None else {"steps": [_step_record(step) for step in steps]}
    return record | {
        "text": problem.text,
        "answer": None if solution.answer is None else format_number(solution.answer),
        "expression": None if solution.expression is None else to_infix(solution.expression),
        "log_probability": solution.log_probability,
        "undefined": solution.undefined,
        "hypotheses": [
            {
                "expression": None if h.expression is None else to_infix(h.expression),
                "log_probability": h.log_probability,
            }
            for h in solution.hypotheses
        ],
    }


def _step_record(step: "SolvedStep") -> dict[str, object]:
    others = {"others": [_step_record(other) for other in step.others]} if step.others else {}
    return {"step": _step_text(step), "probability": step.probability, **others}


def _step_text(step: "SolvedStep") -> str:
    """A step in numbers: 3 * 12 = 36."""
    from comdiv.expression import format_number

    left, right, value = (format_number(number) for number in (step.left, step.right, step.value))
    return f"{left} {step.operator} {right} = {value}"


def _print_steps(steps: "Sequence[SolvedStep]") -> None:
    """One line per step; if the solver deduced it, with its probability and the alternatives it rejected."""
    from rich.text import Text

    console = output_console()
    for number, step in enumerate(steps, start=1):
        line = Text(f"{number}. {_step_text(step)}")
        if step.probability is not None:
            others = "".join(f"; {_step_text(other)} {other.probability or 0:.1%}" for other in step.others)
            line.append(f"   {step.probability:.1%}{others}", style="dim")
        console.print(line, soft_wrap=True)


def _print(problem: "Problem", solution: "Solution") -> None:
    import math
    from dataclasses import replace

    from rich.text import Text

    from comdiv.cli.render import problem_view
    from comdiv.expression import to_infix

    console = output_console()
    console.print(problem_view(replace(problem, expression=solution.expression, answer=solution.answer)))
    confidence = f"confidence {math.exp(solution.log_probability):.1%}"
    others = [h for h in solution.hypotheses[1:] if h.expression is not None]
    if solution.undefined:
        console.print(Text("the expression has no value: it divides by zero", style="red"))
    console.print(Text(confidence, style="dim"))
    for hypothesis in others:
        assert hypothesis.expression is not None
        line = f"  or {to_infix(hypothesis.expression)}, {math.exp(hypothesis.log_probability):.1%}"
        console.print(Text(line, style="dim"))
