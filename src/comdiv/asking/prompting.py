"""Prompts for language models: an instruction, worked examples from the training side, and the problem.

They are in the problem's language (`prompts.yaml`) and the same as in the tasks for lm-evaluation-harness.
"""

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from comdiv.errors import ComdivError
from comdiv.expression import (
    TOLERANCE,
    Constant,
    Expression,
    Reference,
    answers_agree,
    format_number,
    to_infix,
    value_of,
)
from comdiv.language import get_language
from comdiv.language.prompts import Prompts
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.registry import LANGUAGES

if TYPE_CHECKING:
    from jinja2 import Template

Message = dict[str, str]  # role and content, as chat endpoints take them


def prompts_of(language: str) -> Prompts:
    """The prompts of a language; the English ones if it is unknown or has none of its own."""
    own = get_language(language).prompts if language in LANGUAGES else None
    prompts = own or get_language("en").prompts
    if prompts is None:
        raise ComdivError(f"neither '{language}' nor 'en' has prompts for language models")
    return prompts


def has_worked_solution(problem: Problem) -> bool:
    """Whether a problem can be shown with its working: its expression must give its answer."""
    value = read(problem).value
    return value is not None and (problem.answer is None or answers_agree(value, problem.answer, TOLERANCE))


def worked_solution(problem: Problem) -> str:
    """The expression worked out operator by operator, from the inside out, for a step-by-step example."""
    reading = read(problem)
    if problem.expression is None or reading.value is None:
        return ""
    steps: list[str] = []
    _work(problem.expression, reading.values, steps)
    return prompts_of(problem.language).solution(steps, format_number(reading.value))


def _work(expression: Expression, values: Sequence[Fraction], steps: list[str]) -> str:
    """Append the steps of a subtree; return its value as an operand of the next step."""
    if not isinstance(expression, Reference | Constant):
        left, right = _work(expression.left, values, steps), _work(expression.right, values, steps)
        steps.append(f"{left} {expression.operator} {right} = {format_number(value_of(expression, values))}")
    return _operand(value_of(expression, values))


def _operand(value: Fraction) -> str:
    number = format_number(value)
    return f"({number})" if "/" in number or number.startswith("-") else number


def program_text(problem: Problem) -> str:
    """The expression with its numbers, as the style `program` wants it: `3*12`."""
    values = read(problem).values
    if problem.expression is None:
        return ""
    return to_infix(problem.expression, lambda index: _operand(values[index]))


def draw_shots(train: Sequence[Problem], shots: int, seed: int) -> tuple[Problem, ...]:
    """Examples for the prompt, drawn by id for each language of the training side: problems with a worked solution.

    Every test problem gets the same ones, so that answers do not differ by luck with the examples.
    """
    usable: dict[str, list[Problem]] = {}
    for problem in sorted(train, key=lambda one: hashlib.sha256(f"{seed} {one.id}".encode()).digest()):
        own = usable.setdefault(problem.language, [])
        if len(own) < shots and has_worked_solution(problem):
            own.append(problem)
    return tuple(problem for language in sorted(usable) for problem in usable[language])


def messages_for(problem: Problem, style_name: str, shots: Sequence[Problem]) -> tuple[Message, ...]:
    """The chat that asks for a problem's solution: the examples of its language as earlier turns, then the problem."""
    style = prompts_of(problem.language).style(style_name)
    messages = [{"role": "system", "content": style.instruction}]
    for shot in shots:
        if shot.language == problem.language and shot.id != problem.id:
            messages.append({"role": "user", "content": _filled(style.question, shot)})
            messages.append({"role": "assistant", "content": _filled(style.target, shot)})
    return (*messages, {"role": "user", "content": _filled(style.question, problem)})


def _filled(template: str, problem: Problem) -> str:
    """A template of `prompts.yaml` filled in for a problem."""
    gold = read(problem).gold
    return _template(template).render(
        text=problem.text,
        answer="" if gold is None else format_number(gold),
        solution=worked_solution(problem) if "solution" in template else "",
        program=program_text(problem) if "program" in template else "",
    )


@cache
def _template(text: str) -> "Template":
    from jinja2 import Environment

    return Environment(autoescape=False).from_string(text)  # for a model, not for a page
