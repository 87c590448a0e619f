"""The net under a rebuild: splits, SD, candidates and views of texts are, byte for byte, what was recorded."""

from pathlib import Path

import pytest

from net import golden
from net.recordings import RECORDINGS, Recording, hashes_of


def _parameter(name: str, recording: Recording) -> object:
    real = [pytest.mark.real_data] if recording.real else []
    return pytest.param(name, marks=[*real, *([pytest.mark.slow] if recording.slow else [])])


@pytest.mark.parametrize("name", [_parameter(name, recording) for name, recording in RECORDINGS.items()])
def test_nothing_has_changed_since_it_was_recorded(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if RECORDINGS[name].real:
        request.getfixturevalue("real_data")
    difference = golden.difference(name, hashes_of(RECORDINGS[name], tmp_path))
    assert not difference, difference


def test_every_recording_has_its_hashes_and_nothing_else_is_recorded() -> None:
    assert set(golden.recorded()) == set(RECORDINGS)
