"""What `comdiv augment --checks full` needs from a language: who acts, what a question asks, which words calculate.

A language without this can still be augmented with `--checks paper`.
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
    """The names of the people in a corpus, each with a gender (`m`, `f`, or empty if the texts do not show it)."""

    gender: dict[str, str]

    def __contains__(self, word: str) -> bool:
        return word in self.gender


@dataclass(frozen=True, slots=True)
class Frame:
    """What a question asks for, or a clause states. If the keys are equal, the clause states what the question asks.

    `actor` is the person it is about, as written; `state` means that it describes a state, not an event.
    """

    key: tuple[object, ...]
    actor: str | None = None
    state: bool = True


class Coherence(ABC):
    """One language's part of the full checks. Methods are given the `Actors`, so that the class has no state."""

    @abstractmethod
    def actors(self, readings: "Iterable[Reading]") -> Actors:
        """The people of a corpus."""

    @abstractmethod
    def question_frame(self, reading: "Reading", actors: Actors) -> Frame | None:
        """What the question asks for; None if no clause could state it."""

    @abstractmethod
    def clause_frame(self, reading: "Reading", clause: int, actors: Actors) -> Frame | None:
        """What a clause with one quantity states; None if a story cannot replace it."""

    @abstractmethod
    def recast(
        self, reading: "Reading", old: str, new: str, other: "Reading", clause: int, actors: Actors
    ) -> str | None:
        """The narrative with `old` renamed to `new`, to replace a clause of `other`; None if people collide."""

    @abstractmethod
    def told_by_events(self, reading: "Reading", frame: Frame) -> bool:
        """Whether a narrative tells the event that its question sums up."""

    @abstractmethod
    def fragment_kind(self, tokens: Sequence[str], actors: Actors) -> str | None:
        """The grammatical kind of a fragment, which may be exchanged for others of its kind; None: not exchangeable."""

    @abstractmethod
    def content_stems(self, tokens: Iterable[str]) -> frozenset[str]:
        """The stems of the content words among tokens: "apples" and "apple" have the same."""

    @abstractmethod
    def is_content(self, token: str) -> bool:
        """Whether a lower-cased token is a content word."""


class WordLists:
    """The lists in a YAML file of a language's package, `coherence.yaml`; items are separated by white space."""

    def __init__(self, package: str, name: str = "coherence.yaml") -> None:
        text = files(package).joinpath(name).read_text(encoding="utf-8")
        self._table: dict[str, Any] = yaml.safe_load(text)

    def words(self, name: str) -> frozenset[str]:
        """A list of words."""
        return frozenset(str(self._table[name]).split())

    def pattern(self, name: str) -> str:
        """A list of patterns combined into one that matches any of them."""
        return "|".join(str(self._table[name]).split())

    def forms(self, name: str) -> dict[str, str]:
        """A table of word forms."""
        return {str(form): str(word) for form, word in self._table[name].items()}
