"""What a language has to tell us: tokens, clauses, quantities, units, content words.

Everything else in the package is written against `Language`; a third language is one more file with one subclass.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from comdiv.language.numbers import NumberSpan, number_spans
from comdiv.problem import Quantity

if TYPE_CHECKING:
    from comdiv.language.units import UnitLexicon

NUMBER_MASK = "NUM"
SHARE = "share"  # the "unit" of a question for a share: 几分之几, "what fraction", "what percent"
_WORD = re.compile(r"[^\W_]")  # a letter or digit of any script


class Token(NamedTuple):
    """A word, a number or a sign, by its character offsets. `quantity` is its index where it is a number."""

    text: str
    start: int
    end: int
    quantity: int | None = None


class Clause(NamedTuple):
    """A clause: the part of a text up to and including its closing sign. The last one is the question."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ContentWords:
    """The words that carry a problem's scenario (the paper's nouns and verbs, §III-B), lower case, in text order."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]


class Language(ABC):
    """One language. Instances are immutable: `with_lexicon` gives a new one."""

    code: str
    name: str

    def __init__(self, lexicon: "UnitLexicon") -> None:
        self.lexicon = lexicon

    def with_lexicon(self, lexicon: "UnitLexicon") -> "Language":
        """The same language with other units, for instance those learnt from a corpus."""
        return type(self)(lexicon)

    @abstractmethod
    def words(self, text: str, start: int, end: int) -> list[Token]:
        """The words and signs of a stretch of text without numbers, by their offsets in the text."""

    @abstractmethod
    def clause_ends(self, text: str) -> Iterable[re.Match[str]]:
        """The signs that end a clause; those inside numbers may be among them, they are passed over."""

    @abstractmethod
    def number_word_spans(self, text: str) -> Iterable[NumberSpan]:
        """Numbers written as words, from left to right."""

    @abstractmethod
    def unit_of(self, text: str, quantity: Quantity) -> Quantity:
        """The quantity with its unit and kind, as far as the text shows them."""

    @abstractmethod
    def asked_unit(self, text: str) -> str | None:
        """The unit that the question asks for ("how many apples", 多少千克), if it names one."""

    @abstractmethod
    def content_words(self, text: str) -> ContentWords:
        """The nouns and verbs of a text."""

    @abstractmethod
    def counted_words(self, text: str) -> Iterable[str]:
        """Candidates for units: what follows a number or a question for one. `units.learn_units` counts them."""

    def quantities(self, text: str, *, number_words: bool = False) -> list[Quantity]:
        """The quantities of a text in order of appearance, without units: `N0`, `N1`…"""
        return [
            Quantity(index, span.value, text[span.start : span.end], span.start, span.end, span.form)
            for index, span in enumerate(self.numbers(text, number_words=number_words))
        ]

    def numbers(self, text: str, *, number_words: bool = False) -> list[NumberSpan]:
        """Where the quantities of a text are, and their values: all that some need to know of them."""
        spans = list(number_spans(text))
        return _merged(spans, self.number_word_spans(text)) if number_words else spans

    def tokens(
        self, text: str, *, number_words: bool = False, quantities: Sequence[Quantity] | None = None
    ) -> list[Token]:
        """The tokens of a text; every number is one token, whatever signs are in it. Known quantities save time."""
        tokens: list[Token] = []
        position = 0
        for quantity in self.quantities(text, number_words=number_words) if quantities is None else quantities:
            tokens += self.words(text, position, quantity.start)
            tokens.append(Token(quantity.text, quantity.start, quantity.end, quantity.index))
            position = quantity.end
        return tokens + self.words(text, position, len(text))

    def clauses(self, text: str, quantities: Sequence[Quantity] | None = None) -> list[Clause]:
        """The clauses, which together cover the text; a clause without a word joins its neighbour."""
        inside_numbers = _positions(number_spans(text) if quantities is None else quantities)
        ends = (match.end() for match in self.clause_ends(text) if match.start() not in inside_numbers)
        return _joined(text, ends)

    def with_units(self, text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
        """The same quantities with unit and kind filled in."""
        return [self.unit_of(text, quantity) for quantity in quantities]

    def masked_text(
        self, text: str, *, number_words: bool = False, quantities: Sequence[Quantity | NumberSpan] | None = None
    ) -> str:
        """The text with every number as one mask and white space folded: equal for twins, and only for them."""
        pieces: list[str] = []
        position = 0
        for quantity in self.numbers(text, number_words=number_words) if quantities is None else quantities:
            pieces += [text[position : quantity.start], NUMBER_MASK]
            position = quantity.end
        return " ".join("".join([*pieces, text[position:]]).lower().split())


def _merged(digits: list[NumberSpan], words: Iterable[NumberSpan]) -> list[NumberSpan]:
    """Both kinds in text order; where they overlap, digits win."""
    taken = _positions(digits)
    free = [word for word in words if taken.isdisjoint(range(word.start, word.end))]
    return sorted([*digits, *free], key=lambda span: span.start)


def _positions(spans: Iterable[NumberSpan | Quantity]) -> set[int]:
    """The offsets that lie inside numbers."""
    return {position for span in spans for position in range(span.start, span.end)}


def measured(quantity: Quantity, unit: str) -> Quantity:
    """The quantity as a measure in a unit."""
    return replace(quantity, unit=unit, kind="measure")


def _joined(text: str, ends: Iterable[int]) -> list[Clause]:
    """Clauses from the offsets where they end; one without a letter or digit joins its neighbour."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in [*ends, len(text)]:
        if end <= start:
            continue
        if spans and not (_WORD.search(text, start, end) and _WORD.search(text, *spans[-1])):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        start = end
    return [Clause(text[start:end], start, end) for start, end in spans]
