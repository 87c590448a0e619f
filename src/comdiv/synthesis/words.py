"""What synthesis has to know of a language besides its units: data (`words.yaml`), read once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True)
class Words:
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


@cache
def words_of(code: str) -> Words:
    """The words of a language; of one that we have none for, the empty classes."""
    entry: dict[str, Any] | None = _table().get(code)
    if entry is None:
        return Words()
    flags = re.IGNORECASE if entry["spaced"] else re.NOFLAG
    return Words(
        spaced=entry["spaced"],
        generic=frozenset(entry["generic"].split()),
        bound=frozenset(entry["bound"]),
        empty=frozenset(entry["empty"].split()),
        comparison=re.compile(entry["comparison"], flags),
        multiples=tuple(entry["multiples"]),
        rest=frozenset(entry["rest"]),
        already=re.compile(entry["already"], flags),
        negative=re.compile(entry["negative"], flags),
        no_rest=re.compile(entry["no_rest"], flags),
        rest_topic=re.compile(entry["rest_topic"], flags),
        no_name=re.compile(entry["no_name"]),
        connectives=tuple(sorted(entry["connectives"], key=len, reverse=True)),
        per=re.compile(entry["per"], flags),
        per_word=re.compile(entry["per_word"], flags),
        change=re.compile(entry["change"], flags),
        asked_head=re.compile(entry["asked_head"]),
        asked_pair=re.compile(entry["asked_pair"]),
        synonyms=entry["synonyms"],
        roles=tuple(re.compile(pattern) for pattern in entry["roles"]),
    )


@cache
def _table() -> dict[str, dict[str, Any]]:
    text = files("comdiv.synthesis").joinpath("words.yaml").read_text(encoding="utf-8")
    table: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return table
