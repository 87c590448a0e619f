"""What tests of several packages share."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a language reads a dictionary, and the machine may be busy: time is no property to test here.
settings.register_profile("comdiv", deadline=None)
settings.load_profile("comdiv")


# A script in the background ignores Ctrl+C, and so would every command that a test starts and stops.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests with these fixtures lean on programs that are not ours, a browser or a cluster: on a busy machine they may fail
# to start. Such a test gets a second chance, with everything made anew; it fails if it fails twice.
OUTSIDE = frozenset(["browser", "page", "context", "cluster"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if OUTSIDE.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the real corpora; without it a test is skipped and says so."""
    named = os.environ.get("COMDIV_DATA", "")
    if not named:
        pytest.skip("COMDIV_DATA is not set: it names the folder that holds math23k, mawps and svamp")
    return Path(named)
