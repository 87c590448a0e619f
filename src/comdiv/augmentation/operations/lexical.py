"""Operation 2 (§IV): a fragment of the narrative becomes an alternative one, everywhere in the problem."""

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from comdiv.augmentation.environments import ClauseTable, EnvironmentIndex
from comdiv.augmentation.fragments import Alternatives, environment_counts
from comdiv.augmentation.operations import NO_VALUE, CurrentSet, Draft, PlainDraft, ProblemOperation, Refusal
from comdiv.augmentation.options import AugmentationOptions
from comdiv.language import Token, coherence_of
from comdiv.language.base import NUMBER_MASK
from comdiv.language.coherence import Actors
from comdiv.reading import Reading

TRIES = 30  # pairs looked at for each new problem that is wanted
LEAST_TOKENS = 3  # of an environment, words and numbers, with the full checks
LEAST_CONTENT = 2  # content words among them
LEAST_SHARED = 2  # environments that a pair must share


class Lexical(ProblemOperation):
    """Known structures in new words. With the full checks only fragments of one grammatical kind are exchanged."""

    title = "lexical"
    _readings: Sequence[Reading]
    _alternatives: Alternatives
    _actors: dict[str, Actors] | None  # None: everything may be exchanged

    def __init__(self, options: AugmentationOptions) -> None:
        super().__init__(options)
        self._environments = EnvironmentIndex(1, without=NUMBER_MASK)
        self._rows: list[list[int]] = []  # of each problem's narrative clauses
        self._owner: dict[int, int] = {}  # of a row: the first problem that has it

    def index(self, current: CurrentSet) -> None:
        """Find the fragments that share an environment; only clauses of new problems are hashed."""
        self._readings = current.readings
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
        # Of a member: where the members of its environment begin, and how many there are.
        self._first = alternatives.groups.starts[alternatives.group_of]
        self._counts = alternatives.groups.starts[alternatives.group_of + 1] - self._first
        full = self._actors is not None
        self._usable = self._usable_environments(self._environments.table)[alternatives.group_of] if full else None

    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        """New problems by exchanging one fragment of a problem, in random order, and the pairs that give none."""
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
        """The value is the original's, whatever it is. No clause comes twice: the fragment's content is new to the
        problem, or was exchanged everywhere.
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
        """How a member's fragment is written, and the problem it comes from."""
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
        """Which environments say enough for what stands in them to be alike."""
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
        """Why a pair is refused; None where it is not."""
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
        # Where no spaces part the words, the same characters may have been cut otherwise elsewhere: 坐火车 has a 火车.
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
    """Every occurrence of a fragment becomes `surface`, which has so many tokens; the expression stays."""
    assert reading.expression is not None
    pieces: list[str] = []
    position = 0
    text = reading.text
    places = find_fragment(reading, fragment)
    for occurrence in places:
        start, end = occurrence[0].start, occurrence[-1].end
        capital = text[start : start + 1].isupper() and _begins_sentence(text, start)
        pieces += [text[position:start], surface[:1].upper() + surface[1:] if capital else surface]
        position = end
    pieces.append(text[position:])
    size = len(reading.tokens) + len(places) * (tokens - len(fragment))
    details = {"clause": clause, "fragment": " ".join(fragment), "replacement": surface}
    return PlainDraft(
        (reading, donor), "".join(pieces), reading.expression, reading.values, size, reading.value, details
    )


def _begins_sentence(text: str, start: int) -> bool:
    return text[:start].rstrip()[-1:] in ("", ".", "?", "!", '"', "“")
