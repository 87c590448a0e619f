"""What the rules of the synthesis have to know of a language besides its units: the classes of `words.yaml`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True)
class StoryWords:
    """The closed classes of one language. `generic` words name nothing: a clause made of them fits any story."""

    spaced: bool = True
    generic: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()  # generic, but only where the seed speaks of the same part
    empty: frozenset[str] = frozenset()  # do not even tell one part of a thing from another
    comparison: re.Pattern[str] = _NOTHING  # more or less than another
    multiples: tuple[str, ...] = ()  # what a question counts that asks how many times as much
    rest: frozenset[str] = frozenset()  # parts of words that speak of what is left
    already: re.Pattern[str] = _NOTHING  # a time that a question may speak of only where its story does
    negative: re.Pattern[str] = _NOTHING  # speaks of the other part: not, left, the rest
    no_rest: re.Pattern[str] = _NOTHING  # a share of which nothing is left over: a discount, a tax
    rest_topic: re.Pattern[str] = _NOTHING  # a clause that goes on about what is left
    no_name: re.Pattern[str] = _NOTHING  # what stands where a name may stand, but is none
    connectives: tuple[str, ...] = ()
    per: re.Pattern[str] = _NOTHING
    per_word: re.Pattern[str] = _NOTHING
    change: re.Pattern[str] = _NOTHING  # a comparison or a change is stated: the numbers carry no other question
    asked_head: re.Pattern[str] = _NOTHING  # a question for the `name` itself: 面积=多少
    asked_pair: re.Pattern[str] = _NOTHING  # a question about two things: `first` 比 `second` 多多少
    synonyms: Mapping[str, str] = field(default_factory=dict)
    roles: tuple[re.Pattern[str], ...] = ()

    def speaks_of_rest(self, text: str) -> bool:
        """Whether a clause speaks of what is left."""
        return any(word in text for word in self.rest)


def story_words(table: Mapping[str, Any], *, spaced: bool) -> StoryWords:
    """The classes that a `words.yaml` fills; those that it leaves out are empty.

    A language without any counts every word as a name, so that only clauses without a foreign word are taken.
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
    )
