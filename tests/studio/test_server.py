"""The server: it hangs up on whoever dawdles, and computes no page where all requests wait."""

import inspect
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from comdiv.studio import server
from comdiv.studio.app import Studio, studio_app
from comdiv.studio.judge_pages import judging_app
from comdiv.studio.session import JudgingSession
from studio.small import products


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that reads what it is sent and says how long it was; it waits half a second for a request."""
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.5)

    async def length(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    with server.in_background(Starlette(routes=[Route("/", length, methods=["GET", "POST"])])) as address:
        yield address


def connection(address: str) -> socket.socket:
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60)


@pytest.mark.parametrize(
    "beginning",
    [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"],
)
def test_whoever_does_not_finish_a_request_is_hung_up_on(address: str, beginning: bytes) -> None:
    with connection(address) as dawdler:
        dawdler.sendall(beginning)
        said = dawdler.recv(1000)  # nothing, or that the request was bad: the connection ends
        assert not said.startswith(b"HTTP/1.1 200")
        assert said == b"" or dawdler.recv(1000) == b""
    assert httpx.get(address).text == "0"


def test_a_second_request_over_the_same_connection_has_its_own_time(address: str) -> None:
    with connection(address) as one:
        for _ in range(2):
            one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"\r\n\r\n0"):
                answer += one.recv(1000)
        one.sendall(b"GET / HTTP/1.1\r\nHos")
        assert one.recv(1000) == b""


def test_no_page_is_computed_where_all_requests_wait(studio: Studio, tmp_path: Path) -> None:
    """A problem with ten thousand numbers takes its time, but nobody else's."""
    session = JudgingSession.create(tmp_path / "judging.sqlite", products(), ["Ann", "Ben"], {})
    for app in (studio_app(studio), judging_app(session)):
        pages = [route for route in app.routes if isinstance(route, APIRoute)]
        assert pages
        assert [page.path for page in pages if inspect.iscoroutinefunction(page.endpoint)] == []
