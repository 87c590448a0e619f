"""Settings: every option is defined once. Its class yields the command-line option, the plan's key and the reference.

A field's description is the help of its option. A wrong name or value is reported in one line.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from comdiv.errors import ComdivError, shortened, unknown_name


@dataclass(frozen=True, slots=True, init=False)
class Option:
    """What a field is called outside its class, if not by its own name: `Annotated[int, Option(...)]`.

    `names` are for the command line (`--warm-start/--cold-start` for a switch); `key` is its name in a flat mapping.
    """

    names: tuple[str, ...]
    key: str
    shown: bool

    def __init__(self, *names: str, key: str = "", shown: bool = True) -> None:
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "shown", shown)


FLAT = "flat"  # marks a field that holds settings: users name these as if they belonged to the outer class
NOT_AN_OPTION = Option(shown=False)  # a field that is set by programs, not on the command line


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """A setting as users see it: its flat name, its place in the class, its field, its option names."""

    key: str
    path: tuple[str, ...]
    field: FieldInfo
    names: tuple[str, ...]
    shown: bool

    @property
    def default(self) -> Any:
        """The value if none is given."""
        return self.field.get_default(call_default_factory=True, validated_data={})


class Settings(BaseModel):
    """Everything that determines a piece of work, except its data. Frozen; an unknown name or wrong value is an error.

    Settings nested in a `FLAT` field can be given by their own names: `SplitSettings.checked(k=5)` sets `extraction.k`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    noun: ClassVar[str] = "setting"  # what error messages call one of them

    if not TYPE_CHECKING:  # type checkers see the signature made of the fields

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise complaint(error, type(self), self.noun) from error

        # Like pydantic's own: not called for nested settings, whose errors name their place.
        __init__.__pydantic_base_init__ = True

    @model_validator(mode="before")
    @classmethod
    def _nested(cls, values: Any) -> Any:
        """Flat names moved to where they belong."""
        if not isinstance(values, Mapping):
            return values
        result = dict(values)
        for entry in entries(cls):
            if entry.key in cls.model_fields or entry.key not in result:
                continue
            name, *inner = entry.path
            value = result.pop(entry.key)
            if inner:
                given = result.get(name, {})
                value = {**(given.model_dump() if isinstance(given, BaseModel) else given), inner[0]: value}
            result[name] = value
        return result

    @classmethod
    def checked(cls, **values: object) -> Self:
        """Settings from keyword arguments; the error for an unknown name suggests the nearest known one."""
        return cls(**values)

    def changed(self, **changes: object) -> Self:
        """A copy with some settings changed, validated like any other."""
        return type(self).checked(**{**{name: getattr(self, name) for name in type(self).model_fields}, **changes})


def entries(cls: type[BaseModel]) -> Iterator[SettingEntry]:
    """The settings of a class as users see them, in order; flat nested settings in their place."""
    for name, field in cls.model_fields.items():
        inner = field.annotation
        if FLAT in field.metadata and isinstance(inner, type) and issubclass(inner, BaseModel):
            for entry in entries(inner):
                yield SettingEntry(entry.key, (name, *entry.path), entry.field, entry.names, entry.shown)
            continue
        option = next((note for note in field.metadata if isinstance(note, Option)), Option())
        key = option.key or name
        yield SettingEntry(key, (name,), field, option.names or (f"--{key.replace('_', '-')}",), option.shown)


def first_difference(there: Mapping[str, Any], wanted: Mapping[str, Any], place: str = "") -> str | None:
    """The first value in which a record differs from the wanted one, in words: `extraction.k is 10, not 5`."""
    for name in (*wanted, *(name for name in there if name not in wanted)):
        old, new = there.get(name), wanted.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            if inner := first_difference(old, new, f"{place}{name}."):
                return inner
        elif (list(old) if isinstance(old, tuple) else old) != (list(new) if isinstance(new, tuple) else new):
            return f"{place}{name} is {shortened(str(old))}, not {shortened(str(new))}"
    return None


def complaint(error: ValidationError, model: type[BaseModel], noun: str = "key") -> ComdivError:
    """The first of pydantic's errors about a mapping, in one line for users."""
    first = error.errors()[0]
    whole = ".".join(map(str, first["loc"]))
    where, _, name = whole.rpartition(".")
    prefix = f"{where}: " if where else ""
    if first["type"] == "extra_forbidden":
        owner = _annotation_at(model, first["loc"][:-1])
        return ComdivError(f"{prefix}{unknown_name(noun, name, [entry.key for entry in entries(owner)])}")
    if first["type"] == "missing":
        return ComdivError(f"{prefix}'{name}' is missing")
    wanted = _annotation_at(model, first["loc"])
    if noun == "key" and get_origin(wanted) is Literal and isinstance(first["input"], str):
        what = next(str(step) for step in reversed(first["loc"]) if isinstance(step, str))
        return ComdivError(f"{prefix}{unknown_name(what, first['input'], map(str, get_args(wanted)))}")
    message = first["msg"].removeprefix("Value error, ")
    if not whole:
        return ComdivError(message)
    return ComdivError(f"{whole}: {message}" if noun == "key" else f"{noun} {whole}: {message}")


def _annotation_at(model: type[BaseModel], place: tuple[int | str, ...]) -> Any:
    """The type at a place: `methods.GTS` is a value of the mapping `methods`; None if there is no such place."""
    annotation: Any = model
    for step in place:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            annotation = annotation.model_fields[str(step)].annotation if step in annotation.model_fields else None
        elif get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
        elif get_origin(annotation) is tuple:
            annotation = get_args(annotation)[0]
        else:
            return None
        if get_origin(annotation) in (Union, UnionType):  # `X` of `X | None`
            annotation = next(part for part in get_args(annotation) if part is not type(None))
    return annotation
