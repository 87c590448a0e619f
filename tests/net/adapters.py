"""Where files of datasets, augmentations, exports and results lie, and what of them is compared: never a version."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from comdiv import Problem
from comdiv.corpora import read_corpus
from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import right_answers

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


def divergences(folder: Path) -> str:
    """What a dataset says of its parts, to six digits: compound and atom divergence, and the ratio of lengths."""
    facts = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    compound, atom = facts["compound_divergence"]["paper"], facts["atom_divergence"]["paper"]
    return f"{compound:.6f} {atom:.6f} {facts['length_ratio']:.6f}"


def candidate_files(folder: Path) -> list[Path]:
    """The candidates of an augmentation's rounds, in their order."""
    return sorted(folder.glob("rounds/*/candidates.jsonl"), key=lambda path: int(path.parent.name))


def exported_lines(path: Path) -> list[str]:
    """An exported file; of a JSON object without versions of libraries and without the hashes of the other files."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return text.splitlines()
    content = json.loads(text)
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key not in ("versions", "files")}
    return json.dumps(content, ensure_ascii=False, indent=1).splitlines()


def result_lines(root: Path) -> dict[str, list[str]]:
    """Every number of the results in a folder, by plan: a line for each cell, with the ids that it got right."""
    return {
        f"{plan.name}@{plan.preset}" if plan.preset else plan.name: [
            json.dumps([cell.label, cell.kind, cell.status, _plain(cell.summary)], ensure_ascii=False, sort_keys=True)
            + _right_ids(right_answers(cell) if cell.kind == "evaluation" else None)
            for cell in plan.cells
        ]
        for plan in read_results(root)
    }


def accuracies(root: Path) -> dict[str, str]:
    """How many problems each evaluation got right, and of how many, by label and part."""
    return {
        f"{cell.label}, {part}": f"{numbers['correct']}/{numbers['n']}"
        for plan in read_results(root)
        for cell in plan.of_kind("evaluation")
        for part, numbers in cell.summary.items()
    }


def _plain(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary without what a clock measured."""
    return {key: value for key, value in summary.items() if not key.startswith("seconds")}


def _right_ids(outcomes: Mapping[str, bool] | None) -> str:
    if outcomes is None:
        return ""
    return "".join(f" {name}{'+' if right else '-'}" for name, right in sorted(outcomes.items()))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)
