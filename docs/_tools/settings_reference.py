"""The reference of settings and of plans, from the classes that check them: keys, options, types, defaults, help."""

import inspect
import re
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from comdiv.settings import SettingEntry, Settings, entries

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
TYPES = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false", "Any": "anything"}


def settings_page() -> str:
    """Every settings class: its fields, which are keys of plans and options of verbs."""
    lines = [
        "# Settings",
        "",
        "Generated from the code. The key is the name in Python and in a [plan](plans.md), the option that of its "
        "[verb](verbs.md).",
        "",
    ]
    for title, verb, settings, rows in _classes():
        about = " ".join((inspect.getdoc(settings) or "").split())
        lines += [
            f"## {title}",
            "",
            f"`{settings.__name__}`: {about} {verb}",
            "",
            *_table(rows, options=not title.startswith("Solver")),
        ]
    for preset in ("cpu", "paper"):
        lines += _preset(preset)
    return "\n".join(lines) + "\n"


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
        lines += _section(model)
    lines += ["## The plans in `experiments/`", "", "| plan | title | reproduces |", "| --- | --- | --- |"]
    lines += [_plan_row(path) for path in sorted(EXPERIMENTS.glob("*.yaml"))]
    return "\n".join(lines) + "\n"


def _classes() -> Iterator[tuple[str, str, type[Settings], list[SettingEntry]]]:
    """A title, the verbs, the class and the settings to show of it."""
    from comdiv import (
        AskSettings,
        AugmentationOptions,
        ComparisonSettings,
        CorpusOptions,
        SolverSettings,
        SolvingSettings,
        SplitSeries,
        SplitSettings,
        SynthesisOptions,
    )
    from comdiv.registry import EXPORTS
    from comdiv.solvers.hyperparameters import SETTINGS_CLASSES

    for title, verbs, settings in (
        ("Reading a corpus", "For all verbs that take a corpus.", CorpusOptions),
        ("Splitting", "For `comdiv split`; `comdiv measure` takes those of the clustering.", SplitSettings),
        ("Several splits", "For `comdiv split`.", SplitSeries),
        ("Synthesis", "For `comdiv synthesize`.", SynthesisOptions),
        ("Augmentation", "For `comdiv augment`; without an option, the preset's value holds.", AugmentationOptions),
        ("Solving", "For `comdiv solve` and `comdiv evaluate`.", SolvingSettings),
        (
            "Asking",
            "For `comdiv ask`, `ask` in a plan, and `comdiv augment --solver ask --set KEY=VALUE`.",
            AskSettings,
        ),
        ("Comparison", "For `comdiv compare`.", ComparisonSettings),
        ("Solvers", "For `comdiv train --set KEY=VALUE`.", SolverSettings),
    ):
        yield title, verbs, settings, list(entries(settings))
    for name, settings in SETTINGS_CLASSES.items():
        if own := [entry for entry in entries(settings) if entry.key not in SolverSettings.model_fields]:
            yield f"Solver {name}", "Beside the common ones.", settings, own
    for name, export in EXPORTS.items():
        if rows := list(entries(export.settings)):
            yield f"Export {name}", f"For `comdiv export {name}`.", export.settings, rows


def _preset(preset: str) -> Iterator[str]:
    """What a preset of the solvers changes, one column for each solver."""
    from comdiv.solvers.hyperparameters import SETTINGS_CLASSES, settings_for

    columns = {name: settings_for(name, preset).model_dump(exclude_defaults=True) for name in SETTINGS_CLASSES}
    yield from (f"## The preset `{preset}` of the solvers", "", "What is not named has its default.", "")
    yield from (f"| key | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}")
    for key in sorted({key for values in columns.values() for key in values}):
        cells = (f"`{values[key]}`" if key in values else "" for values in columns.values())
        yield f"| `{key}` | {' | '.join(cells)} |"
    yield ""


def _section(model: type[BaseModel], note: str = "") -> Iterator[str]:
    yield from (f"## {_title(model)}", "", " ".join(part for part in (inspect.getdoc(model) or "", note) if part), "")
    yield from _table(entries(model), options=False)


def _table(rows: Iterable[SettingEntry], *, options: bool) -> Iterator[str]:
    head = ["key", *(["option"] if options else []), "takes", "default", "what it says"]
    yield from (f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}")
    for entry in rows:
        option = [_option(entry)] if options else []
        cells = [
            f"`{entry.key}`",
            *option,
            _takes(entry.field.annotation),
            _default(entry),
            entry.field.description or "",
        ]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _option(entry: SettingEntry) -> str:
    """The names of the option; none where a program sets it."""
    return ", ".join(f"`{name}`" for name in entry.names) if entry.shown else ""


def _models(model: type[BaseModel], seen: dict[str, type[BaseModel]] | None = None) -> list[type[BaseModel]]:
    """A model and all that its fields are made of, each once, in the order of the fields."""
    seen = {} if seen is None else seen
    seen.setdefault(model.__name__, model)
    for entry in entries(model):
        for inner in _inner(entry.field.annotation):
            if inner.__name__ not in seen:
                _models(inner, seen)
    return list(seen.values())


def _inner(annotation: Any) -> Iterator[type[BaseModel]]:
    if _is_model(annotation):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _inner(argument)


def _is_model(annotation: Any) -> bool:
    plain = inspect.isclass(annotation) and not isinstance(annotation, types.GenericAlias)
    return plain and issubclass(annotation, BaseModel)


def _title(model: type[BaseModel]) -> str:
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", model.__name__.removesuffix("Plan")).lower()
    return (words or "plan").capitalize()


def _takes(annotation: Any) -> str:
    if annotation is type(None):
        return "nothing"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_takes(argument) for argument in arguments)
    if origin in (tuple, list):
        return f"list of {_takes(arguments[0])}"
    if origin is dict:
        return f"name → {_takes(arguments[1])}"
    if _is_model(annotation):
        return f"[{_title(annotation).lower()}](#{_title(annotation).lower().replace(' ', '-')})"
    shown = getattr(annotation, "__name__", str(annotation))
    return TYPES.get(shown, "file or folder" if shown == "Path" else shown)


def _default(entry: SettingEntry) -> str:
    if entry.field.default_factory is not None:
        return ""
    value = entry.field.default
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", ()):
        return ""
    return f"`{', '.join(map(str, value)) if isinstance(value, tuple) else value}`"


def _plan_row(path: Path) -> str:
    import yaml

    record = yaml.safe_load(path.read_text(encoding="utf-8"))
    return f"| `{path.name}` | {record.get('title', '')} | {record.get('reproduces', '')} |"
