"""Every choice of the augmentation, and two presets: `comdiv` (what development data favoured) and `paper` (§IV)."""

import hashlib
import re
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from comdiv.errors import ComdivError, unknown_name

PRESETS = ("comdiv", "paper")
_HASH = re.compile(r"[0-9a-f]{64}")


class AugmentationOptions(BaseModel):
    """What determines an augmented set, besides the data. The defaults are the preset `comdiv`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    rounds: int = Field(1, ge=1, le=100)
    operations: tuple[Literal[1, 2], ...] = (1, 2)
    match: Literal["unit", "environment"] = "unit"  # what question and clause share in operation 1
    # For training, many compounds beat few coherent ones; `full` is for texts that people read.
    checks: Literal["full", "paper"] = "paper"
    per_problem: tuple[int, int] = (12, 2)  # new problems an original and round, of operation 1 and 2
    growth: float | None = Field(9.0, gt=0)  # new problems of a round, at most so many times the originals
    max_growth: float = Field(10.0, gt=1)  # the final set, at most so many times the originals; the paper: unbounded
    more_operators: int | None = Field(1, ge=0)  # than the greater of the parents; None: any number
    most_tokens: int = Field(60, ge=1)
    most_quantities: int = Field(6, ge=1)
    ranker: str = "none"  # a registered solver, `command:PROGRAM`, or none
    ranker_preset: str = "cpu"
    ranker_settings: dict[str, Any] = Field(default_factory=dict)
    rank: Literal["prediction", "given"] = "prediction"
    keep: float = Field(0.2, gt=0, le=1)  # share of the ranked candidates
    keep_by: Literal["joint", "stratum"] = "stratum"  # one ranking for all, or one for each operation and template
    warm_start: bool = False  # the ranker begins with the last round's weights
    repeat_originals: int = Field(6, ge=1, le=100)  # so that ordinary problems do not drown
    ban: tuple[str, ...] = Field((), repr=False)  # `text_hash` of number-masked texts that must not come out
    # Problems by operation 1 on validation problems alone, beside those: early stopping then sees compounds, too.
    compositional_validation: int = Field(0, ge=0)
    seed: int = Field(0, ge=0)

    @field_validator("operations")
    @classmethod
    def _some_operation(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if not value or len(set(value)) != len(value):
            raise ValueError("name 1, 2 or both, each once")
        return tuple(sorted(value))

    @field_validator("per_problem")
    @classmethod
    def _not_negative(cls, value: tuple[int, int]) -> tuple[int, int]:
        if min(value) < 0:
            raise ValueError("a number of new problems is not negative")
        return value

    @field_validator("ban")
    @classmethod
    def _hashes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := next((entry for entry in value if not _HASH.fullmatch(entry)), None):
            raise ValueError(f"'{wrong[:70]}' is no SHA-256 in hexadecimal digits")
        return tuple(sorted(set(value)))

    def facts(self) -> dict[str, Any]:
        """The options as a record; of the bans their number and one hash of all."""
        digest = hashlib.sha256("\n".join(self.ban).encode()).hexdigest()
        banned = {"texts": len(self.ban), "sha256": digest} if self.ban else None
        return {**self.model_dump(mode="json", exclude={"ban"}), "ban": banned}

    @classmethod
    def preset(cls, name: str = "comdiv", **changes: Any) -> Self:
        """A preset's options with changes; an unknown name is answered with the nearest known one."""
        if name not in PRESETS:
            raise unknown_name("preset", name, PRESETS)
        for change in changes:
            if change not in cls.model_fields:
                raise unknown_name("option", change, cls.model_fields)
        try:
            return cls(**{**(_PAPER if name == "paper" else {}), **changes})
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ComdivError(f"option {where}: {first['msg'].removeprefix('Value error, ')}") from error


# Algorithm 1 as printed, with GTS as the ranker; sampling bounds it (Math23K has more pairs than anybody can rank).
_PAPER: dict[str, Any] = {
    "rounds": 7,
    "match": "environment",
    "checks": "paper",
    "per_problem": (5, 5),
    "growth": None,
    "more_operators": None,
    "ranker": "gts",
    "rank": "prediction",
    "keep": 0.2,
    "keep_by": "joint",
    "warm_start": False,
    "repeat_originals": 1,
}
