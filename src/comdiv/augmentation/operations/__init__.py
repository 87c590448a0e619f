"""Operations: ways to make new problems from those of the current set (§IV). Ours are 1 (structural) and 2 (lexical).

One of your own is a subclass of `ProblemOperation` that an entry point of the group `comdiv.operations` names; it is
then known to `comdiv augment --operations`, to plans and to all their workers.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

from comdiv.augmentation.options import AugmentationOptions
from comdiv.engine import Engine
from comdiv.expression import Expression
from comdiv.language import coherence_of
from comdiv.language.coherence import Actors
from comdiv.problem import Problem
from comdiv.reading import Reading, read

NO_VALUE = "no positive value"


class Draft(Protocol):
    """A new problem before its checks. The text must have exactly the `values`, and so many `tokens`."""

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
        """What the provenance of the new problem says besides the operation and the parents."""
        ...


@dataclass(frozen=True, slots=True)
class PlainDraft:
    """A draft of which everything is known."""

    parents: tuple[Reading, ...]
    text: str
    expression: Expression
    values: tuple[Fraction, ...]
    tokens: int
    answer: Fraction | None
    details: Mapping[str, object] = field(default_factory=dict)


def draft_of(parents: Sequence[Reading], text: str, expression: Expression, **details: object) -> PlainDraft:
    """A draft whose values, tokens and answer are read in its text."""
    number_words = any(parent.problem.number_words for parent in parents)
    reading = read(Problem("", parents[0].problem.language, text, expression, number_words=number_words))
    answer = reading.value if reading.is_grounded else None
    return PlainDraft(tuple(parents), text, expression, reading.values, len(reading.tokens), answer, details)


class Refusal(NamedTuple):
    """Why no new problem came of some parents: the name of a check. The draft's text is empty where none was made.

    It stands for so many `times`, of which it is the first.
    """

    reason: str
    parents: tuple[str, ...]
    times: int = 1
    text: str = ""
    expression: str = ""


class CurrentSet:
    """The problems that a round makes new ones of. Those of earlier rounds come first, in the same order.

    `sizes` says how many there were at the beginning of each round so far: an operation that numbers things in the
    order in which they appear must come to the same numbers after an interruption between two rounds.
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
    """One way to make new problems. It lives as long as the augmentation, and may keep what earlier rounds taught it.

    What it makes of a problem must depend on the current set and the random source alone: then any number of
    processes and machines makes the same problems.
    """

    title: ClassVar[str] = ""  # one word for the dataset's card: structural, lexical
    per_problem: ClassVar[int] = 2  # new problems per problem and round, where the options do not say

    def __init__(self, options: AugmentationOptions) -> None:
        self.options = options

    @abstractmethod
    def index(self, current: CurrentSet) -> None:
        """Look at the current set, once at the beginning of each round."""

    @abstractmethod
    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        """Drafts from the problem at that place of the current set, in random order, and what gives none.

        So many new problems are `wanted`: nothing more is asked for when enough drafts have passed the checks.
        """

    def check(self, draft: Draft) -> str | None:
        """Why this operation refuses a draft; None where it does not. Sizes and texts are checked for all of them."""
        return NO_VALUE if draft.answer is None or draft.answer <= 0 else None
