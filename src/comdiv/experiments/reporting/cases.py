"""The case study (Figure 6): problems that an augmentation kept, ranked away or refused, and its confidence."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.examples import LONGEST, Example
from comdiv.experiments.reporting.shown import ShownProblem, shown_problem
from comdiv.experiments.store import read_part
from comdiv.expression import ExpressionError, parse
from comdiv.problem import Problem, read_json_lines

SHOWN = 3  # of each kind


def case_studies(plans: Sequence[PlanResults]) -> list[Example]:
    """Of each augmented dataset, the first round's problems: kept, ranked away, refused by a check."""
    found: dict[str, Example] = {}
    for plan in plans:
        for cell in plan.of_kind("augmentation"):
            name = f"{cell.facts.augmentation} on {cell.facts.dataset}"
            if cell.status == "done" and name not in found and (study := _study(cell, name)) is not None:
                found[name] = study
    return list(found.values())


def _study(cell: Cell, name: str) -> Example | None:
    path = cell.file("dataset/rounds/1/kept.jsonl")
    if path is None:
        return None
    folder, kept = path.parent, read_part(path)
    scores = dict(_scores(folder / "scores.jsonl"))
    problems = [*_kept(kept, scores), *_ranked_away(folder, kept, scores), *_refused(folder, kept)]
    if not problems:
        return None
    ranked = "ranked by the solver's confidence" if scores else "taken as they passed the checks: there was no ranker"
    counts = _counts(cell)
    return Example(f"{name}, round 1", f"{counts}Candidates were {ranked}.", tuple(problems))


def _kept(kept: Sequence[Problem], scores: Mapping[str, float]) -> Iterator[ShownProblem]:
    """The most confident of each operation; without a ranker, the first by id."""
    for operation in ("operation 1", "operation 2"):
        mine = [p for p in kept if p.provenance.operation == operation and len(p.text) <= LONGEST]
        mine.sort(key=lambda problem: (-scores.get(problem.id, 0.0), problem.id))
        for problem in mine[: SHOWN - 1]:
            yield shown_problem(problem, f"accepted, {operation}", _confidence(problem, scores), verdict="accepted")


def _ranked_away(folder: Path, kept: Sequence[Problem], scores: Mapping[str, float]) -> Iterator[ShownProblem]:
    if not scores:
        return
    ids = {problem.id for problem in kept}
    others = [p for p in read_part(folder / "candidates.jsonl") if p.id not in ids and len(p.text) <= LONGEST]
    others.sort(key=lambda problem: (scores.get(problem.id, -math.inf), problem.id))
    for problem in others[:SHOWN]:
        heading = f"rejected by the ranker, {problem.provenance.operation}"
        yield shown_problem(problem, heading, _confidence(problem, scores), verdict="rejected")


def _refused(folder: Path, kept: Sequence[Problem]) -> Iterator[ShownProblem]:
    """One draft for each reason, the shortest texts first."""
    path = folder / "rejected.jsonl"
    if not path.is_file() or not kept:
        return
    records: dict[str, dict[str, Any]] = {}
    drafts = [record for _, record in read_json_lines(path) if record.get("text") and len(record["text"]) <= LONGEST]
    for record in sorted(drafts, key=lambda record: (len(record["text"]), record["text"])):
        records.setdefault(record["reason"], record)
    for reason, record in list(records.items())[:SHOWN]:
        try:
            expression = parse(record["expression"]) if record.get("expression") else None
        except ExpressionError:
            expression = None
        draft = Problem("draft", kept[0].language, record["text"], expression)
        heading = f"rejected by a check, operation {record.get('operation', '?')}"
        yield shown_problem(draft, heading, [("why", reason)], verdict="rejected")


def _confidence(problem: Problem, scores: Mapping[str, float]) -> list[tuple[str, str]]:
    score = scores.get(problem.id)
    if score is None:
        return []
    shown = f"{math.exp(score):.3f} (log-probability {score:.2f})" if score > -math.inf else "0: cannot be spelled"
    return [("confidence", shown)]


def _scores(path: Path) -> Iterator[tuple[str, float]]:
    if path.is_file():
        for _, record in read_json_lines(path):
            yield str(record["id"]), -math.inf if record["score"] is None else float(record["score"])


def _counts(cell: Cell) -> str:
    """How many candidates there were and how many stayed, as the augmentation's report says."""
    path = cell.file("dataset/report.json")
    if path is None:
        return ""
    report = json.loads(path.read_text(encoding="utf-8"))
    told = []
    for facts in report.get("rounds", [])[:1]:
        for operation in ("operation 1", "operation 2"):
            if operation in facts:
                one = facts[operation]
                told.append(f"{operation}: {one['drafts']:,} drafts, {one['passed']:,} passed, {one['kept']:,} kept")
    return "; ".join(told).capitalize() + ". " if told else ""
