"""What a corpus is made of: sizes, labels that agree, templates, twins."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from comdiv.corpora.read import ReadReport
from comdiv.expression import (
    TOLERANCE,
    ExpressionError,
    agrees_as_printed,
    answers_agree,
    equation_holds,
    format_number,
    operator_count,
    template,
)
from comdiv.problem import Problem
from comdiv.reading import read


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts over a corpus. `agree`: the expression's value is the answer, exactly or within the relative `tolerance`;
    `hold`: these, those whose value is the answer when rounded or cut to the answer's own decimals, and the equations
    without an expression (not linear) that hold with the answer put in. `contradicting` are the disagreeing ones that
    no rounding explains: `comdiv split` leaves them out.
    """

    records: int
    problems: int
    languages: tuple[str, ...]
    evaluated: int
    agree: int
    hold: int
    tolerance: float
    disagreeing: tuple[str, ...]
    contradicting: tuple[str, ...]
    without_answer: int
    not_expressible: int
    unreadable: int
    templates: int
    most_frequent_templates: tuple[tuple[str, int], ...]
    operators: dict[int, int]
    quantities: int
    leaves_aligned: int
    leaves_constant: int
    constants: dict[str, int]
    twins: int
    twin_groups: int
    mean_tokens: float
    mean_clauses: float

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def corpus_statistics(
    problems: Iterable[Problem], report: ReadReport, tolerance: Fraction = TOLERANCE
) -> CorpusStatistics:
    """Count over a corpus in one pass; afterwards its `ReadReport` is complete.

    The tolerance is for inspecting corpora that round their answers; solvers are scored more strictly.
    """
    templates: Counter[str] = Counter()
    operators: Counter[int] = Counter()
    masks: Counter[str] = Counter()
    languages: set[str] = set()
    disagreeing: list[str] = []
    contradicting: list[str] = []
    tokens = clauses = quantities = evaluated = agree = hold = without_answer = 0
    for problem in problems:
        reading = read(problem)
        languages.add(problem.language)
        masks[reading.mask] += 1
        quantities += len(reading.numbers)
        tokens += len(reading.tokens)
        clauses += len(reading.clauses)
        without_answer += problem.answer is None
        if reading.contradicts:
            contradicting.append(problem.id)
        if problem.expression is None:
            hold += _holds(problem, tolerance)
            continue
        templates[template(problem.expression)] += 1
        operators[operator_count(problem.expression)] += 1
        value, answer = reading.value, problem.answer
        evaluated += value is not None
        if answer is None:
            continue
        if value is not None and answers_agree(value, answer, tolerance):
            agree += 1
        else:
            disagreeing.append(problem.id)
            hold += value is not None and agrees_as_printed(value, answer)
    groups = [count for count in masks.values() if count > 1]
    total = max(1, report.problems)
    return CorpusStatistics(
        records=report.records,
        problems=report.problems,
        languages=tuple(sorted(languages)),
        evaluated=evaluated,
        agree=agree,
        hold=agree + hold,
        tolerance=float(tolerance),
        disagreeing=tuple(disagreeing),
        contradicting=tuple(contradicting),
        without_answer=without_answer,
        not_expressible=len(report.not_expressible),
        unreadable=len(report.unreadable),
        templates=len(templates),
        most_frequent_templates=tuple(templates.most_common(10)),
        operators=dict(sorted(operators.items())),
        quantities=quantities,
        leaves_aligned=report.leaves_aligned,
        leaves_constant=sum(report.constants.values()),
        constants={format_number(value): count for value, count in report.constants.most_common(10)},
        twins=sum(groups),
        twin_groups=len(groups),
        mean_tokens=round(tokens / total, 2),
        mean_clauses=round(clauses / total, 2),
    )


def _holds(problem: Problem, tolerance: Fraction) -> bool:
    """Whether the answer satisfies the equation kept by a problem without an expression."""
    equation = problem.extra.get("equation")
    if not isinstance(equation, str) or problem.answer is None:
        return False
    try:
        return equation_holds(equation, problem.answer, tolerance)
    except ExpressionError:
        return False
