"""Units: a shipped list for each language, and what a corpus itself shows.

A closed table never suffices: corpora count 件, 盒, peaches and bookshelves. So words that stand after numbers, and
after "how many" / 多少 / 几, are counted, and those that do so often enough become units, too.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from comdiv.language.base import Language

MINIMUM_COUNT = 5  # once is chance, twice a twin


@dataclass(frozen=True, slots=True)
class UnitLexicon:
    """Words that are units; `longest` bounds the look-ahead where words are not separated by spaces."""

    words: frozenset[str]

    longest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "longest", max(map(len, self.words), default=0))

    def extended(self, words: Iterable[str]) -> "UnitLexicon":
        """With more words."""
        return UnitLexicon(self.words | frozenset(words))


@cache
def shipped_units(code: str) -> UnitLexicon:
    """The list that comes with the package: one unit a line, `#` begins a comment."""
    lines = files("comdiv.language").joinpath(f"units_{code}.txt").read_text(encoding="utf-8").splitlines()
    words = (word for line in lines for word in line.partition("#")[0].split())
    return UnitLexicon(frozenset(words))


def learn_units(language: Language, texts: Iterable[str], minimum: int = MINIMUM_COUNT) -> UnitLexicon:
    """The language's units and every word that a corpus counts at least `minimum` times."""
    counts = Counter(word for text in texts for word in language.counted_words(text))
    return language.lexicon.extended(word for word, count in counts.items() if count >= minimum)
