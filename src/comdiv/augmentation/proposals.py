"""One round's new problems: both operations on the current set, checked, sampled for each problem by seed.

What a problem gives depends on the current set, the seed and its id alone, never on the order of the work: shards of
any size, on any machine, make the same problems.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from comdiv.augmentation.checks import Rejected, checked
from comdiv.augmentation.composition import Draft, Refused
from comdiv.augmentation.engine import Engine, LocalEngine
from comdiv.augmentation.environments import ClauseTable
from comdiv.augmentation.fragments import FragmentIndex
from comdiv.augmentation.lexical import Exchanges, lexical_drafts
from comdiv.augmentation.options import AugmentationOptions
from comdiv.augmentation.structural import (
    Frames,
    Matches,
    TwoHoleHashes,
    match_by_environment,
    match_by_unit,
    structural_drafts,
)
from comdiv.augmentation.view import ProblemView, no_collection
from comdiv.expression import to_infix
from comdiv.language import coherence_of
from comdiv.language.coherence import Actors
from comdiv.problem import Problem, problem_line

PASSED = "passed"
EXAMPLES = 50  # refused drafts that a shard keeps for each operation and reason


class Proposal(NamedTuple):
    """A new problem that passed the checks, with its text's hash."""

    problem: Problem
    text_hash: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A draft that a check refused; without a text where the pair was refused before one was made."""

    operation: int
    reason: str
    parents: tuple[str, ...]
    text: str = ""
    expression: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it stands in `rejected.jsonl`."""
        return {"operation": self.operation, "reason": self.reason, "parents": list(self.parents),
                "text": self.text, "expression": self.expression}  # fmt: skip

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Refusal":
        """The opposite of `to_json`."""
        return cls(**{**record, "parents": tuple(record["parents"])})


@dataclass(slots=True)
class Tally:
    """How many drafts met which fate, for each operation: `passed`, or the check that refused them, with examples."""

    counts: dict[int, Counter[str]] = field(default_factory=lambda: {1: Counter(), 2: Counter()})
    refused: list[Refusal] = field(default_factory=list)
    _shown: Counter[tuple[int, str]] = field(default_factory=Counter)

    def refuse(self, operation: int, reason: str, refused: "Draft | Refused", shown: int) -> None:
        """Count a refusal, and keep it if it is among the first `shown` of its kind."""
        self.counts[operation][reason] += refused.times if isinstance(refused, Refused) else 1
        if self._shown[operation, reason] < shown:
            self._keep(_refusal(operation, reason, refused), shown)

    def add(self, other: "Tally", shown: int) -> None:
        """The next shard's."""
        for operation, counts in other.counts.items():
            self.counts[operation].update(counts)
        for refusal in other.refused:
            self._keep(refusal, shown)

    def to_json(self) -> dict[str, Any]:
        """As it comes from another process."""
        return {"counts": self.counts, "refused": [refusal.to_json() for refusal in self.refused]}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Tally":
        """The opposite of `to_json`."""
        counts = {int(operation): Counter(found) for operation, found in record["counts"].items()}
        return cls(counts, [Refusal.from_json(refusal) for refusal in record["refused"]])

    def _keep(self, refusal: Refusal, shown: int) -> None:
        if self._shown[refusal.operation, refusal.reason] < shown:
            self._shown[refusal.operation, refusal.reason] += 1
            self.refused.append(refusal)


@dataclass(slots=True)
class Indexes:
    """What is kept between rounds, so that only new clauses are hashed."""

    fragments: FragmentIndex = field(default_factory=FragmentIndex)
    rows: list[list[int]] = field(default_factory=list)
    two_holes: TwoHoleHashes | None = None

    def add(self, views: Sequence[ProblemView]) -> None:
        """Enter the narrative clauses of problems that are new."""
        for view in views[len(self.rows) :]:
            self.rows.append(self.fragments.add(clause.masked for clause in view.narrative))


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything that a shard needs to make new problems; built once a round, the same for all shards."""

    views: Sequence[ProblemView]
    options: AugmentationOptions
    round_number: int
    known: frozenset[str]
    matches: Matches | None
    frames: Frames | None
    exchanges: Exchanges | None

    def propose(self, places: Iterable[int]) -> tuple[list[Proposal], Tally]:
        """The new problems of some problems of the current set, in their order, with what became of all drafts."""
        tally = Tally()
        proposals: list[Proposal] = []
        with no_collection():
            for place in places:
                for operation, wanted in zip((1, 2), self.options.per_problem, strict=True):
                    if operation in self.options.operations and wanted:
                        proposals += self._of_one(place, operation, wanted, tally)
        return proposals, tally

    def propose_lines(self, places: Iterable[int]) -> str:
        """The same as a text, which travels fast: the tally, then of each new problem its id, its text's hash and its
        line in a file. `read_lines` reads it.
        """
        proposals, tally = self.propose(places)
        lines = [f"{made.problem.id} {made.text_hash} {problem_line(made.problem)}" for made in proposals]
        return "\n".join([json.dumps(tally.to_json(), ensure_ascii=False), *lines])

    def _of_one(self, place: int, operation: int, wanted: int, tally: Tally) -> Iterator[Proposal]:
        name = f"{self.options.seed}/{self.round_number}/{operation}/{self.views[place].problem.id}"
        made: set[str] = set()
        for draft in self._drafts(place, operation, random.Random(name), wanted):
            if isinstance(draft, Refused):
                tally.refuse(operation, draft.reason, draft, EXAMPLES)
                continue
            try:
                problem, text = checked(draft, self.options, self.known, self.round_number)
                if text in made:
                    raise Rejected("text is there already")
            except Rejected as refused:
                tally.refuse(operation, str(refused), draft, EXAMPLES)
                continue
            made.add(text)
            tally.counts[operation][PASSED] += 1
            yield Proposal(problem, text)
            if len(made) == wanted:
                return

    def _drafts(self, place: int, operation: int, source: random.Random, wanted: int) -> Iterator[Draft | Refused]:
        if operation == 1 and self.matches is not None:
            more = self.options.more_operators
            yield from structural_drafts(self.views, place, self.matches, self.frames, source, wanted, more)
        if operation == 2 and self.exchanges is not None:
            yield from lexical_drafts(self.exchanges, place, source, wanted)


def read_lines(text: str) -> tuple[list[tuple[str, str, str]], Tally]:
    """What `Workshop.propose_lines` wrote: id, hash of the text and line of each new problem, and the tally."""
    tally, *lines = text.split("\n")
    proposals = []
    for line in lines:
        name, hashed, record = line.split(" ", 2)
        proposals.append((name, hashed, record))
    return proposals, Tally.from_json(json.loads(tally))


def _refusal(operation: int, reason: str, refused: Draft | Refused) -> Refusal:
    if isinstance(refused, Refused):
        return Refusal(operation, reason, refused.parents)
    parents = tuple(parent.problem.id for parent in refused.parents)
    return Refusal(operation, reason, parents, refused.text, to_infix(refused.expression))


@no_collection()
def build_workshop(
    views: Sequence[ProblemView],
    known: frozenset[str],
    options: AugmentationOptions,
    round_number: int,
    indexes: Indexes,
    engine: Engine | None = None,
) -> Workshop:
    """Index the current set; `indexes` has what earlier rounds hashed."""
    engine = engine or LocalEngine()
    full = options.checks == "full"
    actors: dict[str, Actors] | None = None
    if full:
        codes = dict.fromkeys(view.problem.language for view in views)
        actors = {code: coherence_of(code).actors(v for v in views if v.problem.language == code) for code in codes}
    matches = frames = exchanges = None
    indexes.add(views)
    if 1 in options.operations and options.per_problem[0]:
        frames = Frames(views, actors) if actors is not None else None
        if options.match == "unit":
            matches = match_by_unit(views, frames)
        else:
            # A table of its own: questions are no places for operation 2 to take fragments from.
            indexes.two_holes = indexes.two_holes or TwoHoleHashes(ClauseTable())
            matches = match_by_environment(views, indexes.two_holes, engine)
    if 2 in options.operations and options.per_problem[1]:
        alternatives = indexes.fragments.join(engine)
        exchanges = Exchanges(views, indexes.rows, indexes.fragments.table, alternatives, actors)
    return Workshop(views, options, round_number, known, matches, frames, exchanges)
