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


@cache
def get_language(code: str) -> Language:
    """The language with that code, with the units that come with the package."""
    if code not in _LANGUAGES:
        raise unknown_name("language", code, _LANGUAGES)
    return _LANGUAGES[code](shipped_units(code))


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
    "shipped_units",
]
