"""What a corpus is made of, counted on five problems by hand."""

import json
from fractions import Fraction

import pytest

from comdiv.corpora import CorpusStatistics, ReadReport, corpus_statistics, read_rows
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import read

ROWS = [
    {"id": "a", "original_text": "Tom has 3 cats. How many legs?", "equation": "x=3*4", "ans": "12"},
    {"id": "b", "original_text": "Tom  has 5 cats. How many legs?", "equation": "x=5*4", "ans": "20"},
    {"id": "c", "original_text": "Ann ate 2 of 8 nuts. How many are left?", "equation": "x=8-2", "ans": "5"},
    {"id": "d", "original_text": "Ann has 2 nuts, 3 figs and 1 pear. How many?", "equation": "x=2+3+1", "ans": None},
    {"id": "e", "original_text": "What are they?", "equation": "x+y=7;x-y=1", "ans": "4"},
    {"id": "f", "original_text": "", "equation": "x=1", "ans": "1"},
]


def statistics() -> CorpusStatistics:
    corpus = read_rows(ROWS)
    return corpus_statistics(corpus.problems, corpus.report)


def test_records_problems_and_labels_are_counted() -> None:
    counted = statistics()
    assert (counted.records, counted.problems, counted.languages) == (6, 5, ("en",))
    assert (counted.evaluated, counted.agree, counted.disagreeing) == (4, 2, ("c",))
    assert (counted.contradicting, counted.without_answer) == (("c",), 1)
    assert (counted.not_expressible, counted.unreadable) == (1, 1)


def test_templates_operators_and_leaves_are_counted() -> None:
    counted = statistics()
    assert counted.templates == 3
    assert counted.most_frequent_templates[0] == ("n1*4", 2)
    assert counted.operators == {1: 3, 2: 1}
    assert (counted.leaves_aligned, counted.leaves_constant, counted.constants) == (7, 2, {"4": 2})


def test_twins_differ_in_numbers_and_white_space_only() -> None:
    assert (statistics().twins, statistics().twin_groups) == (2, 1)


def test_means_are_over_problems() -> None:
    counted = statistics()
    assert counted.quantities == 7
    assert counted.mean_clauses == round((2 + 2 + 2 + 2 + 1) / 5, 2)
    assert counted.mean_tokens == round((9 + 9 + 12 + 14 + 4) / 5, 2)


def test_statistics_are_plain_json() -> None:
    record = statistics().to_json()
    wanted = {"problems", "evaluated", "agree", "not_expressible", "unreadable", "templates", "leaves_aligned"}
    assert wanted <= json.loads(json.dumps(record)).keys()


def test_an_expression_without_a_value_disagrees_with_any_answer() -> None:
    one = Fraction(1)
    problems = [Problem("a", "en", "3 cats", parse("N0/0"), one), Problem("b", "en", "3 cats", parse("N0+N1"), one)]
    counted = corpus_statistics(problems, ReadReport())
    assert (counted.evaluated, counted.agree, counted.disagreeing) == (0, 0, ("a", "b"))


def test_a_problem_without_an_answer_disagrees_with_nothing() -> None:
    problems = [Problem("a", "en", "3 cats", parse("N0+1")), Problem("b", "en", "3 cats", parse("N0/0"))]
    counted = corpus_statistics(problems, ReadReport())
    assert (counted.agree, counted.disagreeing, counted.contradicting, counted.without_answer) == (0, (), (), 2)


@pytest.mark.parametrize(
    ("expression", "answer", "contradicts"),
    [
        ("N0/N1", "3.3", False), ("N0/N1", "3.3333", False), ("N0/N1", "3", True), ("N0/N1", "4", True),
        ("N0-N0", "0", False), ("N0-N0", "1", True), ("N0/(N1-N1)", "1", True), ("N0+N1", "13.1", False),
    ],
)  # fmt: skip
def test_a_contradiction_is_more_than_rounding(expression: str, answer: str, contradicts: bool) -> None:
    problem = Problem("a", "en", "10 apples for 3 boys", parse(expression), Fraction(answer))
    assert read(problem).contradicts is contradicts
    assert (corpus_statistics([problem], ReadReport()).contradicting == ("a",)) is contradicts


def test_an_empty_corpus_has_zeros() -> None:
    counted = corpus_statistics([], ReadReport())
    assert (counted.problems, counted.agree, counted.mean_tokens, counted.twins) == (0, 0, 0, 0)


def test_equations_that_are_not_linear_hold_with_the_answer_put_in() -> None:
    text = "A number and its reciprocal are 2.5."
    answers = {"a": "2", "b": "3", "c": "0", "d": None}
    rows = [{"id": name, "original_text": text, "equation": "x+1/x=2.5", "ans": ans} for name, ans in answers.items()]
    rows.append({"id": "e", "original_text": "Tom has 3 cats. How many legs?", "equation": "x=3*4", "ans": "12"})
    corpus = read_rows(rows)
    counted = corpus_statistics(corpus.problems, corpus.report)
    assert (counted.agree, counted.hold, counted.not_expressible) == (1, 2, 4)


def test_the_tolerance_decides_which_rounded_answers_agree() -> None:
    rows = [{"original_text": "10 nuts for 3 squirrels. How many each?", "equation": "x=10/3", "ans": "3.3"}]
    corpus = read_rows(rows)
    for tolerance, agree in ((Fraction(1, 10_000), 0), (Fraction(1, 100), 0), (Fraction(1, 99), 1)):
        counted = corpus_statistics(corpus.problems, corpus.report, tolerance)
        assert (counted.agree, counted.tolerance) == (agree, float(tolerance))


@pytest.mark.parametrize(
    ("answer", "hold"),
    [
        ("3.3", 1), ("3.33", 1), ("3", 1), ("3.4", 0), ("4", 0),
    ],
)  # fmt: skip
def test_a_rounded_answer_holds_as_printed(answer: str, hold: int) -> None:
    rows = [{"original_text": "10 nuts for 3 squirrels. How many each?", "equation": "x=10/3", "ans": answer}]
    corpus = read_rows(rows)
    counted = corpus_statistics(corpus.problems, corpus.report)
    assert (counted.evaluated, counted.agree, counted.hold) == (1, 0, hold)
    assert len(counted.disagreeing) == 1
