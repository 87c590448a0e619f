"""Frames: what a rule's new clause says in a story of a known kind, written by hand for each language (§III-B).

A frame recognises a seed by a pattern over its marked clauses and writes the products in the seed's own words: who,
what, in which unit and role. They stand in the language's `frames.yaml`; what no frame recognises is not made.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from comdiv.errors import ComdivError
from comdiv.language import Language
from comdiv.synthesis.seeds import CLAUSE_MARK, MARKS, Seed

FILE = "frames.yaml"
X_MARK = "ⓧ"  # the value that a decomposition's two products share
_WORD_CLASS = re.compile(r"@(\w+)@")
_SLOT = re.compile(r"\{(\w+)\}")
_SENTENCE_START = re.compile(r"(?:^|[.?!] )[a-z]")
_NESTING = 8  # word classes within word classes


class _FrameRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoryFrame(_FrameRecord):
    """A kind of story and its products: `a` and `b` of a decomposition, `a` alone of a reformulation.

    `another` names groups of the pattern: a name like theirs that is new in the story becomes the slot `z`.
    `swapped`: the product's two quantities change places, so that the larger comes first.
    `decimals`: the number of decimals allowed in the answer, where the default would be wrong.
    `unread`: no reader has seen its products, which are used only by sets that ask for them.
    """

    name: str
    rules: tuple[str, ...] = Field(min_length=1)
    seed: str
    unless: str = ""
    another: tuple[str, ...] = ()
    swapped: bool = False
    decimals: int | None = None
    unread: bool = False
    a: str
    b: str = ""

    @field_validator("rules", mode="before")
    @classmethod
    def _as_text(cls, rules: Any) -> Any:
        return [str(rule) for rule in rules] if isinstance(rules, list) else rules

    @property
    def products(self) -> tuple[str, ...]:
        """The texts of the products, with slots and marks."""
        return (self.a, self.b) if self.b else (self.a,)


class DerivedSlot(_FrameRecord):
    """A slot that follows from others: `of` is filled, and the first pattern that matches all of it gives the value."""

    slot: str
    of: str
    cases: tuple[tuple[str, str], ...]


class Siblings(_FrameRecord):
    """Things of one kind: `like` recognises one of them, `names` are possible companions."""

    like: str
    names: tuple[str, ...]


class FrameTable(_FrameRecord):
    """The contents of `frames.yaml`. Patterns may use word classes as @NAME@; white space in them is ignored."""

    classes: dict[str, str] = {}
    never: str = "(?!)"  # seeds that no frame takes
    counted: frozenset[str] = frozenset()  # units that cannot be halved
    slots: tuple[DerivedSlot, ...] = ()
    siblings: tuple[Siblings, ...] = ()
    mends: tuple[tuple[str, str], ...] = ()  # final corrections of a written product
    frames: tuple[StoryFrame, ...]

    @cached_property
    def patterns(self) -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
        """The pattern that each frame's seed matches, and the one that it must not contain."""
        return {f.name: (self.compile(f.seed), self.compile(f.unless or "(?!)")) for f in self.frames}

    @cached_property
    def touches(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """The corrections as patterns."""
        return tuple((self.compile(pattern), text) for pattern, text in self.mends)

    def compile(self, pattern: str) -> re.Pattern[str]:
        """A pattern with its word classes in place."""
        for _ in range(_NESTING):
            pattern = _WORD_CLASS.sub(lambda match: f"(?:{self.classes[match[1]]})", pattern)
        return re.compile(pattern if " " in self.spaces else re.sub(r"\s+", "", pattern))

    spaces: str = ""  # a blank for languages whose words, and so patterns, have blanks

    def mended(self, text: str) -> str:
        """A written product after the final corrections."""
        for pattern, replacement in self.touches:
            text = pattern.sub(replacement, text)
        return _SENTENCE_START.sub(lambda match: match[0].upper(), text) if self.spaces else text


@dataclass(frozen=True, slots=True)
class Match:
    """A frame that fits a seed, with the words for its slots."""

    frame: StoryFrame
    slots: Mapping[str, str]


def match_frames(seed: Seed, table: FrameTable, *, unread: bool = False) -> Iterator[Match]:
    """The frames that fit a seed, in the order of the file; `unread` ones only if they are asked for."""
    marked = seed.marked
    if re.search(table.never, marked):
        return
    for frame in table.frames:
        if seed.rule.id not in frame.rules or (frame.unread and not unread):
            continue
        pattern, exception = table.patterns[frame.name]
        match = pattern.fullmatch(marked)
        if match is None or exception.search(marked):
            continue
        slots = {name: text or "" for name, text in match.groupdict().items()}
        if frame.another:
            name = _another(next((slots[group] for group in frame.another if slots[group]), ""), marked, table)
            if name is None:
                continue
            slots["z"] = name
        yield Match(frame, slots)


def fill(text: str, slots: Mapping[str, str], table: FrameTable) -> str:
    """A product's text with its slots filled, derived ones too; the marks of its numbers stay."""
    filled = dict(slots)
    for derived in table.slots:
        source = _SLOT.sub(lambda match: filled.get(match[1], ""), derived.of)
        for pattern, value in derived.cases:
            if match := table.compile(pattern).fullmatch(source):
                filled[derived.slot] = match.expand(value)
                break
    return table.mended(_SLOT.sub(lambda match: filled[match[1]], text))


def _another(name: str, text: str, table: FrameTable) -> str | None:
    """A sibling of a thing that the text does not mention."""
    for kind in table.siblings:
        if re.fullmatch(kind.like, name):
            return next((sibling for sibling in kind.names if sibling not in text), None)
    return None


def frame_table(language: Language) -> FrameTable:
    """The frames of a language; a language without any makes no products."""
    return _load(language.code, type(language))


@lru_cache(maxsize=16)
def _load(code: str, kind: type[Language]) -> FrameTable:
    record = kind().data(FILE) or {"frames": []}
    try:
        table = FrameTable.model_validate(record)
        for frame in table.frames:
            _check(frame, table)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ComdivError(f"the language '{code}': {FILE}: {place}: {first['msg']}") from error
    except (re.error, KeyError, ValueError) as error:
        raise ComdivError(f"the language '{code}': {FILE}: {error}") from error
    return table


def _check(frame: StoryFrame, table: FrameTable) -> None:
    """Check that a frame's patterns compile, and that its products use only known marks and slots."""
    pattern, _ = table.patterns[frame.name]
    known = {*pattern.groupindex, *(slot.slot for slot in table.slots), *(["z"] if frame.another else [])}
    for text in frame.products:
        if unknown := [name for name in _SLOT.findall(text) if name not in known]:
            raise ValueError(f"frame {frame.name}: there is no slot {{{unknown[0]}}}")
        marks = [mark for mark in text if mark in MARKS + X_MARK]
        if len(set(marks)) != len(marks) or CLAUSE_MARK in text:
            raise ValueError(f"frame {frame.name}: a mark stands once in a product, and {CLAUSE_MARK} never")
