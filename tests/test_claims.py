"""One owner per folder, one writer per file; nothing that was confirmed is ever lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from comdiv.claims import claimed_folder, locked_file, owns, sweep_parts
from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.files import write_text
from comdiv.review import Decision, ReviewLog, read_review
from comdiv.studio.session import JudgingSession
from command_line import refused, run

HOLD = """
import sys, time
from pathlib import Path
from comdiv.claims import claimed_folder
with claimed_folder(Path(sys.argv[1])):
    print("mine", flush=True)
    time.sleep(60)
"""
DECIDE = """
import sys
from pathlib import Path
from comdiv.review import Decision, ReviewLog
log, writer = ReviewLog(Path(sys.argv[1])), sys.argv[2]
for number in range(int(sys.argv[3])):
    log.decide(Decision(f"{writer}-{number}", "accepted", by=writer))
    print(f"{writer}-{number}", flush=True)  # confirmed
"""
MARK = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from comdiv.studio.session import JudgingSession
session, judge = JudgingSession(Path(sys.argv[1])), sys.argv[2]
def mark(place):
    session.mark(judge, place, {"grammar": True, "fluency": True, "logic": place % 3 == 0})
    sys.stdout.write(f"{judge}/{place}/{place % 3 == 0}\\n")  # confirmed
    sys.stdout.flush()
with ThreadPoolExecutor(3) as pool:  # as the pages do
    list(pool.map(mark, range(1, int(sys.argv[3]) + 1)))
"""


def start(program: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_the_second_owner_is_told_who_has_the_folder(tmp_path: Path) -> None:
    owner = start(HOLD, tmp_path / "out")
    assert owner.stdout is not None
    assert owner.stdout.readline() == "mine\n"
    said = rf"out is being written by `comdiv.*`, process {owner.pid}, since "
    with pytest.raises(ComdivError, match=said), claimed_folder(tmp_path / "out"):
        pytest.fail("two owners")
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    with claimed_folder(tmp_path / "out"):  # whoever is killed owns nothing
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_claim_within_a_claim_is_the_same_claim(tmp_path: Path) -> None:
    with claimed_folder(tmp_path / "out"):
        with claimed_folder(tmp_path / "out"):
            pass
        assert (tmp_path / ".out.claim").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_half_made_is_swept_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".out.abc.part").mkdir()
    (tmp_path / ".out.abc.part" / "train.jsonl").write_text("{}")
    (tmp_path / ".outer.abc.part").write_text("another's")
    (tmp_path / ".a[1].x.part").write_text("a name that is a pattern")
    with claimed_folder(tmp_path / "out"):
        pass
    sweep_parts(tmp_path / "a[1]")
    assert [path.name for path in tmp_path.iterdir()] == [".outer.abc.part"]


def test_half_made_files_inside_a_claimed_folder_are_swept_unless_somebody_is_making_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / ".config.yaml.abc.part").write_text("half")
    with claimed_elsewhere(out / "sheet.csv"):
        (out / ".sheet.csv.abc.part").write_text("another's")
        with claimed_folder(out):
            assert sorted(path.name for path in out.iterdir()) == [".sheet.csv.abc.part", ".sheet.csv.claim"]


def test_no_link_in_a_folder_from_elsewhere_leads_writers_out_of_it(tmp_path: Path) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine.txt"
    mine.write_text("precious")
    (out / "deep").mkdir(parents=True)
    (out / "link.txt").symlink_to(mine)
    (out / "folder").symlink_to(tmp_path)
    (out / "deep" / ".data.claim").symlink_to(mine)
    (out / ".a.txt.x.part").symlink_to(tmp_path)
    with claimed_folder(out):
        for path in (out / "link.txt", out / "folder" / "mine.txt", out / "folder" / "new.txt"):
            with pytest.raises(ComdivError, match="leads out of out by a link"):
                write_text(path, "theirs")
            with pytest.raises(ComdivError, match="leads out of out by a link"), locked_file(path):
                pytest.fail("opened")
        with pytest.raises(ComdivError, match="data cannot be written"), claimed_folder(out / "deep" / "data"):
            pytest.fail("claimed by a link")
        (out / "near.txt").symlink_to(out / "far.txt")
        write_text(out / "near.txt", "within")
    assert mine.read_text() == "precious"
    assert (out / "far.txt").read_text() == "within"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", "out"]


def test_a_function_owns_the_output_that_it_is_given_and_leaves_no_empty_folders(tmp_path: Path) -> None:
    @owns("out")
    def write(what: str, out: Path | None = None, *, fails: bool = False) -> str:
        if fails:
            raise ComdivError("wrong")
        assert out is None or (out.parent / f".{out.name}.claim").exists()
        return what

    assert write("a") == "a"
    assert write("b", tmp_path / "deep" / "er" / "out") == "b"
    with pytest.raises(ComdivError, match="wrong"):
        write("c", out=tmp_path / "deep" / "out", fails=True)
    assert list(tmp_path.iterdir()) == []
    with claimed_elsewhere(tmp_path / "out"), pytest.raises(ComdivError, match="is being written by"):
        write("d", tmp_path / "out")


@contextmanager
def claimed_elsewhere(path: Path) -> Iterator[None]:
    """Another process owns a file or folder."""
    owner = start(HOLD, path)
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "mine\n"
        yield
    finally:
        owner.kill()
        owner.wait()


def test_no_verb_works_on_what_another_process_writes(tmp_path: Path) -> None:
    out, data = tmp_path / "out", tmp_path / "data"
    run("split", "demo-en", "--out", data, "--method", "iid")
    test, absent = data / "test.jsonl", tmp_path / "absent.jsonl"
    with claimed_elsewhere(out):
        for verb in (
            ("split", "demo-en", "--out"),
            ("synthesize", absent, "--out"),  # before anything is read
            ("synthesize", absent, "--out", tmp_path / "other", "--queue"),
            ("augment", data, "--out"),
            ("measure", data, "--out"),
            ("train", "gts", "--data", data, "--out"),
            ("evaluate", "--predictions", absent, test, "--out"),
            ("export", "results", data, "--out"),
            ("export", "hub", data, "--out"),
            ("export", "csv", test, "--out"),
            ("report", data, "--out"),
            ("data", "convert", test, "--to"),
            ("data", "hashes", test, "--out"),
            ("data", "demo", "en", "--out"),
            ("import", "judgements", absent, "--out"),
            ("import", "verdicts", absent, "--out"),
            ("import", "verdicts", absent, "--queue", absent, "--out", tmp_path / "other", "--disputed"),
            ("export", "every-eval-ever", data, "--out"),
            ("export", "compositional-pairs", data, "--out"),
            ("ask", absent, "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--out"),
        ):
            assert refused(*verb, out).startswith(f"{out} is being written by `comdiv"), verb
    assert not out.exists()


def test_a_locked_file_is_made_where_it_is_missing_and_refused_where_it_cannot_be(tmp_path: Path) -> None:
    with locked_file(tmp_path / "log") as stream:
        stream.write(b"one")
    assert (tmp_path / "log").read_bytes() == b"one"
    with pytest.raises(ComdivError, match="cannot be written"), locked_file(tmp_path / "missing" / "log"):
        pytest.fail("there is no such folder")


def stressed(program: str, path: Path, kills: int, count: int) -> set[str]:
    """Four writers at once, some of them killed and followed by others; what was confirmed to them."""
    source, confirmed = random.Random(kills), set[str]()
    writers = [start(program, path, f"writer {number}", count) for number in range(4)]
    for number in range(kills):
        time.sleep(source.uniform(0.2, 0.6))
        victim = number % len(writers)
        writers[victim].kill()
        confirmed.update((writers[victim].communicate()[0] or "").splitlines())
        writers[victim] = start(program, path, f"later {number}", count // 2)
    for writer in writers:
        confirmed.update((writer.communicate()[0] or "").splitlines())
        assert writer.returncode == 0
    assert len(confirmed) >= 1.5 * count
    return confirmed


@pytest.mark.parametrize("kills", [0, 6])
def test_four_writers_of_one_review_lose_nothing_that_was_confirmed(tmp_path: Path, kills: int) -> None:
    path = tmp_path / "review.jsonl"
    confirmed = stressed(DECIDE, path, kills, 40)
    assert confirmed <= {decision.id for decision in read_review(path)}
    for line in path.read_bytes().splitlines():
        json.loads(line)


@pytest.mark.parametrize("kills", [0, 6])
def test_four_writers_of_one_judging_session_lose_nothing_that_was_confirmed(tmp_path: Path, kills: int) -> None:
    path = tmp_path / "judging.sqlite"
    judges = [f"writer {number}" for number in range(4)] + [f"later {number}" for number in range(kills)]
    session = JudgingSession.create(path, list(generate("en", 40)), judges, {})
    confirmed = stressed(MARK, path, kills, 40)
    marks = {f"{judge}/{place}/{mark.logic}" for judge in judges for place, mark in session.own_marks(judge).items()}
    assert confirmed <= marks


def test_undo_sees_what_another_program_decided(tmp_path: Path) -> None:
    mine, other = ReviewLog(tmp_path / "review.jsonl"), ReviewLog(tmp_path / "review.jsonl")
    mine.decide(Decision("a", "accepted"))
    other.decide(Decision("b", "rejected"))
    undone = mine.undo()
    assert undone is not None
    assert (undone.id, undone.status) == ("b", "open")
