"""Errors for a user's mistakes, as opposed to bugs.

A `ComdivError` is shown as one line without a traceback; any other exception is a bug and keeps its traceback.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

LONGEST_MESSAGE = 2_000  # characters: room for a list of known names


class ComdivError(Exception):
    """A mistake in the input or the options: the message says what is wrong, where, and what would be right.

    It is one line of bounded length, whatever names from a stranger's file it quotes.
    """

    def __init__(self, message: str) -> None:
        fits = message.isprintable() and len(message) <= LONGEST_MESSAGE
        super().__init__(message if fits else shortened(message, LONGEST_MESSAGE))


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put the place of a mistake, a file and line or a key of a plan, before its message."""
    try:
        yield
    except ComdivError as error:
        raise ComdivError(f"{place}: {error}") from error


@contextmanager
def disk_errors(subject: object) -> Iterator[None]:
    """What the file system refuses is for the user to mend: one line, beginning with the `subject`."""
    try:
        yield
    except OSError as error:
        raise ComdivError(f"{subject}: {error.strerror or error}") from error


def plain_spelling(name: str) -> str:
    """A name in comdiv's spelling: lower case, hyphens between words."""
    return name.lower().replace("_", "-").replace(" ", "-")


def unknown_name(what: str, name: str, known: Iterable[str]) -> ComdivError:
    """The error for an unknown name: it suggests the nearest known one and lists them all."""
    names = sorted(known)
    spelled = {plain_spelling(name): name for name in names}
    near = difflib.get_close_matches(plain_spelling(name), spelled, n=1, cutoff=0.5)
    hint = f" Did you mean '{spelled[near[0]]}'?" if near else ""
    return ComdivError(f"unknown {what} '{name}'.{hint} Known: {', '.join(names)}")


def shortened(text: str, most: int = 60) -> str:
    """A text as part of a one-line message: printable, without lone surrogates, and not too long."""
    line = "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"
