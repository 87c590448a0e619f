"""A corpus format as a package: `docs/examples/comdiv-worksheet`."""

import json
from collections.abc import Callable
from pathlib import Path

from plugins.conftest import Environment
from plugins.worksheet import write_worksheet


def test_a_worksheet_is_a_corpus_for_every_verb(install: Callable[[str], Environment], tmp_path: Path) -> None:
    write_worksheet(tmp_path / "worksheet.txt")
    environment = install("comdiv-worksheet")
    statistics = json.loads(environment.comdiv("data", "stats", "worksheet.txt", "--json", folder=tmp_path))
    assert (statistics["records"], statistics["problems"], statistics["agree"]) == (6, 5, 5)
    split = ("split", "worksheet.txt", "--method", "iid", "--test-size", "2", "--k", "2", "--out", "split")
    environment.comdiv(*split, folder=tmp_path)
    problems = [json.loads(line) for line in (tmp_path / "split" / "test.jsonl").read_text().splitlines()]
    assert len(problems) == 2
    assert all(problem["id"].startswith("worksheet-") for problem in problems)
