"""What `comdiv augment --checks full` asks of a language: who acts, what a question is about, which words calculate.

A language that has nothing to say here can be augmented with `--checks paper`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from comdiv.reading import Reading


@dataclass(frozen=True, slots=True)
class Actors:
    """The names of people that a corpus shows, each with its gender (`m`, `f`, or empty where the texts do not say)."""

    gender: dict[str, str]

    def __contains__(self, word: str) -> bool:
        return word in self.gender


@dataclass(frozen=True, slots=True)
class Frame:
    """What a question asks for, or a clause states. Equal keys: the clause states what the question asks for.

    `actor` is the person it is about, as written; `state` says that it tells how things stand rather than an event.
    """

    key: tuple[object, ...]
    actor: str | None = None
    state: bool = True


class Coherence(ABC):
    """One language's part of the full checks. Methods get `Actors`, so that they keep nothing themselves."""

    @abstractmethod
    def actors(self, readings: "Iterable[Reading]") -> Actors:
        """The people of a corpus."""

    @abstractmethod
    def question_frame(self, reading: "Reading", actors: Actors) -> Frame | None:
        """What the question asks for; None where no clause could state it."""

    @abstractmethod
    def clause_frame(self, reading: "Reading", clause: int, actors: Actors) -> Frame | None:
        """What a clause with one quantity states; None where a story cannot take its place."""

    @abstractmethod
    def recast(
        self, reading: "Reading", old: str, new: str, other: "Reading", clause: int, actors: Actors
    ) -> str | None:
        """The narrative with `old` renamed to `new`, to stand in `other` for a clause; None where people collide."""

    @abstractmethod
    def told_by_events(self, reading: "Reading", frame: Frame) -> bool:
        """Whether a narrative tells the event that its question sums up."""

    @abstractmethod
    def fragment_kind(self, tokens: Sequence[str], actors: Actors) -> str | None:
        """The grammatical kind of a fragment that may be exchanged for another of its kind; None: leave it alone."""

    @abstractmethod
    def content_stems(self, tokens: Iterable[str]) -> frozenset[str]:
        """The content words among tokens, as stems: "apples" and "apple" are one."""

    @abstractmethod
    def is_content(self, token: str) -> bool:
        """Whether a token, lower-cased, carries meaning of its own."""


class WordLists:
    """The lists in the `coherence.yaml` of a language's package; items stand between blanks."""

    def __init__(self, package: str) -> None:
        text = files(package).joinpath("coherence.yaml").read_text(encoding="utf-8")
        self._table: dict[str, Any] = yaml.safe_load(text)

    def words(self, name: str) -> frozenset[str]:
        """A list of words."""
        return frozenset(str(self._table[name]).split())

    def pattern(self, name: str) -> str:
        """A list of patterns as one that finds any of them."""
        return "|".join(str(self._table[name]).split())

    def forms(self, name: str) -> dict[str, str]:
        """A table of word forms."""
        return {str(form): str(word) for form, word in self._table[name].items()}
