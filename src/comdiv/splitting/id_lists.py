"""Splits as lists of ids, which can be published even if the texts cannot, and rebuilt into the same dataset."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from comdiv.dataset import PARTS, Dataset
from comdiv.errors import ComdivError
from comdiv.loading import parse_json, read_bounded, validate
from comdiv.problem import Problem
from comdiv.splitting.encoding import Mask


@dataclass(frozen=True, slots=True)
class IdLists:
    """The ids of a split's parts, and how it was made; a bare list has only the ids of test, and no settings."""

    test: tuple[str, ...]
    train: tuple[str, ...] | None = None
    validation: tuple[str, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, dataset: Dataset) -> "IdLists":
        """The lists of a dataset."""
        parts = {part: tuple(problem.id for problem in getattr(dataset, part)) for part in PARTS}
        return cls(**parts, settings=dataset.facts.get("settings", {}), source=dataset.facts.get("source", {}))

    def to_json(self) -> dict[str, Any]:
        """The file's content."""
        return {"source": self.source, "settings": self.settings} | {part: getattr(self, part) for part in PARTS}

    @property
    def is_bare(self) -> bool:
        """Whether only the ids of test are known."""
        return self.train is None

    def members(self, problems: Sequence[Problem]) -> list[Problem]:
        """The problems that take part: those in the lists, or all if only test is known."""
        known = {problem.id for problem in problems}
        ids = [*self.test, *(self.train or ()), *(self.validation or ())]
        if unknown := [name for name in ids if name not in known]:
            raise ComdivError(
                f"the corpus has no problem '{unknown[0]}' ({len(unknown):,} of {len(ids):,} ids are unknown): "
                "is it another corpus or version?"
            )
        members = known if self.is_bare else set(ids)
        return [problem for problem in problems if problem.id in members]

    def sides(self, problems: Sequence[Problem]) -> tuple[Mask, Mask | None]:
        """Which problems are test, and which are validation if the lists say so."""
        validation = None if self.validation is None else membership(problems, self.validation)
        return membership(problems, self.test), validation


def membership(problems: Sequence[Problem], ids: Iterable[str]) -> Mask:
    """Which problems have one of the ids."""
    names = frozenset(ids)
    return np.array([problem.id in names for problem in problems], dtype=np.bool_)


class _IdFile(BaseModel):
    test: tuple[str, ...]
    train: tuple[str, ...] | None = None
    validation: tuple[str, ...] | None = None
    settings: dict[str, Any] = {}
    source: dict[str, Any] = {}


def read_id_lists(path: Path) -> IdLists:
    """The lists of a file that `comdiv export hub` wrote, or the ids of test alone: one per line, or a JSON list."""
    text = read_bounded(path)
    if text.lstrip().startswith(("{", "[")):
        try:
            value = parse_json(text)
        except ValueError as error:
            raise ComdivError(f"{path}: not valid JSON: {error}") from error
        lists = validate(value if isinstance(value, dict) else {"test": value}, _IdFile, str(path))
        ids = IdLists(lists.test, lists.train, lists.validation, lists.settings, lists.source)
        if (ids.train is None) != (ids.validation is None):
            raise ComdivError(f"{path}: train and validation go together: give both, or test alone")
    else:
        ids = IdLists(tuple(line.strip() for line in text.splitlines() if line.strip()))
    if not ids.test:
        raise ComdivError(f"{path}: it has no ids of test problems")
    counts = Counter([*ids.test, *(ids.train or ()), *(ids.validation or ())])
    if twice := [name for name, count in counts.items() if count > 1]:
        raise ComdivError(f"{path}: the id '{twice[0]}' occurs twice")
    return ids
