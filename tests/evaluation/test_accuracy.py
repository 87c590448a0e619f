"""Accuracy of six predictions, counted by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from comdiv.errors import ComdivError
from comdiv.evaluation.accuracy import Share, evaluate_predictions, relative_gap, structure_parts, templates_of
from comdiv.evaluation.predictions import Prediction
from comdiv.evaluation.significance import wilson_interval
from comdiv.expression import parse
from comdiv.problem import Problem


def problem(name: str, text: str, expression: str | None, answer: int | None = None) -> Problem:
    return Problem(
        name, "en", text, parse(expression) if expression else None, None if answer is None else Fraction(answer)
    )


PROBLEMS = [
    problem("product", "3 bags of 12 apples?", "N0*N1", 36),
    problem("turned", "12 apples in each of 3 bags?", "N1*N0", 36),
    problem("sum", "3 red and 12 green apples?", "N0+N1", 15),
    problem("long", "3 bags of 12 apples and 4 more?", "N0*N1+N2", 40),
    problem("bare", "A riddle whose answer is 7?", None, 7),
    problem("silent", "2 and 2?", "N0+N1", 4),
]
PREDICTIONS = [
    Prediction.from_json(record)
    for record in (
        {"id": "product", "expression": "N1*N0"},  # right, and the same expression
        {"id": "turned", "expression": "N1*N0+0"},  # right, by another expression
        {"id": "sum", "expression": "N0+"},  # ill-formed
        {"id": "long", "expression": "N0/(N1-12)"},  # undefined
        {"id": "bare", "text": "seven"},  # unreadable
        {"id": "elsewhere", "answer": 1},
    )
]


def test_every_problem_counts_and_every_failure_has_its_place() -> None:
    result = evaluate_predictions(PROBLEMS, PREDICTIONS)
    assert (result.correct, result.n) == (2, 6)
    assert result.answer_accuracy == pytest.approx(1 / 3)
    assert result.interval == wilson_interval(2, 6)
    assert result.expressions == Share(1, 5)
    assert result.expression_accuracy == pytest.approx(1 / 5)
    assert result.counts == {
        "ill_formed": 1,
        "undefined": 1,
        "unreadable": 1,
        "missing": 1,
        "unknown_ids": 1,
        "without_gold": 0,
    }
    record = result.to_json()
    assert [record[kind] for kind in ("ill_formed", "undefined", "unreadable", "missing")] == [pytest.approx(1 / 6)] * 4


def test_parts_by_operator_count_are_in_order_and_sum_to_the_whole() -> None:
    result = evaluate_predictions(PROBLEMS, PREDICTIONS)
    assert list(result.by_operator_count.items()) == [
        ("1", Share(2, 4)),
        ("2", Share(0, 1)),
        ("unknown", Share(0, 1)),
    ]


def test_operator_counts_are_ordered_as_numbers() -> None:
    sums = [problem(str(n), "1 2", "+".join(["N0"] * (n + 1))) for n in (10, 9, 2, 0)]
    result = evaluate_predictions(sums, [Prediction("10", parse("N0"))])
    assert list(result.by_operator_count) == ["0", "2", "9", "10"]


def test_parts_by_template_are_there_where_the_training_templates_are_known() -> None:
    training = [problem("t", "5 boxes of 6 pens?", "N1*N0"), problem("u", "no expression", None)]
    assert templates_of(training) == {"n1*n2"}
    result = evaluate_predictions(PROBLEMS, PREDICTIONS, templates_of(training))
    assert result.by_template_seen == {"seen": Share(2, 2), "unseen": Share(0, 3), "unknown": Share(0, 1)}
    assert "by_template_seen" not in evaluate_predictions(PROBLEMS, PREDICTIONS).to_json()


def test_an_empty_part_is_reported_without_an_accuracy() -> None:
    record = evaluate_predictions(PROBLEMS[:1], PREDICTIONS, {"n1*n2"}).to_json()["by_template_seen"]
    assert record["seen"]["accuracy"] == 1
    assert record["unseen"] == {"n": 0, "correct": 0, "accuracy": None, "interval": None}


def test_subsets_are_reported_apart_and_must_be_of_test_problems() -> None:
    subsets = {"structural": ["long", "sum"], "lexical": {"product", "turned", "silent"}}
    result = evaluate_predictions(PROBLEMS, PREDICTIONS, subsets=subsets)
    assert result.subsets == {"structural": Share(0, 2), "lexical": Share(2, 3)}
    with pytest.raises(ComdivError, match="subset 'lexical': no test problem has the id 'nobody'"):
        evaluate_predictions(PROBLEMS, PREDICTIONS, subsets={"lexical": ["nobody", "sum"]})


def test_the_compositions_of_a_synthetic_dataset_are_subsets_by_themselves() -> None:
    marked = [
        replace(given, composition="lexical" if given.id in ("product", "turned") else "structural")
        for given in PROBLEMS[:4]
    ]
    result = evaluate_predictions([*marked, *PROBLEMS[4:]], PREDICTIONS, subsets={"mine": ["product", "silent"]})
    assert list(result.subsets.items()) == [
        ("structural", Share(0, 2)),
        ("lexical", Share(2, 2)),
        ("mine", Share(1, 2)),
    ]
    assert result.to_json()["subsets"]["lexical"]["accuracy"] == 1


def test_expression_accuracy_is_null_where_nobody_predicts_expressions() -> None:
    record = evaluate_predictions(PROBLEMS, [Prediction("product", answer=Fraction(36))]).to_json()
    assert record["expression_accuracy"] is None
    assert record["expression_n"] == 0
    assert record["correct"] == 1


def test_expression_accuracy_is_null_where_there_are_no_gold_expressions() -> None:
    result = evaluate_predictions([PROBLEMS[4]], [Prediction("bare", parse("3+4"))])
    assert (result.answer_accuracy, result.expression_accuracy) == (1, None)


def test_expression_accuracy_is_zero_where_all_expressions_are_ill_formed() -> None:
    result = evaluate_predictions(PROBLEMS, [Prediction("product", ill_formed=True)])
    assert result.expression_accuracy == 0
    assert result.counts["ill_formed"] == 1


def test_problems_without_any_gold_are_counted_and_wrong() -> None:
    result = evaluate_predictions([problem("p", "12?", None)], [Prediction("p", answer=Fraction(12))])
    assert (result.correct, result.counts["without_gold"]) == (0, 1)


def test_the_json_has_what_programs_rely_on() -> None:
    record = evaluate_predictions(PROBLEMS, PREDICTIONS).to_json()
    assert record["interval"] == list(wilson_interval(2, 6))
    assert record["by_operator_count"]["1"] == {
        "n": 4,
        "correct": 2,
        "accuracy": 0.5,
        "interval": list(wilson_interval(2, 4)),
    }
    assert {"answer_accuracy", "n", "expression_accuracy", "ill_formed", "undefined", "unreadable", "missing"} <= set(
        record
    )


def test_the_relative_gap_is_that_of_the_papers_table() -> None:
    assert relative_gap(0.75, 0.5) == pytest.approx(0.5)
    assert relative_gap(0.5, 0.5) == 0
    assert relative_gap(0.5, 0.0) is None


def test_problems_are_told_apart_by_whether_training_has_their_pairs_of_operators() -> None:
    texts = {"a": "(N0+N1)*N2", "b": "N2*(N0+N1)", "c": "(N0-N1)*N2", "d": "N0+N1"}
    test = [Problem(name, "5 and 6 and 7", "en", expression=parse(written)) for name, written in texts.items()]
    assert structure_parts(test, [test[0]]) == {"all seen": {"a", "b"}, "one unseen": {"c"}, "one operator": {"d"}}
