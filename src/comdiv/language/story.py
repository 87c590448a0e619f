"""What the synthesis rules need to know about a language besides its units: the word classes of `words.yaml`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from comdiv.language.base import NUMBER_MASK

_NOTHING = re.compile(r"(?!)")
_ENDS_SENTENCE = '.?!"”'


@dataclass(frozen=True)
class StoryWords:
    """The closed word classes of one language. `generic` words name nothing: a clause made of them fits any story."""

    spaced: bool = True
    generic: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()  # generic, but only if the seed speaks of the same part
    empty: frozenset[str] = frozenset()  # do not even distinguish parts of a thing
    comparison: re.Pattern[str] = _NOTHING  # says more or less than another
    multiples: tuple[str, ...] = ()  # the unit of a question that asks how many times as much
    rest: frozenset[str] = frozenset()  # parts of words about what is left
    already: re.Pattern[str] = _NOTHING  # a time that a question may mention only if its story does
    negative: re.Pattern[str] = _NOTHING  # speaks of the other part: not, left, the rest
    no_rest: re.Pattern[str] = _NOTHING  # a share of which nothing is left over: a discount, a tax
    rest_topic: re.Pattern[str] = _NOTHING  # a clause that continues with what is left
    no_name: re.Pattern[str] = _NOTHING  # what can take the place of a name but is not one
    connectives: tuple[str, ...] = ()
    per: re.Pattern[str] = _NOTHING
    per_word: re.Pattern[str] = _NOTHING
    change: re.Pattern[str] = _NOTHING  # a comparison or a change is stated: the numbers carry no other question
    asked_head: re.Pattern[str] = _NOTHING  # a question for the `name` itself: 面积=多少
    asked_pair: re.Pattern[str] = _NOTHING  # a question about two things: `first` 比 `second` 多多少
    synonyms: Mapping[str, str] = field(default_factory=dict)
    roles: tuple[re.Pattern[str], ...] = ()
    possessive: str = ""  # joins an owner and a thing: 小红的邮票
    copulas: tuple[str, ...] = ()  # joins a thing and its number: 面积是12
    openers: frozenset[str] = frozenset()  # words that are capitalised only because they begin a sentence

    def speaks_of_rest(self, text: str) -> bool:
        """Whether a clause speaks of what is left."""
        return any(word in text for word in self.rest)

    def unit_name(self, unit: str | None) -> str | None:
        """The name that a unit shares with all its synonyms."""
        return None if unit is None else self.synonyms.get(unit, unit)

    def merge_synonyms(self, words: Iterable[str]) -> frozenset[str]:
        """The words as a set, with synonyms merged."""
        return frozenset([self.synonyms.get(word, word) for word in words])

    def owner(self, name: str) -> str:
        """The owner of a thing as named earlier in a story: 小红 of 小红的邮票; without one, the thing itself."""
        return name.split(self.possessive)[0] if self.possessive else name

    def names_in(self, masked: str) -> Iterator[tuple[str, str]]:
        """The people and things that a clause mentions, by role; its number is masked."""
        for pattern in self.roles:
            match = pattern.search(masked)
            for role, text in match.groupdict().items() if match else ():
                if text and (name := self._bare_name(text)):
                    yield role, name

    def _bare_name(self, name: str) -> str:
        """A name without the connectives around it; empty if nothing is left."""
        name = name.strip()
        while (prefix := next((c for c in self.connectives if name.startswith(c)), None)) is not None:
            name = name.removeprefix(prefix).strip()
        numbered = NUMBER_MASK in name or any(character.isdigit() for character in name)
        return "" if numbered or self.no_name.search(name) else name

    def without_connective(self, text: str) -> str:
        """The clause without "那么" or "then" at its beginning, since the clause before it is not taken along."""
        text = text.lstrip()
        for connective in self.connectives:
            rest = text[len(connective) :]
            begins = text[: len(connective)].lower() == connective and (not self.spaced or not rest[:1].isalnum())
            if begins and any(character.isalnum() for character in rest):
                return rest.lstrip(" ，,")
        return text

    def join_clauses(self, clauses: Iterable[str]) -> str:
        """The clauses joined to a text; if words are spaced, with spaces between and a capital after a full stop."""
        if not self.spaced:
            return "".join(clause.strip() for clause in clauses)
        text = ""
        for clause in map(str.strip, clauses):
            first = clause[:1]
            if not text or text[-1] in _ENDS_SENTENCE:
                first = first.upper()
            elif clause.split(" ", 1)[0] in self.openers:
                first = first.lower()
            text += f"{' ' if text else ''}{first}{clause[1:]}"
        return text


def story_words(table: Mapping[str, Any], *, spaced: bool) -> StoryWords:
    """The classes that a `words.yaml` fills; those that it leaves out are empty.

    In a language without any, every word counts as a name, so that only clauses without foreign words are used.
    """

    def words(name: str) -> frozenset[str]:
        value = table.get(name, ())
        return frozenset(value.split() if isinstance(value, str) else value)

    def pattern(name: str, flags: re.RegexFlag = re.IGNORECASE if spaced else re.NOFLAG) -> re.Pattern[str]:
        return re.compile(table[name], flags) if name in table else _NOTHING

    return StoryWords(
        spaced=spaced,
        generic=words("generic"),
        bound=words("bound"),
        empty=words("empty"),
        comparison=pattern("comparison"),
        multiples=tuple(table.get("multiples", ())),
        rest=words("rest"),
        already=pattern("already"),
        negative=pattern("negative"),
        no_rest=pattern("no_rest"),
        rest_topic=pattern("rest_topic"),
        no_name=pattern("no_name", re.NOFLAG),
        connectives=tuple(sorted(table.get("connectives", ()), key=len, reverse=True)),
        per=pattern("per"),
        per_word=pattern("per_word"),
        change=pattern("change"),
        asked_head=pattern("asked_head", re.NOFLAG),
        asked_pair=pattern("asked_pair", re.NOFLAG),
        synonyms=table.get("synonyms", {}),
        roles=tuple(re.compile(role) for role in table.get("roles", ())),
        possessive=table.get("possessive", ""),
        copulas=tuple(table.get("copulas", ())),
        openers=words("openers"),
    )
