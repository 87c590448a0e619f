"""Progress reports and notes: silent by default in programs; the command line shows them as bars and lines."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from comdiv.solver import Progress

T = TypeVar("T")


class Observer:
    """An observer that ignores everything; override the methods you need."""

    def note(self, message: str) -> None:
        """A line besides the results: what was left out, what exists already."""

    @contextmanager
    def progress(self, what: str) -> Iterator["Progress"]:
        """A function to report progress with, for the duration of one piece of work."""
        del what
        yield lambda what, done, total, note: None

    def tracked(self, items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
        """The same items, counted as they are consumed; the total may be unknown."""
        del what, total
        return items


SILENT = Observer()
