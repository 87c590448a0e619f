"""Operation 2 (§IV): a fragment of the narrative is replaced by an alternative, everywhere in the problem."""

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.environments import (
    LONGEST_FRAGMENT,
    ClauseTable,
    EnvironmentIndex,
    Groups,
    Integers,
    Occurrences,
    environment_rows,
    group_on,
)
from comdiv.augmentation.operations import (
    NO_VALUE,
    CurrentSet,
    Draft,
    PlainDraft,
    ProblemOperation,
    Refusal,
    begins_sentence,
)
from comdiv.augmentation.operations.recasting import Recaster, learn_recasters
from comdiv.engine import Engine
from comdiv.language import Token, coherence_of
from comdiv.language.base import NUMBER_MASK
from comdiv.language.coherence import Actors
from comdiv.reading import Reading

TRIES = 30  # pairs tried per requested problem
LEAST_TOKENS = 3  # of an environment, counting words and numbers, with the full checks
LEAST_CONTENT = 2  # content words among them
LEAST_SHARED = 2  # environments that a pair must share


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Which fragments occur in which shared environments.

    A member is an occurrence: `fragment_of` is its fragment, `group_of` its environment. The members of clause row r
    are `members_of_rows[first_member[r] : first_member[r + 1]]`.
    """

    groups: Groups
    fragments: Integers  # (fragments, 4): token ids, shorter ones padded with -1
    fragment_of: Integers
    group_of: Integers
    members_of_rows: Integers
    first_member: Integers
    environments_of: tuple[Integers, Integers]  # of fragment f: groups[starts[f] : starts[f + 1]], ascending

    @classmethod
    def of(cls, index: EnvironmentIndex, engine: Engine) -> "Alternatives":
        """The alternatives from one-hole environments that occur more than once."""
        table = index.table
        groups = group_on(engine, index.occurrences(), table)
        members = groups.members
        fragments, fragment_of = _number_rows(_fragment_rows(members, table))
        group_of = np.repeat(np.arange(len(groups)), np.diff(groups.starts))
        order = np.argsort(members.clauses, kind="stable")
        first = np.searchsorted(members.clauses[order], np.arange(len(table.by_row) + 1))
        pairs = np.unique(np.stack([fragment_of, group_of], axis=1), axis=0) if len(members) else np.zeros((0, 2), int)
        starts = np.searchsorted(pairs[:, 0], np.arange(len(fragments) + 1))
        return cls(groups, fragments, fragment_of, group_of, order, first, (pairs[:, 1], starts))

    def members_in(self, row: int) -> Integers:
        """The members whose clause is this row."""
        return self.members_of_rows[self.first_member[row] : self.first_member[row + 1]]

    def shared(self, first: int, second: int) -> int:
        """In how many environments both fragments occur."""
        groups, starts = self.environments_of
        mine = groups[starts[first] : starts[first + 1]]
        others = groups[starts[second] : starts[second + 1]]
        return len(np.intersect1d(mine, others, assume_unique=True))

    def words(self, fragment: int, vocabulary: Sequence[str]) -> tuple[str, ...]:
        """A fragment's tokens."""
        return tuple([vocabulary[token] for token in self.fragments[fragment].tolist() if token >= 0])


def environment_counts(groups: Groups, table: ClauseTable, counted: Callable[[str], bool]) -> Integers:
    """For each environment, the number of its tokens that satisfy `counted`."""
    words = np.array([counted(word) for word in table.vocabulary], dtype=np.int64)
    rows = environment_rows(groups.members.take(groups.starts[:-1]), table)
    totals: Integers = np.where(rows >= 0, words[np.maximum(rows, 0)] if len(words) else 0, 0).sum(axis=1)
    return totals


def _fragment_rows(members: Occurrences, table: ClauseTable) -> Integers:
    """The tokens in the hole, (members, 4)."""
    padded = table.padded()
    start, end = members.holes[:, 0].astype(np.int64), members.holes[:, 1].astype(np.int64)
    places = start[:, None] + np.arange(LONGEST_FRAGMENT)
    inside = places < end[:, None]
    return np.where(inside, padded[members.clauses[:, None], np.where(inside, places, 0)].astype(np.int64), -1)


def _number_rows(rows: Integers) -> tuple[Integers, npt.NDArray[np.int64]]:
    """The distinct rows in order, and the index of each row among them; exact, by two 64-bit keys."""
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    shifted = rows + 1
    high, low = (shifted[:, 0] << 32) | shifted[:, 1], (shifted[:, 2] << 32) | shifted[:, 3]
    order = np.lexsort((low, high))
    fresh = np.ones(len(rows), dtype=np.bool_)
    fresh[1:] = (np.diff(high[order]) != 0) | (np.diff(low[order]) != 0)
    number = np.empty(len(rows), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    return rows[order[fresh]], number


class Lexical(ProblemOperation):
    """Known structures in new words. With the full checks, only fragments of one grammatical kind are exchanged.

    `--compose unify` exchanges people and things with all their forms instead (`recasting`).
    """

    title = "lexical"
    _readings: Sequence[Reading]
    _alternatives: Alternatives
    _actors: dict[str, Actors] | None  # None: everything may be exchanged
    _recasters: dict[str, Recaster]  # by language

    def __init__(self, options: AugmentationOptions) -> None:
        super().__init__(options)
        self._environments = EnvironmentIndex(1, without=NUMBER_MASK)
        self._rows: list[list[int]] = []  # of each problem's narrative clauses
        self._owner: dict[int, int] = {}  # the first problem that has a row

    def index(self, current: CurrentSet) -> None:
        """Find the fragments that share an environment; only clauses of new problems are hashed."""
        self._readings = current.readings
        if self.options.compose == "unify":
            self._recasters = learn_recasters(current.readings)
            return
        self._actors = current.actors if self.options.checks == "full" else None
        for place, reading in enumerate(self._readings[len(self._rows) :], start=len(self._rows)):
            self._rows.append([self._environments.add(clause.masked) for clause in reading.narrative])
            for row in self._rows[-1]:
                self._owner.setdefault(row, place)
        alternatives = self._alternatives = Alternatives.of(self._environments, current.engine)
        self._vocabulary = self._environments.table.words()
        self._kinds: dict[int, str | None] = {}
        self._words: dict[int, tuple[str, ...]] = {}
        self._surfaces: dict[int, tuple[str, int]] = {}
        # For each member: where the members of its environment begin, and how many there are.
        self._first = alternatives.groups.starts[alternatives.group_of]
        self._counts = alternatives.groups.starts[alternatives.group_of + 1] - self._first
        full = self._actors is not None
        self._usable = self._usable_environments(self._environments.table)[alternatives.group_of] if full else None

    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        """Drafts with one fragment of a problem exchanged, in random order, and refusals of pairs that give none."""
        if self.options.compose == "unify":
            return self._recasters[self._readings[place].problem.language].drafts(place, source)
        return self._exchanges(place, source, wanted)

    def _exchanges(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        members, fragment_of = self._alternatives.groups.members, self._alternatives.fragment_of
        reading = self._readings[place]
        seen: set[tuple[int, int]] = set()
        for member, other in self._draw(place, source, TRIES * wanted):
            pair = (fragment_of.item(member), fragment_of.item(other))
            if pair[0] == pair[1] or pair in seen:
                continue
            seen.add(pair)
            surface, owner = self._surface(other)
            donor = self._readings[owner]
            if self._actors is not None and (reason := self._unfit(reading, *pair)):
                yield Refusal(reason, (reading.problem.id, donor.problem.id))
                continue
            if donor.problem.language != reading.problem.language:
                continue
            clause = self._rows[place].index(members.clauses.item(member))
            old, new = self._words_of(pair[0]), self._words_of(pair[1])
            yield exchange(reading, clause, old, surface, donor, len(new))

    def check(self, draft: Draft) -> str | None:
        """The value is that of the original, so any value is accepted. No clause can occur twice: the new fragment's
        content is new to the problem, or the fragment was exchanged everywhere.
        """
        return NO_VALUE if draft.answer is None else None

    def _draw(self, place: int, source: random.Random, most: int) -> Iterator[tuple[int, int]]:
        """Pairs of members (one of this problem's, an alternative) in random order, at most `most`."""
        alternatives = self._alternatives
        members = [alternatives.members_in(row) for row in dict.fromkeys(self._rows[place])]
        mine = np.concatenate(members) if members else np.zeros(0, dtype=np.int64)
        if self._usable is not None:
            language = self._readings[place].problem.language
            mine = mine[self._usable[mine]]
            kinds = [self._kind(fragment, language) for fragment in alternatives.fragment_of[mine].tolist()]
            mine = mine[[kind is not None for kind in kinds]] if kinds else mine
        ends: list[int] = self._counts[mine].cumsum().tolist()
        total = ends[-1] if ends else 0
        for number in source.sample(range(total), min(total, most)):
            which = bisect_right(ends, number)
            member = mine.item(which)
            offset = number - (ends[which - 1] if which else 0)
            yield member, self._first.item(member) + offset

    def _words_of(self, fragment: int) -> tuple[str, ...]:
        if fragment not in self._words:
            self._words[fragment] = self._alternatives.words(fragment, self._vocabulary)
        return self._words[fragment]

    def _surface(self, member: int) -> tuple[str, int]:
        """The written form of a member's fragment, and the problem it comes from."""
        if member not in self._surfaces:
            members = self._alternatives.groups.members
            row, (start, end) = int(members.clauses[member]), members.holes[member].tolist()
            place = self._owner[row]
            reading = self._readings[place]
            tokens = reading.clauses[self._rows[place].index(row)].tokens[start:end]
            text = reading.text[tokens[0].start : tokens[-1].end]
            if start == 0 and not self._is_name(text, reading.problem.language):
                text = text[:1].lower() + text[1:]
            self._surfaces[member] = (text, place)
        return self._surfaces[member]

    # --- the full checks ---

    def _usable_environments(self, table: ClauseTable) -> npt.NDArray[np.bool_]:
        """Which environments are specific enough for their fragments to be similar."""
        languages = {reading.problem.language for reading in self._readings}
        groups = self._alternatives.groups
        tokens = environment_counts(groups, table, lambda word: any(c.isalnum() for c in word))
        content = environment_counts(
            groups, table, lambda word: any(coherence_of(code).is_content(word) for code in languages)
        )
        return (tokens >= LEAST_TOKENS) & (content >= LEAST_CONTENT)

    def _is_name(self, text: str, language: str) -> bool:
        known = (self._actors or {}).get(language)
        return known is not None and text.split()[0] in known

    def _kind(self, fragment: int, language: str) -> str | None:
        """The grammatical kind of a fragment."""
        if fragment not in self._kinds:
            actors = (self._actors or {})[language]
            self._kinds[fragment] = coherence_of(language).fragment_kind(self._words_of(fragment), actors)
        return self._kinds[fragment]

    def _unfit(self, reading: Reading, old: int, new: int) -> str | None:
        """Why a pair is refused; None if it is accepted."""
        language = reading.problem.language
        if self._kind(old, language) != self._kind(new, language):
            return "fragments of different kinds"
        if self._alternatives.shared(old, new) < LEAST_SHARED:
            return "one shared environment only"
        coherence = coherence_of(language)
        before, after = self._words_of(old), self._words_of(new)
        words = Counter(word for clause in reading.clauses for word in clause.masked)
        if coherence.content_stems(words) & coherence.content_stems(after):
            return "the new words are there already"
        places = find_fragment(reading, before)
        for _ in places:
            words.subtract(before)
        # Without spaces, the same characters may be segmented differently elsewhere: 坐火车 contains 火车.
        uncut = "".join(before) if not reading.text.isascii() else ""
        hidden = bool(uncut) and reading.text.lower().count(uncut) > len(places)
        if hidden or coherence.content_stems(+words) & coherence.content_stems(before):
            return "the old words stay elsewhere"
        return None


def find_fragment(reading: Reading, fragment: Sequence[str]) -> list[tuple[Token, ...]]:
    """Where a fragment occurs in a problem, from left to right, without overlaps; never across clauses."""
    places = []
    wanted, size = tuple(fragment), len(fragment)
    for clause in reading.clauses:
        if wanted[0] not in clause.masked:
            continue
        place = 0
        while place + size <= len(clause.masked):
            if clause.masked[place : place + size] == wanted:
                places.append(clause.tokens[place : place + size])
                place += size
            else:
                place += 1
    return places


def exchange(
    reading: Reading, clause: int, fragment: Sequence[str], surface: str, donor: Reading, tokens: int
) -> PlainDraft:
    """Replace every occurrence of a fragment by `surface`, which has that many tokens; the expression is unchanged."""
    assert reading.expression is not None
    pieces: list[str] = []
    position = 0
    text = reading.text
    places = find_fragment(reading, fragment)
    for occurrence in places:
        start, end = occurrence[0].start, occurrence[-1].end
        capital = text[start : start + 1].isupper() and begins_sentence(text, start)
        pieces += [text[position:start], surface[:1].upper() + surface[1:] if capital else surface]
        position = end
    pieces.append(text[position:])
    size = len(reading.tokens) + len(places) * (tokens - len(fragment))
    details = {"clause": clause, "fragment": " ".join(fragment), "replacement": surface}
    return PlainDraft(
        (reading, donor), "".join(pieces), reading.expression, reading.values, size, reading.value, details
    )
