"""Operation 1 (§IV): the question of one problem asks for what a clause of another states.

The narrative of the first replaces that clause, and its expression replaces the clause's quantity. Quantities are
tracked by occurrence, never by value.
"""

import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from comdiv.augmentation.environments import EnvironmentIndex, Integers, group_on
from comdiv.augmentation.operations import NO_VALUE, CurrentSet, Draft, ProblemOperation, Refusal
from comdiv.augmentation.operations.unification import Unifier, learn_unifiers
from comdiv.augmentation.soundness import is_degenerate, is_overdrawn, positive_value
from comdiv.expression import Expression, Leaf, Reference, leaves, map_leaves, renumber
from comdiv.expression.tree import ONE
from comdiv.language import coherence_of
from comdiv.language.base import SHARE
from comdiv.language.coherence import Actors, Frame
from comdiv.reading import Clause, Reading

TRIES = 12  # pairs tried per requested problem; bounds the work if nearly all of them fail
_CLOSING = "。．？！；，：.?!;,: "
FRACTION = "a whole number became a fraction"


class Magnitude(NamedTuple):
    """What kind of number a value is; cached, because comparing exact fractions is slow."""

    whole: bool
    below_one: bool


def magnitude_of(value: Fraction) -> Magnitude:
    """The magnitude of a value."""
    return Magnitude(value.denominator == 1, value < 1)


class Component:
    """A problem as a part of compositions, with cached properties that every pair needs."""

    def __init__(self, reading: Reading) -> None:
        assert reading.expression is not None
        self.reading = reading
        self.expression: Expression = reading.expression
        self._shifted: dict[int, Expression] = {}

    @cached_property
    def narrative_values(self) -> tuple[Fraction, ...]:
        """The values before the question."""
        return self.reading.values[: len(self.reading.values) - len(self.reading.question.quantities)]

    @cached_property
    def narrative_tokens(self) -> int:
        """How many tokens come before the question."""
        return len(self.reading.tokens) - len(self.reading.question.tokens)

    @cached_property
    def bare_clauses(self) -> tuple[str, ...]:
        """The clauses without their closing signs, in lower case."""
        return tuple([clause.text.strip(_CLOSING).lower() for clause in self.reading.clauses])

    @cached_property
    def amount(self) -> Fraction:
        """The value of the expression; 0 if it has none."""
        return Fraction(0) if self.reading.value is None else self.reading.value

    @cached_property
    def magnitude(self) -> Magnitude:
        """The magnitude of the value."""
        return magnitude_of(self.amount)

    @cached_property
    def magnitudes(self) -> tuple[Magnitude, ...]:
        """The magnitudes of the quantities."""
        return tuple(map(magnitude_of, self.reading.values))

    @cached_property
    def is_positive(self) -> bool:
        """Whether every intermediate result of the expression is positive."""
        return positive_value(self.expression, self.reading.values) is not None

    @cached_property
    def may_be_undone(self) -> bool:
        """Whether a leaf occurs twice or is 1: otherwise nothing in the expression can undo anything."""
        ends = list(leaves(self.expression))
        return len(set(ends)) != len(ends) or ONE in self.reading.constants

    def shifted_expression(self, by: int) -> Expression:
        """The expression with its quantities renumbered for a text in which `by` others come before them."""
        if by not in self._shifted:
            self._shifted[by] = renumber(self.expression, lambda index: index + by)
        return self._shifted[by]


class CompositionDraft:
    """A new problem before its checks. `clause` is the stating problem's.

    Text and expression are built on each access, because most drafts already fail on their sizes and values.
    """

    def __init__(self, asking: Component, stating: Component, clause: int, narrative: str | None = None) -> None:
        """`narrative` is the reworded narrative, if it was reworded; its quantities are the same."""
        self.asking, self.stating, self.clause = asking, stating, clause
        self._narrative = narrative
        self.replaced = stating.reading.clauses[clause]
        self.quantity = quantity = self.replaced.quantities[0]
        outside = stating.reading.values
        self.values: tuple[Fraction, ...] = (*outside[:quantity], *asking.narrative_values, *outside[quantity + 1 :])
        self.tokens = asking.narrative_tokens + len(stating.reading.tokens) - len(self.replaced.tokens)

    @property
    def parents(self) -> tuple[Reading, Reading]:
        return self.asking.reading, self.stating.reading

    @property
    def text(self) -> str:
        asking, stating = self.parents
        story = asking.text[: asking.question.start] if self._narrative is None else self._narrative
        return _join_texts(stating.text, self.replaced, story)

    @property
    def expression(self) -> Expression:
        quantity, added = self.quantity, len(self.asking.narrative_values) - 1
        inner = self.asking.shifted_expression(quantity)

        def outer(leaf: Leaf) -> Expression:
            if not isinstance(leaf, Reference) or leaf.index < quantity:
                return leaf
            return inner if leaf.index == quantity else Reference(leaf.index + added)

        return map_leaves(self.stating.expression, outer)

    @cached_property
    def answer(self) -> Fraction | None:
        """The answer follows from the parents, without building the expression."""
        if not self.asking.is_positive:
            return None
        values = self.stating.reading.values
        around = (*values[: self.quantity], self.asking.amount, *values[self.quantity + 1 :])
        return positive_value(self.stating.expression, around)

    @property
    def details(self) -> Mapping[str, object]:
        return {"clause": self.clause}


def _join_texts(text: str, replaced: Clause, story: str) -> str:
    """The text with the story in place of the clause; the story ends with the closing sign of the clause."""
    clause = text[replaced.start : replaced.end]
    body = clause.rstrip()
    sign = body[len(body.rstrip(_CLOSING)) :].strip()
    end = story.rstrip().rstrip(_CLOSING)
    gap = " " if body[-len(sign) - 1 : len(body) - len(sign)].isspace() and sign else ""
    before = text[: replaced.start] + clause[: len(clause) - len(clause.lstrip())]
    return before + end.lstrip() + gap + sign + clause[len(body) :] + text[replaced.end :]


# --- who may ask about what ---


def can_ask(reading: Reading) -> bool:
    """Whether a problem's narrative can replace its answer: it has one, and the question adds no quantity."""
    return len(reading.clauses) > 1 and reading.used.isdisjoint(reading.question.quantities) and bool(reading.used)


def replaceable_clauses(reading: Reading) -> list[int]:
    """The narrative clauses with exactly one quantity, provided that the expression uses it."""
    return [
        index
        for index, clause in enumerate(reading.narrative)
        if len(clause.quantities) == 1 and clause.quantities[0] in reading.used
    ]


class Statement(NamedTuple):
    """A clause that a narrative may replace, with what most pairs fail on: the problem's place in the current set, the
    clause's position, the language, the number of operators, and how often the expression uses the clause's quantity.
    """

    place: int
    clause: int
    language: str
    operators: int
    uses: int


@dataclass(frozen=True, slots=True)
class Matches:
    """For each problem that can ask, the statements that its narrative may replace.

    A problem's statements are those of its lists, one list after the other. A list belongs to a unit, a frame or an
    environment, and many problems share it.
    """

    statements: list[Statement]
    lists: list[Integers]  # places in `statements`
    lists_of: dict[int, tuple[int, ...]]  # of an asking problem

    def draw(self, asking: int, source: random.Random, most: int) -> Iterator[Statement]:
        """The statements for a problem in random order, each once, at most `most`."""
        lists = [self.lists[which] for which in self.lists_of.get(asking, ())]
        ends = list(accumulate(len(members) for members in lists))
        total = ends[-1] if ends else 0
        seen: set[int] = set()
        for number in source.sample(range(total), min(total, most)):
            which = bisect_right(ends, number)
            statement = lists[which].item(number - (ends[which - 1] if which else 0))
            if statement not in seen and self.statements[statement].place != asking:
                seen.add(statement)
                yield self.statements[statement]


def statements_of(readings: Sequence[Reading]) -> list[Statement]:
    """Every clause that a narrative may replace."""
    return [
        Statement(place, clause, one.problem.language, one.operators, one.uses[one.clauses[clause].quantities[0]])
        for place, one in enumerate(readings)
        for clause in replaceable_clauses(one)
    ]


def match_by_unit(readings: Sequence[Reading], frames: "Frames | None") -> Matches:
    """The question asks for what the clause counts: "how many U", "# U". With frames, their keys must agree, too."""
    statements = statements_of(readings)
    members: dict[object, list[int]] = {}
    for number, (place, clause, *_) in enumerate(statements):
        key = frames.statement_key(place, clause) if frames else unit_key(readings[place], clause)
        if key is not None:
            members.setdefault(key, []).append(number)
    names = {key: number for number, key in enumerate(members)}
    lists_of: dict[int, tuple[int, ...]] = {}
    for place, reading in enumerate(readings):
        if can_ask(reading):
            key = frames.question_key(place) if frames else question_unit_key(reading)
            if key in names:
                lists_of[place] = (names[key],)
    return Matches(statements, [np.array(numbers, dtype=np.int64) for numbers in members.values()], lists_of)


def unit_key(reading: Reading, clause: int) -> tuple[str, str] | None:
    """Language and unit of a clause's quantity; the unit of a share is `share`, as in `Reading.asked_unit`."""
    quantity = reading.quantities[reading.clauses[clause].quantities[0]]
    unit = SHARE if quantity.kind == "share" and quantity.unit is None else quantity.unit
    return None if unit is None or quantity.kind == "bare" else (reading.problem.language, unit)


def question_unit_key(reading: Reading) -> tuple[str, str] | None:
    """Language and unit of a question."""
    return None if reading.asked_unit is None else (reading.problem.language, reading.asked_unit)


def match_by_environment(current: CurrentSet, index: EnvironmentIndex) -> Matches:
    """The question and the clause share an environment with two holes (the paper's definition)."""
    for size in current.sizes[:-1]:  # rows and tokens must get the same numbers as in the earlier rounds
        _add_clauses(current.readings[:size], index)
    statements, statements_in, askers = _add_clauses(current.readings, index)
    occurrences = index.occurrences()
    asks, states = np.zeros((2, len(index.table.by_row)), dtype=np.bool_)  # a row can be a question and a clause
    asks[list(askers)], states[list(statements_in)] = True, True
    common = np.intersect1d(
        occurrences.hashes[asks[occurrences.clauses]], occurrences.hashes[states[occurrences.clauses]]
    )
    groups = group_on(current.engine, occurrences.take(np.isin(occurrences.hashes, common)), index.table)
    lists: list[Integers] = []
    lists_of: dict[int, list[int]] = {}
    for start, end in zip(groups.starts[:-1], groups.starts[1:], strict=True):
        rows = np.unique(groups.members.clauses[start:end]).tolist()
        stating = [number for row in rows for number in statements_in.get(row, ())]
        asking = [place for row in rows for place in askers.get(row, ())]
        if stating and asking:
            for place in asking:
                lists_of.setdefault(place, []).append(len(lists))
            lists.append(np.array(stating, dtype=np.int64))
    return Matches(statements, lists, {place: tuple(numbers) for place, numbers in sorted(lists_of.items())})


def _add_clauses(
    readings: Sequence[Reading], index: EnvironmentIndex
) -> tuple[list[Statement], dict[int, list[int]], dict[int, list[int]]]:
    """The statements; the numbers of the statements by clause row; the asking problems by question row."""
    statements = statements_of(readings)
    statements_in: dict[int, list[int]] = {}
    for number, (place, clause, *_) in enumerate(statements):
        statements_in.setdefault(index.add(readings[place].clauses[clause].masked), []).append(number)
    askers: dict[int, list[int]] = {}
    for place, reading in enumerate(readings):
        if can_ask(reading):
            askers.setdefault(index.add(reading.question.masked), []).append(place)
    return statements, statements_in, askers


class Frames:
    """What every question asks for and every replaceable clause states, as far as the language can tell."""

    def __init__(self, readings: Sequence[Reading], actors: dict[str, Actors]) -> None:
        self.readings = readings
        self.actors = actors
        self._cache: dict[tuple[int, int], Frame | None] = {}

    def frame(self, place: int, clause: int) -> Frame | None:
        """The frame of a question (clause −1) or of a clause."""
        if (place, clause) not in self._cache:
            reading = self.readings[place]
            coherence, actors = coherence_of(reading.problem.language), self.actors[reading.problem.language]
            self._cache[place, clause] = (
                coherence.question_frame(reading, actors)
                if clause < 0
                else coherence.clause_frame(reading, clause, actors)
            )
        return self._cache[place, clause]

    def question_key(self, place: int) -> tuple[object, ...] | None:
        """What the question asks for, if its narrative states it."""
        frame = self.frame(place, -1)
        reading = self.readings[place]
        language = reading.problem.language
        if frame is None or not (frame.state or coherence_of(language).told_by_events(reading, frame)):
            return None
        return (language, frame.actor is None, *frame.key)

    def statement_key(self, place: int, clause: int) -> tuple[object, ...] | None:
        """What the clause states."""
        frame = self.frame(place, clause)
        return None if frame is None else (self.readings[place].problem.language, frame.actor is None, *frame.key)

    def recast(self, asking: int, place: int, clause: int) -> tuple[str | None, str]:
        """The narrative rewritten for the person in the clause; or None and the reason why that is impossible."""
        mine, theirs = self.frame(asking, -1), self.frame(place, clause)
        # Already true if the match was by frames; an environment says nothing about what is asked and stated.
        if mine is None or theirs is None or self.question_key(asking) != self.statement_key(place, clause):
            return None, "the clause does not state what the question asks"
        reading, other = self.readings[asking], self.readings[place]
        language = reading.problem.language
        text = coherence_of(language).recast(
            reading, mine.actor or "", theirs.actor or "", other, clause, self.actors[language]
        )
        return text, "people collide"


# --- the operation ---


class Structural(ProblemOperation):
    """Compositions of two problems: the only operation that makes new structures.

    `paste` puts the narrative unchanged into the other text, as in the paper; `unify` makes one story of both.
    """

    title = "structural"
    per_problem = 12
    _components: list[Component]
    _matches: Matches
    _frames: Frames | None
    _environments: EnvironmentIndex | None = None
    _readings: Sequence[Reading]
    _unifiers: dict[str, Unifier]  # by language

    def index(self, current: CurrentSet) -> None:
        """Match questions and clauses by unit or by environment; with the full checks, also by what they are about."""
        self._readings = current.readings
        if self.options.compose != "paste":
            self._unifiers = learn_unifiers(current.readings)
        if self.options.compose == "unify":
            return
        self._components = [Component(reading) for reading in current.readings]
        self._frames = Frames(current.readings, current.actors) if self.options.checks == "full" else None
        if self.options.match == "unit":
            self._matches = match_by_unit(current.readings, self._frames)
        else:
            self._environments = self._environments or EnvironmentIndex(2)
            self._matches = match_by_environment(current, self._environments)

    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        """Drafts that use the narrative of one problem, in random order, and refusals of the pairs that give none."""
        if self.options.compose == "paste":
            return self._pasted(place, source, wanted)
        unified = self._unifiers[self._readings[place].problem.language].drafts(place, source)
        return unified if self.options.compose == "unify" else _alternate(unified, self._pasted(place, source, wanted))

    def _pasted(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        components, more = self._components, self.options.more_operators
        asking = components[place]
        language, inside = asking.reading.problem.language, asking.reading.operators
        too_deep: list[int] = []  # reported together, because they are the most frequent
        for other, clause, spoken, outside, uses in self._matches.draw(place, source, TRIES * wanted):
            if spoken != language:
                continue
            greater = inside if inside > outside else outside
            if more is not None and outside + uses * inside - greater > more:
                too_deep.append(other)
                continue
            if too_deep:
                yield self._refusal("too many operators", place, too_deep)
                too_deep = []
            narrative = None
            if self._frames is not None:
                narrative, reason = self._frames.recast(place, other, clause)
                if narrative is None:
                    yield self._refusal(reason, place, [other])
                    continue
            yield CompositionDraft(asking, components[other], clause, narrative)
        if too_deep:
            yield self._refusal("too many operators", place, too_deep)

    def _refusal(self, reason: str, asking: int, stating: Sequence[int]) -> Refusal:
        """One refusal for all of these statements; the first of them is its example."""
        first, second = (self._components[place].reading.problem.id for place in (asking, stating[0]))
        return Refusal(reason, (first, second), len(stating))

    def check(self, draft: Draft) -> str | None:
        """Whole numbers stay whole, shares stay shares; nothing negative on the way or undone; no clause twice."""
        if not isinstance(draft, CompositionDraft):
            return super().check(draft)
        asking, stating = draft.asking, draft.stating
        before, after = stating.magnitudes[draft.quantity], asking.magnitude
        if before.whole and not after.whole:
            return FRACTION
        if before.below_one != after.below_one:
            return "a share became a number"
        if draft.answer is None:
            return NO_VALUE
        if stating.magnitude.whole and draft.answer.denominator != 1:
            return FRACTION
        if _may_be_undone(asking, stating) and is_degenerate(draft.expression):
            return "degenerate expression"
        if self.options.checks == "full" and is_overdrawn(draft.expression, draft.values):
            return "more is taken than there is"
        clauses = [
            *asking.bare_clauses[:-1],
            *stating.bare_clauses[: draft.clause],
            *stating.bare_clauses[draft.clause + 1 :],
        ]
        return "a clause twice" if len(set(clauses)) != len(clauses) else None


def _alternate(first: Iterator[Draft | Refusal], second: Iterator[Draft | Refusal]) -> Iterator[Draft | Refusal]:
    """Drafts from both in turn until neither has more; refusals do not count as a turn."""
    turns = [first, second]
    while turns:
        for turn in list(turns):
            for draft in turn:
                yield draft
                if not isinstance(draft, Refusal):
                    break
            else:
                turns.remove(turn)


def _may_be_undone(asking: Component, stating: Component) -> bool:
    shared = not asking.reading.constants.isdisjoint(stating.reading.constants)
    return asking.may_be_undone or stating.may_be_undone or shared
