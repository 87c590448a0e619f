"""Operation 2: a fragment of the narrative becomes an alternative one, everywhere in the problem (§IV)."""

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from comdiv.augmentation import drawing
from comdiv.augmentation.composition import Draft, Refused, exchange, find_fragment
from comdiv.augmentation.environments import ClauseTable
from comdiv.augmentation.fragments import Alternatives, environment_counts
from comdiv.augmentation.view import ProblemView
from comdiv.language import coherence_of
from comdiv.language.coherence import Actors

TRIES = 30  # pairs looked at for each new problem that is wanted
LEAST_TOKENS = 3  # of an environment, words and numbers, with the full checks
LEAST_CONTENT = 2  # content words among them
LEAST_SHARED = 2  # environments that a pair must share


class Exchanges:
    """The alternative fragments of the current set, and what the full checks know about each of them."""

    def __init__(
        self,
        views: Sequence[ProblemView],
        rows: Sequence[Sequence[int]],
        table: ClauseTable,
        alternatives: Alternatives,
        actors: dict[str, Actors] | None,
    ) -> None:
        """`rows[p]` are the rows of problem p's narrative clauses; without `actors` everything may be exchanged."""
        self.views, self.rows, self.alternatives, self.actors = views, rows, alternatives, actors
        self.vocabulary = table.words()
        self.owner: dict[int, int] = {}
        for place, mine in enumerate(rows):
            for row in mine:
                self.owner.setdefault(row, place)
        self._kinds: dict[int, str | None] = {}
        self._words: dict[int, tuple[str, ...]] = {}
        self._surfaces: dict[int, tuple[str, int]] = {}
        self.first_alternative = alternatives.groups.starts[alternatives.group_of]
        self.alternatives_of = alternatives.groups.starts[alternatives.group_of + 1] - self.first_alternative
        self.usable = None if actors is None else self._usable_environments(table)[alternatives.group_of]

    def _usable_environments(self, table: ClauseTable) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        languages = {view.problem.language for view in self.views}
        groups = self.alternatives.groups
        tokens = environment_counts(groups, table, lambda word: any(c.isalnum() for c in word))
        content = environment_counts(
            groups, table, lambda word: any(coherence_of(code).is_content(word) for code in languages)
        )
        return (tokens >= LEAST_TOKENS) & (content >= LEAST_CONTENT)

    def words(self, fragment: int) -> tuple[str, ...]:
        """The tokens of a fragment."""
        if fragment not in self._words:
            self._words[fragment] = self.alternatives.words(fragment, self.vocabulary)
        return self._words[fragment]

    def kind(self, fragment: int, language: str) -> str | None:
        """The grammatical kind, for the full checks."""
        if fragment not in self._kinds:
            actors = (self.actors or {})[language]
            self._kinds[fragment] = coherence_of(language).fragment_kind(self.words(fragment), actors)
        return self._kinds[fragment]

    def surface(self, member: int) -> tuple[str, int]:
        """How a member's fragment is written, and the problem it comes from."""
        if member not in self._surfaces:
            found = self.alternatives.groups.members
            row, (start, end) = int(found.clauses[member]), found.holes[member].tolist()
            place = self.owner[row]
            view = self.views[place]
            tokens = view.clauses[self.rows[place].index(row)].tokens[start:end]
            text = view.problem.text[tokens[0].start : tokens[-1].end]
            if start == 0 and not self._is_name(text, view.problem.language):
                text = text[:1].lower() + text[1:]
            self._surfaces[member] = (text, place)
        return self._surfaces[member]

    def _is_name(self, text: str, language: str) -> bool:
        known = (self.actors or {}).get(language)
        return known is not None and text.split()[0] in known

    def drawn(self, place: int, source: random.Random, most: int) -> Iterator[tuple[int, int]]:
        """Pairs of members (one of this problem's, an alternative) in random order, at most `most`."""
        found = self.alternatives
        members = [found.members_in(row) for row in dict.fromkeys(self.rows[place])]
        mine = np.concatenate(members) if members else np.zeros(0, dtype=np.int64)
        if self.usable is not None:
            language = self.views[place].problem.language
            mine = mine[self.usable[mine]]
            kinds = [self.kind(fragment, language) for fragment in found.fragment_of[mine].tolist()]
            mine = mine[[kind is not None for kind in kinds]] if kinds else mine
        ends: list[int] = self.alternatives_of[mine].cumsum().tolist()
        for number in drawing.drawn(source, ends[-1] if ends else 0, most):
            which = bisect_right(ends, number)
            member = mine.item(which)
            offset = number - (ends[which - 1] if which else 0)
            yield member, self.first_alternative.item(member) + offset


def lexical_drafts(exchanges: Exchanges, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refused]:
    """New problems by exchanging one fragment of a problem, in random order, and the pairs that give none."""
    found = exchanges.alternatives
    view = exchanges.views[place]
    language = view.problem.language
    seen: set[tuple[int, int]] = set()
    for member, other in exchanges.drawn(place, source, TRIES * wanted):
        pair = (found.fragment_of.item(member), found.fragment_of.item(other))
        if pair[0] == pair[1] or pair in seen:
            continue
        seen.add(pair)
        surface, donor = exchanges.surface(other)
        if exchanges.actors is not None and (reason := _unfit(exchanges, view, *pair)):
            yield Refused(reason, (view.problem.id, exchanges.views[donor].problem.id))
            continue
        if exchanges.views[donor].problem.language != language:
            continue
        clause = exchanges.rows[place].index(found.groups.members.clauses.item(member))
        before, after = exchanges.words(pair[0]), exchanges.words(pair[1])
        yield exchange(view, clause, before, surface, exchanges.views[donor], len(after))


def _unfit(exchanges: Exchanges, view: ProblemView, old: int, new: int) -> str | None:
    """Why the full checks refuse a pair; None where they do not."""
    language = view.problem.language
    if exchanges.kind(old, language) != exchanges.kind(new, language):
        return "fragments of different kinds"
    if exchanges.alternatives.shared(old, new) < LEAST_SHARED:
        return "one shared environment only"
    wording = coherence_of(language)
    before, after = exchanges.words(old), exchanges.words(new)
    words = Counter(word for clause in view.clauses for word in clause.masked)
    inside = wording.content_stems(words)
    if inside & wording.content_stems(after):
        return "the new words are there already"
    for clause in view.clauses:
        _remove(words, clause.masked, before)
    # Where no spaces part the words, the same characters may have been cut otherwise elsewhere: 坐火车 has a 火车.
    uncut = "".join(before) if not view.problem.text.isascii() else ""
    hidden = bool(uncut) and view.problem.text.lower().count(uncut) > len(find_fragment(view, before))
    if hidden or wording.content_stems(+words) & wording.content_stems(before):
        return "the old words stay elsewhere"
    return None


def _remove(words: "Counter[str]", clause: Sequence[str], fragment: Sequence[str]) -> None:
    """Take the occurrences of a fragment in a clause off the count of words."""
    place, size = 0, len(fragment)
    while place + size <= len(clause):
        if tuple(clause[place : place + size]) == tuple(fragment):
            words.subtract(fragment)
            place += size
        else:
            place += 1
