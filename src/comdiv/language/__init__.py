"""What differs between languages: tokens, clauses, quantities, units and content words."""

from collections.abc import Callable
from functools import cache

from comdiv.errors import unknown_name
from comdiv.language.alignment import Alignment, align
from comdiv.language.base import Clause, ContentWords, Language, Token
from comdiv.language.chinese import Chinese
from comdiv.language.english import English
from comdiv.language.units import UnitLexicon, learn_units, shipped_units

_LANGUAGES: dict[str, Callable[[UnitLexicon], Language]] = {"en": English, "zh": Chinese}


_registered: dict[str, Language] = {}


@cache
def _shipped_language(code: str) -> Language:
    return _LANGUAGES[code](shipped_units(code))


def get_language(code: str) -> Language:
    """The language with that code: a registered one, or one that comes with the package and its units."""
    if code in _registered:
        return _registered[code]
    if code not in _LANGUAGES:
        raise unknown_name("language", code, [*_LANGUAGES, *_registered])
    return _shipped_language(code)


def register_language(language: Language) -> None:
    """Make a language known by its code; problems in that language then go through it everywhere."""
    _registered[language.code] = language


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
