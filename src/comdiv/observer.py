"""Who is told how a piece of work goes. A program hears nothing by default; the command line shows bars and notes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from comdiv.solver import Progress

T = TypeVar("T")


class Observer:
    """An observer that keeps silent; override what you want to hear of."""

    def note(self, message: str) -> None:
        """A line beside the results: what was left out, what is there already."""

    @contextmanager
    def progress(self, what: str) -> Iterator["Progress"]:
        """A function to report progress with, while a piece of work lasts."""
        del what
        yield lambda what, done, total, note: None

    def tracked(self, items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
        """The same items, counted as they are taken; the total may be unknown."""
        del what, total
        return items


SILENT = Observer()
