"""What differs between languages: tokens, clauses, quantities, units and content words."""

from collections.abc import Callable
from functools import cache

from comdiv.language.alignment import Alignment, align
from comdiv.language.base import Clause, ContentWords, Language, Token
from comdiv.language.chinese import Chinese
from comdiv.language.english import English
from comdiv.language.units import UnitLexicon, learn_units, shipped_units
from comdiv.registry import LANGUAGES


@cache
def shipped_english() -> Language:
    """English with the units that come with the package."""
    return English(shipped_units("en"))


@cache
def shipped_chinese() -> Language:
    """Chinese with the units that come with the package."""
    return Chinese(shipped_units("zh"))


def get_language(code: str) -> Language:
    """The language with that code: ours, an installed package's, or one that the program registered."""
    language = LANGUAGES.get(code)
    return language if isinstance(language, Language) else _made(language)


@cache
def _made(make: Callable[[], Language]) -> Language:
    return make()


def register_language(language: Language) -> None:
    """Make a language known by its code; problems in that language then go through it everywhere."""
    LANGUAGES.add(language.code, language)


def detect_language(text: str) -> str:
    """`zh` where the text has Chinese characters, `en` otherwise."""
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in text) else "en"


__all__ = [
    "Alignment",
    "Clause",
    "ContentWords",
    "Language",
    "Token",
    "UnitLexicon",
    "align",
    "detect_language",
    "get_language",
    "learn_units",
    "register_language",
    "shipped_units",
]
