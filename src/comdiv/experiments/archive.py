"""Results to publish: one JSON Lines file per plan, without texts of problems, weights or names of machines.

    results/NAME.jsonl        the first line is the plan as it was run, each other line a finished cell of it
    results/judgements/       people's judgements of augmented problems, if there are any; judges are numbered

A cell's line has its key, label, needs (the beginnings of other cells' hashes) and facts (only those that differ from
the first cell that it needs) and its result: recipe (what differs from the baseline of `keys`), summary, times, hashes
of its output, and versions if they differ from those of the first line. The result of a cell that several plans share
is only in the first of these plans. Cells without a result in the file, most of them not run yet, are the `others` of
its first line, squeezed, with their places in the plan. Lists are packed so that a line stays short:

    "614/745"     right answers out of all: accuracies and intervals follow from it
    "right"       of an evaluation: one bit per test problem, base64, in the order of the `ids` of the dataset's line
    "curve"       of a training: one list per column; {"of": 380, "right": [72, …]} are accuracies
    "compounds"   of a measurement: {"train/test": "names"}, names with the same two counts together; a long list
                  is squeezed ("zlib:" and base64)

`comdiv report` reads the folder directly. It is for reading: `comdiv run` refuses to write into it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from comdiv.errors import ComdivError, shortened
from comdiv.evaluation.judgements import read_judgement_files, write_judgements
from comdiv.exchange.exports import Export, ExportSource
from comdiv.experiments import packing
from comdiv.experiments.cell import Cell, Details, PlanResults, Record, compact_json, sources
from comdiv.experiments.keys import differences
from comdiv.experiments.shapes import CellRecord, OtherCells, PublishedCell, PublishedPlan, check_summary
from comdiv.experiments.store import CELL, JUDGEMENTS, judgement_files, read_runs
from comdiv.files import path_part, write_text
from comdiv.loading import load_model, parse_json, read_json_lines, validate
from comdiv.observer import Observer
from comdiv.settings import Settings
from comdiv.solver import Progress

# A cell's real output: whoever runs the plan again can compare.
_MADE = re.compile(
    r"dataset/(train|validation|test)\.jsonl|run/model\.safetensors|measurement/report\.json|\w+/predictions\.jsonl"
)
_ORIGIN = ("seconds", "finished", "versions")
_TEXTS = "samples"  # where an augmentation's report shows some of its problems
_PATH = re.compile(r"""(?<![^\s'"=(:,])(?:/[^\s/'"]+)*/([^\s/'"]+)""")
STRUCTURES = "structures"
SHORT = 6  # characters of a key's hash that stand for it in the needs of other cells
_HEADER = ("title", "reproduces", "about", "order", "preset")

Lines = dict[str, Any]  # key → the part of a line that only a finished cell has


# --- reading ---


def is_published(root: Path) -> bool:
    """Whether a folder holds published results, which are for reading only."""
    return any(_begins_like_a_plan(path) for path in root.glob("*.jsonl"))


def _begins_like_a_plan(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(9) == b'{"plan":"'


def read_results(root: Path) -> tuple[PlanResults, ...]:
    """All plans of a folder, by name: one that `comdiv run` filled, or one of published results."""
    if not is_published(root):
        return read_runs(root)
    files = {path: _read_lines(path) for path in sorted(root.glob("*.jsonl"))}
    results = _results(files.values())
    return tuple(
        PlanResults(
            name=header["plan"],
            **{name: header[name] for name in _HEADER},
            plan=header["definition"],
            path=path,
            published=True,
            cells=tuple(_cells(path, lines, results)),
        )
        for path, (header, lines) in files.items()
    )


def _read_lines(path: Path) -> tuple[Record, list[Record]]:
    (first, header), *lines = list(read_json_lines(path)) or [(1, None)]
    validate(header, PublishedPlan, f"{path}, line {first}: not the results of a plan")
    for number, line in lines:
        validate(line, PublishedCell, f"{path}, line {number}")
    cells = [line for _, line in lines]
    for place, line in _others(header.get("others"), f"{path}, line {first}: other cells"):
        cells.insert(place, line)
    return header, _with_whole_needs(cells)


def _others(squeezed: str | None, where: str) -> list[tuple[int, Record]]:
    """The cells without a result, each with its place in the plan, the first places first."""
    if squeezed is None:
        return []
    try:
        others = parse_json(packing.unsqueezed(squeezed))
    except (ValueError, ComdivError) as error:
        raise ComdivError(f"{where}: {error}") from error
    validate(others, OtherCells, where)
    return [(place, line) for place, line in others]


def _short(key: str) -> str:
    """What stands for a key in the needs of other cells: nearly always unique in a file."""
    return key.rpartition("-")[2][:SHORT]


def _with_short_needs(lines: Sequence[Record]) -> list[Record]:
    """The needs as short as they are clear: half of a cell's line that was not run would be other cells' keys."""
    uses = Counter(_short(line["key"]) for line in lines)
    keys = {line["key"] for line in lines}
    return [
        {**line, "needs": [_short(key) if key in keys and uses[_short(key)] == 1 else key for key in line["needs"]]}
        for line in lines
    ]


def _with_whole_needs(lines: Sequence[Record]) -> list[Record]:
    """The needs as whole keys, of which the file may have only the beginnings."""
    whole = {_short(line["key"]): line["key"] for line in lines}
    return [{**line, "needs": [whole.get(need, need) for need in line["needs"]]} for line in lines]


def _results(files: Iterable[tuple[Record, Sequence[Record]]]) -> Lines:
    """All results by key; a line has versions only if they differ from those of its file's first line."""
    return {
        line["key"]: {**line["result"], "versions": line["result"].get("versions", header.get("versions", {}))}
        for header, lines in files
        for line in lines
        if "result" in line
    }


def _cells(path: Path, lines: Sequence[Record], results: Mapping[str, Record]) -> Iterator[Cell]:
    facts: dict[str, dict[str, Any]] = {}
    cells = []
    for line in lines:
        inherited = facts.get(line["needs"][0], {}) if line["needs"] else {}
        own = {**inherited, **line["facts"]}
        facts[line["key"]] = {name: value for name, value in own.items() if value is not None}
        record = {**line, "facts": facts[line["key"]], "kind": line["key"].partition("-")[0]}
        record.pop("result", None)
        validate(record, CellRecord, f"{path}: cell {shortened(line['key'])}")
        cells.append(Cell.from_json(record))
    origins = sources(cells)
    for cell in cells:
        result = results.get(cell.key)
        if result is None:
            yield cell
            continue
        details = PublishedDetails(result, results.get(origins.get(cell.key, ""), {}))
        origin = {name: result[name] for name in (*_ORIGIN, "originals") if name in result}
        summary = packing.unpack_summary(result["summary"])
        check_summary(cell.kind, summary, f"{path}: cell {cell.key}: summary")
        yield replace(cell, status="done", recipe=result["recipe"], summary=summary, origin=origin, details=details)


@dataclass(frozen=True)
class PublishedDetails:
    """The details in the line of a finished cell; `source` is the line of the dataset cell that it comes from."""

    line: Record
    source: Record

    def dataset(self) -> Record:
        """`dataset.json`, whose list of files follows from the rest of the line."""
        facts, problems = self.line.get("dataset"), self.line["summary"].get("problems") or {}
        if facts is None:
            return {}
        hashes = self.line.get("originals", {})
        files = {
            f"{part}.jsonl": {"problems": count, "sha256": hashes[f"dataset/{part}.jsonl"]}
            for part, count in problems.items()
            if f"dataset/{part}.jsonl" in hashes
        }
        return {**facts, "files": files} if files else facts

    def history(self) -> Sequence[Record]:
        """The columns as one record per epoch."""
        return packing.unpack_curve(self.line.get("curve", {}))

    def frequencies(self) -> Mapping[str, Sequence[Record]]:
        """Atoms and compounds, the most frequent first."""
        counts_by_kind = self.line.get("frequencies", {})
        return {kind: packing.unpack_frequencies(counts) for kind, counts in counts_by_kind.items()}

    def outcomes(self) -> Mapping[str, bool] | None:
        """The bits of the line, by the ids of its dataset."""
        return self._outcomes

    @cached_property
    def _outcomes(self) -> Mapping[str, bool] | None:
        if "right" not in self.line:
            return None
        ids = packing.unpack_names(self.line["ids"]) if "ids" in self.line else self.test_ids()
        return dict(zip(ids, packing.unpack_bits(self.line["right"], len(ids)), strict=True))

    def test_ids(self) -> tuple[str, ...]:
        """Those of the dataset's line."""
        return tuple(packing.unpack_names(self.source.get("ids", ())))

    def compositions(self) -> Mapping[str, frozenset[str]]:
        """Bits beside the ids of the dataset."""
        return self._parts("compositions")

    def structures(self) -> Mapping[str, frozenset[str]]:
        """The same."""
        return self._parts("structures")

    def _parts(self, key: str) -> Mapping[str, frozenset[str]]:
        ids = self.test_ids()
        return {
            name: frozenset(one for one, bit in zip(ids, packing.unpack_bits(bits, len(ids)), strict=True) if bit)
            for name, bits in self.source.get(key, {}).items()
        }


# --- writing ---


def export_results(
    runs: Path, folder: Path, *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Add the finished cells of `runs` to a folder of published results, and say what was added.

    What is published stays: only `force` replaces a published cell, or a plan by one that lacks published cells (as an
    older copy may). Runs from several machines and days can be collected in this way.
    """
    _check(runs, folder)
    plans = {plan.name: plan for plan in read_results(runs)}
    tell = progress or (lambda what, done, total, note: None)
    there = {path: _read_lines(path) for path in sorted(folder.glob("*.jsonl"))} if folder.is_dir() else {}
    headers = {header["plan"]: (header, lines) for header, lines in there.values()}
    results = _results(headers.values())
    done = {cell.key: cell for plan in plans.values() for cell in plan.cells if cell.status == "done"}
    origins = {key: source for plan in plans.values() for key, source in sources(plan.cells).items()}
    states: dict[str, list[str]] = {"added": [], "replaced": [], "kept": [], "differing": []}
    for place, (key, cell) in enumerate(done.items()):
        tell("publishing", place, len(done), cell.label)
        before = results.get(key)
        if (
            cell.kind == "evaluation"
            and before
            and packing.unpack_summary(before["summary"]) != without_texts(cell.summary)
        ):
            states["differing"].append(cell.label)
        if before is not None and cell.kind == "dataset" and STRUCTURES not in before and cell.details is not None:
            # Published before they were known; all else stays.
            known = {name: value for name, value in _dataset_details(cell.details).items() if name == STRUCTURES}
            results[key] = before = {**before, **known}
        if before is None or force:
            results[key] = _result(cell, results.get(origins.get(key, ""), {}).get("ids", ()))
        states["added" if before is None else "replaced" if force else "kept"].append(cell.label)
    older = [] if force else [name for name, plan in plans.items() if _would_hide(plan, headers, results)]
    for name, plan in plans.items():
        if name not in older:
            headers[name] = _plan_lines(plan)
    _write(folder, headers, results)
    _publish_judgements(runs, folder, force=force)
    counts = {state: len(labels) for state, labels in states.items()}
    return {"plans": list(plans), "older_plans": older, "cells": counts, "differing": states["differing"]}


def _check(runs: Path, folder: Path) -> None:
    if folder.resolve() == runs.resolve():
        raise ComdivError(f"{folder} is the folder of the runs: choose another one")
    if folder.exists() and not folder.is_dir():
        raise ComdivError(f"{folder} is a file: published results are a folder")
    if folder.is_dir() and any(folder.iterdir()) and not is_published(folder):
        raise ComdivError(f"{folder} holds something other than published results: choose another folder")


def _would_hide(plan: PlanResults, headers: Mapping[str, tuple[Record, Sequence[Record]]], results: Lines) -> bool:
    """Whether cells published under this plan's name would no longer be in it."""
    if plan.name not in headers:
        return False
    published = {line["key"] for line in headers[plan.name][1]}
    return any(key in results for key in published - {cell.key for cell in plan.cells})


def _plan_lines(plan: PlanResults) -> tuple[Record, list[Record]]:
    header = {"plan": plan.name, **{name: getattr(plan, name) for name in _HEADER}, "definition": plan.plan}
    facts: dict[str, dict[str, Any]] = {}
    lines = []
    for cell in plan.cells:
        own = facts[cell.key] = cell.facts.to_json()
        inherited = facts.get(cell.needs[0], {}) if cell.needs else {}
        differing = {name: value for name, value in own.items() if inherited.get(name) != value}
        differing |= {name: None for name in inherited if name not in own}
        lines.append({"key": cell.key, "label": cell.label, "needs": list(cell.needs), "facts": differing})
    return without_texts(header), without_texts(lines)


def _write(folder: Path, headers: Mapping[str, tuple[Record, Sequence[Record]]], results: Lines) -> None:
    """Write all files; a result is in the first plan that has its cell."""
    left = dict(results)
    for name in sorted(headers):
        header, lines = headers[name]
        own = {line["key"]: left.pop(line["key"]) for line in lines if line["key"] in left}
        versions = Counter(compact_json(result.get("versions", {})) for result in own.values())
        usual = json.loads(versions.most_common(1)[0][0]) if versions else {}
        written, others = [], []
        for place, line in enumerate(_with_short_needs(lines)):
            bare = {key: value for key, value in line.items() if key != "result"}
            result = own.get(line["key"])
            if result is None:
                others.append((place, bare))
            else:
                written.append({**bare, "result": {k: v for k, v in result.items() if k != "versions" or v != usual}})
        written.insert(0, {**header, "versions": usual, "others": packing.squeezed(compact_json(others))})
        file = folder / f"{path_part(name, 'the plan')}.jsonl"
        write_text(file, "".join(f"{compact_json(line)}\n" for line in written))


def _result(cell: Cell, source_ids: str | Sequence[str]) -> Record:
    """The published part of a finished cell; `source_ids` are the packed ids published with its dataset."""
    recipe = cell.recipe if cell.folder is None else differences(cell.kind, _recipe(cell.folder / CELL))
    files = cell.origin.get("files", {})
    hashes = {name: entry["sha256"] for name, entry in files.items() if _MADE.fullmatch(name)}
    result: dict[str, Any] = {
        "recipe": without_texts(recipe),
        "summary": packing.pack_summary(without_texts(cell.summary)),
        **{name: cell.origin[name] for name in _ORIGIN if name in cell.origin},
        "originals": cell.origin.get("originals") or hashes,
    }
    details = cell.details
    if details is None:
        return result
    if cell.kind == "dataset":
        result |= _dataset_details(details)
    elif cell.kind == "training" and (history := details.history()):
        result["curve"] = packing.pack_curve(history)
    elif cell.kind == "measurement" and (frequencies := details.frequencies()):
        result["frequencies"] = {kind: packing.pack_frequencies(entries) for kind, entries in frequencies.items()}
    elif cell.kind == "evaluation" and (outcomes := details.outcomes()):
        ids = sorted(outcomes)
        result["right"] = packing.pack_bits([outcomes[name] for name in ids])
        if packing.pack_names(ids) != source_ids:
            result["ids"] = packing.pack_names(ids)
    return result


def _recipe(path: Path) -> Record:
    return load_model(path, CellRecord).recipe


def _dataset_details(details: Details) -> Record:
    """How a dataset was made, and the ids of its test problems, in the order of all bits."""
    facts = {name: value for name, value in details.dataset().items() if name != "files"}
    record: dict[str, Any] = {"dataset": without_texts(facts)} if facts else {}
    if ids := details.test_ids():
        record["ids"] = packing.pack_names(ids)
    for key, parts in (("compositions", details.compositions()), (STRUCTURES, details.structures())):
        if parts:
            record[key] = {name: packing.pack_bits([one in members for one in ids]) for name, members in parts.items()}
    return record


def _publish_judgements(runs: Path, folder: Path, *, force: bool) -> None:
    """People's marks, without their names and comments, which may quote a problem."""
    files, target = judgement_files(runs), folder / JUDGEMENTS / f"{JUDGEMENTS}.jsonl"
    if files and (force or not target.is_file()):
        marks = read_judgement_files(files)
        names = {judge: f"judge {place}" for place, judge in enumerate(dict.fromkeys(m.judge for m in marks), start=1)}
        write_judgements(target, (replace(mark, judge=names[mark.judge], comment="", when="") for mark in marks))


def without_texts(record: Any) -> Any:
    """A record without parts that show problems, and without folders of the machine it was made on."""
    if isinstance(record, Mapping):
        return {name: without_texts(value) for name, value in record.items() if name != _TEXTS}
    if isinstance(record, list | tuple):
        return [without_texts(value) for value in record]
    if isinstance(record, str):
        whole = PureWindowsPath(record) if PureWindowsPath(record).is_absolute() else PurePosixPath(record)
        return whole.name if whole.is_absolute() else _PATH.sub(r"\1", record)
    return record


class ResultsExport(Export):
    """The numbers of your runs without texts and weights, for publishing; new results are added to those already there.

    `comdiv report` reads the folder directly.
    """

    settings = Settings
    example = "comdiv export results runs --out published; then comdiv report published --out page"
    folder_help = "Folder that `comdiv run` filled."
    force_help = "Replace cells that are already published; by default they stay."

    def write(
        self, source: ExportSource, out: Path, settings: Settings, *, force: bool, observer: Observer
    ) -> dict[str, Any]:
        with observer.progress("exporting") as progress:
            facts = export_results(source.path, out, force=force, progress=progress)
        differing, older = facts["differing"], facts["older_plans"]
        if differing and not force:
            several = len(differing) > 1
            observer.note(
                f"{len(differing)} published cell{'s have' if several else ' has'} numbers unlike these runs: "
                f"{differing[0]}{' and others' * several}; --force replaces them"
            )
        if older:
            observer.note(
                f"{', '.join(older)}: the plan of these runs (perhaps an older copy) lacks published cells; "
                "the published plan stays; --force replaces it"
            )
        return facts

    def sizes(self, source: ExportSource, facts: dict[str, Any]) -> Sequence[str]:
        cells, plans = facts["cells"], len(facts["plans"])
        states = [f"{cells[state]:,} cells {state}" for state in ("added", "replaced", "kept") if cells[state]]
        return [*states, f"{plans} plan{'s' * (plans != 1)}"]
