"""Published results keep every number that was ever published: `published_numbers.json` has a hash of each table."""

import json
from pathlib import Path

from experiments.fingerprints import fingerprints

RESULTS = Path(__file__).parents[2] / "experiments" / "results"
GOLDEN = Path(__file__).with_name("published_numbers.json")


def test_they_are_few_and_small() -> None:
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert len(files) <= 30
    assert sum(path.stat().st_size for path in files) <= 2_000_000


def test_every_published_number_is_what_it_was() -> None:
    before, now = json.loads(GOLDEN.read_text(encoding="utf-8")), fingerprints(RESULTS)
    changed = [
        f"{plan}: {name}" for plan, hashes in before.items() for name in hashes if now[plan].get(name) != hashes[name]
    ]
    assert changed == []
    assert sum(map(len, before.values())) > 200
