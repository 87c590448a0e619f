"""Proofreading decisions: a file that only grows, undo, edits that are checked, crashes."""

from fractions import Fraction
from pathlib import Path

import pytest

from comdiv import review
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.review import Decision, ReviewLog, apply_review, checked_edit, doubts, latest, read_review

APPLES = Problem("a", "en", "Tom has 3 bags of 12 apples. How many apples has he?", parse("N0*N1"), Fraction(36))


@pytest.fixture
def log(tmp_path: Path) -> ReviewLog:
    return ReviewLog(tmp_path / "review.jsonl")


def test_the_last_line_on_a_problem_counts_and_nothing_is_ever_removed(log: ReviewLog) -> None:
    log.decide(Decision("a", "accepted", by="Ann"))
    log.decide(Decision("b", "rejected"))
    log.decide(Decision("a", "rejected"))
    assert {name: decision.status for name, decision in log.latest.items()} == {"a": "rejected", "b": "rejected"}
    assert [decision.status for decision in read_review(log.path)] == ["accepted", "rejected", "rejected"]
    first = read_review(log.path)[0]
    assert first.by == "Ann"
    assert first.when.endswith("+00:00")


def test_undo_goes_back_step_by_step_and_survives_a_restart(log: ReviewLog) -> None:
    log.decide(Decision("a", "accepted"))
    log.decide(Decision("b", "accepted"))
    log.decide(Decision("a", "edited", "Tom has 2 cats. How many?", "N0"))
    steps = []
    for _ in range(4):
        ReviewLog(log.path).undo(by="Ben")
        steps.append({name: decision.status for name, decision in log.latest.items()})
    assert steps == [
        {"a": "accepted", "b": "accepted"},
        {"a": "accepted", "b": "open"},
        {"a": "open", "b": "open"},
        {"a": "open", "b": "open"},
    ]
    assert log.undo() is None
    log.decide(Decision("b", "rejected"))
    undone = log.last_done()
    assert undone is not None
    assert (undone.id, undone.status) == ("b", "rejected")


def test_undo_brings_an_edits_text_back(log: ReviewLog) -> None:
    log.decide(Decision("a", "edited", "Tom has 2 cats. How many?", "N0"))
    log.decide(Decision("a", "rejected"))
    log.undo()
    assert log.latest["a"].text == "Tom has 2 cats. How many?"


def test_what_another_program_appends_is_seen(log: ReviewLog) -> None:
    ReviewLog(log.path).decide(Decision("a", "accepted"))
    assert log.latest["a"].status == "accepted"


def test_a_line_cut_short_by_a_crash_is_dropped_and_writing_goes_on(log: ReviewLog) -> None:
    log.decide(Decision("a", "accepted"))
    with log.path.open("ab") as stream:
        stream.write(b'{"id": "b", "stat')
    assert list(latest(read_review(log.path))) == ["a"]
    log.decide(Decision("c", "rejected"))
    assert [decision.id for decision in read_review(log.path)] == ["a", "c"]


def test_a_last_line_without_an_end_of_line_is_kept(log: ReviewLog) -> None:
    log.path.write_text('{"id": "a", "status": "accepted"}')
    log.decide(Decision("b", "accepted"))
    assert [decision.id for decision in read_review(log.path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 1"), ('{"status": "accepted"}', "line 1: 'id' is missing"),
        ('{"id": "a", "status": "fine"}', "'fine' is not one of open, accepted, edited, rejected"),
        ('{"id": "a", "status": "edited"}', "an edit has a text and an expression, nothing else does"),
        ('{"id": 3, "status": "accepted"}', "'id' is a int"), ("[]", "a JSON object"),
    ],
)  # fmt: skip
def test_damage_elsewhere_is_an_error_that_names_the_line(log: ReviewLog, line: str, said: str) -> None:
    log.path.write_text(f'{line}\n{{"id": "a", "status": "accepted"}}\n')
    with pytest.raises(ComdivError, match=said):
        read_review(log.path)


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    log = ReviewLog(tmp_path / "missing" / "review.jsonl")
    with pytest.raises(ComdivError, match="cannot be written"):
        log.decide(Decision("a", "accepted"))


def test_an_edit_is_checked_and_its_answer_computed() -> None:
    edited = checked_edit(APPLES, "Tom has 3  bags of\n10 apples. How many?", "N1*N0")
    assert edited.text == "Tom has 3 bags of 10 apples. How many?"
    assert edited.answer == 30


@pytest.mark.parametrize(
    ("text", "expression", "said"),
    [
        (" ", "N0", "the text is empty"), ("x" * 10_001, "1", "the maximum is 10,000"),
        ("Tom has 3 bags.", "N0*N1", "N1 is not in the text: it has only N0"),
        ("Tom has bags.", "N0", "it has no quantity"), ("3 and 4 and 5.", "N3", "it has N0 to N2"),
        ("Tom has 3 bags and 0 cats.", "N0/N1", "zero"), ("Tom has 3 bags.", "N0*", "position"),
        ("Tom has 99 bags.", "N0^60", "the answer is too long: a number has at most 100 digits"),
    ],
)  # fmt: skip
def test_an_edit_that_is_wrong_is_refused_with_the_reason(text: str, expression: str, said: str) -> None:
    with pytest.raises(ComdivError, match=said):
        checked_edit(APPLES, text, expression)


def test_doubts_name_unused_quantities_and_odd_values() -> None:
    assert APPLES.expression is not None
    assert doubts(APPLES, APPLES.expression) == []
    edited = checked_edit(APPLES, "Tom has 3 bags of 12 apples.", "N0-3")
    assert edited.expression is not None
    assert doubts(edited, edited.expression) == ["not used: N1 = 12", "the value is not positive"]
    edited = checked_edit(APPLES, "Tom has 3 bags.", "N0")
    assert edited.expression is not None
    assert doubts(edited, edited.expression) == ["there is nothing to compute"]


def test_a_reviewed_dataset_is_as_people_decided() -> None:
    problems = [Problem(name, "en", APPLES.text, APPLES.expression, APPLES.answer) for name in "abcd"]
    decisions = latest(
        [
            Decision("a", "accepted"),
            Decision("b", "rejected"),
            Decision("c", "edited", "Tom has 3 cats and 4.", "N0+N1"),
        ]
    )
    assert [problem.id for problem in apply_review(problems, decisions)] == ["a", "c", "d"]
    kept = apply_review(problems, decisions, only_accepted=True)
    assert [problem.id for problem in kept] == ["a", "c"]
    assert kept[1].answer == 7
    with pytest.raises(ComdivError, match="edit of problem 'd' cannot be used"):
        apply_review(problems, {"d": Decision("d", "edited", "No number.", "N0")})


def test_a_review_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "LARGEST_FILE", 100)
    (tmp_path / "review.jsonl").write_text(" " * 101)
    with pytest.raises(ComdivError, match=r"review\.jsonl: 101 bytes; at most 100 are read"):
        read_review(tmp_path / "review.jsonl")
