"""Operation 2 with `--compose unify` (§IV): people and things are exchanged throughout a problem, with all their forms.

People are exchanged for others with the same pronouns. A thing is exchanged for one that occurs in the training set in
the same places (the paper's alternative fragments) and together with every other word of the problem. What carries the
arithmetic, such as units, coins and shares, stays.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from comdiv.augmentation.operations import Draft, Refusal, begins_sentence, draft_of
from comdiv.language import Token, sequels_of
from comdiv.language.sequels import Sequels
from comdiv.reading import Reading

LEAST_PROBLEMS = 3  # that must have a name before other problems may get it
VARIANTS = 4  # problems tried for each way to recast


@dataclass(frozen=True)
class Neighbours:
    """The things that occur in the training set after a word, before a word, and in the same problem as a word."""

    after: Mapping[tuple[str, bool], set[str]]  # by the word and whether the thing is in the plural
    before: Mapping[tuple[str, bool], set[str]]
    words: Mapping[str, set[str]]  # of a thing: all words of the problems that name it
    surfaces: Mapping[tuple[str, bool], str]  # a thing as it is written


@dataclass(frozen=True)
class Recaster:
    """What is learnt from the problems of one language: which people and things can replace which."""

    readings: Sequence[Reading]
    language: Sequels
    cast: Mapping[int, Mapping[str, str]]  # by place: the people named, with their kind
    names: Mapping[str, Sequence[str]]  # by kind
    things: Mapping[int, frozenset[str]]  # by place: what may be exchanged
    neighbours: Neighbours

    @classmethod
    def learn(cls, readings: Sequence[Reading], places: Sequence[int], language: Sequels) -> "Recaster":
        """Learn from the problems of the current set that are in this language; `places` says where they are."""
        cast = dict(zip(places, language.cast([readings[place] for place in places]), strict=True))
        counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        for people in cast.values():
            for person in people.items():
                counts[person] += 1
        names: defaultdict[str, list[str]] = defaultdict(list)
        for (name, kind), count in sorted(counts.items()):
            if count >= LEAST_PROBLEMS:
                names[kind].append(name)
        things = {place: language.exchangeable(readings[place]) for place in places}
        return cls(readings, language, cast, names, things, learn_neighbours(readings, things, language))

    def drafts(self, place: int, source: random.Random) -> Iterator[Draft | Refusal]:
        """The problem with other things, other people, or both, in random order."""
        reading = self.readings[place]
        assert reading.expression is not None
        if not self.language.is_sound(reading):
            yield Refusal("the text has a flaw of its own", (reading.problem.id,))
            return
        pairs = self._pairs(place)
        people = self.cast[place]
        ways = [(bool(pairs), bool(people)), (bool(pairs), False), (False, bool(people))]
        turns = [way for way in dict.fromkeys(ways) if any(way)] * VARIANTS
        source.shuffle(turns)
        for with_thing, with_people in turns:
            text, exchanged = reading.text, {}
            if with_thing:
                old, new = source.choice(pairs)
                text = self._replace(reading, old, new)
                exchanged[old] = new
            renamed = self._rename(people, reading.text, source) if with_people else {}
            if with_people and not renamed:
                continue
            text = rename_all(text, renamed, spaced=reading.language.spaced)
            yield draft_of((reading,), text, reading.expression, exchanged=exchanged | renamed)
        if not turns:
            yield Refusal("nobody and nothing to exchange", (reading.problem.id,))

    def _pairs(self, place: int) -> list[tuple[str, str]]:
        """The things of a problem, each with others that fit in its places; none if a constant may depend on it."""
        reading = self.readings[place]
        if reading.constants:
            return []
        return [(old, new) for old in sorted(self.things[place]) for new in sorted(self._alternatives(reading, old))]

    def _alternatives(self, reading: Reading, old: str) -> set[str]:
        language, known = self.language, self.neighbours
        spots = list(spots_of(reading, old, language))
        fitting: set[str] | None = None
        for before, _, after, plural in spots:
            here = known.after.get((before, plural), set()) & known.before.get((after, plural), set())
            fitting = here if fitting is None else fitting & here
        if not fitting or not is_told_whole(reading, old, len(spots)):
            return set()
        forms = {language.stem(word) for word in reading.masked_words}
        names = {name.lower() for name in self.names_of(reading)}
        others = {word for word in reading.masked_words if language.stem(word) != old and word not in names}
        return {
            new for new in fitting
            if new not in forms and language.are_alike(old, new)
            and len(others - known.words[new]) <= language.unfamiliar_words
            and (reading.language.spaced or new not in reading.text)
        }  # fmt: skip

    def names_of(self, reading: Reading) -> set[str]:
        """All names of the training set that a text has."""
        words = {token.text for token in reading.tokens}
        return {name for those in self.names.values() for name in those if name in words}

    def _replace(self, reading: Reading, old: str, new: str) -> str:
        pieces: list[str] = []
        position = 0
        for _, token, _, plural in spots_of(reading, old, self.language):
            surface = self.neighbours.surfaces[new, plural]
            capital = token.text[:1].isupper() and begins_sentence(reading.text, token.start)
            pieces += [reading.text[position : token.start], surface[:1].upper() + surface[1:] if capital else surface]
            position = token.end
        return "".join(pieces) + reading.text[position:]

    def _rename(self, people: Mapping[str, str], text: str, source: random.Random) -> dict[str, str]:
        """A name of the same kind, new to the text, for every person; empty if there are too few."""
        renamed: dict[str, str] = {}
        for name, kind in people.items():
            free = [one for one in self.names[kind] if one not in text and one not in renamed.values()]
            if not free:
                return {}
            renamed[name] = source.choice(free)
        return renamed


def learn_recasters(readings: Sequence[Reading]) -> dict[str, Recaster]:
    """A recaster for each language of the current set."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        places[reading.problem.language].append(place)
    return {code: Recaster.learn(readings, those, sequels_of(code)) for code, those in places.items()}


def learn_neighbours(
    readings: Sequence[Reading], things: Mapping[int, frozenset[str]], language: Sequels
) -> Neighbours:
    """Where each thing occurs in the training set, and with which words."""
    after: defaultdict[tuple[str, bool], set[str]] = defaultdict(set)
    before: defaultdict[tuple[str, bool], set[str]] = defaultdict(set)
    words: defaultdict[str, set[str]] = defaultdict(set)
    surfaces: dict[tuple[str, bool], str] = {}
    for place, those in things.items():
        for thing in sorted(those):
            for left, token, right, plural in spots_of(readings[place], thing, language):
                after[left, plural].add(thing)
                before[right, plural].add(thing)
                surfaces.setdefault((thing, plural), token.text.lower())
            words[thing].update(readings[place].masked_words)
    return Neighbours(after, before, words, surfaces)


def spots_of(reading: Reading, thing: str, language: Sequels) -> Iterator[tuple[str, Token, str, bool]]:
    """Where a text names a thing: the word before it, the token, the word after it, whether it is in the plural."""
    words = reading.masked_words
    for place, token in enumerate(reading.tokens):
        if token.quantity is None and language.stem(token.text) == thing:
            left = words[place - 1] if place else ""
            right = words[place + 1] if place + 1 < len(words) else ""
            yield left, token, right, token.text.lower() != thing


def is_told_whole(reading: Reading, thing: str, spots: int) -> bool:
    """Whether all mentions were found: without spaces, a thing may also be a part of another word."""
    return reading.language.spaced or reading.text.count(thing) == spots


def rename_all(text: str, names: Mapping[str, str], *, spaced: bool) -> str:
    """The text with all people renamed at once."""
    if not names:
        return text
    edge = r"\b" if spaced else ""
    pattern = re.compile(edge + "(?:" + "|".join(map(re.escape, names)) + ")" + edge)
    return pattern.sub(lambda match: names[match[0]], text)
