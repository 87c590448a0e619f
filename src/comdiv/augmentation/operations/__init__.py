"""Operations make new problems from the current set (§IV). Built in are 1 (structural) and 2 (lexical).

To add one, subclass `ProblemOperation` and name the subclass in an entry point of the group `comdiv.operations`;
`comdiv augment --operations`, plans and all their workers then know it.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.engine import Engine
from comdiv.expression import Expression
from comdiv.language import coherence_of
from comdiv.language.coherence import Actors
from comdiv.problem import Problem
from comdiv.reading import Reading, read

NO_VALUE = "no positive value"


class Draft(Protocol):
    """A new problem before its checks. The text must have exactly these `values` and this number of `tokens`."""

    @property
    def parents(self) -> tuple[Reading, ...]: ...
    @property
    def text(self) -> str: ...
    @property
    def expression(self) -> Expression: ...
    @property
    def values(self) -> tuple[Fraction, ...]: ...
    @property
    def tokens(self) -> int: ...
    @property
    def answer(self) -> Fraction | None: ...
    @property
    def details(self) -> Mapping[str, object]:
        """Further entries for the provenance of the new problem, besides the operation and the parents."""
        ...


@dataclass(frozen=True, slots=True)
class PlainDraft:
    """A draft with precomputed properties."""

    parents: tuple[Reading, ...]
    text: str
    expression: Expression
    values: tuple[Fraction, ...]
    tokens: int
    answer: Fraction | None
    details: Mapping[str, object] = field(default_factory=dict)


def draft_of(parents: Sequence[Reading], text: str, expression: Expression, **details: object) -> PlainDraft:
    """A draft whose values, tokens and answer are computed from its text and expression."""
    number_words = any(parent.problem.number_words for parent in parents)
    reading = read(Problem("", parents[0].problem.language, text, expression, number_words=number_words))
    answer = reading.value if reading.is_grounded else None
    return PlainDraft(tuple(parents), text, expression, reading.values, len(reading.tokens), answer, details)


def begins_sentence(text: str, start: int) -> bool:
    """Whether the word at that offset begins a sentence, so that its capital means nothing."""
    return text[:start].rstrip()[-1:] in ("", ".", "?", "!", '"', "“")


class Refusal(NamedTuple):
    """Why some parents gave no new problem: the name of a check. The text is empty if no draft was made.

    It stands for `times` refusals, of which it is the first.
    """

    reason: str
    parents: tuple[str, ...]
    times: int = 1
    text: str = ""
    expression: str = ""


class CurrentSet:
    """The problems from which a round makes new ones. Those of earlier rounds come first, in the same order.

    `sizes` has their number at the beginning of each round so far: an operation that numbers things by first appearance
    must assign the same numbers after an interruption between two rounds.
    """

    def __init__(self, readings: Sequence[Reading], engine: Engine, sizes: Sequence[int] = ()) -> None:
        self.readings = readings
        self.engine = engine
        self.sizes = tuple(sizes) or (len(readings),)

    @cached_property
    def actors(self) -> dict[str, Actors]:
        """The people in the problems of each language, for the full checks."""
        codes = dict.fromkeys(reading.problem.language for reading in self.readings)
        return {
            code: coherence_of(code).actors(one for one in self.readings if one.problem.language == code)
            for code in codes
        }


class ProblemOperation(ABC):
    """One way to make new problems. The object lives as long as the augmentation and may keep state between rounds.

    What it makes of a problem must depend only on the current set and the random source, so that any number of
    processes and machines makes the same problems.
    """

    title: ClassVar[str] = ""  # one word for the dataset's card, such as structural or lexical
    per_problem: ClassVar[int] = 2  # default number of new problems per problem and round

    def __init__(self, options: AugmentationOptions) -> None:
        self.options = options

    @abstractmethod
    def index(self, current: CurrentSet) -> None:
        """Index the current set, once at the beginning of each round."""

    @abstractmethod
    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        """Drafts from the problem at that place of the current set, in random order, and refusals.

        The caller stops once `wanted` drafts have passed the checks.
        """

    def check(self, draft: Draft) -> str | None:
        """Why this operation refuses a draft; None if it accepts it. Sizes and texts are checked for all operations."""
        return NO_VALUE if draft.answer is None or draft.answer <= 0 else None
