"""What an export is: settings, and a function that writes something made of problems or of a dataset folder.

Exports are plug-ins: an entry point of the group `comdiv.exports` names a subclass of `Export`, and `comdiv export`
has it, with an option for each of its settings. Most write folders, which are complete or not there, with
`export.json` to say what they were made from; of a dataset folder they take the splits in it, and the parts of their
test sides.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from comdiv.dataset import FACTS, Dataset, read_dataset
from comdiv.errors import ComdivError
from comdiv.files import file_sha256, refuse_to_overwrite, staging_folder, write_text
from comdiv.problem import Problem
from comdiv.settings import Settings
from comdiv.solver import Progress

EXPORT = "export.json"
COMPOSITIONAL, IID = "compositional", "iid"
_METHODS = {"dbca": COMPOSITIONAL, "iid": IID}

Facts = dict[str, Any]  # what was written and from what: for `export.json` and for programs
Note = Callable[[str], None]  # told what a user should know besides


@dataclass(frozen=True, slots=True)
class ExportSource:
    """What is exported: a folder, or a corpus with its problems; of a dataset folder also its training problems."""

    path: Path
    name: str = ""
    problems: Sequence[Problem] = ()
    train: Sequence[Problem] | None = None


class Export(ABC):
    """A way to take datasets or problems elsewhere. Its docstring is the help of `comdiv export NAME`.

    `reads` says what it wants: a `folder`, the problems of any `corpus`, or the `test` problems of one.
    """

    reads: ClassVar[Literal["folder", "corpus", "test"]]
    settings: ClassVar[type[Settings]]
    example: ClassVar[str] = ""
    folder_help: ClassVar[str] = "A dataset folder, or one with several in it."
    out_help: ClassVar[str] = "The folder to write."
    force_help: ClassVar[str] = "Replace what is there."

    @abstractmethod
    def write(
        self, source: ExportSource, out: Path, settings: Any, *, force: bool, progress: Progress, note: Note
    ) -> Facts:
        """Write it and return the facts; `settings` is of the class that the export names."""

    @abstractmethod
    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        """What was written, for people: `3 problems`."""


def check_target(folder: Path, *, force: bool) -> bool:
    """Refuse a place that must not be written to, before any work is done; whether an earlier export is there."""
    refuse_to_overwrite(folder, force=force)
    occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if occupied and not (folder / EXPORT).is_file():
        raise ComdivError(f"{folder} is no export of comdiv, so it is not replaced; choose another name")
    return occupied


def write_export(folder: Path, make: Callable[[Path], Mapping[str, Any]], *, force: bool) -> Facts:
    """Let `make` fill an empty folder and return its facts; it then takes its place as a whole.

    With `force` an earlier export goes, with everything in it; anything else that is there stays, and is an error.
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
            staging.replace(folder)  # an empty folder is replaced, too
        else:
            with staging_folder(folder) as away:
                folder.replace(away)
                staging.replace(folder)
    return facts


@dataclass(frozen=True, slots=True)
class Split:
    """A dataset under the name that it has in an export."""

    name: str
    folder: Path
    dataset: Dataset


@dataclass(frozen=True, slots=True)
class Part:
    """A test side, or the structural or lexical half of one, with the split whose training side goes with it."""

    name: str
    split: Split
    test: tuple[Problem, ...]


def find_splits(folder: Path) -> list[Split]:
    """The dataset of a folder and those in it (`iid`, `split-1`, `target-0.30`…), the folder's own first."""
    splits = [Split(_own_name(dataset := read_dataset(folder)), folder, dataset)] if (folder / FACTS).is_file() else []
    inner = sorted(path.parent for path in folder.glob(f"*/{FACTS}")) if folder.is_dir() else []
    splits += [Split(path.name, path, read_dataset(path)) for path in inner]
    if not splits:
        raise ComdivError(f"{folder} is no complete dataset folder, nor are there any in it: no {FACTS}")
    names = [split.name for split in splits]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ComdivError(f"{folder} holds two splits that would be called '{twice[0]}': export them one by one")
    return splits


def _own_name(dataset: Dataset) -> str:
    """`compositional` for what tests new compositions (DBCA splits, synthesised sets), else the method's name."""
    settings = dataset.facts.get("settings")
    method = settings.get("method") if isinstance(settings, dict) else None
    return _METHODS.get(method, method) if isinstance(method, str) else COMPOSITIONAL


def parts_of(split: Split) -> Iterator[Part]:
    """The test side as a whole, then, in a synthesised set, its structural and lexical halves (§III-B)."""
    yield Part(split.name, split, split.dataset.test)
    halves: dict[str, list[Problem]] = {}
    for problem in split.dataset.test:
        if problem.composition:
            halves.setdefault(problem.composition, []).append(problem)
    for name in sorted(halves, reverse=True):  # structural first, as in the paper's tables
        own = name if split.name == COMPOSITIONAL else f"{split.name}-{name}"
        yield Part(own, split, tuple(halves[name]))
