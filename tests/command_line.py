"""The command line as a user meets it, for tests: it works, or answers in one line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from comdiv.cli import app
from comdiv.errors import ComdivError

RUNNER = CliRunner()


def run(*arguments: str | Path, columns: int | None = None) -> Result:
    """Run a command that must work; `columns` is the width of its terminal."""
    width = {} if columns is None else {"COLUMNS": str(columns)}
    result = RUNNER.invoke(app, [str(argument) for argument in arguments], env=width)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments: str | Path) -> str:
    """The one line that a user's mistake is answered with."""
    with pytest.raises(ComdivError) as error:
        run(*arguments)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    return message
