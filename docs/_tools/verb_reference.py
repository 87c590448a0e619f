"""The reference of verbs, from the functions that the command line is made of."""

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.models import ArgumentInfo

from comdiv.cli.options import expanded

NAMES = {"str": "text", "int": "whole number", "float": "number", "Path": "file or folder"}


def verbs_page() -> str:
    """Every verb with its arguments, options, defaults and examples."""
    from comdiv.cli import app

    lines = ["# Verbs", "", "Made from the code: the same as `comdiv VERB --help`.", ""]
    for name, info in _entries(app):
        lines += _verb(f"comdiv {name}", info) if callable(info.callback) else _group(f"comdiv {name}", info)
    return "\n".join(lines) + "\n"


def _entries(app: typer.Typer) -> Iterator[tuple[str, Any]]:
    """The verbs of an application in their order, those that the registry knows, then its groups of verbs."""
    plugged_in = getattr(app.info.cls, "entries", tuple)()
    for command in (*app.registered_commands, *plugged_in):
        if command.callback is not None:
            yield command.name or command.callback.__name__.replace("_", "-").strip("-"), command
    for group in app.registered_groups:
        yield group.name or "", group


def _group(name: str, group: Any) -> Iterator[str]:
    inner = group.typer_instance
    text = group.help if isinstance(group.help, str) else inner.info.help
    yield from (f"## {name}", "", _text(text if isinstance(text, str) else ""), "")
    for verb, info in _entries(inner):
        yield from _verb(f"{name} {verb}", info, level=3)


def _verb(name: str, info: Any, level: int = 2) -> Iterator[str]:
    yield from (f"{'#' * level} {name}", "", _text(info.help or inspect.getdoc(info.callback) or ""), "")
    params = list(_params(info.callback))
    arguments = [usage for usage, _, is_argument in params if is_argument]
    options = ["[OPTIONS]"] if len(arguments) < len(params) else []
    yield from ("```text", " ".join([name, *arguments, *options]), "```", "")
    if params:
        yield from ("| argument or option | takes | default | what it says |", "| --- | --- | --- | --- |")
        yield from (row for _, row, _ in sorted(params, key=lambda param: not param[2]))
        yield ""
    if info.epilog:
        yield from (_text(info.epilog), "")


def _params(function: Callable[..., Any]) -> Iterator[tuple[str, str, bool]]:
    """For each parameter: how it is written, its row of the table, and whether it is an argument."""
    function = expanded(function)
    hints = typing.get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        kind, *notes = typing.get_args(hints[parameter.name]) or (hints[parameter.name],)
        info = notes[0] if notes else typer.Option()
        if getattr(info, "hidden", False):
            continue
        required = parameter.default is inspect.Parameter.empty
        is_argument = isinstance(info, ArgumentInfo)
        name = _argument(parameter.name, info, required) if is_argument else _option(parameter.name, info, kind)
        shown = _cell(", ".join(f"`{part}`" for part in name.split(", ")))
        default = "required" if required else _default(parameter.default)
        row = f"| {shown} | {_cell(_takes(kind))} | {_cell(default)} | {_cell(_text(info.help or ''))} |"
        yield name, row, is_argument


def _argument(name: str, info: Any, required: bool) -> str:
    metavar = info.metavar or name.upper()
    return metavar if required else f"[{metavar}]"


def _option(name: str, info: Any, kind: Any) -> str:
    # Within Annotated the first name stands where the default would.
    first = [info.default] if isinstance(info.default, str) and info.default.startswith("-") else []
    if names := [*first, *(info.param_decls or ())]:
        return ", ".join(part for one in names for part in one.split("/"))
    flag = name.replace("_", "-")
    return f"--{flag}, --no-{flag}" if kind is bool else f"--{flag}"


def _takes(kind: Any) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_takes(argument) for argument in arguments if argument is not type(None))
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (list, tuple):
        return f"{_takes(arguments[0])}, again and again"
    return "" if kind is bool else NAMES.get(getattr(kind, "__name__", ""), getattr(kind, "__name__", str(kind)))


def _default(value: Any) -> str:
    if value is None or value is False:
        return ""
    return "yes" if value is True else f"`{value}`"


def _text(text: str) -> str:
    """Without the terminal's markup; what looks like a tag is code."""
    plain = re.sub(r"\[/?(?:bold|dim|italic)\]", "", " ".join(text.split()))
    return re.sub(r"(?<!`)<[^>]*>", lambda found: f"`{found.group()}`", plain)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
