"""The result of a verification: what was checked, what differs, and what could not be checked and why."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError, shortened
from comdiv.files import file_sha256

HASHES = "hashes of files"
KEYS = "keys of cells"
NUMBERS = "numbers from predictions or outcomes"
COUNTS = "counts, shares and sums"
CURVES = "trainings from their curves"
DIVERGENCES = "divergences and other measures"
PARTS = "datasets from corpora"
PAGES = "lines of pages"
READABLE = "files that can be read"
_CLOSE = 1e-9  # relative: another machine may add in another order


@dataclass(frozen=True, slots=True)
class Difference:
    """One discrepancy: `expected` follows from the rest of the data, `found` is what the file says."""

    what: str
    file: str
    key: str
    expected: str
    found: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.key}" if self.key else self.file
        return f"{place}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result: the number of checks of each kind, the differences, and why checks were skipped."""

    checked: Mapping[str, int]
    differences: tuple[Difference, ...]
    unchecked: Mapping[tuple[str, str], int]  # what and why → how often

    @property
    def is_true(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def rows(self) -> Iterator[tuple[str, int, int, int]]:
        """For each kind of check: its name, and the numbers of checks, of differences and of skipped checks."""
        differing = Counter(difference.what for difference in self.differences)
        skipped: Counter[str] = Counter()
        for (what, _), count in self.unchecked.items():
            skipped[what] += count
        for what in dict.fromkeys((*self.checked, *differing, *skipped)):
            yield what, self.checked.get(what, 0), differing[what], skipped[what]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "true": self.is_true,
            "checked": dict(self.checked),
            "differences": [asdict(difference) for difference in self.differences],
            "unchecked": [{"what": what, "why": why, "times": n} for (what, why), n in self.unchecked.items()],
        }


@dataclass(slots=True)
class Ledger:
    """Collects checks while a verification goes on; files are named relative to `root`."""

    root: Path
    checked: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    unchecked: Counter[tuple[str, str]] = field(default_factory=Counter)

    def name(self, file: Path | str) -> str:
        """A file as messages name it."""
        path = Path(file)
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(file)

    def same(self, what: str, file: Path | str, key: str, expected: Any, found: Any) -> None:
        """Check values, and everything in mappings and lists, one by one."""
        if expected and isinstance(expected, Mapping) and isinstance(found, Mapping):
            for name in dict.fromkeys((*expected, *found)):
                place = f"{key}.{name}" if key else str(name)
                self.same(what, file, place, expected.get(name, _NOTHING), found.get(name, _NOTHING))
        elif expected and isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
            for number, (one, other) in enumerate(zip(expected, found, strict=True)):
                self.same(what, file, f"{key}[{number}]", one, other)
        else:
            self.checked[what] += 1
            if not _agree(expected, found):
                self.differ(what, file, key, expected, found)

    def hashed(self, file: Path, recorded: Any, key: str = "sha256") -> None:
        """Check a file against the SHA-256 that is recorded for it."""
        self.same(HASHES, file, key, recorded, file_sha256(file) if file.is_file() else "no file")

    def skip(self, what: str, why: str) -> None:
        """Record that something could not be checked."""
        self.unchecked[what, why] += 1

    @contextmanager
    def reading(self, file: Path | str) -> Iterator[None]:
        """Turns a damaged file into a difference; it ends only the checks of this block."""
        self.checked[READABLE] += 1
        try:
            yield
        except ComdivError as error:
            self.differ(READABLE, file, "", "a file that can be read", str(error))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:  # another shape than ours
            self.differ(READABLE, file, "", "a file as comdiv writes it", f"{type(error).__name__} {error}")

    def differ(self, what: str, file: Path | str, key: str, expected: Any, found: Any) -> None:
        """Record a difference."""
        self.differences.append(Difference(what, self.name(file), key, _said(expected), _said(found)))

    def result(self) -> Verification:
        """The result so far."""
        return Verification(dict(self.checked), tuple(self.differences), dict(self.unchecked))


_NOTHING = "nothing"


def _agree(expected: Any, found: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, int | float) and not isinstance(found, bool):
        return math.isclose(expected, found, rel_tol=_CLOSE, abs_tol=1e-12)
    return type(expected) is type(found) and bool(expected == found)


def _said(value: Any) -> str:
    return shortened(value if isinstance(value, str) else repr(value), 120)
