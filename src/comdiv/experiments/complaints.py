"""What is wrong with a plan, in one line: where it is, and the nearest thing that we know."""

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from comdiv.errors import ComdivError, unknown_name


def complaint(error: ValidationError, model: type[BaseModel]) -> ComdivError:
    """The first thing that pydantic has against a mapping, as a user would want to read it."""
    first = error.errors()[0]
    whole = ".".join(map(str, first["loc"]))
    where, _, name = whole.rpartition(".")
    prefix = f"{where}: " if where else ""
    if first["type"] == "extra_forbidden":
        owner = _annotation_at(model, first["loc"][:-1])
        return ComdivError(f"{prefix}{unknown_name('key', name, owner.model_fields)}")
    if first["type"] == "missing":
        return ComdivError(f"{prefix}'{name}' is missing")
    wanted = _annotation_at(model, first["loc"])
    if get_origin(wanted) is Literal and isinstance(first["input"], str):
        what = next(str(step) for step in reversed(first["loc"]) if isinstance(step, str))
        return ComdivError(f"{prefix}{unknown_name(what, first['input'], map(str, get_args(wanted)))}")
    message = first["msg"].removeprefix("Value error, ")
    return ComdivError(f"{whole}: {message}" if whole else message)


def _annotation_at(model: type[BaseModel], place: tuple[int | str, ...]) -> Any:
    """The type that belongs to a place: `methods.GTS` is a value of the mapping `methods`; None where there is none."""
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
