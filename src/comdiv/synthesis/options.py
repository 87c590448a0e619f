"""Everything that determines a synthetic dataset, besides its corpus."""

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from comdiv.dataset import VALIDATION_SHARE
from comdiv.errors import ComdivError, unknown_name

PAPER_SIZE = "1078/745"
PAPER_STRUCTURAL, PAPER_LEXICAL = 668, 77  # of the paper's 745 test problems; follows from its tables
_SIZE = re.compile(r"(\d{1,7})/(\d{1,7})")


class SynthesisOptions(BaseModel):
    """How to build the set. The defaults take all that the rules give; `size` is "TRAIN/TEST", 1078/745 the paper's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: str | None = None  # train and validation together / test
    seed: int = Field(0, ge=0)  # of the validation part
    rules: Path | None = None  # a table of one's own
    disjoint: bool = False  # of the two products of one seed only one enters train
    exclude: Path | None = None  # a dataset folder whose seeds are not used again
    novelty: int | None = Field(None, ge=0)  # the greatest similarity of a lexical test problem to train; the paper: 0
    least_plausible: float = Field(0.3, ge=0, le=1)  # what the proofreader must grant a product; 0: it is not asked
    review: Path | None = None  # people's decisions; by default those beside the dataset
    only: Literal["accepted"] | None = None
    validation: float = Field(VALIDATION_SHARE, ge=0, lt=1)

    @field_validator("size")
    @classmethod
    def _has_two_numbers(cls, size: str | None) -> str | None:
        if size is not None and (not (match := _SIZE.fullmatch(size)) or "0" in match.groups()):
            raise ValueError(f"a size is TRAIN/TEST such as {PAPER_SIZE}, not '{size}'")
        return size

    @property
    def sizes(self) -> tuple[int, int, int] | None:
        """Training, structural test and lexical test problems; the paper's proportion of the last two."""
        if self.size is None:
            return None
        train, test = (int(part) for part in self.size.split("/"))
        lexical = round(test * PAPER_LEXICAL / (PAPER_STRUCTURAL + PAPER_LEXICAL))
        return train, test - lexical, lexical

    @classmethod
    def checked(cls, **values: object) -> "SynthesisOptions":
        """The options, or one line that names the wrong one."""
        for name in values:
            if name not in cls.model_fields:
                raise unknown_name("option", name, cls.model_fields)
        try:
            return cls(**values)  # type: ignore[arg-type]
        except ValidationError as error:
            first = error.errors()[0]
            message = str(first["msg"]).removeprefix("Value error, ")
            raise ComdivError(f"option {'.'.join(map(str, first['loc']))}: {message}") from error
