"""What a language provides: tokens, clauses, quantities, units, content words, and the data of its folder.

The rest of the package knows only `Language`. A language is a folder: a subclass in its `__init__.py`, with its data
in files beside it (`units.txt`, `words.yaml`, `frames.yaml`, `prompts.yaml`).
"""

import re
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from comdiv.errors import ComdivError
from comdiv.language.numbers import NumberSpan, number_spans, write_like
from comdiv.problem import Quantity

if TYPE_CHECKING:
    from comdiv.language.coherence import Coherence
    from comdiv.language.prompts import Prompts
    from comdiv.language.sequels import Sequels

NUMBER_MASK = "NUM"  # replaces every number where its value does not matter
SHARE = "share"  # the "unit" of a question for a share: 几分之几, "what fraction", "what percent"
MINIMUM_COUNT = 5  # of a unit learnt from a corpus: one occurrence may be chance, two may be twins
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W_]")  # a letter or digit of any script


class Token(NamedTuple):
    """A word, a number or a sign, with its character offsets. `quantity` is the index of a number."""

    text: str
    start: int
    end: int
    quantity: int | None = None


class ClauseSpan(NamedTuple):
    """Where a clause begins and ends, including its closing sign. The last clause is the question."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ContentWords:
    """The words that carry a problem's scenario (the paper's nouns and verbs, §III-B), lower case, in text order."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitLexicon:
    """Words that are units; `longest` bounds the look-ahead in languages without spaces between words.

    No fixed table is complete, because corpora count 件, 盒, peaches and bookshelves: `learn_units` extends it.
    """

    words: frozenset[str]
    longest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "longest", max(map(len, self.words), default=0))

    def extended(self, words: Iterable[str]) -> "UnitLexicon":
        """The lexicon with more words."""
        return UnitLexicon(self.words | frozenset(words))


class Language(ABC):
    """One language. Instances are immutable: `with_lexicon` gives a new one."""

    code: str
    name: str
    spaced: bool = True  # whether words and sentences are separated by spaces

    def __init__(self, lexicon: UnitLexicon | None = None) -> None:
        self.lexicon = self._shipped_units() if lexicon is None else lexicon
        self._tables: dict[str, dict[str, Any]] = {}

    # --- what every language must define ---

    @abstractmethod
    def words(self, text: str, start: int, end: int) -> list[Token]:
        """The words and signs of a stretch of text without numbers, by their offsets in the text."""

    @abstractmethod
    def clause_ends(self, text: str) -> Iterable[re.Match[str]]:
        """The signs that end a clause; those inside numbers may be included, the caller skips them."""

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
        """Candidate units: words after a number or after "how many". `learn_units` counts them."""

    # --- what a language may define ---

    def digit_spans(self, text: str) -> Iterable[NumberSpan]:
        """Numbers written with digits, from left to right: `1,200` and `3.5`. Override it for decimal commas."""
        return number_spans(text)

    def write_number(self, value: Fraction, model: Quantity) -> str | None:
        """A value in the form of another number of a text; None if that form cannot represent it."""
        return write_like(value, model)

    def recognises(self, text: str) -> bool:
        """Whether a text is recognisably in this language, by its script or by words that other languages lack."""
        return False

    @property
    def coherence(self) -> "Coherence | None":
        """This language's part of `comdiv augment --checks full`; None if it has none."""
        return None

    @property
    def sequels(self) -> "Sequels | None":
        """This language's part of `comdiv augment --compose unify`; None if it has none."""
        return None

    @cached_property
    def prompts(self) -> "Prompts | None":
        """How to prompt a language model (`prompts.yaml`); None if the language has no prompts."""
        from comdiv.language.prompts import prompts_from

        table = self.data("prompts.yaml")
        return prompts_from(table) if table else None

    @cached_property
    def amounts(self) -> Mapping[Fraction, Sequence[frozenset[str]]]:
        """Unstated numbers with the stems that imply them; all stems of a set must occur: 60 with hour and minute."""
        return _cues(self.data("words.yaml").get("amounts", {}))

    @cached_property
    def parts(self) -> Mapping[Fraction, Sequence[frozenset[str]]]:
        """Unstated divisors with the stems that imply them: 2 with half."""
        return _cues(self.data("words.yaml").get("parts", {}))

    def amounts_told(self, text: str) -> frozenset[Fraction]:
        """The numbers of `amounts` and `parts` that a text implies."""
        stems = frozenset(map(word_stem, _LETTERS.findall(text))) | frozenset("%" if "%" in text else ())

        def is_told(cue: frozenset[str]) -> bool:
            return cue <= stems if self.spaced else all(word in text for word in cue)

        tables = (*self.amounts.items(), *self.parts.items())
        return frozenset(value for value, cues in tables if any(map(is_told, cues)))

    @property
    def constants(self) -> tuple[str, ...]:
        """Numbers that occur in expressions but not in texts: every solver knows them, whatever it was trained on."""
        return tuple(self.data("words.yaml").get("constants", ("1",)))

    @property
    def weights(self) -> dict[str, str]:
        """Pre-trained models of this language on the Hugging Face hub, by kind: `encoder`, `causal`; may be empty."""
        return dict(self.data("words.yaml").get("weights", {}))

    def data(self, name: str) -> dict[str, Any]:
        """A YAML file of the language's folder as a mapping; empty if there is no such file."""
        if name not in self._tables:
            try:
                table = yaml.safe_load(self._file(name)) or {}
            except yaml.YAMLError as error:
                reason = " ".join(str(error).split())
                raise ComdivError(f"the language '{self.code}': {name} is not YAML: {reason}") from error
            if not isinstance(table, dict):
                raise ComdivError(f"the language '{self.code}': {name} is not a mapping")
            self._tables[name] = table
        return self._tables[name]

    def _shipped_units(self) -> UnitLexicon:
        """The units listed in `units.txt`, separated by white space; `#` begins a comment."""
        lines = self._file("units.txt").splitlines()
        return UnitLexicon(frozenset(word for line in lines for word in line.partition("#")[0].split()))

    def _file(self, name: str) -> str:
        """The text of a file in the package of the language's class; empty if there is none."""
        module = sys.modules[type(self).__module__]
        path = files(module).joinpath(name) if hasattr(module, "__path__") else None
        return path.read_text(encoding="utf-8") if path is not None and path.is_file() else ""

    # --- derived from the above; called by `comdiv.reading` ---

    def with_lexicon(self, lexicon: UnitLexicon) -> "Language":
        """The same language with another lexicon of units, for instance one learnt from a corpus."""
        return type(self)(lexicon)

    def numbers(self, text: str, *, number_words: bool = False) -> list[NumberSpan]:
        """The positions and values of the quantities of a text, which is all that some callers need."""
        spans = list(self.digit_spans(text))
        return _merge(spans, self.number_word_spans(text)) if number_words else spans

    def quantities(self, text: str, *, number_words: bool = False) -> list[Quantity]:
        """The quantities of a text in order of appearance, without units: `N0`, `N1`…"""
        return [
            Quantity(index, span.value, text[span.start : span.end], span.start, span.end, span.form)
            for index, span in enumerate(self.numbers(text, number_words=number_words))
        ]

    def tokens(
        self, text: str, quantities: Sequence[Quantity] | None = None, *, number_words: bool = False
    ) -> list[Token]:
        """The tokens of a text; every number is one token, whatever signs it contains."""
        tokens: list[Token] = []
        position = 0
        for quantity in self.quantities(text, number_words=number_words) if quantities is None else quantities:
            tokens += self.words(text, position, quantity.start)
            tokens.append(Token(quantity.text, quantity.start, quantity.end, quantity.index))
            position = quantity.end
        return tokens + self.words(text, position, len(text))

    def clauses(self, text: str, quantities: Sequence[Quantity] | None = None) -> list[ClauseSpan]:
        """The clauses, which together cover the text; a clause without a word joins its neighbour."""
        inside_numbers = _positions(self.digit_spans(text) if quantities is None else quantities)
        ends = (match.end() for match in self.clause_ends(text) if match.start() not in inside_numbers)
        return _join_clauses(text, ends)


def word_stem(word: str) -> str:
    """The common stem of a word's forms: eggs and egg, weigh and weights; a word in another script is its own stem."""
    word = word.lower()
    if not word.isascii():
        return word
    return (word[:-2] if word.endswith(("xes", "ches", "shes", "sses")) else word.rstrip("s"))[:5]


def _cues(table: Mapping[str, Sequence[str]]) -> dict[Fraction, tuple[frozenset[str], ...]]:
    return {
        Fraction(value): tuple(frozenset(map(word_stem, cue.split())) for cue in cues) for value, cues in table.items()
    }


def learn_units(language: Language, texts: Iterable[str], minimum: int = MINIMUM_COUNT) -> UnitLexicon:
    """The language's units and every word that a corpus counts at least `minimum` times."""
    counts = Counter(word for text in texts for word in language.counted_words(text))
    return language.lexicon.extended(word for word, count in counts.items() if count >= minimum)


def mask_numbers(text: str, numbers: Iterable[NumberSpan | Quantity]) -> str:
    """The text with every number masked and white space collapsed: equal for twins and only for them."""
    pieces: list[str] = []
    position = 0
    for number in numbers:
        pieces += [text[position : number.start], NUMBER_MASK]
        position = number.end
    return " ".join("".join([*pieces, text[position:]]).lower().split())


def as_measure(quantity: Quantity, unit: str) -> Quantity:
    """The quantity as a measure in a unit."""
    return replace(quantity, unit=unit, kind="measure")


def _merge(digits: list[NumberSpan], words: Iterable[NumberSpan]) -> list[NumberSpan]:
    """Both kinds of number in text order; if they overlap, digits win."""
    taken = _positions(digits)
    free = [word for word in words if taken.isdisjoint(range(word.start, word.end))]
    return sorted([*digits, *free], key=lambda span: span.start)


def _positions(spans: Iterable[NumberSpan | Quantity]) -> set[int]:
    """The offsets that lie inside numbers."""
    return {position for span in spans for position in range(span.start, span.end)}


def _join_clauses(text: str, ends: Iterable[int]) -> list[ClauseSpan]:
    """Clauses from their end offsets; one without a letter or digit joins its neighbour."""
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
    return [ClauseSpan(text[start:end], start, end) for start, end in spans]
