"""`kill -9` at a moment of a command's work, for tests of what is left behind."""

import os
import signal
import subprocess
import time
from collections.abc import Callable


def finish(command: list[str]) -> None:
    """Let a command end well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def kill_once(command: list[str], reached: Callable[[], bool], delay: float) -> bool:
    """Start, wait until something is reached and a moment longer, kill; whether it was still at work."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not reached() and process.poll() is None:
        time.sleep(0.001)
    time.sleep(delay)
    at_work = process.poll() is None
    if at_work:
        os.kill(process.pid, signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), errors
    return at_work
