"""An endpoint for tests, in this process: it answers as told, or misbehaves in every way that endpoints do."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """One bad reply: a status with a body, or a way to break the connection."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hang: float = 0.0  # seconds before anything is sent
    cut: bool = False  # half of the body, then nothing


def refusal(status: int, message: str, **headers: str) -> Fault:
    return Fault(status, json.dumps({"error": {"message": message}}).encode(), headers)


def completion(text: str, logprobs: Sequence[float] | None = None) -> bytes:
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if logprobs is not None:
        choice["logprobs"] = {"content": [{"token": "x", "logprob": value} for value in logprobs]}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}).encode()


class EndpointServer(ThreadingHTTPServer):
    """Replies with `reply(request)`, after the faults, one for each request, have been used up."""

    daemon_threads = True

    def __init__(self, reply: Callable[[Request], bytes | Fault], faults: Sequence[Fault]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.faults = list(faults)
        self.requests: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is not news."""


class _Handler(BaseHTTPRequestHandler):
    server: EndpointServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(body)
            server.headers.append(dict(self.headers))
            fault = server.faults.pop(0) if server.faults else None
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
        try:
            self._answer(fault if fault is not None else server.reply(body))
        finally:
            with server.lock:
                server.busy -= 1

    def _answer(self, said: bytes | Fault) -> None:
        fault = said if isinstance(said, Fault) else Fault(body=said)
        time.sleep(fault.hang)
        self.send_response(fault.status)
        for name, value in fault.headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(fault.body)))
        self.end_headers()
        self.wfile.write(fault.body[: len(fault.body) // 2] if fault.cut else fault.body)

    def log_message(self, *arguments: Any) -> None:
        """Silence."""


@contextmanager
def endpoint(reply: Callable[[Request], bytes | Fault], faults: Sequence[Fault] = ()) -> Iterator[EndpointServer]:
    """A server for the duration of a test."""
    server = EndpointServer(reply, faults)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
