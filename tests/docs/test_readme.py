"""The README: short, and in step with the page of results."""

import re
from pathlib import Path

from docs.tools import load_tool

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").replace("\u00a0", " ")
COLUMNS = {
    "MAWPS, i.i.d. test": "mawps-iid test",
    "MAWPS, compositional test": "mawps-comdiv test",
    "SD 1.0, validation": "sd-1.0 validation",
    "SD 1.0, test": "sd-1.0 test",
}

Table = list[dict[str, str]]


def tables(page: str) -> list[Table]:
    """The tables of a page, each as rows of heading → cell."""
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", page, flags=re.M)
    lines = [[[cell.strip() for cell in row.strip("|").split(" | ")] for row in b.splitlines()] for b in blocks]
    return [[dict(zip(head, row, strict=False)) for row in rows] for head, _, *rows in lines]


def published(method: str, column: str) -> set[str]:
    """What the page of results has for a method in all columns of a name."""
    return {row[column] for table in tables(RESULTS) for row in table if row.get("Method") == method and column in row}


def test_it_fits_on_two_screens() -> None:
    assert len(README.splitlines()) <= 90
    assert README.count("<img") + README.count("![") == 1


def test_it_and_contributing_link_every_page_on_extending() -> None:
    pages = {f"docs/how-to/{page.name}" for page in (ROOT / "docs" / "how-to").glob("add-*.md")}
    assert len(pages) >= 6
    for text in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        assert {page for page in pages if f"({page})" not in text} == set()


def test_every_number_of_its_table_is_a_result() -> None:
    (table,) = tables(README)
    assert 4 <= len(table) <= 8
    for row in table:
        for heading, column in COLUMNS.items():
            if row[heading] == "–":
                continue
            ours, paper = re.fullmatch(r"(\d+\.\d ± \d+\.\d)(?: \((\d+\.\d)\))?", row[heading]).groups()
            wanted = f"{ours}<br>paper {paper} " if paper else ours
            assert any(cell.startswith(wanted) for cell in published(row["Method"], column)), (row["Method"], heading)


def test_every_percentage_of_its_text_is_a_result() -> None:
    told = set(re.findall(r"(\d+\.\d) %", README))
    known = " ".join(load_tool("results_page").detail_pages()[0].values())
    assert told
    assert {number for number in told if not re.search(rf"(?<![\d.]){number}(?![\d.])", known)} == set()
