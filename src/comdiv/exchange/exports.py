"""What an export is: settings, and a function that writes something made from problems or from a dataset folder.

Exports are plug-ins: an entry point of the group `comdiv.exports` names a subclass of `Export`, which becomes a command
of `comdiv export` with one option per setting. Most write a folder that is complete or absent, with `export.json` to
say what it was made from; of a dataset folder they take the splits in it, and the parts of their test sides.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from comdiv.dataset import FACTS, Dataset, read_dataset
from comdiv.errors import ComdivError
from comdiv.files import file_sha256, path_part, refuse_to_overwrite, staging_folder, write_text
from comdiv.observer import Observer
from comdiv.problem import Problem
from comdiv.settings import Settings

EXPORT = "export.json"
COMPOSITIONAL, IID = "compositional", "iid"
_METHODS = {"dbca": COMPOSITIONAL, "iid": IID}

Facts = dict[str, Any]  # what was written and from what, for `export.json` and for programs


@dataclass(frozen=True, slots=True)
class ExportSource:
    """What is exported: a folder, or a corpus with its problems; of a dataset folder also its training problems."""

    path: Path
    name: str = ""
    problems: Sequence[Problem] = ()
    train: Sequence[Problem] | None = None


class Export(ABC):
    """A way to take datasets or problems elsewhere. Its docstring is the help of `comdiv export NAME`.

    `reads` says what it needs: a `folder`, the problems of any `corpus`, or the `test` problems of one.
    """

    reads: ClassVar[Literal["folder", "corpus", "test"]] = "folder"
    settings: ClassVar[type[Settings]]
    example: ClassVar[str] = ""
    folder_help: ClassVar[str] = "A dataset folder, or a folder that contains several."
    out_help: ClassVar[str] = "The folder to write."
    force_help: ClassVar[str] = "Replace what is there."

    @abstractmethod
    def write(self, source: ExportSource, out: Path, settings: Any, *, force: bool, observer: Observer) -> Facts:
        """Write it and return the facts; `settings` is of the class that the export names.

        The `observer` shows progress, and notes anything else that a user should know.
        """

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        """What was written, for the terminal: by default, the number of problems in the facts."""
        return [f"{facts['problems']:,} problems"]


def check_target(folder: Path, *, force: bool) -> bool:
    """Refuse a place that must not be written to, before any work is done; return whether it has an earlier export."""
    refuse_to_overwrite(folder, force=force)
    occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if occupied and not (folder / EXPORT).is_file():
        raise ComdivError(f"{folder} is not an export of comdiv, so it is not replaced; choose another name")
    return occupied


def write_export(folder: Path, make: Callable[[Path], Mapping[str, Any]], *, force: bool) -> Facts:
    """Let `make` fill an empty folder and return its facts; the folder then takes its place as a whole.

    With `force`, an earlier export is removed with everything in it; anything else is an error and stays.
    """
    from comdiv import __version__

    occupied = check_target(folder, force=force)
    with staging_folder(folder) as staging:
        facts = dict(make(staging))
        paths = sorted(path for path in staging.rglob("*") if path.is_file())
        facts["files"] = {path.relative_to(staging).as_posix(): file_sha256(path) for path in paths}
        facts["versions"] = {"comdiv": __version__}
        write_text(staging / EXPORT, json.dumps(facts, ensure_ascii=False, indent=2) + "\n")
        if not occupied:
            staging.replace(folder)  # also replaces an empty folder
        else:
            with staging_folder(folder) as away:
                folder.replace(away)
                staging.replace(folder)
    return facts


@dataclass(frozen=True, slots=True)
class Part:
    """Test problems, such as a test side or half of it, and the training problems that belong to them."""

    name: str
    test: Sequence[Problem]
    split: str  # the owner of the training side: parts of one split share it
    train: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class Split:
    """A dataset and its name in an export."""

    name: str
    folder: Path
    dataset: Dataset

    @property
    def parts(self) -> list[Part]:
        """The test side as a whole, then, in a synthesised set, its structural and lexical halves (§III-B)."""
        train = self.dataset.train
        parts = [Part(self.name, self.dataset.test, self.name, train)]
        halves: dict[str, list[Problem]] = {}
        for problem in self.dataset.test:
            if problem.composition:
                halves.setdefault(problem.composition, []).append(problem)
        for name in sorted(halves, reverse=True):  # structural first, as in the paper's tables
            path_part(name, "the composition")
            own = name if self.name == COMPOSITIONAL else f"{self.name}-{name}"
            parts.append(Part(own, tuple(halves[name]), self.name, train))
        return parts


def find_splits(folder: Path) -> list[Split]:
    """The dataset of a folder and those below it (`iid`, `split-1`, `target-0.30`…), the folder's own first."""
    splits = [Split(_own_name(dataset := read_dataset(folder)), folder, dataset)] if (folder / FACTS).is_file() else []
    inner = sorted(path.parent for path in folder.glob(f"*/{FACTS}")) if folder.is_dir() else []
    splits += [Split(path.name, path, read_dataset(path)) for path in inner]
    if not splits:
        raise ComdivError(f"{folder} is not a complete dataset folder, nor does it contain one: no {FACTS}")
    names = [task_name(part.name) for split in splits for part in split.parts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ComdivError(f"{folder} holds two splits that would be called '{twice[0]}': export them one by one")
    return splits


def task_name(name: str) -> str:
    """A name in the form of other programs' task names, and of files: `target-0.30` becomes `target_0_30`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "dataset"


def _own_name(dataset: Dataset) -> str:
    """`compositional` for what tests new compositions (DBCA splits, synthesised sets), else the method's name."""
    settings = dataset.facts.get("settings")
    method = settings.get("method") if isinstance(settings, dict) else None
    return path_part(_METHODS.get(method, method), "the method") if isinstance(method, str) else COMPOSITIONAL
