"""Reading untrusted or damaged files: JSON and YAML, bounded in size, depth and digits.

Every defect is reported in one line that names the file. `load_model` validates against a pydantic model, so that
callers never meet a list where a mapping was expected.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from comdiv.errors import ComdivError

LARGEST_FILE = 256 * 2**20  # bytes, of a file that is read in one go
LARGEST_LINE = 8 * 2**20  # characters, of one record
LARGEST_YAML = 2**20  # bytes: plans and configurations are written by hand
DEEPEST = 64  # levels of nested lists and mappings
MOST_DIGITS = 300  # of one number: a longer one does not even fit a float
_LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS}}}")
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that is only half of a surrogate pair

Model = TypeVar("Model", bound=BaseModel)


def parse_json(text: str) -> Any:
    """`json.loads` that also raises `ValueError` for input too deep, too long, or with half a surrogate pair."""
    if len(text) > LARGEST_FILE:
        raise ValueError(f"{len(text):,} characters are too many")
    if _LONG_NUMBER.search(text):
        raise ValueError(f"a number of {MOST_DIGITS} digits or more")
    try:
        value = json.loads(text)
        if text.count("[") + text.count("{") > DEEPEST and _is_deeper(value, DEEPEST):
            raise ValueError("nested too deeply")
        if _HALF_A_CHARACTER.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("an escape such as \\ud800 that is only half a character") from None
    return value


def _is_deeper(value: Any, depth: int) -> bool:
    """Whether lists and mappings are nested more than `depth` levels deep; computed without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(depth):
        inner = (part for outer in level for part in (outer.values() if isinstance(outer, dict) else outer))
        level = [part for part in inner if isinstance(part, dict | list)]
    return bool(level)


def read_bounded(path: Path, largest: int = LARGEST_FILE) -> str:
    """The whole text of a file; one that is too large, unreadable or not UTF-8 is an error."""
    try:
        size = path.stat().st_size
        if size > largest:
            raise ComdivError(f"{path}: {size:,} bytes; at most {largest:,} are read")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ComdivError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise ComdivError(f"{path}: {error.strerror or error}") from error


def load_json(path: Path) -> Any:
    """The value of a JSON file."""
    try:
        return parse_json(read_bounded(path))
    except ValueError as error:
        raise ComdivError(f"{path}: not valid JSON: {error}") from error


def load_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; any other value is an error."""
    value = load_json(path)
    if not isinstance(value, dict):
        raise ComdivError(f"{path}: not a JSON object")
    return value


def load_yaml(path: Path) -> Any:
    """The value of a YAML file."""
    import yaml

    try:
        value = yaml.safe_load(read_bounded(path, LARGEST_YAML))
    except RecursionError:
        raise ComdivError(f"{path}: nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ComdivError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if _is_deeper(value, DEEPEST):
        raise ComdivError(f"{path}: nested too deeply")
    return value


def load_model(path: Path, model: type[Model]) -> Model:
    """A JSON file validated against a model; an error names the first thing that does not fit."""
    return validate(load_json(path), model, str(path))


def validate(value: Any, model: type[Model], where: str) -> Model:
    """A value validated against a model."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ComdivError(f"{where}: {place + ': ' if place else ''}{first['msg']}") from error


def read_json_lines(path: Path, damaged: Callable[[int, str], None] | None = None) -> Iterator[tuple[int, Any]]:
    """The records of a JSON Lines file with their line numbers, one at a time; blank lines are skipped.

    A line that is not JSON is an error, unless `damaged` is given to record it. Overlong lines are not kept in memory.
    """
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(_bounded_lines(stream.readline), start=1):
                try:
                    if line is None:
                        raise ValueError(f"a line of more than {LARGEST_LINE:,} characters")
                    if line.strip():
                        yield number, parse_json(line)
                except ValueError as error:
                    if damaged is None:
                        raise ComdivError(f"{path}, line {number}: not valid JSON: {error}") from error
                    damaged(number, f"not valid JSON: {error}")
    except OSError as error:
        raise ComdivError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ComdivError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error


def _bounded_lines(readline: Callable[[int], str]) -> Iterator[str | None]:
    """The lines; None in place of each one that is too long."""
    while line := readline(LARGEST_LINE + 1):
        if len(line) <= LARGEST_LINE:
            yield line
            continue
        while line and not line.endswith("\n"):
            line = readline(LARGEST_LINE)
        yield None
