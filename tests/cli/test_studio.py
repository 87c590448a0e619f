"""`comdiv studio` from end to end: what it prints, where it listens, what it refuses."""

import socket
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import command_line
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem, write_problems
from comdiv.studio.security import Guard
from comdiv.studio.server import Listener, listen
from studio.serving import Process


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    texts = ["Tom has 3 cats and 4 dogs.", "Ann buys 5 red pens and 2 books."]
    write_problems(path, [Problem(f"p{n}", "en", t, parse("N0+N1"), Fraction(7)) for n, t in enumerate(texts)])
    return path


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Guard, Listener]]:
    """What would be served: the server itself is left out."""
    kept: list[tuple[Guard, Listener]] = []

    def serve(app: Guard, listener: Listener, *, ready: Callable[[], None], open_at: str | None = None) -> None:
        kept.append((app, listener))
        ready()
        listener.socket.close()

    monkeypatch.setattr("comdiv.studio.server.serve", serve)
    return kept


def run(*arguments: str | Path) -> str:
    return command_line.run("studio", *arguments, columns=200).output


def test_it_answers_on_this_machine_until_it_is_stopped(problems: Path) -> None:
    process = Process("studio", problems, "--port", "0")
    try:
        line = process.start("is open at")[-1]
        address = line.rpartition(" ")[2]
        assert address.startswith("http://127.0.0.1:")
        page = httpx.get(address, timeout=60)
        assert page.status_code == 200
        assert "Ann buys" in page.text
        assert httpx.get(address, headers={"host": "evil.example"}, timeout=60).status_code == 421
    finally:
        process.kill()


def test_a_table_of_ones_own_is_read_by_its_columns(tmp_path: Path, served: list[tuple[Guard, Listener]]) -> None:
    (tmp_path / "mine.csv").write_text("question,formula\nTom has 3 cats and 4 dogs.,3+4\n", encoding="utf-8")
    assert "mine is open at" in run(tmp_path / "mine.csv", "--text", "question", "--equation", "formula", "--port", "0")


def test_on_this_machine_no_token_is_needed(problems: Path, served: list[tuple[Guard, Listener]]) -> None:
    printed = run(problems, "--port", "0")
    assert "mine is open at http://127.0.0.1:" in printed
    assert "token" not in printed
    ((guard, listener),) = served
    assert guard.token is None
    assert listener.is_local


def test_elsewhere_the_link_carries_a_token(problems: Path, served: list[tuple[Guard, Listener]]) -> None:
    printed = run(problems, "--port", "0", "--host", "0.0.0.0")
    ((guard, listener),) = served
    assert guard.token is not None
    assert len(guard.token) >= 22
    assert f"/?token={guard.token}" in printed
    assert not listener.is_local
    assert guard.hosts is None


def test_a_port_that_is_taken_is_said_or_passed_over(problems: Path, served: list[Any]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ComdivError, match=f"cannot listen on 127.0.0.1, port {port}"):
            run(problems, "--port", str(port))
        other = listen("127.0.0.1", None, port)
        assert other.port != port
        other.socket.close()


def test_an_address_that_is_none_is_one_line(problems: Path) -> None:
    with pytest.raises(ComdivError, match=r"cannot listen on nowhere\.invalid"):
        run(problems, "--host", "nowhere.invalid", "--port", "0")


def test_what_is_missing_is_named(problems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "uvicorn" else object())
    with pytest.raises(ComdivError, match="the pages need uvicorn: pip install 'comdiv\\[studio\\]'"):
        run(problems)


def test_a_folder_that_is_none_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="is not a dataset folder"):
        run(tmp_path)


def test_answers_are_not_held_back_to_be_sent_together() -> None:
    listener = listen("127.0.0.1", 0, 0)
    assert listener.socket.proto == socket.IPPROTO_TCP  # what asyncio asks before it sets TCP_NODELAY
    listener.socket.close()
