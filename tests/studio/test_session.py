"""A session of judging: sample, marks, blindness kept in the store, crashes."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.studio.session import JudgingSession, StillBlindError, sample_problems

PROBLEMS = [
    Problem(f"p{n}", "en", f"Tom has {n} cats and 2 dogs.", parse("N0+N1"), Fraction(n + 2)) for n in range(1, 13)
]
GOOD = dict.fromkeys(CRITERIA, True)


@pytest.fixture
def session(tmp_path: Path) -> JudgingSession:
    return JudgingSession.create(tmp_path / "session" / "judging.sqlite", PROBLEMS[:4], ["Ann", "Ben"], {"seed": 3})


def mark_all(session: JudgingSession, judge: str) -> None:
    for place in range(1, session.size + 1):
        session.mark(judge, place, GOOD)


def test_a_sample_depends_on_the_set_and_the_seed_alone() -> None:
    drawn = sample_problems(PROBLEMS, 5, 1)
    assert drawn == sample_problems(PROBLEMS[::-1], 5, 1)
    assert drawn != sample_problems(PROBLEMS, 5, 2)
    assert len({problem.id for problem in drawn}) == 5
    with pytest.raises(ComdivError, match="cannot draw 13 from 12 problems"):
        sample_problems(PROBLEMS, 13, 1)


def test_marks_are_kept_replaced_and_found_again(session: JudgingSession) -> None:
    session.mark("Ann", 2, {**GOOD, "logic": False}, "  odd  ")
    session.mark("Ann", 1, GOOD)
    session.mark("Ann", 1, {**GOOD, "grammar": False})
    again = JudgingSession(session.path)
    own = again.own_marks("Ann")
    assert list(own) == [1, 2]
    assert own[1].grammar is False
    assert (own[2].logic, own[2].good, own[2].comment, own[2].id) == (False, False, "odd", "p2")
    assert again.own_marks("Ben") == {}
    assert again.next_unmarked("Ann") == 3
    assert again.next_unmarked("Ann", 3) == 4
    assert again.next_unmarked("Ben", 4) == 1
    assert [(judge.name, judge.marked, judge.finished) for judge in again.judges()] == [
        ("Ann", 2, False),
        ("Ben", 0, False),
    ]
    assert again.facts["seed"] == 3
    assert again.problem(2) == PROBLEMS[1]


def test_nobody_sees_marks_before_everybody_has_finished(session: JudgingSession) -> None:
    mark_all(session, "Ann")
    session.finish("Ann")
    with pytest.raises(StillBlindError, match="still judging: Ben"):
        session.all_judgements()
    mark_all(session, "Ben")
    with pytest.raises(StillBlindError):
        session.all_judgements()
    session.finish("Ben")
    assert session.is_over
    assert len(session.all_judgements()) == 8


def test_who_has_finished_changes_nothing_any_more(session: JudgingSession) -> None:
    mark_all(session, "Ann")
    session.finish("Ann")
    with pytest.raises(ComdivError, match="can no longer be changed"):
        session.mark("Ann", 1, {**GOOD, "logic": False})
    with pytest.raises(ComdivError, match="can no longer be changed"):
        session.finish("Ann")
    assert session.own_marks("Ann")[1].good


def test_finishing_needs_every_mark(session: JudgingSession) -> None:
    session.mark("Ann", 1, GOOD)
    with pytest.raises(ComdivError, match="3 of 4 problems still need your marks"):
        session.finish("Ann")


def test_impossible_marks_are_refused_by_name(session: JudgingSession) -> None:
    with pytest.raises(ComdivError, match="problem 1 still needs a mark for fluency and logic"):
        session.mark("Ann", 1, {"grammar": True})
    with pytest.raises(ComdivError, match="there is no problem 5"):
        session.mark("Ann", 5, GOOD)
    with pytest.raises(ComdivError, match="'Cem' does not judge"):
        session.mark("Cem", 1, GOOD)
    with pytest.raises(ComdivError, match="there is no problem 0"):
        session.problem(0)


def test_secrets_are_long_different_and_survive_a_restart(session: JudgingSession) -> None:
    judges = session.judges()
    secrets = [*(judge.secret for judge in judges), session.organiser]
    assert len({*secrets}) == 3
    assert all(len(secret) >= 22 for secret in secrets)
    found = JudgingSession(session.path).judge(judges[1].secret)
    assert found is not None
    assert found.name == "Ben"
    assert session.judge("guess") is None
    assert session.judge("é") is None


def test_a_judge_may_join_until_the_results_are_known(session: JudgingSession) -> None:
    mark_all(session, "Ann")
    session.finish("Ann")
    session.add_judge("Cem")
    mark_all(session, "Ben")
    session.finish("Ben")
    assert not session.is_over
    mark_all(session, "Cem")
    session.finish("Cem")
    with pytest.raises(ComdivError, match="'Dora' can no longer judge blindly"):
        session.add_judge("Dora")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["Ann"], "at least two judges"),
        (["Ann", "Ann"], "two judges are called 'Ann'"),
        (["Ann", " "], "is not a judge's name"),
        (["Ann", "B" * 61], "is not a judge's name"),
        (["Ann", "B\nn"], "is not a judge's name"),
    ],
)
def test_names_are_checked_before_anything_is_written(tmp_path: Path, names: list[str], said: str) -> None:
    with pytest.raises(ComdivError, match=said):
        JudgingSession.create(tmp_path / "judging.sqlite", PROBLEMS, names, {})
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_session_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="no such judging session"):
        JudgingSession(tmp_path / "judging.sqlite")
    (tmp_path / "judging.sqlite").write_text("nothing of the kind, but long enough to be read as a page of a database")
    with pytest.raises(ComdivError, match="cannot be used: file is not a database"):
        JudgingSession(tmp_path / "judging.sqlite")
    with pytest.raises(ComdivError, match="exists already"):
        JudgingSession.create(tmp_path / "judging.sqlite", PROBLEMS, ["Ann", "Ben"], {})


def test_a_mark_is_durable_before_it_is_confirmed(session: JudgingSession) -> None:
    session.mark("Ann", 1, GOOD)
    with sqlite3.connect(session.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with session._transaction() as inner:
        assert inner.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_many_pages_may_mark_at_once(session: JudgingSession) -> None:
    tasks = [(judge, place) for judge in ("Ann", "Ben") for place in range(1, 5)] * 3
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda task: session.mark(*task, GOOD), tasks))
    assert [judge.marked for judge in session.judges()] == [4, 4]


@pytest.mark.parametrize(
    "made",
    [
        "CREATE VIEW all_facts AS WITH RECURSIVE n(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM n) SELECT * FROM n",
        "CREATE TRIGGER thief AFTER INSERT ON marks BEGIN DELETE FROM marks; END",
    ],
)
def test_a_session_that_would_do_more_than_keep_is_refused(made: str, tmp_path: Path) -> None:
    path = tmp_path / "judging.sqlite"
    JudgingSession.create(path, PROBLEMS, ["Ann", "Ben"], {})
    with sqlite3.connect(path) as connection:
        connection.execute(made)
    connection.close()
    with pytest.raises(ComdivError, match="not a judging session: it has a view or a trigger"):
        JudgingSession(path)
