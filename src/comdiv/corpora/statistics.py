"""What a corpus is made of: sizes, labels that agree, templates, twins."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from comdiv.corpora.records import ReadReport
from comdiv.expression import (
    ExpressionError,
    answers_agree,
    evaluate,
    format_number,
    operator_count,
    template,
)
from comdiv.language import get_language
from comdiv.problem import Problem


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts over a corpus. `agree`: the expression's value is the answer, exactly or within 1e-4 relative."""

    records: int
    problems: int
    languages: tuple[str, ...]
    evaluated: int
    agree: int
    disagreeing: tuple[str, ...]
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


def corpus_statistics(problems: Iterable[Problem], report: ReadReport) -> CorpusStatistics:
    """Go through a corpus once; the report that its reading fills is complete afterwards."""
    templates: Counter[str] = Counter()
    operators: Counter[int] = Counter()
    masked: Counter[str] = Counter()
    languages: set[str] = set()
    disagreeing: list[str] = []
    tokens = clauses = quantities = evaluated = agree = 0
    for problem in problems:
        language = get_language(problem.language)
        languages.add(problem.language)
        masked[language.masked_text(problem.text, number_words=problem.number_words)] += 1
        found = language.quantities(problem.text, number_words=problem.number_words)
        quantities += len(found)
        tokens += len(language.tokens(problem.text, number_words=problem.number_words))
        clauses += len(language.clauses(problem.text))
        if problem.expression is None:
            continue
        templates[template(problem.expression)] += 1
        operators[operator_count(problem.expression)] += 1
        try:
            value = evaluate(problem.expression, [quantity.value for quantity in found])
        except ExpressionError:
            disagreeing.append(problem.id)
            continue
        evaluated += 1
        if problem.answer is not None and answers_agree(value, problem.answer):
            agree += 1
        else:
            disagreeing.append(problem.id)
    groups = [count for count in masked.values() if count > 1]
    total = max(1, report.problems)
    return CorpusStatistics(
        records=report.records,
        problems=report.problems,
        languages=tuple(sorted(languages)),
        evaluated=evaluated,
        agree=agree,
        disagreeing=tuple(disagreeing),
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
