"""Reading untrusted or damaged files: JSON and YAML, bounded in size, depth and digits.

Every defect is reported in one line that names the file. `load_model` validates against a pydantic model, so that
callers never meet a list where a mapping was expected.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from comdiv.errors import ComdivError, shortened

LARGEST_FILE = 256 * 2**20  # bytes, of a file that is read in one go
LARGEST_LINE = 8 * 2**20  # characters, of one record
LARGEST_YAML = 2**20  # bytes: plans and configurations are written by hand
DEEPEST = 64  # levels of nested lists and mappings
MOST_DIGITS = 300  # of one number: a longer one does not even fit a float
MOST_VALUES = 200_000  # of a YAML file, with aliases expanded
_LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS}}}")
_LARGE_EXPONENT = re.compile(r"[0-9.][eE]\+?[0-9]{3}")
_LIKE_A_NUMBER = re.compile(r"[-+.0-9][-+.:0-9_a-fA-FxX]*")
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that is only half of a surrogate pair

Model = TypeVar("Model", bound=BaseModel)


def parse_json(text: str) -> Any:
    """`json.loads` that also raises `ValueError` for input too deep or too long.

    An escape that is only half a character (a model's output, cut off in an emoji) becomes U+FFFD.
    """
    if len(text) > LARGEST_FILE:
        raise ValueError(f"{len(text):,} characters are too many")
    if _LONG_NUMBER.search(text):
        raise ValueError(f"a number of {MOST_DIGITS} digits or more")
    try:
        value = json.loads(text, parse_float=_finite if _LARGE_EXPONENT.search(text) else None)
        if text.count("[") + text.count("{") > DEEPEST and _is_deeper(value, DEEPEST):
            raise ValueError("nested too deeply")
        if _HALF_A_CHARACTER.search(text):
            plain = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            value = json.loads(plain)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _finite(text: str) -> float:
    """A number with an exponent; one too large for a float must not become infinity."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {shortened(text, 20)} is too large")
    return number


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


def load_yaml(path: Path, what: str = "YAML") -> Any:
    """The value of a YAML file; a key that occurs twice is an error, instead of the second silently winning."""
    import yaml

    text = read_bounded(path, LARGEST_YAML)
    try:
        _check_yaml(text)
        return yaml.load(text, _unique_keys_loader())
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ComdivError(f"{path}: not {what}: {' '.join(str(error).split())}") from error


def load_mapping(path: Path, what: str) -> dict[str, Any]:
    """The mapping in a YAML file; any other value is an error. `what` the file should be: a plan."""
    value = load_yaml(path, what)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ComdivError(f"{path}: not {what}: a mapping of names to values is expected")
    return value


def _check_yaml(text: str) -> None:
    """Refuse a file that is too deep, too long or too large before building any of it; aliases count in full."""
    import yaml

    sizes: dict[str, int] = {}  # values behind an anchor
    open_nodes: list[tuple[str | None, int]] = [(None, 0)]  # anchors of open collections, and their values so far
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, 1))
            if len(open_nodes) > DEEPEST:
                raise ValueError("nested too deeply")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.ScalarEvent):
            anchor, size = event.anchor, 1
            event.value.encode()  # raises for half a character
            if len(event.value) >= MOST_DIGITS and event.implicit[0] and _LIKE_A_NUMBER.fullmatch(event.value):
                raise ValueError(f"a number of {MOST_DIGITS} digits or more")
        elif isinstance(event, yaml.AliasEvent):
            anchor, size = None, sizes.get(event.anchor or "", MOST_VALUES + 1)  # unknown: an alias of what contains it
        else:
            continue
        if anchor:
            sizes[anchor] = size
        outer, total = open_nodes[-1]
        open_nodes[-1] = outer, total + size
        if total + size > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values")


@cache
def _unique_keys_loader() -> type[Any]:
    import yaml

    safe_loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class UniqueKeys(safe_loader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            names: set[str] = set()
            for key, _ in node.value:
                name = f"{key.tag} {key.value}"
                if name in names:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key '{key.value}' occurs twice", key.start_mark
                    )
                names.add(name)
            mapping: dict[Any, Any] = super().construct_mapping(node, deep)
            return mapping

    return UniqueKeys


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


def read_json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers; any other value is an error."""
    for number, record in read_json_lines(path):
        if not isinstance(record, dict):
            raise ComdivError(f"{path}, line {number}: not a JSON object")
        yield number, record


def _bounded_lines(readline: Callable[[int], str]) -> Iterator[str | None]:
    """The lines; None in place of each one that is too long."""
    while line := readline(LARGEST_LINE + 1):
        if len(line) <= LARGEST_LINE:
            yield line
            continue
        while line and not line.endswith("\n"):
            line = readline(LARGEST_LINE)
        yield None
