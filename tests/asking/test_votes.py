"""What replies say, and how sure of it one can be."""

import math

import pytest

from comdiv.asking.endpoint import Reply
from comdiv.asking.prompting import draw_shots, messages_for
from comdiv.asking.votes import confidence_in, majority, prediction_of
from comdiv.problem import Problem

APPLES = Problem.from_json(
    {
        "id": "a", "language": "en", "expression": "N0*N1", "answer": "36",
        "text": "Tom has 3 bags of 12 apples. How many apples has he?",
    }
)  # fmt: skip


def reply(text: str, log_probability: float | None = None, finish: str = "stop") -> Reply:
    return Reply(text, finish, 0, 0, log_probability)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3*12", 36), ("Expression: 3 * 12", 36), ("```\n3 × 12 = 36\n```", 36), ("x = (3*12)/1", 36), ("36", 36),
        ("**3 * 12**.", 36), ("First think.\n3+12", 15), ("N0*N1", 36), ("no idea", None), ("", None), ("3/0", None),
    ],
)  # fmt: skip
def test_a_program_is_read_by_our_parser(text: str, answer: int | None) -> None:
    assert prediction_of(APPLES, reply(text), "program").answer == answer


def test_an_answer_that_was_cut_off_says_so() -> None:
    prediction = prediction_of(APPLES, reply("Let us think about", finish="length"), "steps")
    assert "--max-tokens" in prediction.reason


def test_most_votes_win_and_the_earliest_of_equals() -> None:
    said = [reply("7"), reply("The answer is 36."), reply("nothing"), reply("3*12 = 36. The answer is 36.")]
    winner = majority(APPLES, said, "steps")
    assert winner.answer == 36
    assert winner.extra["votes"] == {"36": 2, "7": 1}
    assert majority(APPLES, [reply("7"), reply("36")], "direct").answer == 7
    assert majority(APPLES, [reply("none"), reply("36")], "direct").answer == 36
    assert majority(APPLES, [reply("none")], "direct").unreadable


def test_confidence_is_a_probability_where_it_is_told_and_votes_otherwise() -> None:
    half, tenth = math.log(0.5), math.log(0.1)
    told = [reply("36", half), reply("36", half), reply("36.", tenth), reply("7", tenth)]
    assert math.exp(confidence_in(told, [True, True, True, False])) == pytest.approx(0.6)  # each wording once
    assert math.exp(confidence_in(told, [False] * 4)) == pytest.approx(0.2)  # 0.3 are left, but 1/5 is the most
    votes = [reply("36"), reply("36"), reply("7")]
    assert math.exp(confidence_in(votes, [True, True, False])) == pytest.approx(2.5 / 4)
    assert math.exp(confidence_in(votes, [False] * 3)) == pytest.approx(0.5 / 4)


def test_examples_are_drawn_by_id_and_only_those_that_work_out() -> None:
    wrong = Problem.from_json({**APPLES.to_json(), "id": "w", "answer": "5"})
    others = [Problem.from_json({**APPLES.to_json(), "id": f"o{number}"}) for number in range(9)]
    shots = draw_shots([*others, wrong], 4, seed=0)
    assert shots == draw_shots([wrong, *reversed(others)], 4, seed=0)
    assert len(shots) == 4
    assert wrong not in shots
    assert shots != draw_shots(others, 4, seed=1)
    told = messages_for(APPLES, "program", shots)
    assert told[2]["content"] == "3*12"
    assert told[-1] == {"role": "user", "content": f"Problem: {APPLES.text}\nExpression:"}
