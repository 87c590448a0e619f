"""What differs between languages: one folder each with tokens, clauses, quantities, units, words and prompts."""

from functools import cache

from comdiv.errors import ComdivError
from comdiv.language.align import Alignment, align
from comdiv.language.base import ClauseSpan, ContentWords, Language, Token, UnitLexicon, learn_units
from comdiv.language.coherence import Coherence
from comdiv.language.sequels import Sequels
from comdiv.registry import LANGUAGES


def get_language(code: str) -> Language:
    """The language with that code: built in, from an installed package, or registered by the program."""
    language = LANGUAGES.get(code)
    return language if isinstance(language, Language) else _instance(language)


@cache
def _instance(language: type[Language]) -> Language:
    return language()


def register_language(language: Language) -> None:
    """Make a language known by its code; problems in that language then go through it everywhere."""
    LANGUAGES.add(language.code, language)


def coherence_of(code: str) -> Coherence:
    """A language's part of the augmentation's full checks."""
    coherence = get_language(code).coherence
    if coherence is None:
        raise ComdivError(f"the language '{code}' has no coherence checks: use --checks paper")
    return coherence


def sequels_of(code: str) -> Sequels:
    """A language's ways to go on with a story."""
    sequels = get_language(code).sequels
    if sequels is None:
        raise ComdivError(f"the language '{code}' has no sequels: use --preset structure, or --compose paste")
    return sequels


def detect_language(text: str) -> str:
    """The language that recognises a text: `zh` if it has Chinese characters, `en` if no language does."""
    others = (code for code in LANGUAGES.names() if code != "en")
    return next((code for code in others if get_language(code).recognises(text)), "en")


__all__ = [
    "Alignment",
    "ClauseSpan",
    "Coherence",
    "ContentWords",
    "Language",
    "Sequels",
    "Token",
    "UnitLexicon",
    "align",
    "coherence_of",
    "detect_language",
    "get_language",
    "learn_units",
    "register_language",
    "sequels_of",
]
