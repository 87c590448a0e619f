"""The reference of plans, from the models that check them: keys, types, defaults, and the comments beside them."""

import inspect
import io
import re
import tokenize
import types
import typing
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

OPTIONS = (
    ("comdiv.synthesis.assembly", "SynthesisOptions", "datasets.NAME.synthesize"),
    ("comdiv.augmentation.options", "AugmentationOptions", "augmentations.NAME.options"),
)
EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def plans_page() -> str:
    """Every key of a plan, then the plans that come with comdiv."""
    from comdiv.experiments.plan import Plan

    lines = [
        "# Plans",
        "",
        "Generated from the code. How to write and run a plan: [run experiments](../how-to/run-experiments.md).",
        "",
    ]
    for model in _models(Plan):
        lines += _model(model)
    for module, name, where in OPTIONS:
        if find_spec(module.rpartition(".")[0]):
            lines += _model(getattr(import_module(module), name), f"What `{where}` takes.")
    lines += ["## The plans in `experiments/`", "", "| plan | title | reproduces |", "| --- | --- | --- |"]
    lines += [_plan_row(path) for path in sorted(EXPERIMENTS.glob("*.yaml"))]
    return "\n".join(lines) + "\n"


def _models(model: type[BaseModel], seen: dict[str, type[BaseModel]] | None = None) -> list[type[BaseModel]]:
    """A model and all that its fields are made of, each once, in the order of the fields."""
    seen = {} if seen is None else seen
    seen.setdefault(model.__name__, model)
    for field in model.model_fields.values():
        for inner in _inner(field.annotation):
            if inner.__name__ not in seen:
                _models(inner, seen)
    return list(seen.values())


def _inner(annotation: Any) -> Iterator[type[BaseModel]]:
    if (
        inspect.isclass(annotation)
        and not isinstance(annotation, types.GenericAlias)
        and issubclass(annotation, BaseModel)
    ):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _inner(argument)


def _model(model: type[BaseModel], note: str = "") -> Iterator[str]:
    yield from (f"## {_title(model)}", "", " ".join(part for part in (inspect.getdoc(model) or "", note) if part), "")
    yield from ("| key | takes | default | |", "| --- | --- | --- | --- |")
    comments = _comments(model)
    for name, field in model.model_fields.items():
        takes = _type(field.annotation).replace("|", "\\|")
        yield f"| `{name}` | {takes} | {_default(field)} | {field.description or comments.get(name, '')} |".replace(
            "|  |", "| |"
        )
    yield ""


def _title(model: type[BaseModel]) -> str:
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", model.__name__.removesuffix("Plan")).lower()
    return (words or "plan").capitalize()


def _comments(model: type[BaseModel]) -> dict[str, str]:
    """The comment at the end of a field's line: it says there what the field is for."""
    found: dict[str, str] = {}
    name = ""
    for token in tokenize.generate_tokens(io.StringIO(inspect.getsource(model)).readline):
        if token.type == tokenize.NAME and re.match(rf"\s*{token.string}\s*:", token.line):
            name = token.string
        elif token.type == tokenize.COMMENT and name and token.line.lstrip().startswith(name):
            found.setdefault(name, token.string.lstrip("# "))
    return found


def _type(annotation: Any) -> str:
    if annotation is type(None):
        return "nothing"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(argument) for argument in arguments)
    if origin in (tuple, list):
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"name → {_type(arguments[1])}"
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return f"[{_title(annotation).lower()}](#{_title(annotation).lower().replace(' ', '-')})"
    names = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false", "Any": "anything"}
    shown = getattr(annotation, "__name__", str(annotation))
    return names.get(shown, shown)


def _default(field: Any) -> str:
    if field.default_factory is not None:
        return ""
    if field.default is PydanticUndefined:
        return "required"
    if field.default is None or field.default == "" or field.default == ():
        return ""
    value = ", ".join(map(str, field.default)) if isinstance(field.default, tuple) else str(field.default)
    return f"`{value}`"


def _plan_row(path: Path) -> str:
    import yaml

    record = yaml.safe_load(path.read_text(encoding="utf-8"))
    return f"| `{path.name}` | {record.get('title', '')} | {record.get('reproduces', '')} |"
