"""Results to publish: the numbers of runs, without a word of any problem, without weights, without names of machines.

A published folder is one of results like any other (`results.py`): `comdiv report` reads it as it is, and its tables
and paired tests are those of the runs. It is for reading: `comdiv run` refuses to go on in it. What is left out of a
cell is left out of the list of its files, too; the hashes of what it came from stand in `originals`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import read_judgement_files, write_judgements
from comdiv.experiments.judging import COMPOSITIONS_FILE, OUTCOMES_FILE, Judgements, compositions_of
from comdiv.experiments.results import Cell, PlanResults, judgement_files, read_results
from comdiv.experiments.store import (
    CELL,
    DONE,
    JUDGEMENTS,
    PLANS,
    PUBLISHED,
    cell_folder,
    finish_cell,
    is_published,
    read_done,
    read_json,
)
from comdiv.files import write_text
from comdiv.solver import Progress

# What a reader needs of each kind of cell, besides the summary. Everything else stays where it was made.
_KEPT = {
    "dataset": ("dataset/dataset.json",),
    "augmentation": ("dataset/dataset.json",),
    "rounds": ("dataset/dataset.json",),
    "measurement": ("measurement/report.json",),
    "training": ("run/metrics.jsonl",),
    "evaluation": ("validation/result.json", "test/result.json"),
}
# What a cell really made: whoever runs the plan again can compare.
_ORIGINALS = re.compile(r"dataset/(train|validation|test)\.jsonl|run/model\.safetensors|\w+/predictions\.jsonl")
_ORIGIN = ("seconds", "started", "finished", "versions")
_TEXTS = "samples"  # where an augmentation's report shows some of its problems
_PATH = re.compile(r"""(?<![^\s'"=(:,])(?:/[^\s/'"]+)*/([^\s/'"]+)""")
_ABOUT = {
    "made_by": "comdiv export results",
    "holds": "numbers and ids of experiments, no problem's text, no weights: see comdiv.experiments.results",
    "read_it_with": "comdiv report FOLDER --out REPORT",
}


def export_results(
    runs: Path, folder: Path, *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Add whatever is done in `runs` to a folder of published results, and say what was added.

    What is published stays: a cell that is there already is taken again only with `force`, and so is a plan that lacks
    published cells, as an older copy of it may. Several runs, on several machines and days, may so be collected.
    """
    plans = read_results(runs)
    _check(runs, folder)
    tell = progress or (lambda what, done, total, note: None)
    judgements = Judgements()
    done = {cell.key: (plan, cell) for plan in plans for cell in plan.cells if cell.status == "done"}
    states: dict[str, list[str]] = {"added": [], "replaced": [], "kept": [], "differing": []}
    _write_json(folder / PUBLISHED, _ABOUT)
    for place, (key, (plan, cell)) in enumerate(done.items()):
        tell("publishing", place, len(done), cell.label)
        target = cell_folder(folder, key)
        before = read_done(target)
        if before is not None and cell.kind == "evaluation" and before["summary"] != without_texts(cell.summary):
            states["differing"].append(cell.label)
        if before is None or force:
            _publish(plan, cell, target, judgements)
        states["added" if before is None else "replaced" if force else "kept"].append(cell.label)
    older = [] if force else [plan.name for plan in plans if _would_hide_results(plan, folder)]
    for plan in plans:
        if plan.name not in older:
            _write_json(folder / PLANS / plan.path.name, without_texts(read_json(plan.path)))
    _publish_judgements(runs, folder, force=force)
    counts = {state: len(labels) for state, labels in states.items()}
    names = [plan.name for plan in plans]
    return {"plans": names, "older_plans": older, "cells": counts, "differing": states["differing"]}


def _check(runs: Path, folder: Path) -> None:
    if folder.resolve() == runs.resolve():
        raise ComdivError(f"{folder}: choose another folder than that of the runs")
    if folder.exists() and not folder.is_dir():
        raise ComdivError(f"{folder} is a file: published results are a folder")
    if folder.is_dir() and any(folder.iterdir()) and not is_published(folder):
        raise ComdivError(f"{folder} holds something else than published results: choose another folder")


def _would_hide_results(plan: PlanResults, folder: Path) -> bool:
    """Whether cells that are published under this plan's name would no longer be in it."""
    path = folder / PLANS / plan.path.name
    if not path.is_file():
        return False
    published = {cell["key"] for cell in read_json(path)["cells"]}
    return any(read_done(cell_folder(folder, key)) is not None for key in published - {c.key for c in plan.cells})


def _publish(plan: PlanResults, cell: Cell, target: Path, judgements: Judgements) -> None:
    """Write a cell anew; its marker goes first and comes last."""
    (target / DONE).unlink(missing_ok=True)
    record = read_done(cell.folder) or {}
    _write_json(target / CELL, {**without_texts(read_json(cell.folder / CELL)), "inputs": {}})
    files = list(_write_files(plan, cell, target, judgements))
    made = record.get("originals") or {
        name: entry["sha256"] for name, entry in record.get("files", {}).items() if _ORIGINALS.fullmatch(name)
    }
    origin = {name: record[name] for name in _ORIGIN if name in record}
    finish_cell(target, without_texts(cell.summary), {**origin, "originals": made}, files)


def _write_files(plan: PlanResults, cell: Cell, target: Path, judgements: Judgements) -> Iterator[Path]:
    for name in _KEPT[cell.kind]:
        source = cell.folder / name
        if source.is_file():
            if source.suffix == ".json":
                _write_json(target / name, without_texts(read_json(source)))
            else:
                write_text(target / name, source.read_text(encoding="utf-8"))
            yield target / name
    if cell.kind == "dataset" and (compositions := compositions_of(plan, cell)):
        path = target / "dataset" / COMPOSITIONS_FILE
        _write_json(path, {name: sorted(ids) for name, ids in compositions.items()})
        yield path
    if cell.kind == "evaluation" and (right := judgements.right(plan, cell)):
        path = target / "test" / OUTCOMES_FILE
        _write_json(path, {word: sorted(name for name in right if right[name] is good) for word, good in _WORDS})
        yield path


def _publish_judgements(runs: Path, folder: Path, *, force: bool) -> None:
    """People's marks, without their names and comments, which may quote a problem."""
    files, target = judgement_files(runs), folder / JUDGEMENTS / f"{JUDGEMENTS}.jsonl"
    if files and (force or not target.is_file()):
        marks = read_judgement_files(files)
        names = {judge: f"judge {place}" for place, judge in enumerate(dict.fromkeys(m.judge for m in marks), start=1)}
        write_judgements(target, (replace(mark, judge=names[mark.judge], comment="", when="") for mark in marks))


_WORDS = (("right", True), ("wrong", False))


def without_texts(record: Any) -> Any:
    """A record without what shows problems, and without the folders of the machine it was made on."""
    if isinstance(record, Mapping):
        return {name: without_texts(value) for name, value in record.items() if name != _TEXTS}
    if isinstance(record, list | tuple):
        return [without_texts(value) for value in record]
    if isinstance(record, str):
        whole = PureWindowsPath(record) if PureWindowsPath(record).is_absolute() else PurePosixPath(record)
        return whole.name if whole.is_absolute() else _PATH.sub(r"\1", record)
    return record


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    """A line for each key, and for each record of a list: short files, and short differences between two of them."""
    lines = (f"{json.dumps(name)}: {_lines(value)}" for name, value in record.items())
    write_text(path, "{\n " + ",\n ".join(lines) + "\n}\n")


def _lines(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n  " + ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)
