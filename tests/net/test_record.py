"""The net itself: one changed byte is noticed, and nothing recorded is replaced unless that is asked for."""

import json
from pathlib import Path

import pytest

from net import golden, record
from net.recordings import Recording, hash_of, hashes_of


@pytest.fixture
def golden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty file of hashes in the place of the real one."""
    monkeypatch.setattr(golden, "PATH", tmp_path / "golden.json")
    golden.write({})
    return tmp_path / "golden.json"


def _recordings(monkeypatch: pytest.MonkeyPatch, *lines: str) -> dict[str, Recording]:
    """One recording that makes these lines, in the place of the real ones."""
    recordings = {"a": Recording(lambda folder: {"lines": lines, "number": "3/4"})}
    monkeypatch.setattr(record, "RECORDINGS", recordings)
    return recordings


@pytest.mark.parametrize("changed", [["one", "twO"], ["two", "one"], ["one"], ["one", "two", ""], ["one two"]])
def test_a_changed_byte_a_changed_order_and_a_missing_line_change_the_hash(changed: list[str]) -> None:
    assert hash_of(changed) != hash_of(["one", "two"])


@pytest.mark.parametrize("now", [{"x": "1", "y": "3"}, {"x": "1"}, {"x": "1", "y": "2", "z": "0"}, {}])
def test_a_changed_a_missing_and_a_new_entry_are_differences(golden_file: Path, now: dict[str, str]) -> None:
    golden.write({"a": {"x": "1", "y": "2"}})
    assert golden.difference("a", {"x": "1", "y": "2"}) == ""
    assert golden.difference("a", now).startswith("a: ")


def test_a_difference_names_the_libraries_that_are_not_those_of_the_recording(golden_file: Path) -> None:
    golden.write({"a": {"x": "1"}})
    content = json.loads(golden_file.read_text(encoding="utf-8"))
    content["versions"]["numpy"] = "0.0.1"
    golden_file.write_text(json.dumps(content), encoding="utf-8")
    assert "recorded with numpy 0.0.1 (now " in golden.difference("a", {"x": "2"})


def test_what_is_recorded_stays_unless_it_is_forced(
    golden_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hashes_of(_recordings(monkeypatch, "one")["a"], tmp_path)
    assert record.main([]) == 0
    after = hashes_of(_recordings(monkeypatch, "onE")["a"], tmp_path)
    assert record.main([]) == 1
    assert golden.recorded() == {"a": before}
    assert record.main(["--force"]) == 0
    assert golden.recorded() == {"a": after}


def test_lines_are_written_to_be_compared_and_nothing_is_recorded(
    golden_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _recordings(monkeypatch, "one", "two")
    assert record.main(["--lines", str(tmp_path / "lines")]) == 0
    assert (tmp_path / "lines" / "a" / "lines.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    assert golden.recorded() == {}
