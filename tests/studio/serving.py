"""Real servers for tests in a browser: in a thread of the test, or as the command line in a process of its own."""

import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.types import ASGIApp

from comdiv.studio.server import listen


class _Server(uvicorn.Server):
    """A server in a thread cannot take signals: the test stops it."""

    def install_signal_handlers(self) -> None:
        return

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The address of an application that answers until the block ends. The kernel chooses the port."""
    listener = listen("127.0.0.1", 0, 0)
    listener.socket.listen(128)
    server = _Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1))
    thread = Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    thread.start()
    try:
        yield listener.address  # the socket listens already: a browser waits until the server takes requests
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listener.socket.close()


class Process:
    """`python -m comdiv …` in a process that can be killed and started again."""

    def __init__(self, *arguments: str | Path) -> None:
        self.arguments = [str(argument) for argument in arguments]
        self.process: subprocess.Popen[str] | None = None

    def start(self, until: str) -> list[str]:
        """Start it and read its lines until one has the words; all of them."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "comdiv", *self.arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line.strip())
            if until in line:
                return lines
        raise AssertionError(f"it ended before '{until}': {lines} {self.process.communicate()[1]}")

    def kill(self) -> None:
        """End it without warning, as a crash or a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.communicate(timeout=60)
            self.process = None


def free_port() -> int:
    """A port that is free and that the kernel gives to nobody by itself, so that it is free again after a restart."""
    while True:
        port = random.SystemRandom().randint(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def links_of(lines: list[str]) -> dict[str, str]:
    """The links that `comdiv judge` printed, by judge."""
    found = (re.fullmatch(r"(\w+) \(.*\): (http\S+)", line) for line in lines)
    return {match[1]: match[2] for match in found if match}
