"""Requests whose whole reply, from the first byte of its headers to the last of its body, has one deadline.

The time-out of a socket is for each read alone: an endpoint that sends a byte now and then would keep us for ever.
"""

import http.client
import io
import socket
import time
from typing import Any
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener


class _Deadlined(io.RawIOBase):
    """What a socket receives until its time-out has passed since the beginning."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)  # keeps the socket open
        self._deadline = time.monotonic() + (sock.gettimeout() or float("inf"))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if left < float("inf"):
            self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        deadlined: Any = io.BufferedReader(_Deadlined(sock))
        self.fp.close()
        self.fp = deadlined


class _Connection(http.client.HTTPConnection):
    response_class = _Response


class _SecureConnection(http.client.HTTPSConnection):
    response_class = _Response


class _Handler(HTTPHandler):
    def http_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


class _SecureHandler(HTTPSHandler):
    def https_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, req)


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would take the key to another place."""

    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        return None


def patient_opener() -> OpenerDirector:
    """Opens requests; the time-out of each is for its whole reply, and no redirect is followed."""
    return build_opener(_NoRedirects, _Handler, _SecureHandler)
