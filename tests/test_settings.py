"""Settings: checked when they are made, named flatly, and every one explained."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.errors import ComdivError
from comdiv.settings import FLAT, NOT_AN_OPTION, Option, Settings, complaint, entries
from comdiv.solvers.hyperparameters import SolverSettings
from comdiv.splitting.choice import SplitSeries
from comdiv.splitting.methods import SplitSettings
from comdiv.synthesis import SynthesisOptions

ALL = [AugmentationOptions, SolverSettings, SplitSeries, SplitSettings, SynthesisOptions]


class Inner(Settings):
    k: int = Field(default=10, ge=1)
    seed: Annotated[int, Option(key="inner_seed")] = 0


class Outer(Settings):
    seed: int = 0
    kind: Literal["round", "square"] = "round"
    inner: Annotated[Inner, FLAT] = Field(default_factory=Inner)
    share: Annotated[float, Option("--part", key="part")] = 0.5
    secret: Annotated[str, NOT_AN_OPTION] = ""


class Plan(BaseModel, extra="forbid"):
    outer: Outer


@pytest.mark.parametrize("settings", ALL)
def test_every_setting_is_explained_in_a_sentence(settings: type[Settings]) -> None:
    for entry in entries(settings):
        text = entry.field.description or ""
        assert text.rstrip("`")[-1:] in {".", "?"}, f"{settings.__name__}.{entry.key}: {text!r}"


@pytest.mark.parametrize("settings", ALL)
def test_settings_can_be_recorded_and_read_again(settings: type[Settings]) -> None:
    assert settings.checked(**settings().model_dump(mode="json")) == settings()


def test_settings_within_settings_can_be_named_flatly() -> None:
    assert Outer.checked(seed=1, k=3, inner_seed=4) == Outer(seed=1, inner=Inner(k=3, seed=4))
    assert Outer(inner=Inner(k=3)).changed(inner_seed=4).inner == Inner(k=3, seed=4)
    assert Outer.checked(part=0.2).share == 0.2


def test_a_changed_copy_leaves_the_original_alone() -> None:
    first = Outer()
    assert first.changed(k=2, kind="square") != first
    assert first == Outer()
    with pytest.raises(ValidationError):
        first.seed = 3  # type: ignore[misc]


def test_entries_are_what_a_user_meets() -> None:
    found = {entry.key: (entry.path, entry.names, entry.default) for entry in entries(Outer) if entry.shown}
    assert found == {
        "seed": (("seed",), ("--seed",), 0),
        "kind": (("kind",), ("--kind",), "round"),
        "k": (("inner", "k"), ("--k",), 10),
        "inner_seed": (("inner", "seed"), ("--inner-seed",), 0),
        "part": (("share",), ("--part",), 0.5),
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sead": 1}, "unknown setting 'sead'. Did you mean 'seed'? Known: inner_seed, k, kind, part, secret, seed"),
        ({"k": 0}, "setting inner.k: Input should be greater than or equal to 1"),
        ({"kind": "oval"}, "setting kind: Input should be 'round' or 'square'"),
        ({"share": float("nan")}, "setting share: Input should be a finite number"),
    ],
)
def test_a_wrong_setting_is_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ComdivError) as error:
        Outer(**values)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 0}, "outer.inner.k: Input should be greater than or equal to 1"),
        ({"sead": 0}, "outer: unknown key 'sead'. Did you mean 'seed'?"),
        ({"kind": "rond"}, "outer: unknown kind 'rond'. Did you mean 'round'?"),
    ],
)
def test_settings_within_a_plan_complain_with_their_place(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        Plan.model_validate({"outer": values})
    assert str(complaint(error.value, Plan)).startswith(message)
