"""The options of a verb, made from the settings classes that it takes.

    @takes(settings=Options("comdiv.synthesis:SynthesisOptions"))
    def synthesize(source: Source, settings: "SynthesisOptions") -> None: ...

A settings class is imported only when its verb is called: `comdiv --help` needs none of them.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info
from typer.models import CommandInfo

from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.settings import SettingEntry, Settings

_EXPANDED = "__expanded__"  # attribute of a verb's function: makes the function with all options


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a settings class gives a verb: all, all but some, or only some.

    With `said_only` the verb gets a mapping of only the options that the user gave; defaults come from elsewhere.
    """

    settings: "str | type[Settings]"  # the class, or module:class
    without: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    said_only: bool = False
    show_defaults: bool = False  # with `said_only`: the defaults are the class's own, unless a preset has others

    def load(self) -> "type[Settings]":
        """The settings class."""
        if not isinstance(self.settings, str):
            return self.settings
        module, _, name = self.settings.partition(":")
        loaded: type[Settings] = getattr(import_module(module), name)
        return loaded

    def entries(self) -> "Iterator[SettingEntry]":
        """The settings that become options."""
        from comdiv.settings import entries

        for entry in entries(self.load()):
            if entry.shown and entry.key not in self.without and (self.only is None or entry.key in self.only):
                yield entry

    def value(self, said: Mapping[str, Any]) -> Any:
        """What the verb gets: the settings, or only the options that were given."""
        values = {entry.key: _read(entry, said[entry.key]) for entry in self.entries() if said[entry.key] is not None}
        return values if self.said_only else self.load().checked(**values)


def takes(**settings: Options) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb's function settings as parameters; on the command line, each becomes its options."""

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        def placeholder() -> None:
            """Stands for a verb without its options; the command makes the real one when it is called."""

        placeholder.__name__, placeholder.__doc__ = verb.__name__, verb.__doc__
        setattr(placeholder, _EXPANDED, cache(lambda: _expanded(verb, settings)))
        return placeholder

    return decorate


def expanded(verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb's function with one parameter per option."""
    make: Callable[[], Callable[..., Any]] | None = getattr(verb, _EXPANDED, None)
    return verb if make is None else make()


def _expanded(verb: Callable[..., None], settings: Mapping[str, Options]) -> Callable[..., None]:
    classes = {options.load().__name__: options.load() for options in settings.values()}
    hints = get_type_hints(verb, localns=classes, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.name in settings:
            options = settings[parameter.name]
            parameters += (_parameter(entry, options) for entry in options.entries())
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=kind, annotation=hints[parameter.name]))

    @wraps(verb)
    def call(**said: Any) -> None:
        values = {name: options.value(said) for name, options in settings.items()}
        taken = {entry.key for options in settings.values() for entry in options.entries()}
        verb(**{name: value for name, value in said.items() if name not in taken}, **values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parameter(entry: "SettingEntry", options: Options) -> inspect.Parameter:
    """A setting as a parameter of a function, in the form that typer reads."""
    kind = _kind(entry)
    low, high = (_bound(entry, name) for name in ("ge", "le"))
    names = entry.names
    can_be_off = options.said_only or entry.default is True  # a switch that is off by default needs no --no-NAME
    if kind is bool and can_be_off and "/" not in names[0]:
        names = (f"{names[0]}/--no-{names[0].removeprefix('--')}", *names[1:])
    shown = str(_written(entry.default)) if options.show_defaults and entry.default is not None else True
    info = typer.Option(*names, help=entry.field.description, min=low, max=high, show_default=shown)
    default = None if options.said_only or kind == list[str] else _written(entry.default)
    annotation = Annotated[kind if default is not None else kind | None, info]  # type: ignore[valid-type]
    return inspect.Parameter(entry.key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _kind(entry: "SettingEntry") -> Any:
    """The type for typer: a list of values is one text with commas, a mapping is a repeated NAME=VALUE."""
    annotation = _plain(entry.field.annotation)
    if get_origin(annotation) is tuple:
        return str
    if get_origin(annotation) is dict:
        return list[str]
    return annotation


def _plain(annotation: Any) -> Any:
    """`X` of `X | None`."""
    if get_origin(annotation) in (Union, UnionType):
        return next(part for part in get_args(annotation) if part is not type(None))
    return annotation


def _bound(entry: "SettingEntry", name: str) -> Any:
    """A bound of a number, which typer checks and shows; for lists, pydantic checks it."""
    if _kind(entry) not in (int, float):
        return None
    return next((getattr(note, name) for note in entry.field.metadata if hasattr(note, name)), None)


def _written(value: Any) -> Any:
    """A default as it would be typed."""
    return (",".join(map(str, value)) or None) if isinstance(value, tuple) else value


def _read(entry: "SettingEntry", value: Any) -> Any:
    """What was typed, in the form that the settings take."""
    annotation = _plain(entry.field.annotation)
    if get_origin(annotation) is tuple:
        kind = get_args(annotation)[0]
        if str in (kind, *get_args(kind)):  # names, such as 1,2,NAME
            return tuple(part.strip() for part in value.split(","))
        return read_numbers(value, entry.names[0], whole=_is_whole(kind))
    return read_changes(value, entry.names[0]) if get_origin(annotation) is dict else value


def _is_whole(annotation: Any) -> bool:
    return annotation is int or (get_origin(annotation) is Literal and isinstance(get_args(annotation)[0], int))


def read_numbers(text: str, option: str, *, whole: bool) -> tuple[float, ...]:
    """Numbers separated by commas."""
    try:
        return tuple(int(part) if whole else float(part) for part in text.split(","))
    except ValueError as error:
        wanted = "whole numbers such as 1 or 1,2" if whole else "numbers such as 0.5 or 0.3,0.4"
        raise ComdivError(f"{option} {text}: not {wanted}") from error


def read_changes(changes: Sequence[str], option: str = "--set") -> dict[str, str]:
    """`--set name=value` as a table."""
    pairs = [change.partition("=") for change in changes]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise ComdivError(f"{option} {name}{sign}{value}: write it as in {option} hidden=128")
    return {name.strip(): value.strip() for name, _, value in pairs}


class VerbCommand(TyperCommand):
    """A verb whose options are created when it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        make = getattr(self.callback, _EXPANDED, None)
        if make is None:
            return super().make_context(info_name, args, parent, **extra)
        inherited = dict(self.context_settings)
        info = CommandInfo(name=self.name, callback=make(), epilog=self.epilog, context_settings=inherited)
        command = get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=self.rich_markup_mode)
        return command.make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Invoke the command that the context was made for."""
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)


# Arguments and options that several verbs take.
READING = Options("comdiv.corpora.corpus_options:CorpusOptions", without=("number_words",))
Source = Annotated[
    str,
    typer.Argument(metavar="CORPUS", help="A corpus's name, a file in any format, a dataset folder, or hf:OWNER/NAME."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
ProgramsOption = Annotated[
    bool,
    typer.Option("--programs", help="Allow `command:` solvers and rankers to run programs, and `ask` its endpoint."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
