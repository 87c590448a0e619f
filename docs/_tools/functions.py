"""The reference of Python functions: everything that `import comdiv` offers, with signatures and docstrings."""

import dataclasses
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any


def functions_page() -> str:
    """The public names, by the package that they belong to."""
    import comdiv

    groups: dict[str, list[str]] = defaultdict(list)
    for name in comdiv.__all__:
        if name != "__version__":
            groups[_package(getattr(comdiv, name))].append(name)
    lines = [
        "# Python functions", "",
        "Generated from the code. Import these names from `comdiv`; each is loaded when it is first used:", "",
        "```python", "from comdiv import SplitSettings, measure, split", "```", "",
    ]  # fmt: skip
    for group in sorted(groups):
        lines += [f"## {group}", ""]
        for name in sorted(groups[group], key=str.lower):
            lines += _entry(name, getattr(comdiv, name))
    return "\n".join(lines) + "\n"


def _package(value: Any) -> str:
    parts = value.__module__.split(".")
    return ".".join(parts[:2])


def _entry(name: str, value: Any) -> Iterator[str]:
    yield from (f"### {name}", "", "```python", _signature(name, value), "```", "")
    text = inspect.getdoc(value) or ""
    if text and not text.startswith(f"{name}("):  # a dataclass without words has its signature there
        yield from (re.sub(r"(?<!`)<([^>]*)>", r"`<\1>`", text), "")


def _signature(name: str, value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, BaseException):
        return f"class {name}({value.__base__.__name__})"
    try:
        signature = inspect.signature(value)
    except ValueError:
        return name
    kind = "class " if inspect.isclass(value) else ""
    whole = re.sub(r"<function (?:<lambda>|\w+\.<locals>[^ ]*) at [^>]*>", "…", str(signature))
    whole = re.sub(r"<function ([\w.]+) at [^>]*>", r"\1", whole)
    whole = re.sub(r"<factory>|<[^<>]* at 0x[^>]*>", "…", whole)
    whole = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Za-z_])", "", whole)
    if dataclasses.is_dataclass(value):
        whole = whole.removesuffix(" -> None")
    if len(name) + len(whole) <= 96:
        return f"{kind}{name}{whole}"
    inside, _, result = whole.rpartition(")")
    return f"{kind}{name}(\n    {_broken(inside[1:])},\n){result}"


def _broken(inside: str) -> str:
    """One parameter per line: commas within brackets stay where they are."""
    depth, pieces, start = 0, [], 0
    for place, character in enumerate(inside):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            pieces.append(inside[start:place].strip())
            start = place + 1
    return ",\n    ".join([*pieces, inside[start:].strip()])
