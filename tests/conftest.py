"""What tests of several packages share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a language reads a dictionary, and the machine may be busy: time is no property to test here.
settings.register_profile("comdiv", deadline=None)
settings.load_profile("comdiv")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the real corpora; without it a test is skipped and says so."""
    named = os.environ.get("COMDIV_DATA", "")
    if not named:
        pytest.skip("COMDIV_DATA is not set: it names the folder that holds math23k, mawps and svamp")
    return Path(named)
