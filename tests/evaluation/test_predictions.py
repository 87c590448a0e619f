"""Reading anybody's predictions, and our own ones back."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.evaluation.predictions import Prediction, predictions_by_id, read_predictions, write_predictions
from comdiv.expression import Expression, parse, to_infix
from comdiv.solver import Hypothesis, Solution


def written(tmp_path: Path, text: str, name: str = "predictions.jsonl") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("answer", [36, 36.0, "36", " 36 ", "36.0", "36 apples", "３６", "$36"])
def test_an_answer_may_be_a_number_or_a_text_with_one(answer: Any) -> None:
    assert Prediction.from_json({"id": "1", "answer": answer}).answer == 36


@pytest.mark.parametrize("text", ["N0*N1", "3*12", "x=3*12", "3 * 12 = 36", "3×12"])
def test_an_expression_may_be_over_quantities_or_numbers_and_with_its_unknown_or_result(text: str) -> None:
    prediction = Prediction.from_json({"id": "1", "expression": text})
    assert prediction.expression is not None
    assert to_infix(prediction.expression) in ("N0*N1", "3*12")
    assert not prediction.ill_formed


@pytest.mark.parametrize("key", ["prediction", "output", "response", "completion", "text"])
def test_free_text_stands_under_any_of_its_names(key: str) -> None:
    assert Prediction.from_json({"id": "1", key: "3 bags of 12 are 36."}).answer == 36


@pytest.mark.parametrize("key", ["prediction", "output", "response", "completion"])
def test_a_models_words_are_read_and_not_the_gold_answer_beside_them(key: str) -> None:
    record = {"id": "1", "text": "3 bags of 12?", "expression": "N0*N1", "answer": "36", key: "It is 15."}
    prediction = Prediction.from_json(record)
    assert prediction.answer == 15
    assert prediction.expression is None


def test_an_answer_is_read_and_not_the_problems_text_beside_it() -> None:
    assert Prediction.from_json({"id": "1", "text": "3 bags of 12?", "answer": 36}).answer == 36


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({}, "neither an answer, an expression nor a text"),
        ({"answer": None, "response": "  "}, "neither an answer, an expression nor a text"),
        ({"response": "I cannot tell."}, "response: no number in the text 'I cannot tell.'"),
        ({"answer": True}, "answer: an answer is a number or a text, not bool"),
        ({"output": ["36"]}, "output: an answer is a number or a text, not list"),
        ({"answer": float("nan")}, "answer: the answer nan is not a number"),
    ],
)
def test_what_cannot_be_read_is_kept_with_the_reason(record: dict[str, Any], reason: str) -> None:
    prediction = Prediction.from_json({"id": "1", **record})
    assert prediction.unreadable
    assert prediction.reason == reason


@pytest.mark.parametrize("expression", ["N0*", "3 apples", ["*", "N0", "N1"], "36 = 3*", "=", "x=y"])
def test_what_is_no_expression_is_ill_formed_and_names_it(expression: Any) -> None:
    prediction = Prediction.from_json({"id": "1", "expression": expression, "answer": "36"})
    assert prediction.ill_formed
    assert not prediction.unreadable
    assert prediction.answer is None
    assert prediction.reason.startswith("expression '")


@pytest.mark.parametrize("record", [{}, {"id": ""}, {"id": None}, {"id": 1.5}, {"id": True}, {"problem": 3}])
def test_a_record_without_an_id_is_refused_with_its_place(record: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({"id": "1", "answer": 1}) + "\n" + json.dumps(record))
    with pytest.raises(ComdivError, match=r"predictions.jsonl, line 2: a prediction needs the 'id' of its problem"):
        read_predictions(path)


def test_an_id_that_is_there_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    path = written(tmp_path, '{"id": 7, "answer": 1}\n{"id": "8", "answer": 1}\n{"id": "7", "answer": 2}')
    with pytest.raises(ComdivError, match=r"line 3: the id '7' occurs twice, first in predictions.jsonl, line 1"):
        read_predictions(path)


def test_two_predictions_with_one_id_are_refused_without_a_file_too() -> None:
    with pytest.raises(ComdivError, match="two predictions with the id '1'"):
        predictions_by_id([Prediction("1"), Prediction("1")])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": 1, "answer": "2/3"}\n{"id": 2, "response": "so\\n36"}\n{"id": 3, "answer": null}\n'),
        ("a.json", '[{"id": 1, "answer": "2/3"}, {"id": 2, "response": "so\\n36"}, {"id": 3}]'),
        ("a.csv", 'id,answer,response\n1,2/3,\n2,,"so\n36"\n3,,\n'),
    ],
)
def test_json_lines_json_and_csv_say_the_same(name: str, text: str, tmp_path: Path) -> None:
    predictions = read_predictions(written(tmp_path, text, name))
    assert [(p.id, p.answer) for p in predictions] == [("1", Fraction(2, 3)), ("2", 36), ("3", None)]
    assert [p.unreadable for p in predictions] == [False, False, True]


def test_flags_and_log_probabilities_may_be_texts_as_in_csv(tmp_path: Path) -> None:
    text = "id,expression,log_probability,ill_formed,undefined\n1,,-0.5,True,\n2,N0/0,,false,true\n"
    first, second = read_predictions(written(tmp_path, text))
    assert (first.ill_formed, first.undefined, first.log_probability) == (True, False, -0.5)
    assert (second.ill_formed, second.undefined, second.log_probability) == (False, True, None)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("ill_formed", "perhaps", "neither true nor false"), ("log_probability", "small", "not a number")],
)
def test_a_flag_or_log_probability_that_is_none_is_an_error(key: str, value: str, message: str) -> None:
    with pytest.raises(ComdivError, match=message):
        Prediction.from_json({"id": "1", "answer": 1, key: value})


def test_bytes_that_are_no_text_are_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "late.json"
    path.write_bytes(b"[" + b" " * 100_000 + b"\xff]")
    with pytest.raises(ComdivError, match=r"late.json"):
        read_predictions(path)


def test_half_a_character_in_a_models_words_does_not_stop_an_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text('{"id": "a\\ud83d", "output": "It is 36 \\ud83d"}\n{"id": "b", "answer": 7}\n', encoding="utf-8")
    predictions = read_predictions(path)
    assert [(prediction.id, prediction.answer) for prediction in predictions] == [("a\ufffd", 36), ("b", 7)]
    write_predictions(tmp_path / "again.jsonl", predictions)
    assert read_predictions(tmp_path / "again.jsonl")[0].id == "a\ufffd"


def test_an_integer_too_long_for_python_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=r"predictions.jsonl"):
        read_predictions(written(tmp_path, '{"id": 1, "answer": ' + "9" * 5000 + "}\n"))


def expressions() -> st.SearchStrategy[Expression | None]:
    return st.sampled_from([None, *(parse(text) for text in ("N0*N1", "N0/0", "1-N2", "(1/3)*N0", "12"))])


@given(
    expressions(),
    st.none() | st.fractions(max_denominator=50),
    st.none() | st.floats(-50, 0),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "division by zero"]),
)
def test_our_own_predictions_read_back_as_they_were(
    expression: Expression | None,
    answer: Fraction | None,
    log_probability: float | None,
    ill_formed: bool,
    undefined: bool,
    reason: str,
) -> None:
    hypotheses = {"hypotheses": [{"expression": "N0", "log_probability": -1.5}]}
    prediction = Prediction(
        "a-1", expression, answer, log_probability, ill_formed, undefined, reason or "why", extra=hypotheses
    )
    assert Prediction.from_json(json.loads(json.dumps(prediction.to_json()))) == prediction


def test_right_or_wrong_is_written_once_judged_and_files_without_it_are_read() -> None:
    assert "right" not in Prediction("a-1").to_json()
    assert Prediction("a-1", right=False).to_json()["right"] is False
    assert Prediction.from_json({"id": "a-1", "answer": "3", "right": True}).right is True
    for record in ({"id": "a-1", "answer": "3"}, {"id": "a-1", "answer": "3", "right": "perhaps"}):
        assert Prediction.from_json(record).right is None


def test_a_percentage_is_written_so_that_both_its_readings_survive() -> None:
    prediction = Prediction.from_json({"id": "1", "answer": "12.5%"})
    assert prediction.to_json()["answer"] == "12.5%"
    assert Prediction.from_json(prediction.to_json()) == prediction


def test_predictions_are_written_as_json_lines_without_infinities(tmp_path: Path) -> None:
    path = tmp_path / "new" / "predictions.jsonl"
    assert write_predictions(path, [Prediction("1", log_probability=float("-inf"), ill_formed=True)]) == 1
    assert json.loads(path.read_text()) == {
        "id": "1",
        "expression": None,
        "answer": None,
        "log_probability": None,
        "ill_formed": True,
        "undefined": False,
    }


def test_a_solution_becomes_a_prediction_with_its_hypotheses() -> None:
    best, other = Hypothesis(parse("N0*N1"), -0.1), Hypothesis(None, float("-inf"))
    prediction = Prediction.from_solution("1", Solution(best.expression, Fraction(36), -0.1, (best, other)))
    assert (prediction.expression, prediction.answer, prediction.log_probability) == (
        best.expression,
        Fraction(36),
        -0.1,
    )
    assert prediction.to_json()["hypotheses"] == [
        {"expression": "N0*N1", "log_probability": -0.1},
        {"expression": None, "log_probability": None},
    ]
