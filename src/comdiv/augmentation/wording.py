"""What the checks must know of a language: who acts, what a question asks about, which words carry the arithmetic.

A language without a wording can be augmented with `checks="paper"`; `register_wording` adds one.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from comdiv.augmentation.view import ProblemView
from comdiv.errors import ComdivError


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


class Wording(ABC):
    """One language's part of the checks. Methods get `Actors`, so that they keep nothing themselves."""

    code: str

    @abstractmethod
    def actors(self, views: Iterable[ProblemView]) -> Actors:
        """The people of a corpus."""

    @abstractmethod
    def question_frame(self, view: ProblemView, actors: Actors) -> Frame | None:
        """What the question asks for; None where no clause could state it."""

    @abstractmethod
    def clause_frame(self, view: ProblemView, clause: int, actors: Actors) -> Frame | None:
        """What a clause with one quantity states; None where a story cannot take its place."""

    @abstractmethod
    def recast(
        self, view: ProblemView, old: str, new: str, other: ProblemView, clause: int, actors: Actors
    ) -> str | None:
        """The narrative with `old` renamed to `new`, to stand in `other` for a clause; None where people collide."""

    @abstractmethod
    def told_by_events(self, view: ProblemView, frame: Frame) -> bool:
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


_registered: dict[str, Wording] = {}


def register_wording(wording: Wording) -> None:
    """Make a language's wording known by the language's code."""
    _registered[wording.code] = wording


def get_wording(code: str) -> Wording:
    """The wording of a language."""
    from comdiv.augmentation.wording_en import EnglishWording
    from comdiv.augmentation.wording_zh import ChineseWording

    known = {"en": EnglishWording(), "zh": ChineseWording(), **_registered}
    if code not in known:
        raise ComdivError(f"the full checks know {', '.join(sorted(known))}, not '{code}': say --checks paper")
    return known[code]
