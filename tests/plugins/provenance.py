"""What an augmentation or a synthesis wrote, by where it comes from."""

import json
from collections import Counter
from pathlib import Path
from typing import Any


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def operations(path: Path) -> Counter[str]:
    return Counter(record["provenance"].get("operation", "") for record in records(path))
