"""What there is to export: the splits of a folder, and the parts of their test sides."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from comdiv.dataset import FACTS, Dataset, read_dataset
from comdiv.errors import ComdivError
from comdiv.problem import Problem

COMPOSITIONAL, IID = "compositional", "iid"
_METHODS = {"dbca": COMPOSITIONAL, "iid": IID}


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
    found = [Split(_own_name(dataset := read_dataset(folder)), folder, dataset)] if (folder / FACTS).is_file() else []
    inner = sorted(path.parent for path in folder.glob(f"*/{FACTS}")) if folder.is_dir() else []
    found += [Split(path.name, path, read_dataset(path)) for path in inner]
    if not found:
        raise ComdivError(f"{folder} is no complete dataset folder, nor are there any in it: no {FACTS}")
    names = [split.name for split in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ComdivError(f"{folder} holds two splits that would be called '{twice[0]}': export them one by one")
    return found


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
