"""How a language model is asked: prompts in the problems' language, and worked solutions as examples to follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from comdiv.evaluation.outcomes import gold_answer
from comdiv.expression import (
    Constant,
    Expression,
    ExpressionError,
    Reference,
    answers_agree,
    format_number,
    value_of,
)
from comdiv.problem import Problem
from comdiv.reading import read


@dataclass(frozen=True, slots=True)
class Style:
    """With or without working: what is asked for, and where the model's words end."""

    name: str
    instruction: str
    question: str  # a Jinja template over a row of the exported data
    target: str
    until: tuple[str, ...]
    tokens: int


_ENGLISH = (
    Style(
        name="direct",
        instruction="Solve the problem. Answer with the number alone.",
        question="Problem: {{text}}\nAnswer:",
        target="{{answer}}",
        until=("\n",),
        tokens=32,
    ),
    Style(
        name="steps",
        instruction='Solve the problem step by step. End with "The answer is" and the number.',
        question="Problem: {{text}}\nSolution:",
        target="{{solution}}",
        until=("\n\n", "Problem:"),
        tokens=512,
    ),
)
_CHINESE = (
    Style(
        name="direct",
        instruction="解答下面的题目，只写出答案的数字。",
        question="题目：{{text}}\n答案：",
        target="{{answer}}",
        until=("\n",),
        tokens=32,
    ),
    Style(
        name="steps",
        instruction="一步一步地解答下面的题目，最后写“答案是”和数字。",
        question="题目：{{text}}\n解答：",
        target="{{solution}}",
        until=("\n\n", "题目："),
        tokens=512,
    ),
)


def styles_for(language: str) -> tuple[Style, ...]:
    """The prompts of a language, English for one that has none of its own: direct first, then step by step."""
    return _CHINESE if language == "zh" else _ENGLISH


def has_worked_solution(problem: Problem) -> bool:
    """Whether a problem can be shown with its working: its expression must give its answer."""
    answer = gold_answer(problem)
    if problem.expression is None or answer is None:
        return False
    try:
        return answers_agree(value_of(problem.expression, read(problem).values), answer)
    except ExpressionError:
        return False


def worked_solution(problem: Problem) -> str:
    """The expression worked out operator by operator, from the inside: what a step-by-step example shows."""
    if problem.expression is None:
        return ""
    values = read(problem).values
    answer = format_number(value_of(problem.expression, values))
    steps: list[str] = []
    _work(problem.expression, values, steps)
    if problem.language == "zh":
        return f"{'，'.join(steps)}{'。' if steps else ''}答案是{answer}。"
    return " ".join(f"{step}." for step in [*steps, f"The answer is {answer}"])


def _work(expression: Expression, values: Sequence[Fraction], steps: list[str]) -> str:
    """Enter the steps of a subtree; its value as an operand of the next step."""
    if not isinstance(expression, Reference | Constant):
        left, right = _work(expression.left, values, steps), _work(expression.right, values, steps)
        steps.append(f"{left} {expression.operator} {right} = {format_number(value_of(expression, values))}")
    number = format_number(value_of(expression, values))
    return f"({number})" if "/" in number or number.startswith("-") else number
