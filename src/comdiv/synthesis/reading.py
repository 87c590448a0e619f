"""A problem as rules, donors and similarity see it: clauses with their quantities, words, units, and who is who."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from comdiv.expression import template, used_quantities
from comdiv.language import Language, get_language, learn_units
from comdiv.language.base import NUMBER_MASK
from comdiv.language.story import StoryWords
from comdiv.problem import Problem, Quantity
from comdiv.reading import read

_CAPITALISED = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)?\b")
_WORD = re.compile(r"\b[A-Za-z]+\b")
_BEFORE_PLACES = frozenset(
    ["in", "at", "near", "to", "off", "from", "for", "of", "around", "into", "through", "outside"]
)


class Sign(NamedTuple):
    """What kind of quantity it is: two problems whose quantities have the same signs tell the same kind of story."""

    kind: str | None
    per: bool  # said of each of several: 每箱12个, 12 in each box


@dataclass(frozen=True, slots=True)
class ReadClause:
    """A clause: its text, the quantities in it with units, and the content words (nouns, verbs, units; §III-B)."""

    text: str
    start: int  # of the clause in the problem's text
    quantities: tuple[Quantity, ...]
    words: frozenset[str]
    tokens: frozenset[str]  # every word of it, lower case

    def followed_by(self, other: "ReadClause") -> "ReadClause":
        """Both as one clause."""
        return ReadClause(
            self.text + other.text,
            self.start,
            self.quantities + other.quantities,
            self.words | other.words,
            self.tokens | other.tokens,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """A problem with everything that is needed of it, found once. `used[0]` is the quantity n1 of its template."""

    problem: Problem
    template: str
    clauses: tuple[ReadClause, ...]
    used: tuple[Quantity, ...]
    signs: tuple[Sign, ...]
    asked_unit: str | None  # under the name that its synonyms share
    asked_word: str | None  # as it is written
    words: frozenset[str]
    roles: Mapping[str, str]

    @property
    def question(self) -> ReadClause:
        """The last clause."""
        return self.clauses[-1]

    @property
    def values(self) -> list[Fraction]:
        """The values of the text's quantities, used or not."""
        return [quantity.value for clause in self.clauses for quantity in clause.quantities]

    def clause_of(self, rank: int) -> int:
        """The position of the clause that carries n1 (rank 0), n2…"""
        index = self.used[rank].index
        return next(i for i, clause in enumerate(self.clauses) if any(q.index == index for q in clause.quantities))


class Reader:
    """Reads problems in one language, with the units that the corpus itself shows."""

    def __init__(self, language: Language, words: StoryWords, proper: frozenset[str] = frozenset()) -> None:
        self.language = language
        self.words = words
        self.proper = proper  # words that the corpus never writes without a capital: people and places

    @classmethod
    def for_corpus(cls, problems: Sequence[Problem], code: str) -> "Reader":
        """A reader that has learnt the corpus's units."""
        language = get_language(code)
        texts = [problem.text for problem in problems if problem.language == code]
        language = language.with_lexicon(learn_units(language, texts))
        words = language.story
        return cls(language, words, proper_names(texts) if words.spaced else frozenset())

    def read(self, problem: Problem) -> Reading | None:
        """The reading; None where the problem has no expression, or one that its text does not carry."""
        if problem.expression is None:
            return None
        text = problem.text
        quantities = read(problem, self.language).quantities
        indices = used_quantities(problem.expression)
        if not indices or indices[-1] >= len(quantities):
            return None
        clauses = tuple(self._clauses(text, quantities))
        asked_word = self.language.asked_unit(text)
        asked = self.unit_name(asked_word)
        if asked is not None:
            clauses = (*clauses[:-1], replace(clauses[-1], words=clauses[-1].words | {asked}))
        used = tuple(quantities[index] for index in indices)
        return Reading(
            problem=problem,
            template=template(problem.expression),
            clauses=clauses,
            used=used,
            signs=tuple(self._sign(clauses, quantity) for quantity in used),
            asked_unit=asked,
            asked_word=asked_word,
            words=frozenset[str]().union(*(clause.words for clause in clauses)),
            roles=self._roles(clauses, used),
        )

    def unit_name(self, unit: str | None) -> str | None:
        """A unit under the name that all its synonyms share."""
        return None if unit is None else self.words.synonyms.get(unit, unit)

    def content(self, text: str) -> frozenset[str]:
        """The nouns and verbs of a text, synonyms as one word."""
        found = self.language.content_words(text)
        return frozenset(self.words.synonyms.get(word, word) for word in (*found.nouns, *found.verbs))

    def read_words(self, text: str) -> frozenset[str]:
        """Every word of a text, lower case."""
        return frozenset(token.text.lower() for token in self.language.tokens(text))

    def _clauses(self, text: str, quantities: Sequence[Quantity]) -> Iterator[ReadClause]:
        for clause in self.language.clauses(text):
            inside = tuple(q for q in quantities if clause.start <= q.start < clause.end)
            units = {unit for q in inside if (unit := self.unit_name(q.unit))}
            words = self.content(clause.text) | units
            yield ReadClause(clause.text, clause.start, inside, words, self.read_words(clause.text))

    def _sign(self, clauses: Iterable[ReadClause], quantity: Quantity) -> Sign:
        clause = next(clause for clause in clauses if any(q.index == quantity.index for q in clause.quantities))
        before = max((q.end for q in clause.quantities if q.end <= quantity.start), default=clause.start)
        end = clause.start + len(clause.text)
        if self.words.spaced:  # "12 in each box": the sign may follow
            end = min((q.start for q in clause.quantities if q.start >= quantity.end), default=end)
        else:
            end = quantity.start
        said = clause.text[before - clause.start : end - clause.start]
        return Sign(quantity.kind, bool(self.words.per.search(said)))

    def _roles(self, clauses: Sequence[ReadClause], used: Sequence[Quantity]) -> dict[str, str]:
        """Who and what the clauses speak of: `compared1` is the one compared in the clause of n2."""
        roles: dict[str, str] = {}
        for rank, quantity in enumerate(used):
            clause = next(c for c in clauses if any(q.index == quantity.index for q in c.quantities))
            masked = self._masked(clause, quantity)
            for pattern in self.words.roles:
                if (match := pattern.search(masked)) is None:
                    continue
                for role, name in match.groupdict().items():
                    if name and (cleaned := self._name(name)) and self._may_name(cleaned):
                        roles.setdefault(f"{role}{rank}", cleaned)
                        if role == "actor":
                            roles.setdefault(role, cleaned)
        self._add_asked(roles, clauses, used)
        if self.proper:
            roles |= self._people("".join(clause.text for clause in clauses))
        return roles

    def _add_asked(self, roles: dict[str, str], clauses: Sequence[ReadClause], used: Sequence[Quantity]) -> None:
        """Of a question about two things, which of them is n1's and which n2's: `pair0` and `pair1`."""
        match = self.words.asked_pair.search(clauses[-1].text.strip())
        if match is None or len(used) != 2:
            return
        stories = [next(c.text for c in clauses if any(q.index == u.index for q in c.quantities)) for u in used]
        names = [match["first"].strip(), match["second"].strip()]
        heads = [name.split("的")[0] for name in names]  # 小红的邮票 is spoken of as 小红 before
        for ranks in ((0, 1), (1, 0)):
            if all(head in stories[rank] for head, rank in zip(heads, ranks, strict=True)) and heads[0] != heads[1]:
                for name, rank in zip(names, ranks, strict=True):
                    roles.setdefault(f"pair{rank}", name)
                return

    def _people(self, text: str) -> dict[str, str]:
        """The first person and the first place of a text: a name after "in" or "near" is a place's."""
        roles: dict[str, str] = {}
        before = ""
        for match in _CAPITALISED.finditer(text):
            before = text[: match.start()].rstrip().rpartition(" ")[2].lower()
            if all(word in self.proper for word in match[0].split()):
                roles.setdefault("place" if before in _BEFORE_PLACES else "person", match[0])
        return roles

    def _masked(self, clause: ReadClause, quantity: Quantity) -> str:
        start, end = quantity.start - clause.start, quantity.end - clause.start
        return f"{clause.text[:start]}{NUMBER_MASK}{clause.text[end:]}".strip()

    def _may_name(self, name: str) -> bool:
        """Where names are written with a capital, so is every sentence's first word: "By noon" names nobody."""
        return not self.proper or all(word in self.proper for word in name.split())

    def _name(self, name: str) -> str:
        """A name without the connectives around it; empty where nothing is left."""
        name = name.strip()
        while (prefix := next((c for c in self.words.connectives if name.startswith(c)), None)) is not None:
            name = name.removeprefix(prefix).strip()
        numbered = NUMBER_MASK in name or any(character.isdigit() for character in name)
        return "" if numbered or self.words.no_name.search(name) else name


def proper_names(texts: Iterable[str]) -> frozenset[str]:
    """The words that a corpus always writes with a capital, and not only at the beginning of sentences."""
    capital: set[str] = set()
    plain: set[str] = set()
    for text in texts:
        for match in _WORD.finditer(text):
            inside = text[: match.start()].rstrip()[-1:] not in ("", ".", "?", "!")
            if match[0][0].isupper() and inside:
                capital.add(match[0])
            elif match[0].islower():
                plain.add(match[0])
    return frozenset(word for word in capital if word.lower() not in plain and word != "I")
