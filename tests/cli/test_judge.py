"""`comdiv judge` up to the browser: samples, sessions that go on, links."""

from fractions import Fraction
from pathlib import Path

import pytest

from comdiv.corpora.corpus_options import CorpusOptions
from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA, read_judgements
from comdiv.expression import parse
from comdiv.problem import Problem, Provenance, write_problems
from comdiv.studio.session import open_session
from studio.serving import Process, links_of

GOOD = dict.fromkeys(CRITERIA, True)


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """Six originals and four products."""
    path = tmp_path / "train.jsonl"
    made = [
        Problem(
            f"p{n}", "en", f"Tom has {n} cats and {n + 1} dogs.", parse("N0+N1"), Fraction(2 * n + 1),
            Provenance(operation="1") if n > 6 else Provenance(),
        )
        for n in range(1, 11)
    ]  # fmt: skip
    write_problems(path, made)
    return path


def ids(session: object) -> set[str]:
    return {session.problem(place).id for place in range(1, session.size + 1)}  # type: ignore[attr-defined]


def test_products_are_drawn_unless_all_are_asked_for(problems: Path, tmp_path: Path) -> None:
    few = open_session(str(problems), ["Ann", "Ben"], 3, 0, tmp_path / "few", everything=False)
    assert ids(few) <= {"p7", "p8", "p9", "p10"}
    everything = open_session(str(problems), ["Ann", "Ben"], 10, 0, tmp_path / "all", everything=True)
    assert len(ids(everything)) == 10
    with pytest.raises(ComdivError, match="cannot draw 5 from 4 problems"):
        open_session(str(problems), ["Ann", "Ben"], 5, 0, tmp_path / "more", everything=False)
    assert not (tmp_path / "more").exists()


def test_a_table_of_ones_own_is_read_by_its_columns(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question\nTom has 3 cats.\nTom has 4 cats.\n", encoding="utf-8")
    reading = CorpusOptions(text="question")
    out = tmp_path / "session"
    session = open_session(str(tmp_path / "mine.csv"), ["Ann", "Ben"], 2, 0, out, everything=False, reading=reading)
    assert {session.problem(place).text for place in (1, 2)} == {"Tom has 3 cats.", "Tom has 4 cats."}


def test_the_same_command_goes_on_and_another_is_refused(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "session"
    first = open_session(str(problems), ["Ann", "Ben"], 3, 7, out, everything=False)
    first.mark("Ann", 1, GOOD)
    again = open_session(str(problems), [], 3, 7, out, everything=False)
    assert again.own_marks("Ann").keys() == {1}
    assert [judge.secret for judge in again.judges()] == [judge.secret for judge in first.judges()]
    with pytest.raises(ComdivError, match="a session with seed 7, not 8: choose another --out"):
        open_session(str(problems), [], 3, 8, out, everything=False)
    with problems.open("a") as stream:
        stream.write("\n")
    with pytest.raises(ComdivError, match="a session with version"):
        open_session(str(problems), [], 3, 7, out, everything=False)


def test_a_judge_may_join_by_name(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "session"
    open_session(str(problems), ["Ann", "Ben"], 3, 7, out, everything=False)
    session = open_session(str(problems), ["Ben", "Cem"], 3, 7, out, everything=False)
    assert [judge.name for judge in session.judges()] == ["Ann", "Ben", "Cem"]


def test_one_judge_is_not_enough(problems: Path, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="at least two judges: --judge Ann --judge Ben"):
        open_session(str(problems), ["Ann"], 3, 0, tmp_path / "session", everything=False)


def test_every_judge_gets_a_link_and_results_are_written_again_when_all_have_finished(
    problems: Path, tmp_path: Path
) -> None:
    out = tmp_path / "session"
    session = open_session(str(problems), ["Ann", "Ben"], 2, 0, out, everything=False)
    for judge in ("Ann", "Ben"):
        for place in (1, 2):
            session.mark(judge, place, GOOD)
        session.finish(judge)
    process = Process("judge", problems, "--sample", "2", "--out", out, "--port", "0")
    try:
        lines = process.start("progress and results")
    finally:
        process.kill()
    assert links_of(lines).keys() == {"Ann", "Ben"}
    assert "Ann (finished)" in lines[0]
    assert len(read_judgements(out / "judgements.jsonl")) == 4


def test_a_file_in_the_place_of_the_session_is_told_in_one_line(problems: Path) -> None:
    with pytest.raises(ComdivError, match="cannot be written"):
        open_session(str(problems), ["Ann", "Ben"], 3, 0, problems, everything=False)
