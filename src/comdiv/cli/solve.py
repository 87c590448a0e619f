"""`comdiv solve`: a problem in words, its answer, expression and tree."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json
from comdiv.cli.options import JsonOption, Options, takes

if TYPE_CHECKING:
    from comdiv.problem import Problem
    from comdiv.solver import Solution
    from comdiv.verbs.solving import SolvingSettings


@takes(settings=Options("comdiv.verbs.solving:SolvingSettings"))
def solve(
    settings: "SolvingSettings",
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The problem; without it, one per line on standard input.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="Run folder; by default the newest run of that language in runs/.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Solve a problem with a trained solver."""
    from comdiv.verbs import solving

    texts = [text] if text is not None else [line.strip() for line in sys.stdin if line.strip()]
    solutions = solving.solve(texts, run, settings, observer=TERMINAL)
    if json:
        print_json([_record(problem, solution) for problem, solution in solutions])
        return
    for problem, solution in solutions:
        _print(problem, solution)


def _record(problem: "Problem", solution: "Solution") -> dict[str, object]:
    from comdiv.expression import format_number, to_infix

    return {
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
