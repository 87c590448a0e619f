"""Options made from settings classes: names, bounds, lists, switches, and what a verb gets of them."""

from typing import Annotated, Any, Literal

import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner, Result

from comdiv.cli.options import Options, VerbCommand, expanded, takes
from comdiv.errors import ComdivError
from comdiv.settings import NOT_AN_OPTION, Option, Settings


class Garden(Settings):
    """Of every kind that an option can be."""

    rows: int = Field(default=3, ge=1, description="How many rows.")
    shape: Literal["round", "square"] = Field(default="round", description="Its shape.")
    fence: bool = Field(default=False, description="With a fence.")
    gate: bool = Field(default=True, description="With a gate.")
    depths: tuple[float, ...] = Field(default=(0.5, 1.0), description="Depths.")
    water: Annotated[float | None, Option("--rain")] = Field(default=None, description="Rain.")
    beds: Annotated[dict[str, Any], Option("--set")] = Field(default_factory=dict, description="Beds.")
    soil: Annotated[str, NOT_AN_OPTION] = "loam"


RECEIVED: list[Any] = []


def command(**options: Any) -> typer.Typer:
    app = typer.Typer()

    @app.command(cls=VerbCommand)
    @takes(garden=Options(f"{__name__}:Garden", **options))
    def plant(name: str, garden: Garden, loud: bool = False) -> None:
        """Plant something."""
        RECEIVED.append((name, garden, loud))

    @app.command()
    def water() -> None:
        """A second verb: typer makes no group of one."""

    return app


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(command(**options), ["plant", *arguments])


def received(*arguments: str, **options: Any) -> Any:
    result = run(*arguments, **options)
    if result.exception is not None:
        raise result.exception
    return RECEIVED.pop()


def test_without_options_a_verb_gets_the_defaults() -> None:
    assert received("rose") == ("rose", Garden(), False)


def test_every_kind_of_option_reaches_its_setting() -> None:
    arguments = (
        *("--rows", "5", "--shape", "square", "--fence", "--no-gate", "--depths", "0.25,2"),
        *("--rain", "1.5", "--set", "a=1", "--set", "b=2", "--loud"),
    )
    wanted = Garden(
        rows=5, shape="square", fence=True, gate=False, depths=(0.25, 2.0), water=1.5, beds={"a": "1", "b": "2"}
    )
    assert received("rose", *arguments) == ("rose", wanted, True)


def test_of_what_was_said_only_that_reaches_the_verb() -> None:
    assert received("rose", said_only=True)[1] == {}
    assert received("rose", "--no-fence", "--depths", "3", said_only=True)[1] == {"fence": False, "depths": (3.0,)}


def test_help_shows_descriptions_bounds_and_defaults() -> None:
    text = " ".join(run("--help").output.replace("│", " ").split())
    for part in ("How many rows. [default: 3]", "[x>=1]", "round|square", "[default: 0.5,1.0]", "Plant something."):
        assert part in text
    assert "--soil" not in text
    assert "--no-fence" not in text


@pytest.mark.parametrize(("options", "there"), [({"only": ("rows",)}, False), ({"without": ("rows",)}, True)])
def test_a_verb_may_take_some_of_the_settings(options: dict[str, Any], there: bool) -> None:
    assert ("--shape" in run("--help", **options).output) is there
    assert ("--rows" in run("--help", **options).output) is not there


def test_out_of_bounds_is_wrong_usage_and_a_bad_list_one_line() -> None:
    assert run("rose", "--rows", "0").exit_code == 2
    with pytest.raises(ComdivError, match=r"^--depths 1,x: not numbers such as 0\.5 or 0\.3,0\.4$"):
        received("rose", "--depths", "1,x")
    with pytest.raises(ComdivError, match=r"^--set b: write it as in --set hidden=128$"):
        received("rose", "--set", "b")


def test_the_expanded_verb_has_a_parameter_for_every_option() -> None:
    verb = command().registered_commands[0].callback
    assert verb is not None
    import inspect

    assert list(inspect.signature(expanded(verb)).parameters) == [
        "name", "rows", "shape", "fence", "gate", "depths", "water", "beds", "loud",
    ]  # fmt: skip
