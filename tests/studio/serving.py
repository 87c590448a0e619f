"""The command line as a server in a process of its own, which tests may kill."""

import random
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path


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
