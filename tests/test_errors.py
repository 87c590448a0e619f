"""A user's mistake is one line, whatever a stranger's file puts into its message."""

import pickle

import pytest

from comdiv.errors import LONGEST_MESSAGE, ComdivError


@pytest.mark.parametrize("name", ["two\nlines", "a" * 70_000, "half \ud800 a character", "\x1b[2J\a", "\r\n\t\0"])
def test_a_message_is_one_printable_line_of_bounded_length(name: str) -> None:
    message = str(ComdivError(f"there is no problem '{name}'"))
    assert message.startswith("there is no problem ")
    assert message.isprintable()
    assert len(message) <= LONGEST_MESSAGE
    assert message.encode()


def test_an_ordinary_message_is_left_as_it_is() -> None:
    assert str(ComdivError("mine.csv, line 3:  两  spaces")) == "mine.csv, line 3:  两  spaces"


def test_an_error_travels_between_processes() -> None:
    assert str(pickle.loads(pickle.dumps(ComdivError("no such file")))) == "no such file"  # noqa: S301
