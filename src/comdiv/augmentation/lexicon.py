"""Word lists of the wordings, from the YAML files beside this one."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def _lexicon(code: str) -> dict[str, Any]:
    text = files("comdiv.augmentation").joinpath(f"lexicon_{code}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def words(code: str, name: str) -> frozenset[str]:
    """A list of words."""
    return frozenset(str(_lexicon(code)[name]).split())


def pattern(code: str, name: str) -> str:
    """A list of patterns as one that finds any of them."""
    return "|".join(str(_lexicon(code)[name]).split())


def forms(code: str, name: str) -> dict[str, str]:
    """A table of word forms."""
    return {str(form): str(word) for form, word in _lexicon(code)[name].items()}
