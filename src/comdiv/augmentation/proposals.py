"""One round's new problems: checked drafts of all operations, a limited number for each problem, drawn by seed.

What a problem yields depends only on the current set, the seed and its id, never on the order of the work: shards of
any size, on any machine, make the same problems.
"""

import gc
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.operations import CurrentSet, Draft, ProblemOperation, Refusal
from comdiv.engine import Engine, LocalEngine
from comdiv.expression import is_writable, to_infix
from comdiv.problem import Problem, Provenance, problem_line
from comdiv.reading import Reading, read, read_all
from comdiv.registry import OPERATIONS

PASSED = "passed"
KNOWN_TEXT = "text is there already"
LONG_ANSWER = "answer too long"  # to be written and read again
EXAMPLES = 50  # refusals kept per operation and reason

Operations = Mapping[str, ProblemOperation]  # by name


@contextmanager
def no_collection() -> Iterator[None]:
    """Switch garbage collection off: readings, trees and drafts have no cycles, and looking for them costs a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@no_collection()
def usable_readings(problems: Iterable[Problem]) -> list[Reading]:
    """The readings of problems that operations can use: their expression fits their text."""
    return [reading for reading in read_all(problems) if reading.is_grounded]


def operation_label(name: str) -> str:
    """The name of an operation in provenances and reports."""
    return f"operation {name}"


def draw_ids(ids: Sequence[str], limit: int | None, seed: int) -> list[str]:
    """At most `limit` ids, drawn uniformly, in the given order; which ones does not depend on that order."""
    if limit is None or len(ids) <= limit:
        return list(ids)
    choice = set(sorted(ids, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest())[:limit])
    return [name for name in ids if name in choice]


def draw_within_quota(strata: Mapping[str, str], quota: int, seed: int) -> list[str]:
    """At most `quota` ids of each stratum, given the stratum of every id, in the given order."""
    members: dict[str, list[str]] = {}
    for name, stratum in strata.items():
        members.setdefault(stratum, []).append(name)
    choice = {name for ids in members.values() for name in draw_ids(ids, quota, seed)}
    return [name for name in strata if name in choice]


class Proposal(NamedTuple):
    """A new problem that passed the checks, with the hash of its number-masked text."""

    problem: Problem
    text_hash: str


@dataclass(slots=True)
class Fates:
    """The fates of the drafts, by operation: how many passed, how many each check refused, with examples."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    refusals: list[tuple[str, Refusal]] = field(default_factory=list)
    _shown: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, operation: str, fate: str, times: int = 1) -> None:
        """Count a fate."""
        self.counts.setdefault(operation, Counter())[fate] += times

    def wants(self, operation: str, reason: str) -> bool:
        """Whether there is room for another example of a refusal."""
        return self._shown[operation, reason] < EXAMPLES

    def show(self, operation: str, refusal: Refusal) -> None:
        """Keep a refusal if it is among the first of its kind."""
        if self.wants(operation, refusal.reason):
            self._shown[operation, refusal.reason] += 1
            self.refusals.append((operation, refusal))

    def add(self, other: "Fates") -> None:
        """Add the fates of the next shard."""
        for operation, counts in other.counts.items():
            self.counts.setdefault(operation, Counter()).update(counts)
        for operation, refusal in other.refusals:
            self.show(operation, refusal)

    def to_json(self) -> dict[str, Any]:
        """The fates as JSON, to be sent between processes."""
        return {"counts": self.counts, "refusals": self.refusals}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Fates":
        """The inverse of `to_json`."""
        counts = {operation: Counter(counts) for operation, counts in record["counts"].items()}
        refusals = [
            (operation, Refusal(reason, tuple(parents), *more))
            for operation, (reason, parents, *more) in record["refusals"]
        ]
        return cls(counts, refusals)


@dataclass(frozen=True, slots=True)
class Proposer:
    """Everything that a shard needs to make new problems; built once per round, the same for all shards."""

    readings: Sequence[Reading]
    options: AugmentationOptions
    round_number: int
    known: frozenset[str]  # hashes of number-masked texts that must not be made again
    operations: Operations

    def propose(self, places: Iterable[int]) -> tuple[list[Proposal], Fates]:
        """The new problems made from some problems of the current set, in order, and the fates of all drafts."""
        fates = Fates()
        proposals: list[Proposal] = []
        with no_collection():
            for place in places:
                for name, wanted in self.options.wanted.items():
                    if wanted:
                        proposals += self._of_one(place, name, wanted, fates)
        return proposals, fates

    def propose_lines(self, places: Iterable[int]) -> str:
        """The result of `propose` as a text, which is fast to send: the fates, then the id, text hash and file line of
        each new problem. `read_lines` reads it.
        """
        proposals, fates = self.propose(places)
        lines = [f"{new.problem.id}\t{new.text_hash}\t{problem_line(new.problem)}" for new in proposals]
        return "\n".join([json.dumps(fates.to_json(), ensure_ascii=False), *lines])

    def _of_one(self, place: int, name: str, wanted: int, fates: Fates) -> Iterator[Proposal]:
        operation = self.operations[name]
        source = random.Random(f"{self.options.seed}/{self.round_number}/{name}/{self.readings[place].problem.id}")
        texts: set[str] = set()
        for draft in operation.drafts(place, source, wanted):
            if isinstance(draft, Refusal):
                fates.count(name, draft.reason, draft.times)
                fates.show(name, draft)
                continue
            result = self._check(draft, name, operation, texts)
            if isinstance(result, str):
                fates.count(name, result)
                if fates.wants(name, result):
                    fates.show(name, _refusal(draft, result))
                continue
            texts.add(result.text_hash)
            fates.count(name, PASSED)
            yield result
            if len(texts) == wanted:
                return

    def _check(self, draft: Draft, name: str, operation: ProblemOperation, texts: set[str]) -> Proposal | str:
        """The new problem, or the name of the first check that refuses it: sizes, the operation's own, the text's."""
        quantities = len(draft.values)
        if quantities > self.options.most_quantities and quantities > len(draft.parents[-1].values):
            return "too many quantities"
        if draft.tokens > self.options.most_tokens:
            return "text too long"
        if reason := operation.check(draft):
            return reason
        if draft.answer is not None and not is_writable(draft.answer):
            return LONG_ANSWER
        problem = new_problem(draft, name, self.round_number)
        reading = read(problem)
        if reading.values != draft.values:
            return "quantities do not re-parse"
        text_hash = reading.mask_hash
        return KNOWN_TEXT if text_hash in self.known or text_hash in texts else Proposal(problem, text_hash)


def new_problem(draft: Draft, operation: str, round_number: int) -> Problem:
    """The problem of a draft. Its id depends only on the draft: it is the same on every machine, in every order."""
    parents = [parent.problem for parent in draft.parents]
    first, text = parents[0], draft.text
    digest = hashlib.sha256((text + "".join([f"\0{parent.id}" for parent in parents])).encode()).hexdigest()
    provenance = Provenance(
        corpus=first.provenance.corpus,
        version=first.provenance.version,
        operation=operation_label(operation),
        round=round_number,
        parents=tuple([parent.id for parent in parents]),
        details=dict(draft.details),
    )
    return Problem(
        f"r{round_number}-op{operation}-{digest[:16]}",
        first.language,
        text,
        draft.expression,
        draft.answer,
        provenance,
        any(parent.number_words for parent in parents),
    )


def _refusal(draft: Draft, reason: str) -> Refusal:
    parents = tuple(parent.problem.id for parent in draft.parents)
    return Refusal(reason, parents, 1, draft.text, to_infix(draft.expression))


def read_lines(text: str) -> tuple[list[tuple[str, str, str]], Fates]:
    """What `Proposer.propose_lines` wrote: id, hash of the text and line of each new problem, and the fates."""
    fates, *lines = text.split("\n")
    proposals = []
    for line in lines:
        name, text_hash, record = line.split("\t", 2)
        proposals.append((name, text_hash, record))
    return proposals, Fates.from_json(json.loads(fates))


def make_operations(options: AugmentationOptions) -> Operations:
    """The operations that the options name, for all rounds of an augmentation."""
    return {name: OPERATIONS.get(name)(options) for name, wanted in options.wanted.items() if wanted}


@no_collection()
def index_round(
    readings: Sequence[Reading],
    known: frozenset[str],
    options: AugmentationOptions,
    round_number: int,
    operations: Operations | None = None,
    engine: Engine | None = None,
    sizes: Sequence[int] = (),
) -> Proposer:
    """Index the current set; `operations` come from earlier rounds, `sizes` are its sizes in all rounds so far."""
    operations = make_operations(options) if operations is None else operations
    current = CurrentSet(readings, engine or LocalEngine(), sizes)
    for operation in operations.values():
        operation.index(current)
    return Proposer(readings, options, round_number, known, operations)
