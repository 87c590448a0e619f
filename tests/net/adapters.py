"""Where the files of a dataset and of an augmentation lie, and what of them is compared: never a version."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from comdiv import Problem
from comdiv.corpora import read_corpus

PARTS = ("train", "validation", "test")


def problems_of(source: str | Path) -> tuple[Problem, ...]:
    """The problems of a corpus."""
    return read_corpus(source).problems


def with_number_words(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The same problems where numbers written as words count."""
    return tuple(replace(problem, number_words=True) for problem in problems)


def problem_lines(path: Path) -> Iterator[str]:
    """The problems of a file as they are written there, without the version of their corpus."""
    for record in _records(path):
        record["provenance"].pop("version", None)
        yield json.dumps(record, ensure_ascii=False)


def ids(path: Path) -> Iterator[str]:
    """The ids of a file's problems, in the file's order."""
    return (str(record["id"]) for record in _records(path))


def divergences(folder: Path) -> Iterator[str]:
    """What a dataset says of its parts, to six digits."""
    facts = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    for name in ("compound_divergence", "atom_divergence"):
        for preset, value in sorted(facts[name].items()):
            yield f"{name} {preset} {value:.6f}"
    yield f"length_ratio {facts['length_ratio']:.6f}"


def candidate_files(folder: Path) -> list[Path]:
    """The candidates of an augmentation's rounds, in their order."""
    return sorted(folder.glob("rounds/*/candidates.jsonl"), key=lambda path: int(path.parent.name))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)
