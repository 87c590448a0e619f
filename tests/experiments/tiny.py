"""Plans and corpora so small that all of their cells together take seconds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from comdiv.problem import Problem, write_problems
from solvers.tiny import problem

SETTINGS = {
    "epochs": 2, "hidden": 8, "embedding": 8, "layers": 1, "heads": 2, "batch": 8, "beam": 1, "most_tokens": 9,
    "dropout": 0.1, "patience": 0,
}  # fmt: skip


def tiny_problems() -> list[Problem]:
    """72 problems of two templates, whose narratives fit into one another: an augmentation finds something to do."""
    made = []
    for few, name in enumerate(("Tom", "Ann", "Sue", "Ben", "Eve", "Max"), start=3):
        for many, thing in enumerate(("apples", "pens", "books", "coins", "cups", "balls"), start=12):
            bags = f"{name} has {few} bags of {many} {thing} each. How many {thing} does {name} have?"
            gives = f"{name} has {many + 20} {thing}. {name} gives {few} {thing} to a friend. "
            gives += f"How many {thing} does {name} have now?"
            made += [problem(f"bags {name} {thing}", bags, "N0*N1"), problem(f"gives {name} {thing}", gives, "N0-N1")]
    return made


def tiny_corpus(folder: Path, problems: int = 60) -> Path:
    """So many of them in a file."""
    path = folder / "mine.jsonl"
    write_problems(path, tiny_problems()[:problems])
    return path


def tiny_plan(**changes: Any) -> dict[str, Any]:
    """A plan on `mine.jsonl` beside it: two splits, one of which is measured, one method, two seeds."""
    split = {"test_size": 10, "steps_per_item": 2, "k": 3}
    record: dict[str, Any] = {
        "name": "tiny",
        "title": "A tiny plan",
        "datasets": {
            "iid": {"corpus": "mine.jsonl", "split": {**split, "method": "iid"}},
            "comdiv": {"corpus": "mine.jsonl", "split": split},
        },
        "methods": {"GTS": {"solver": "gts"}},
        "training": {"seeds": [0], "settings": dict(SETTINGS)},
    }
    return {**record, **changes}


def write_yaml(path: Path, record: Mapping[str, Any]) -> Path:
    """A plan as its users write it."""
    path.write_text(yaml.safe_dump(dict(record), sort_keys=False), encoding="utf-8")
    return path


def results_of(root: Path) -> dict[str, bytes]:
    """What must not depend on who ran a cell, where, when and after how many interruptions: bytes by key and file."""
    found = {}
    for path in sorted((root / "cells").glob("*/*/*")):
        if path.name in ("predictions.jsonl", "result.json", "model.safetensors", "train.jsonl", "test.jsonl"):
            found[path.relative_to(root / "cells").as_posix()] = path.read_bytes()
    return found


def times_done(root: Path) -> dict[str, int]:
    """How often each cell was finished, by its log."""
    return {
        path.parent.name: sum(" done in " in line for line in path.read_text(encoding="utf-8").splitlines())
        for path in sorted((root / "cells").glob("*/log.txt"))
    }


def summary_of(root: Path, key: str) -> dict[str, Any]:
    """The numbers of a finished cell."""
    summary: dict[str, Any] = json.loads((root / "cells" / key / "done.json").read_text())["summary"]
    return summary
