"""Listening: only on this machine unless told otherwise; the socket is open before the link is printed."""

import errno
import secrets
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.types import ASGIApp

from comdiv.errors import ComdivError
from comdiv.studio.security import LOOPBACK, Guard

if TYPE_CHECKING:
    import uvicorn

TRIED_PORTS = 50  # ports to try after the usual one
REQUEST_SECONDS = 20.0  # for a whole request to arrive, so that slow senders cannot hold connections
BACKLOG = 512  # connections that may wait to be accepted
_TAKEN = (errno.EADDRINUSE, errno.EACCES)


@dataclass(frozen=True, slots=True)
class Listener:
    """An open socket and the addresses that lead to it."""

    socket: socket.socket
    host: str
    port: int

    @property
    def is_local(self) -> bool:
        return self.host in LOOPBACK

    @property
    def address(self) -> str:
        """The beginning of every link."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"


def listen(host: str, port: int | None, usual: int) -> Listener:
    """Open a port: the requested one, or else the usual one or the next free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [port] if port is not None else [*range(usual, usual + TRIED_PORTS), 0]
    for candidate in wanted:
        # asyncio switches off Nagle's algorithm (40 ms per response) only for sockets declared as TCP.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # allows a restart right after a stop
        try:
            listener.bind((host, candidate))
        except (OSError, OverflowError) as error:
            listener.close()
            if port is not None or not isinstance(error, OSError) or error.errno not in _TAKEN:
                reason = error.strerror if isinstance(error, OSError) else error
                raise ComdivError(f"cannot listen on {host}, port {candidate}: {reason}") from error
            continue
        return Listener(listener, host, listener.getsockname()[1])
    raise ComdivError(f"no port from {usual} to {usual + TRIED_PORTS} is free: name one with --port")


def new_token() -> str:
    """A secret that nobody can guess: 128 bits."""
    return secrets.token_urlsafe(16)


def guarded(app: ASGIApp, listener: Listener, token: str | None = None, *, secret_links: bool = False) -> Guard:
    """The application behind its guard. On other addresses, host names are unknown, so secrets protect it."""
    return Guard(app, LOOPBACK if listener.is_local else None, token, secret_links=secret_links)


def serve(app: ASGIApp, listener: Listener, *, open_at: str | None = None, ready: Callable[[], None]) -> None:
    """Serve until the user stops it; `ready` is called, and the browser opened, once requests are accepted."""
    server = _server(app)
    listener.socket.listen(BACKLOG)  # from here on, a browser waits instead of being refused
    ready()
    if open_at:
        webbrowser.open(open_at)
    server.run(sockets=[listener.socket])


def _server(app: ASGIApp) -> "uvicorn.Server":
    import uvicorn
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Impatient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """Hangs up on a connection whose request, headers and body, does not arrive in time."""

        timer: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            self._wait()
            super().data_received(data)
            if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
                self._stop_waiting()  # the request is complete

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait(self) -> None:
            if self.timer is None:
                self.timer = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

        def _stop_waiting(self) -> None:
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None

    return uvicorn.Server(
        uvicorn.Config(
            app, http=Impatient, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
    )


@contextmanager
def in_background(app: ASGIApp) -> Iterator[str]:
    """Serve an application from a thread until the block ends, for notebooks and scripts; yields its address."""
    listener = listen("127.0.0.1", 0, 0)  # the system chooses a port
    listener.socket.listen(BACKLOG)
    server = _server(app)
    thread = Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    thread.start()
    try:
        yield listener.address
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listener.socket.close()


def with_token(address: str, token: str | None) -> str:
    """The link that gives a browser access."""
    return f"{address}/?token={quote(token)}" if token else f"{address}/"
