"""GSM8K: calculator steps, `<<48/2=24>>`, composed into one expression where they chain."""

import re
from fractions import Fraction

from comdiv.expression import (
    Constant,
    Expression,
    Leaf,
    NotExpressible,
    answers_agree,
    evaluate,
    map_leaves,
    parse,
    parse_answer,
    to_infix,
)

_STEP = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
_FINAL = re.compile(r"####\s*(.+?)\s*$")


def final_answer(solution: str) -> str | None:
    """What stands after `####`."""
    match = _FINAL.search(solution)
    return match[1].replace("$", "").replace(",", "") if match else None


def compose_steps(solution: str) -> str:
    """One infix expression for the last step, with earlier results put in the place of the numbers that they are.

    A number that was computed before stands for that computation (the latest one of that value); all others stay. Steps
    whose result is never used, or an end that is not the answer, are `NotExpressible`: nothing is guessed.
    """
    steps = _STEP.findall(solution)
    answer = final_answer(solution)
    if not steps or answer is None:
        raise NotExpressible("no calculator steps" if not steps else "no final answer")
    computed: list[tuple[Fraction, Expression]] = []
    used: set[int] = set()

    def composed(leaf: Leaf) -> Expression:
        for index in range(len(computed) - 1, -1, -1):
            if isinstance(leaf, Constant) and computed[index][0] == leaf.value:
                used.add(index)
                return computed[index][1]
        return leaf

    for left, right in steps:
        step = parse(left)
        result = parse_answer(right)
        if not answers_agree(evaluate(step), result):
            raise NotExpressible(f"the step {left}={right} is wrong")
        computed.append((result, map_leaves(step, composed)))
    if len(used) != len(computed) - 1:
        raise NotExpressible("the steps do not chain")
    if not answers_agree(computed[-1][0], parse_answer(answer)):
        raise NotExpressible("the last step is not the answer")
    return to_infix(computed[-1][1])
