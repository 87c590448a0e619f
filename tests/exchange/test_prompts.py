"""Worked solutions: the expression operator by operator, from the inside."""

import pytest

from comdiv.exchange.prompts import styles_for, worked_solution
from comdiv.problem import Problem


@pytest.mark.parametrize(
    ("language", "text", "expression", "solution"),
    [
        ("en", "3 bags of 12 and 4 more", "N0*N1+N2", "3 * 12 = 36. 36 + 4 = 40. The answer is 40."),
        ("en", "9 and 4, then 2", "N0-(N1-N2)", "4 - 2 = 2. 9 - 2 = 7. The answer is 7."),
        ("en", "80 of which 20% are", "N0*(1-N1)", "1 - 0.2 = 0.8. 80 * 0.8 = 64. The answer is 64."),
        ("en", "6 by 1/3", "N0*N1", "6 * (1/3) = 2. The answer is 2."),
        ("en", "3 less 5, and 9", "(N0-N1)+N2", "3 - 5 = -2. (-2) + 9 = 7. The answer is 7."),
        ("en", "just 5", "N0", "The answer is 5."),
        ("zh", "3袋12个，还有4个", "N0*N1+N2", "3 * 12 = 36，36 + 4 = 40。答案是40。"),
        ("zh", "5个", "N0", "答案是5。"),
        ("en", "no idea", None, ""),
    ],
)
def test_a_worked_solution_has_a_step_for_every_operator(
    language: str, text: str, expression: str | None, solution: str
) -> None:
    record = {"id": "1", "language": language, "text": text, "expression": expression}
    assert worked_solution(Problem.from_json(record)) == solution


def test_every_language_is_asked_directly_and_step_by_step() -> None:
    for code in ("en", "zh", "fr"):
        assert [style.name for style in styles_for(code)] == ["direct", "steps"]
    assert "题目" in styles_for("zh")[0].question
