"""From a raw record to a problem: nothing is lost without a line that says why."""

from fractions import Fraction
from typing import Any

import pytest

from comdiv.corpora.records import Complaint, NumberWords, RawRecord, ReadReport, build_problem
from comdiv.expression import to_infix
from comdiv.problem import Problem


def build(text: Any = "Tom has 3 cats and 4 dogs.", **fields: Any) -> tuple[Problem | None, ReadReport]:
    report = ReadReport()
    record = RawRecord(id="7", text=text, where="mine.csv, line 2", **fields)
    return build_problem(record, report, corpus="mine", version="v1"), report


def test_a_record_becomes_a_problem_that_knows_its_corpus() -> None:
    problem, report = build("  Tom has 3 cats and 4 dogs.\n", equation="x=3+4", answer="7", extra={"grade": 2})
    assert problem is not None
    assert problem.to_json() == {
        "id": "7",
        "language": "en",
        "text": "Tom has 3 cats and 4 dogs.",
        "expression": "N0+N1",
        "answer": "7",
        "provenance": {"corpus": "mine", "version": "v1"},
        "grade": 2,
    }
    assert (report.records, report.problems, report.leaves_aligned) == (1, 1, 2)


@pytest.mark.parametrize("text", ["", "  \n", None, 5, ["a"]])
def test_a_record_without_text_is_no_problem_but_a_complaint(text: Any) -> None:
    problem, report = build(text, equation="3+4")
    assert problem is None
    assert report.unreadable == [Complaint("mine.csv, line 2", "7", "no text")]
    assert (report.records, report.problems) == (1, 0)


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("x=3+", "equation x=3+: an operand is missing at position 5"),
        ("x=3/0", "equation x=3/0: division by zero"),
        ("x=N5+3", "equation x=N5+3: there is no quantity N5: the text has 2"),
        ("x=__import__('os')", "equation x=__import__('os'): unexpected character \"'\" at position 14"),
        ("1" * 20_000, f"equation {'1' * 80}: an equation has at most 10000 characters, this one has 20000"),
    ],
)
def test_an_equation_that_cannot_be_read_is_kept_and_complained_of(equation: str, reason: str) -> None:
    problem, report = build(equation=equation, answer="7")
    assert problem is not None
    assert (problem.expression, problem.answer) == (None, Fraction(7))
    assert problem.extra == {"equation": equation}
    assert [complaint.reason for complaint in report.unreadable] == [reason]
    assert (report.records, report.problems, report.leaves_aligned) == (1, 1, 0)


@pytest.mark.parametrize("equation", ["x+y=7;x-y=1", "x*x=9", "x+y=7"])
def test_an_equation_without_an_expression_is_counted_apart(equation: str) -> None:
    problem, report = build(equation=equation)
    assert problem is not None
    assert (len(report.not_expressible), len(report.unreadable)) == (1, 0)


def test_an_answer_that_cannot_be_read_leaves_the_expression() -> None:
    problem, report = build(equation="3+4", answer="seven")
    assert problem is not None
    assert problem.expression is not None
    assert problem.answer is None
    assert [str(c) for c in report.unreadable] == [
        "mine.csv, line 2, id 7: answer 'seven': unknown name 'seven' at position 1"
    ]


@pytest.mark.parametrize("answer", [None, ""])
def test_no_answer_is_no_mistake(answer: str | None) -> None:
    problem, report = build(equation="3+4", answer=answer)
    assert problem is not None
    assert (problem.answer, report.unreadable) == (None, [])


@pytest.mark.parametrize(
    ("number_words", "text", "expression", "with_words"),
    [
        ("never", "Tom has three cats and 4 dogs", "3+N0", False),
        ("auto", "Tom has three cats and 4 dogs", "N0+N1", True),
        ("auto", "One day Tom has 3 cats and 4 dogs", "N0+N1", False),
        ("auto", "Tom has many cats and 4 dogs", "3+N0", False),
        ("always", "One day Tom has 3 cats and 4 dogs", "N1+N2", True),
    ],
)
def test_number_words_count_always_never_or_where_they_explain_a_constant(
    number_words: NumberWords, text: str, expression: str, with_words: bool
) -> None:
    problem, _ = build(text, equation="3+4", number_words=number_words)
    assert problem is not None
    assert problem.expression is not None
    assert (to_infix(problem.expression), problem.number_words) == (expression, with_words)


def test_constants_are_counted_by_value() -> None:
    _, report = build(equation="3*3.14+1-1+4*5")
    assert report.constants == {Fraction("3.14"): 1, Fraction(1): 2, Fraction(5): 1}
    assert report.leaves_aligned == 2


def test_the_language_is_detected_unless_it_is_given() -> None:
    chinese, _ = build("有3只猫")
    assert chinese is not None
    assert chinese.language == "zh"
    record = RawRecord("1", "10.6-0.4=?", "here")
    given = build_problem(record, ReadReport(), corpus="", version="", language="zh")
    assert given is not None
    assert given.language == "zh"
