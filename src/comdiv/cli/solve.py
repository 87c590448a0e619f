"""`comdiv solve`: a problem in words, its answer, expression and tree."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import output_console, print_json, print_note
from comdiv.cli.corpus import CoverOption, JsonOption
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.problem import Problem
    from comdiv.solver import Solution


def solve(
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The problem; without it, one a line on standard input.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="Run folder; without it, the newest run of that language in runs/.")
    ] = None,
    beam: Annotated[int, typer.Option(min=1, max=100, help="How many hypotheses to follow.")] = 5,
    cover: CoverOption = "none",
    json: JsonOption = False,
) -> None:
    """Solve a problem with a trained solver."""
    from comdiv.language import detect_language
    from comdiv.problem import Problem
    from comdiv.solvers.runs import load_run

    texts = [text] if text is not None else [line.strip() for line in sys.stdin if line.strip()]
    if not texts:
        raise ComdivError("there is no problem to solve: give one as an argument or on standard input")
    problems = [Problem(id=str(n), language=detect_language(t), text=t) for n, t in enumerate(texts, start=1)]
    folder = run or newest_run(Path("runs"), problems[0].language)
    solver = load_run(folder, cover)
    print_note(f"solved by {folder}")
    solutions = solver.solve(problems, beam=beam)
    if json:
        print_json([_record(problem, solution) for problem, solution in zip(problems, solutions, strict=True)])
        return
    for problem, solution in zip(problems, solutions, strict=True):
        _print(problem, solution)


def newest_run(folder: Path, language: str) -> Path:
    """The run that was written last among those whose vocabulary is of the language."""
    import json

    from comdiv.language import detect_language

    runs = sorted(folder.glob("*/model.safetensors"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in runs:
        try:
            words = json.loads((path.parent / "vocabulary.json").read_text(encoding="utf-8"))["words"]
        except (OSError, ValueError, KeyError):  # a run that is only half written
            continue
        if detect_language("".join(words)) == language:
            return path.parent
    raise ComdivError(
        f"no run for language '{language}' in {folder}/: train one with `comdiv train`, or name it: --run"
    )


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
