"""The how-to pages on extending comdiv are true word for word: code stands in the examples, commands run."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.conftest import EXAMPLES, Environment
from plugins.german import write_corpus
from plugins.test_table import PLAN
from plugins.worksheet import write_worksheet

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
PACKAGES = {
    "add-a-corpus-format.md": "comdiv-worksheet",
    "add-a-language.md": "comdiv-german",
    "add-a-table.md": "comdiv-error-rates",
    "add-an-operation.md": "comdiv-reorder",
}
_BLOCK = re.compile(r"^```\w+ title=\"(?P<file>[^\"]+)\"\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMANDS = re.compile(r"^```sh\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)


def page_text(page: str) -> str:
    return (PAGES / page).read_text(encoding="utf-8")


def lines_of(code: str) -> str:
    """Code without blank lines and indentation: a method stands on a page as a function does."""
    return "".join(f"{line.strip()}\n" for line in code.splitlines() if line.strip())


@pytest.mark.parametrize("page", PACKAGES)
def test_code_of_a_page_stands_in_its_example(page: str) -> None:
    blocks = list(_BLOCK.finditer(page_text(page)))
    assert blocks
    for block in blocks:
        written = (EXAMPLES / PACKAGES[page] / block["file"]).read_text(encoding="utf-8")
        assert lines_of(block["code"]) in lines_of(written), block["file"]


@pytest.mark.parametrize("page", PACKAGES)
def test_commands_of_a_page_run(page: str, install: Callable[[str], Environment], tmp_path: Path) -> None:
    write_corpus(tmp_path / "aufgaben.jsonl")
    write_worksheet(tmp_path / "worksheet.txt")
    (tmp_path / "tiny.yaml").write_text(PLAN, encoding="utf-8")
    commands = [line for block in _COMMANDS.finditer(page_text(page)) for line in block["lines"].splitlines()]
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "comdiv"
        install(PACKAGES[page]).comdiv(*arguments, folder=tmp_path)
