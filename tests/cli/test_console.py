"""What all verbs share: lines that a terminal can trust."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from comdiv.cli import app, console
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


@pytest.mark.parametrize("arguments", [["agreement"], ["agreement", "--json"], ["import", "judgements"]])
def test_names_in_files_are_harmless_too(arguments: list[str], tmp_path: Path) -> None:
    marks = [{"id": "p1", "judge": f"{name}{HOSTILE}", "good": True} for name in ("Ann", "Ben")]
    (tmp_path / "marks.jsonl").write_text("".join(json.dumps(mark) + "\n" for mark in marks))
    out = ["--out", str(tmp_path / "out")] if arguments[0] == "import" else []
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / "marks.jsonl"), *out])
    assert result.exit_code == 0, result.output
    assert "Ann" in result.output
    assert not set(result.output) & {"\x1b", "\x07", "\x9b", "\u202e", "\r"}
    if "--json" in arguments:  # programs get the names as they are
        assert json.loads(result.output)["judges"][0] == f"Ann{HOSTILE}"


def test_names_in_a_bar_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "error_console", lambda: Console(file=shown, force_terminal=True, width=100))
    with console.progress_bars() as bars:
        bars.add_task("asking lab/m[/x]", total=2, note="[/y] [key]")
        bars.refresh()
    assert "lab/m[/x]" in shown.getvalue()
    assert "[/y] [key]" in shown.getvalue()
