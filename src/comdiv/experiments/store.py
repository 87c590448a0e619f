"""The folder in which cells leave their results, as the runner writes it; `results.py` describes it and reads it.

A cell is done when `done.json` is there: it is written last and atomically. Whatever else lies in the folder of a cell
without it is the beginning of one, to be gone on with or made anew, never a result.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from comdiv.errors import ComdivError
from comdiv.files import file_sha256, write_text

Kind = Literal["dataset", "measurement", "augmentation", "rounds", "training", "evaluation"]
PLANS, CELLS, JUDGEMENTS = "plans", "cells", "judgements"
PUBLISHED = "published.json"  # in a folder of results that is for reading: texts and weights are not in it
CELL, DONE, FAILED, LOG, PROGRESS = "cell.json", "done.json", "failed.json", "log.txt", "progress.json"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a cell is in its plan: the names that tables and figures are made of. None: does not apply.

    Names are the plan's own. The same cell may be `GTS+DA` in one plan and `full` in another; its key is the same.
    """

    dataset: str | None = None  # the plan's name of the dataset: mawps-comdiv
    corpus: str | None = None  # what it is made from: mawps, demo-en
    split: str | None = None  # dbca, iid, length, template (or "dbca within"), synthesis, disjoint, folder (was there)
    target: float | None = None  # compound divergence that the split should reach
    k: int | None = None  # clusters, of a measurement or a split
    split_seed: int | None = None
    method: str | None = None  # the row of a table: GTS+DA
    solver: str | None = None
    augmentation: str | None = None  # the plan's name of the augmentation: None without
    augmentation_seed: int | None = None
    plain: str | None = None  # the method without augmentation that this one is compared with
    rounds: int | None = None  # of the augmentation that are in the training set
    seed: int | None = None  # of the training
    steps: str | None = None  # "epochs": as many epochs for all; "equal": as many optimiser steps as `steps_like`
    steps_like: str | None = None  # what the number of steps was made equal to: a method's name
    settings: Mapping[str, Any] = field(default_factory=dict)  # hyper-parameters that differ from the preset's
    cover: str | None = None  # of an evaluation: none, soft, hard

    def to_json(self) -> dict[str, Any]:
        """Only what applies."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != {}}


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """One piece of work: `recipe` is everything that determines it, and the key is the recipe's hash."""

    key: str
    kind: Kind
    label: str  # for people: "GTS+DA on sd, seed 0"
    facts: Facts
    needs: tuple[str, ...]  # keys of the cells whose results it takes
    recipe: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)  # where sources lie on this machine: not part of the key

    def to_json(self) -> dict[str, Any]:
        """The cell as it stands in its plan's file; the recipe is in the cell's own folder."""
        return {
            "key": self.key,
            "kind": self.kind,
            "label": self.label,
            "facts": self.facts.to_json(),
            "needs": list(self.needs),
        }

    def whole_json(self) -> dict[str, Any]:
        """All of it: what a process needs to run the cell."""
        return {**self.to_json(), "recipe": dict(self.recipe), "inputs": dict(self.inputs)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "PlannedCell":
        """The opposite of `whole_json`."""
        return cls(**{**record, "facts": Facts(**record["facts"]), "needs": tuple(record["needs"])})


def cell_folder(root: Path, key: str) -> Path:
    """Where a cell's results are."""
    return root / CELLS / key


def write_plan(root: Path, name: str, description: Mapping[str, Any], cells: Sequence[PlannedCell]) -> Path:
    """Say which cells a plan consists of, before any of them runs: what is missing can then be seen, too."""
    path = root / PLANS / f"{name}.json"
    record = {"name": name, **description, "cells": [cell.to_json() for cell in cells]}
    _write_json(path, record)
    return path


def is_published(root: Path) -> bool:
    """Whether a folder of results is for reading only (`publishing.py`)."""
    return (root / PUBLISHED).is_file()


def begin_cell(root: Path, cell: PlannedCell) -> Path:
    """Make the cell's folder say what it is, and forget an earlier failure."""
    folder = cell_folder(root, cell.key)
    for name in (DONE, FAILED):  # a cell that is run is neither
        (folder / name).unlink(missing_ok=True)
    _write_json(folder / CELL, cell.whole_json())
    return folder


def finish_cell(folder: Path, summary: Mapping[str, Any], origin: Mapping[str, Any], files: Sequence[Path]) -> None:
    """Mark a cell as done: `summary` are its numbers, `origin` says where, when and with which versions it ran."""
    hashes = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in sorted(files)
    }
    (folder / FAILED).unlink(missing_ok=True)
    _write_json(folder / DONE, {"summary": summary, **origin, "files": hashes})


def fail_cell(folder: Path, reason: str, origin: Mapping[str, Any]) -> None:
    """Say why a cell failed; the next run tries it again."""
    _write_json(folder / FAILED, {"reason": reason, **origin})


def read_done(folder: Path) -> dict[str, Any] | None:
    """The marker of a finished cell; None where it is not finished, or a file that it names is no longer whole."""
    if not (folder / DONE).is_file():
        return None
    record = read_json(folder / DONE)
    for name, entry in record.get("files", {}).items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != entry.get("bytes"):
            return None
    return record


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object of ours; a damaged one is a clear line."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ComdivError(f"{path}: {error}") from error
    if not isinstance(record, dict):
        raise ComdivError(f"{path}: not a JSON object")
    return record


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(record, ensure_ascii=False, indent=2) + "\n")
