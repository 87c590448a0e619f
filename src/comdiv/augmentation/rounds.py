"""One round of Algorithm 1 in a folder of its own: candidates, scores, what is kept. Every step is done once.

A step leaves its file under its final name only when it is complete; started again, a round goes on after the last
complete step, and comes to the same bytes. Only `timings.json` tells of interruptions.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comdiv.augmentation.drawing import selected
from comdiv.augmentation.engine import Engine
from comdiv.augmentation.options import AugmentationOptions
from comdiv.augmentation.proposals import EXAMPLES, Indexes, Tally, Workshop, build_workshop, read_lines
from comdiv.augmentation.ranker import MakeSolver, RankingTask, kept_of, rank_shard
from comdiv.augmentation.view import ProblemView
from comdiv.errors import ComdivError
from comdiv.files import atomic_write, write_text
from comdiv.problem import Problem, read_json_lines, read_problems, write_problems
from comdiv.solver import Progress

SHARD = 256  # problems of the current set worked on at a time
RANKED_AT_ONCE = 512


@dataclass(slots=True)
class Round:
    """A round's folder and everything its steps need."""

    number: int
    folder: Path
    options: AugmentationOptions
    engine: Engine
    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    work: dict[str, Any] = field(default_factory=dict)

    # --- step 1: new problems ---

    def candidates(
        self, views: Sequence[ProblemView], known: frozenset[str], indexes: Indexes, originals: int
    ) -> tuple[list[Problem], dict[str, Any]]:
        """The new problems that passed the checks, and how many drafts met which fate."""
        path = self.folder / "candidates.jsonl"
        tally_path = self.folder / "checks.json"
        if not path.is_file():
            started = time.perf_counter()
            found, tally = self._propose(views, known, indexes)
            limit = None if self.options.growth is None else max(1, round(self.options.growth * originals))
            chosen = selected(list(found), limit, self.options.seed)
            facts = {f"operation {number}": dict(sorted(counts.items())) for number, counts in tally.counts.items()}
            facts["drawn"] = {"of": len(found), "chosen": len(chosen)}
            write_text(tally_path, json.dumps(facts, indent=2) + "\n")
            _write_records(self.folder / "rejected.jsonl", (refusal.to_json() for refusal in tally.refused))
            _write_lines(path, (found[name] for name in chosen))
            self._took("candidates", started)
        return list(read_problems(path)), json.loads(tally_path.read_text(encoding="utf-8"))

    def _propose(
        self, views: Sequence[ProblemView], known: frozenset[str], indexes: Indexes
    ) -> tuple[dict[str, str], Tally]:
        """The new problems by id, each as its line in a file."""
        what = f"round {self.number}: "
        self.progress(what + "index", 0, len(views), "")
        workshop = build_workshop(views, known, self.options, self.number, indexes, self.engine)
        shards = [range(first, min(first + SHARD, len(views))) for first in range(0, len(views), SHARD)]
        tally = Tally()
        found: dict[str, str] = {}
        texts: set[str] = set()
        results = self.engine.map_texts(Workshop.propose_lines, workshop, shards)
        for shard, result in zip(shards, results, strict=True):
            lines, shard_tally = read_lines(result)
            tally.add(shard_tally, EXAMPLES)
            for name, text, line in lines:
                if text not in texts:
                    texts.add(text)
                    found[name] = line
            self.progress(what + "candidates", shard.stop, len(views), f"{len(found):,} new problems")
        return found, tally

    # --- step 2: ranking ---

    def scores(
        self,
        candidates: Sequence[Problem],
        train: Sequence[Problem],
        validation: Sequence[Problem],
        make_solver: MakeSolver | None,
        before: Path | None,
    ) -> dict[str, float] | None:
        """The ranker's score of every candidate; None without a ranker. `before` is the last round's ranker."""
        if self.options.ranker == "none" or not candidates:
            return None
        path = self.folder / "scores.jsonl"
        if not path.is_file():
            task = self._trained_ranker(train, validation, make_solver, before)
            started = time.perf_counter()
            shards = [candidates[i : i + RANKED_AT_ONCE] for i in range(0, len(candidates), RANKED_AT_ONCE)]
            scores: list[float] = []
            for shard in self.engine.map(rank_shard, task, shards):
                scores += shard
                self.progress(f"round {self.number}: ranking", len(scores), len(candidates), "")
            pairs = zip(candidates, scores, strict=True)
            _write_records(path, ({"id": problem.id, "score": _finite(score)} for problem, score in pairs))
            self._took("ranking", started)
        return {
            str(line["id"]): float("-inf") if line["score"] is None else line["score"]
            for _, line in read_json_lines(path)
        }

    def _trained_ranker(
        self,
        train: Sequence[Problem],
        validation: Sequence[Problem],
        make_solver: MakeSolver | None,
        before: Path | None,
    ) -> RankingTask:
        if make_solver is None:
            raise ComdivError(f"ranker '{self.options.ranker}': nobody said how to make it (make_solver)")
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

    # --- step 3: what stays ---

    def keep(self, candidates: Sequence[Problem], scores: dict[str, float] | None, room: int | None) -> list[Problem]:
        """The best share, or all without a ranker; never more than there is room for."""
        path = self.folder / "kept.jsonl"
        if not path.is_file():
            by_id = {problem.id: problem for problem in candidates}
            if scores is None:
                ids = selected(list(by_id), room, self.options.seed)
            else:
                ids = kept_of(candidates, [scores[p.id] for p in candidates], self.options.keep, self.options.keep_by)
            write_problems(path, (by_id[name] for name in (ids if room is None else ids[:room])))
        return list(read_problems(path))

    def _took(self, step: str, started: float) -> None:
        self.seconds[step] = round(time.perf_counter() - started, 3)
        self.work[step] = self.engine.facts()

    def write_timings(self) -> None:
        """Seconds and workers of the steps that were done just now; those of an earlier start stay."""
        path = self.folder / "timings.json"
        earlier = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        seconds, work = earlier.get("seconds", {}) | self.seconds, earlier.get("work", {}) | self.work
        write_text(path, json.dumps({"seconds": seconds, "work": work}, indent=2) + "\n")


def _finite(score: float) -> float | None:
    """JSON has no infinity: None stands for an expression that the ranker cannot spell."""
    return score if score > float("-inf") else None


def _write_records(path: Path, records: Iterable[dict[str, Any]]) -> None:
    _write_lines(path, (json.dumps(record, ensure_ascii=False) for record in records))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with atomic_write(path) as stream:
        for line in lines:
            stream.write(line + "\n")
