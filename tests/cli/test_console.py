"""What all verbs share: lines that a terminal can trust."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from comdiv.cli import app
from comdiv.cli.console import print_error, print_note

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred \x9b5n \u202egnp.exe \r gone"


@pytest.mark.parametrize("verb", ["show", "stats"])
def test_control_sequences_never_reach_the_terminal(verb: str, tmp_path: Path) -> None:
    record = {"id": f"a{HOSTILE}", "language": "en", "text": f"Tom has 3 {HOSTILE} apples.", "expression": "N0"}
    damaged = {**record, "id": f"b{HOSTILE}", "expression": "N0+"}
    (tmp_path / "mine.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(damaged)}\n")
    result = CliRunner().invoke(app, ["data", verb, str(tmp_path / "mine.jsonl")])
    printed = result.output  # nobody watches: no colours, no bars, nothing of our own to tell apart
    assert not set(printed) & {"\x1b", "\x07", "\x9b", "\u202e", "\r"}
    assert "apples" in printed or verb == "stats"


def test_errors_and_notes_are_harmless_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(f"no such file: {HOSTILE}\nsecond line")
    print_note(HOSTILE)
    said = capsys.readouterr().err
    assert not set(said) & {"\x1b", "\x07", "\x9b", "\u202e", "\r"}
    assert said.count("\n") == 2
