"""One round of Algorithm 1, in its own folder: candidates, the ranker's scores, what is kept. Each step is done once.

A step's file gets its final name only when the step is complete. After an interruption, a round resumes after the last
complete step and produces the same bytes; only `timings.json` shows the interruption.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.operations import Refusal
from comdiv.augmentation.proposals import (
    Fates,
    Operations,
    Proposer,
    draw_ids,
    draw_within_quota,
    index_round,
    operation_label,
    read_lines,
)
from comdiv.engine import Engine
from comdiv.errors import ComdivError
from comdiv.expression import template
from comdiv.files import atomic_write, write_json_lines, write_text
from comdiv.loading import load_object, read_json_objects
from comdiv.problem import Problem, read_problems, write_problems
from comdiv.reading import Reading
from comdiv.registry import SCORERS
from comdiv.solver import Progress, Solver

SHARD = 256  # problems of the current set worked on at a time
RANKED_AT_ONCE = 512
MakeSolver = Callable[..., Solver]  # like `comdiv.solvers.runs.make_solver`: name, preset=…, changes=…
Rank = Literal["prediction", "given"]


# --- the ranker (§IV): a solver trained on the current set scores how sure it is of each new problem ---


@dataclass(frozen=True, slots=True)
class RankingTask:
    """Where a trained ranker is and how it ranks: enough to rank a shard on any machine that sees the folder."""

    solver_class: type[Solver]
    folder: Path
    rank: Rank


def rank_shard(task: RankingTask, problems: Sequence[Problem]) -> list[float]:
    """The scores of some problems."""
    return confidence(task.solver_class.load(task.folder), problems, task.rank)


def confidence(solver: Solver, problems: Sequence[Problem], rank: Rank) -> list[float]:
    """`prediction`: the log-probability of the solver's own best expression, summed over its tokens (the paper).

    `given`: that of the problem's own expression, per token, so that long ones are not penalised.
    """
    if rank == "prediction":
        return [solution.log_probability for solution in solver.solve(problems)]
    return [score.log_probability / max(1, score.tokens) for score in solver.score(problems)]


def best_ids(
    problems: Sequence[Problem], scores: Sequence[float], share: float, keep_by: Literal["joint", "stratum"]
) -> list[str]:
    """The ids of the best share, best first: exactly ⌊share · n⌋ of them, but at least one. Ties go by id.

    `stratum`: the share is kept within each operation and template, rounded by largest remainder.
    """
    exact = Fraction(share).limit_denominator(1_000_000)  # 0.2 of 10 is 2, despite binary rounding
    ranked = sorted(zip(problems, scores, strict=True), key=lambda pair: (-_number(pair[1]), pair[0].id))
    wanted = max(1, math.floor(exact * len(ranked))) if ranked else 0
    if keep_by == "joint":
        return [problem.id for problem, _ in ranked[:wanted]]
    strata: dict[str, list[str]] = {}
    for problem, _ in ranked:
        strata.setdefault(stratum(problem), []).append(problem.id)
    places = {name: math.floor(exact * len(members)) for name, members in strata.items()}
    by_rest = sorted(strata, key=lambda name: (places[name] - exact * len(strata[name]), name))
    for name in by_rest[: wanted - sum(places.values())]:
        places[name] += 1
    choice = {problem for name, members in strata.items() for problem in members[: places[name]]}
    return [problem.id for problem, _ in ranked if problem.id in choice]


def stratum(problem: Problem) -> str:
    """Operation and template of a new problem."""
    shown = "" if problem.expression is None else template(problem.expression)
    return f"{problem.provenance.operation}: {shown}"


def _number(score: float) -> float:
    """A score that can be sorted: NaN counts as the lowest."""
    return -math.inf if math.isnan(score) else score


# --- the round ---


@dataclass(slots=True)
class Round:
    """A round's folder and everything that its steps need."""

    number: int
    folder: Path
    originals: int  # problems of the training set that were not made by an operation
    options: AugmentationOptions
    engine: Engine
    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    work: dict[str, Any] = field(default_factory=dict)

    # --- step 1: new problems ---

    def candidates(
        self, readings: Sequence[Reading], known: frozenset[str], operations: Operations, sizes: Sequence[int]
    ) -> tuple[list[Problem], dict[str, Any]]:
        """The new problems that passed the checks, and the fates of all drafts.

        `sizes` are the sizes of the current set in all rounds so far.
        """
        path = self.folder / "candidates.jsonl"
        fates_path = self.folder / "checks.json"
        if not path.is_file():
            started = time.perf_counter()
            lines, fates = self._propose(readings, known, operations, sizes)
            limit = None if self.options.growth is None else max(1, round(self.options.growth * self.originals))
            ids = draw_ids(self._within_quota(lines), limit, self.options.seed)
            facts: dict[str, Any] = {
                operation_label(name): dict(sorted(fates.counts.get(name, {}).items()))
                for name in self.options.operation_names
            }
            facts["drawn"] = {"of": len(lines), "chosen": len(ids)}
            write_text(fates_path, json.dumps(facts, indent=2) + "\n")
            write_json_lines(self.folder / "rejected.jsonl", (_refusal_record(*one) for one in fates.refusals))
            _write_lines(path, (lines[name] for name in ids))
            self._took("candidates", started)
        return list(read_problems(path)), load_object(fates_path)

    def _within_quota(self, lines: dict[str, str]) -> list[str]:
        """The ids of the new problems, with at most the quota for each operation and template."""
        if self.options.template_quota is None:
            return list(lines)
        quota = max(1, round(self.options.template_quota * self.originals))
        strata = {name: stratum(Problem.from_json(json.loads(line))) for name, line in lines.items()}
        return draw_within_quota(strata, quota, self.options.seed)

    def _propose(
        self, readings: Sequence[Reading], known: frozenset[str], operations: Operations, sizes: Sequence[int]
    ) -> tuple[dict[str, str], Fates]:
        """The new problems by id, each as a line of a file."""
        what = f"round {self.number}: "
        self.progress(what + "index", 0, len(readings), "")
        proposer = index_round(readings, known, self.options, self.number, operations, self.engine, sizes)
        shards = [range(first, min(first + SHARD, len(readings))) for first in range(0, len(readings), SHARD)]
        fates = Fates()
        lines: dict[str, str] = {}
        texts: set[str] = set()
        results = self.engine.map_texts(Proposer.propose_lines, proposer, shards)
        for shard, result in zip(shards, results, strict=True):
            proposals, shard_fates = read_lines(result)
            fates.add(shard_fates)
            for name, text, line in proposals:
                if text not in texts:
                    texts.add(text)
                    lines[name] = line
            self.progress(what + "candidates", shard.stop, len(readings), f"{len(lines):,} new problems")
        return lines, fates

    # --- step 2: ranking ---

    def scores(
        self,
        candidates: Sequence[Problem],
        train: Sequence[Problem],
        validation: Sequence[Problem],
        make_solver: MakeSolver | None,
        before: Path | None,
    ) -> dict[str, float] | None:
        """The ranker's score of every candidate; None without a ranker. `before` is the previous round's ranker."""
        coherence = self.options.rank == "coherence"
        if (self.options.ranker == "none" and not coherence) or not candidates:
            return None
        path = self.folder / "scores.jsonl"
        if not path.is_file():
            shards = [candidates[i : i + RANKED_AT_ONCE] for i in range(0, len(candidates), RANKED_AT_ONCE)]
            if coherence:
                results = self._coherence(train[: self.originals], shards)
            else:
                task = self._train_ranker(train, validation, make_solver, before)
                results = self.engine.map(rank_shard, task, shards)
            started = time.perf_counter()
            scores: list[float] = []
            for shard in results:
                scores += shard
                self.progress(f"round {self.number}: ranking", len(scores), len(candidates), "")
            pairs = zip(candidates, scores, strict=True)
            write_json_lines(path, ({"id": problem.id, "score": _finite(score)} for problem, score in pairs))
            self._took("ranking", started)
        return {
            str(line["id"]): float("-inf") if line["score"] is None else line["score"]
            for _, line in read_json_objects(path)
        }

    def _coherence(self, originals: Sequence[Problem], shards: Iterable[Sequence[Problem]]) -> Iterator[list[float]]:
        """The coherence of new problems, by a scorer that has learnt from the original training problems alone."""
        scorer = SCORERS.get(self.options.scorer)()
        self.progress(f"round {self.number}: scorer", 0, len(originals), "")
        scorer.fit(originals, self.options.seed)
        return map(scorer.score, shards)

    def _train_ranker(
        self,
        train: Sequence[Problem],
        validation: Sequence[Problem],
        make_solver: MakeSolver | None,
        before: Path | None,
    ) -> RankingTask:
        if make_solver is None:
            raise ComdivError(f"ranker '{self.options.ranker}': no make_solver was given to make it")
        assert self.options.rank != "coherence"  # has a scorer instead
        started = time.perf_counter()
        folder = self.folder / "ranker"
        solver = make_solver(
            self.options.ranker, preset=self.options.ranker_preset, changes=self.options.ranker_settings
        )
        warm: dict[str, Any] = {"start_from": before} if self.options.warm_start and before is not None else {}

        def progress(what: str, done: int, total: int, note: str) -> None:
            self.progress(f"round {self.number}: ranker, {what}", done, total, note)

        solver.fit(train, validation, resume_from=folder, progress=progress, **warm)
        solver.save(folder)
        self._took("training the ranker", started)
        return RankingTask(type(solver), folder, self.options.rank)

    # --- step 3: selection ---

    def keep(self, candidates: Sequence[Problem], scores: dict[str, float] | None, room: int | None) -> list[Problem]:
        """The best share of the candidates, or all without a ranker; never more than there is room for."""
        path = self.folder / "kept.jsonl"
        if not path.is_file():
            by_id = {problem.id: problem for problem in candidates}
            if scores is None:
                ids = draw_ids(list(by_id), room, self.options.seed)
            else:
                ids = best_ids(candidates, [scores[p.id] for p in candidates], self.options.keep, self.options.keep_by)
            write_problems(path, (by_id[name] for name in (ids if room is None else ids[:room])))
        return list(read_problems(path))

    def _took(self, step: str, started: float) -> None:
        self.seconds[step] = round(time.perf_counter() - started, 3)
        self.work[step] = self.engine.facts()

    def write_timings(self) -> None:
        """Write seconds and workers of the steps done in this run; those of earlier runs are kept."""
        path = self.folder / "timings.json"
        earlier = load_object(path) if path.is_file() else {}
        seconds, work = earlier.get("seconds", {}) | self.seconds, earlier.get("work", {}) | self.work
        write_text(path, json.dumps({"seconds": seconds, "work": work}, indent=2) + "\n")


# --- files ---


def _refusal_record(operation: str, refusal: Refusal) -> dict[str, Any]:
    """A refusal as a record of `rejected.jsonl`, where the paper's operations are numbers."""
    name = int(operation) if operation.isdecimal() else operation
    return {"operation": name, "reason": refusal.reason, "parents": list(refusal.parents),
            "text": refusal.text, "expression": refusal.expression}  # fmt: skip


def _finite(score: float) -> float | None:
    """A score for JSON, which has no infinity: None means that the ranker cannot spell the expression."""
    return score if score > float("-inf") else None


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with atomic_write(path) as stream:
        for line in lines:
            stream.write(line + "\n")
