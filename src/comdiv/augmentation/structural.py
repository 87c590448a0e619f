"""Operation 1: whose narrative may take the place of which clause (§IV), and the new problems that come of it."""

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from comdiv.augmentation import drawing
from comdiv.augmentation.composition import Composition, Draft, Refused, can_ask, replaceable_clauses
from comdiv.augmentation.engine import Engine
from comdiv.augmentation.environments import ClauseTable, Integers, Occurrences, group_on, joined, occurrences
from comdiv.augmentation.view import ProblemView
from comdiv.language import coherence_of
from comdiv.language.base import SHARE
from comdiv.language.coherence import Actors, Frame

TRIES = 12  # pairs looked at for each new problem that is wanted: bounds the work where nearly all of them fail


class Statement(NamedTuple):
    """A clause that a narrative may replace, and what most pairs fail by: the problem's place in the current set, which
    clause of its, its language, how many operators its expression has, how often that uses the clause's quantity.
    """

    place: int
    clause: int
    language: str
    operators: int
    uses: int


@dataclass(frozen=True, slots=True)
class Matches:
    """For each problem that can ask, the statements that may stand for its answer, as ranges into lists.

    A problem's statements are those of its lists one after the other: a list belongs to a unit, a frame, or an
    environment, and many problems share it.
    """

    statements: list[Statement]
    lists: list[Integers]  # places in `statements`
    lists_of: dict[int, tuple[int, ...]]  # of an asking problem

    def drawn(self, asking: int, source: random.Random, most: int) -> Iterator[Statement]:
        """The statements for a problem in random order, each once, at most `most`."""
        lists = [self.lists[which] for which in self.lists_of.get(asking, ())]
        ends = list(accumulate(len(members) for members in lists))
        total = ends[-1] if ends else 0
        seen: set[int] = set()
        for number in drawing.drawn(source, total, most):
            which = bisect_right(ends, number)
            statement = lists[which].item(number - (ends[which - 1] if which else 0))
            if statement not in seen and self.statements[statement].place != asking:
                seen.add(statement)
                yield self.statements[statement]


def statements_of(views: Sequence[ProblemView]) -> list[Statement]:
    """Every clause that a narrative may replace."""
    return [
        Statement(place, clause, view.problem.language, view.operators, view.uses[view.clauses[clause].quantities[0]])
        for place, view in enumerate(views)
        for clause in replaceable_clauses(view)
    ]


def match_by_unit(views: Sequence[ProblemView], frames: "Frames | None") -> Matches:
    """The question asks for what the clause counts: "how many U", "# U". With frames, their keys must agree, too."""
    statements = statements_of(views)
    members: dict[object, list[int]] = {}
    for number, (place, clause, *_) in enumerate(statements):
        key = frames.statement_key(place, clause) if frames else unit_key(views[place], clause)
        if key is not None:
            members.setdefault(key, []).append(number)
    names = {key: number for number, key in enumerate(members)}
    lists_of: dict[int, tuple[int, ...]] = {}
    for place, view in enumerate(views):
        if can_ask(view):
            key = frames.question_key(place) if frames else question_unit_key(view)
            if key in names:
                lists_of[place] = (names[key],)
    return Matches(statements, [np.array(found, dtype=np.int64) for found in members.values()], lists_of)


def unit_key(view: ProblemView, clause: int) -> tuple[str, str] | None:
    """Language and unit of a clause's quantity; the unit of a share is `share`, as in `Language.asked_unit`."""
    quantity = view.quantity(view.clauses[clause].quantities[0])
    unit = SHARE if quantity.kind == "share" and quantity.unit is None else quantity.unit
    return None if unit is None or quantity.kind == "bare" else (view.problem.language, unit)


def question_unit_key(view: ProblemView) -> tuple[str, str] | None:
    """Language and unit of a question."""
    return None if view.asked_unit is None else (view.problem.language, view.asked_unit)


def match_by_environment(views: Sequence[ProblemView], hashed: "TwoHoleHashes", engine: Engine) -> Matches:
    """The question and the clause share an environment with two holes (the paper's definition)."""
    table = hashed.table
    statements = statements_of(views)
    statements_in: dict[int, list[int]] = {}
    for number, (place, clause, *_) in enumerate(statements):
        statements_in.setdefault(table.add(views[place].clauses[clause].masked), []).append(number)
    askers: dict[int, list[int]] = {}
    for place, view in enumerate(views):
        if can_ask(view):
            askers.setdefault(table.add(view.question.masked), []).append(place)
    questions, clauses = hashed.of(askers), hashed.of(statements_in)
    common = np.intersect1d(questions.hashes, clauses.hashes)
    both = hashed.of({**askers, **statements_in})  # a row can be a question and a clause
    groups = group_on(engine, both.take(np.isin(both.hashes, common)), table)
    asked = np.isin(groups.members.clauses, np.fromiter(askers, dtype=np.int64, count=len(askers)))
    lists: list[Integers] = []
    lists_of: dict[int, list[int]] = {}
    for start, end in zip(groups.starts[:-1], groups.starts[1:], strict=True):
        rows = groups.members.clauses[start:end]
        stating = [number for row in np.unique(rows).tolist() for number in statements_in.get(row, ())]
        asking = [place for row in np.unique(rows[asked[start:end]]).tolist() for place in askers[row]]
        if stating and asking:
            for place in asking:
                lists_of.setdefault(place, []).append(len(lists))
            lists.append(np.array(stating, dtype=np.int64))
    return Matches(statements, lists, {place: tuple(found) for place, found in sorted(lists_of.items())})


class TwoHoleHashes:
    """Two-hole environments by clause row; each row is hashed once, however many rounds ask for it."""

    def __init__(self, table: ClauseTable) -> None:
        self.table = table
        self.found = joined([], 2)
        self.rows: set[int] = set()

    def of(self, rows: "dict[int, list[int]]") -> Occurrences:
        """The environments of some rows."""
        new = sorted(set(rows) - self.rows)
        if new:
            self.found = joined([self.found, occurrences(self.table, new, 2)], 2)
            self.rows.update(new)
        wanted = np.zeros(len(self.table.by_row), dtype=np.bool_)
        wanted[list(rows)] = True
        return self.found.take(wanted[self.found.clauses])


class Frames:
    """What every question asks for and every replaceable clause states, as far as the wordings can tell."""

    def __init__(self, views: Sequence[ProblemView], actors: dict[str, Actors]) -> None:
        self.views = views
        self.actors = actors
        self._cache: dict[tuple[int, int], Frame | None] = {}

    def frame(self, place: int, clause: int) -> Frame | None:
        """The frame of a question (clause −1) or of a clause."""
        if (place, clause) not in self._cache:
            view = self.views[place]
            coherence = coherence_of(view.problem.language)
            actors = self.actors[view.problem.language]
            self._cache[place, clause] = (
                coherence.question_frame(view, actors) if clause < 0 else coherence.clause_frame(view, clause, actors)
            )
        return self._cache[place, clause]

    def question_key(self, place: int) -> tuple[object, ...] | None:
        """What the question asks for, if its narrative tells it."""
        frame = self.frame(place, -1)
        view = self.views[place]
        if frame is None or not (frame.state or coherence_of(view.problem.language).told_by_events(view, frame)):
            return None
        return (view.problem.language, frame.actor is None, *frame.key)

    def statement_key(self, place: int, clause: int) -> tuple[object, ...] | None:
        """What the clause states."""
        frame = self.frame(place, clause)
        return None if frame is None else (self.views[place].problem.language, frame.actor is None, *frame.key)


def structural_drafts(
    views: Sequence[ProblemView],
    asking: int,
    matches: Matches,
    frames: Frames | None,
    source: random.Random,
    wanted: int,
    more_operators: int | None,
) -> Iterator[Draft | Refused]:
    """New problems from the narrative of one problem, in random order, and the pairs that give none."""
    view = views[asking]
    language, inside = view.problem.language, view.operators
    too_deep: list[int] = []  # told together: they are the most
    for place, clause, spoken, outside, uses in matches.drawn(asking, source, TRIES * wanted):
        if spoken != language:
            continue
        greater = inside if inside > outside else outside
        if more_operators is not None and outside + uses * inside - greater > more_operators:
            too_deep.append(place)
            continue
        other = views[place]
        if too_deep:
            yield _too_deep(views, asking, too_deep)
            too_deep = []
        narrative = None
        if frames is not None:
            narrative, reason = _recast(frames, asking, place, clause)
            if narrative is None:
                yield Refused(reason, (view.problem.id, other.problem.id))
                continue
        yield Composition(view, other, clause, narrative)
    if too_deep:
        yield _too_deep(views, asking, too_deep)


def _too_deep(views: Sequence[ProblemView], asking: int, stating: Sequence[int]) -> Refused:
    parents = (views[asking].problem.id, views[stating[0]].problem.id)
    return Refused("too many operators", parents, len(stating))


def _recast(frames: Frames, asking: int, place: int, clause: int) -> tuple[str | None, str]:
    """The narrative told of the person of the clause; None and the reason where that cannot be."""
    mine, theirs = frames.frame(asking, -1), frames.frame(place, clause)
    # Already known where the match was by frames; an environment says nothing about what is asked and stated.
    if mine is None or theirs is None or frames.question_key(asking) != frames.statement_key(place, clause):
        return None, "the clause does not state what the question asks"
    view, other = frames.views[asking], frames.views[place]
    language = view.problem.language
    text = coherence_of(language).recast(
        view, mine.actor or "", theirs.actor or "", other, clause, frames.actors[language]
    )
    return text, "people collide"
