"""Published results keep every number that was ever published: `published_numbers.json` has a hash of each."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from experiments.fingerprints import fingerprints

RESULTS = Path(__file__).parents[2] / "experiments" / "results"
GOLDEN = Path(__file__).with_name("published_numbers.json")


def before() -> Any:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@cache
def now() -> Any:
    return fingerprints(RESULTS)


def test_they_are_few_and_small() -> None:
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert len(files) <= 30
    assert sum(path.stat().st_size for path in files) <= 2_000_000


def test_every_published_cell_is_what_it_was() -> None:
    cells, those = before()["cells"]["all"], now()["cells"]["all"]
    assert [key for key, digest in cells.items() if those.get(key) != digest] == []
    assert len(cells) > 600


def test_every_table_is_what_it_was_unless_its_plan_has_more_cells() -> None:
    changed, compared = [], 0
    for plan, hashes in before()["plans"].items():
        those = now()["plans"][plan]
        if those["state"] == hashes["state"]:
            changed += [f"{plan}: {name}" for name, digest in hashes.items() if those.get(name) != digest]
            compared += len(hashes)
    assert changed == []
    assert compared > 200
