"""The folder into which `comdiv run PLAN --out runs` writes:

    runs/
      plans/NAME.json          the plan as it was run, and its cells; with a preset the name is NAME@PRESET
      cells/KEY/               one cell. KEY: its kind and the hash of everything that determines it; plans share cells
        cell.json              what it is: kind, label, facts, the keys of the cells it needs, and the whole recipe
        log.txt                its output while it ran, in all attempts
        done.json              written last. summary (its numbers), seconds, started, finished, host, node, versions,
                               and the size and SHA-256 of its files
        failed.json            instead of done.json: reason
        dataset/               (kinds dataset, augmentation, rounds) a dataset folder: train.jsonl, validation.jsonl,
                               test.jsonl, dataset.json; of an augmentation also rounds/1…, report.json, report.md
        measurement/           (measurement) report.json with all frequencies, report.md, frequencies-*.svg and .png
        run/                   (training) a run folder: config.yaml, metrics.jsonl, model.safetensors…
        validation/, test/     (evaluation) result.json, predictions.jsonl, outcomes.json: ids by right and wrong
      judgements/              people's judgements of augmented problems, if any, *.jsonl or *.csv

A cell is done when `done.json` exists: it is written last and atomically. Without it, the folder holds unfinished work,
to be continued or repeated, never a result.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from comdiv.dataset import PARTS, read_facts
from comdiv.errors import ComdivError
from comdiv.evaluation import read_predictions, structure_parts
from comdiv.evaluation.outcomes import outcomes_of
from comdiv.experiments.cell import Cell, PlanResults, Record, sources
from comdiv.experiments.shapes import Divergences, Done, Epoch, Frequencies, Origin, Outcomes, PlanRecord, check_summary
from comdiv.files import file_sha256, inside, path_part, write_text
from comdiv.loading import load_object, read_json_lines, validate
from comdiv.problem import Problem, read_problems

PLANS, CELLS, JUDGEMENTS = "plans", "cells", "judgements"
CELL, DONE, FAILED, LOG, PROGRESS = "cell.json", "done.json", "failed.json", "log.txt", "progress.json"
OUTCOMES = "outcomes.json"


def cell_folder(root: Path, key: str) -> Path:
    """Where a cell's results are."""
    return root / CELLS / path_part(key, "the cell key")


# --- writing ---


def write_plan(root: Path, name: str, description: Record, cells: Sequence[Cell]) -> Path:
    """Write down which cells a plan consists of before any of them runs, so that missing ones can be seen."""
    path = root / PLANS / f"{path_part(name, 'the plan')}.json"
    write_json(path, {"name": name, **description, "cells": [cell.to_json() for cell in cells]})
    return path


def begin_cell(root: Path, cell: Cell) -> Path:
    """Write what the cell is into its folder, and remove an earlier failure."""
    folder = inside(root, cell_folder(root, cell.key))
    for link in (path for path in folder.rglob("*") if path.is_symlink()):
        inside(folder, link)
    for name in (DONE, FAILED):  # a running cell is neither
        (folder / name).unlink(missing_ok=True)
    write_json(folder / CELL, cell.whole_json())
    return folder


def finish_cell(folder: Path, summary: Record, origin: Record, files: Sequence[Path]) -> None:
    """Mark a cell as done: `summary` are its numbers, `origin` says where, when and with which versions it ran."""
    hashes = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in sorted(files)
    }
    (folder / FAILED).unlink(missing_ok=True)
    write_json(folder / DONE, {"summary": summary, **origin, "files": hashes})


def fail_cell(folder: Path, reason: str, origin: Record) -> None:
    """Say why a cell failed; the next run tries it again."""
    write_json(folder / FAILED, {"reason": reason, **origin})


def write_outcomes(folder: Path, right: Mapping[str, bool]) -> None:
    """Write which problems of an evaluation are right: predictions are judged once, when they are made."""
    sides = {word: sorted(name for name in right if right[name] is good) for word, good in _SIDES}
    write_text(folder / OUTCOMES, json.dumps(sides, ensure_ascii=False) + "\n")


_SIDES = (("right", True), ("wrong", False))


# --- reading ---


def read_done(folder: Path) -> dict[str, Any] | None:
    """The marker of a finished cell; None if it is unfinished, or if a file that it names is no longer intact."""
    if not (folder / DONE).is_file():
        return None
    record = load_object(folder / DONE)
    validate(record, Done, str(folder / DONE))
    for name, entry in record.get("files", {}).items():
        path = folder.joinpath(*(path_part(part, f"{folder / DONE}: the file") for part in name.split("/")))
        if not path.is_file() or path.stat().st_size != entry.get("bytes"):
            return None
    return record


def read_runs(root: Path) -> tuple[PlanResults, ...]:
    """All plans that were run into a folder, by name."""
    paths = sorted((root / PLANS).glob("*.json"))
    if not paths:
        raise ComdivError(f"{root} holds no results: it has no {PLANS}/*.json; `comdiv run PLAN --out {root}` makes it")
    return tuple(read_plan_results(root, path) for path in paths)


def read_plan_results(root: Path, path: Path) -> PlanResults:
    """One plan, with the current state of its cells on disk."""
    record = load_object(path)
    validate(record, PlanRecord, f"{path} is not a plan's file of this version")
    return PlanResults(
        name=record["name"],
        title=record.get("title", ""),
        reproduces=record.get("reproduces", ""),
        preset=record.get("preset"),
        plan=record.get("plan", {}),
        path=path,
        about=record.get("about", ""),
        order=record.get("order", 100),
        cells=tuple(_with_states(root, [Cell.from_json(cell) for cell in record["cells"]])),
    )


def _with_states(root: Path, cells: Sequence[Cell]) -> Iterator[Cell]:
    """Cells come after those they need, so that a failure is known when its dependants are read."""
    blocked: dict[str, str] = {}  # key of a cell without a result → the label of the one that failed
    datasets = sources(cells)
    for planned in cells:
        folder = cell_folder(root, planned.key)
        cell = replace(planned, folder=folder)
        if (done := read_done(folder)) is not None:
            source = datasets.get(cell.key)
            details = RunDetails(folder, None if source is None else cell_folder(root, source))
            summary = done.pop("summary", {})
            check_summary(cell.kind, summary, f"{folder / DONE}: summary")
            yield replace(cell, status="done", summary=summary, origin=done, details=details)
        elif not (folder / DONE).exists() and (folder / FAILED).is_file():
            failed = load_object(folder / FAILED)
            validate(failed, Origin, str(folder / FAILED))
            blocked[cell.key] = cell.label
            yield replace(cell, status="failed", reason=str(failed.pop("reason", "")), origin=failed)
        else:
            culprit = next((blocked[need] for need in cell.needs if need in blocked), None)
            if culprit is not None:
                blocked[cell.key] = culprit
            yield replace(cell, reason=f"because of: {culprit}" if culprit else "")


@dataclass(frozen=True)
class RunDetails:
    """The details in the files of a finished cell; `source` is the folder of the dataset cell that it comes from."""

    folder: Path
    source: Path | None

    def dataset(self) -> Record:
        """`dataset.json`."""
        path = self.folder / "dataset"
        if not (path / "dataset.json").is_file():
            return {}
        facts = read_facts(path)
        validate(facts, Divergences, str(path / "dataset.json"))
        return facts

    def history(self) -> Sequence[Record]:
        """`metrics.jsonl` of the run."""
        path = self.folder / "run" / "metrics.jsonl"
        entries = list(read_json_lines(path)) if path.is_file() else []
        for number, entry in entries:
            validate(entry, Epoch, f"{path}, line {number}")
        return [entry for _, entry in entries]

    def frequencies(self) -> Mapping[str, Sequence[Record]]:
        """The lists in the measurement's `report.json`."""
        path = self.folder / "measurement" / "report.json"
        if not path.is_file():
            return {}
        record = load_object(path)
        validate(record, Frequencies, str(path))
        return {kind: record[kind] for kind in ("atoms", "compounds")}

    def outcomes(self) -> Mapping[str, bool] | None:
        """As written by the evaluation; for runs of an older version, which did not, predictions are judged now."""
        return self._outcomes

    @cached_property
    def _outcomes(self) -> Mapping[str, bool] | None:
        path = self.folder / "test" / OUTCOMES
        if path.is_file():
            record = load_object(path)
            validate(record, Outcomes, str(path))
            return {name: good for word, good in _SIDES for name in record[word]}
        predictions, problems = self.folder / "test" / "predictions.jsonl", self._test()
        if not problems or not predictions.is_file():
            return None
        return {outcome.id: outcome.right for outcome in outcomes_of(problems, read_predictions(predictions))}

    def test_ids(self) -> tuple[str, ...]:
        """As the dataset has them."""
        return tuple(sorted(problem.id for problem in self._test()))

    def compositions(self) -> Mapping[str, frozenset[str]]:
        """As the dataset's problems say."""
        by_composition = defaultdict(set)
        for problem in self._test():
            if problem.composition:
                by_composition[problem.composition].add(problem.id)
        return {name: frozenset(ids) for name, ids in by_composition.items()}

    def structures(self) -> Mapping[str, frozenset[str]]:
        """As the expressions of the dataset say."""
        if self.source is None or not self._test():
            return {}
        paths = [self.source / "dataset" / f"{part}.jsonl" for part in PARTS]
        return _structures(*paths, *(state for path in paths for state in _state(path)))

    def _test(self) -> tuple[Problem, ...]:
        path = None if self.source is None else self.source / "dataset" / "test.jsonl"
        return read_part(path) if path is not None and path.is_file() else ()


@lru_cache(maxsize=32)
def _structures(train: Path, validation: Path, test: Path, *states: int) -> Mapping[str, frozenset[str]]:
    return structure_parts(read_part(test), (*read_part(train), *read_part(validation)))


def part_problems(plan: PlanResults, cell: Cell, part: str) -> tuple[Problem, ...]:
    """One part of the dataset that a cell comes from, before any augmentation; empty if its texts are missing."""
    source = cell if cell.kind == "dataset" else plan.ancestor(cell, "dataset")
    path = None if source is None else source.file(f"dataset/{part}.jsonl")
    return () if path is None else read_part(path)


def read_part(path: Path) -> tuple[Problem, ...]:
    """The problems of a file, read once as long as it is the same; several tables ask for it."""
    return _read_part(path, *_state(path))


def _state(path: Path) -> tuple[int, int, int]:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


@lru_cache(maxsize=8)
def _read_part(path: Path, *state: int) -> tuple[Problem, ...]:
    return tuple(read_problems(path))


def judgement_files(root: Path) -> list[Path]:
    """People's judgements stored with the results."""
    folder = root / JUDGEMENTS
    return sorted(path for path in folder.iterdir() if path.suffix in (".jsonl", ".csv")) if folder.is_dir() else []


def write_json(path: Path, record: Record) -> None:
    """Write a JSON object that people can read, too."""
    write_text(path, json.dumps(record, ensure_ascii=False, indent=2) + "\n")
