"""Everything that determines a synthetic dataset, besides its corpus."""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from comdiv.dataset import VALIDATION_SHARE
from comdiv.settings import Option, Settings

PAPER_SIZE = "1078/745"
PAPER_STRUCTURAL, PAPER_LEXICAL = 668, 77  # of the paper's 745 test problems; follows from its tables
_SIZE = re.compile(r"(\d{1,7})/(\d{1,7})")


class SynthesisOptions(Settings):
    """How to build the set. The defaults take all that the rules give; `size` is "TRAIN/TEST", 1078/745 the paper's."""

    noun: ClassVar[str] = "option"

    size: str | None = Field(
        default=None, description=f"TRAIN/TEST problems, {PAPER_SIZE} for the paper's; without it, all there are."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the draw of the validation part.")
    rules: Path | None = Field(default=None, description="A rule table of your own (YAML).")
    disjoint: bool = Field(
        default=False, description="Only one of a seed's two products enters train: the harder control."
    )
    exclude: Path | None = Field(
        default=None, description="Another synthetic dataset, whose seeds are left out: SD-dev beside SD."
    )
    novelty: int | None = Field(
        default=None, ge=0, description="Greatest similarity of a lexical test problem to train; 0 is the paper's word."
    )
    least_plausible: Annotated[float, Option("--plausible")] = Field(
        default=0.3, ge=0, le=1, description="Least score that the proofreader must give a product; 0: it is not asked."
    )
    review: Path | None = Field(
        default=None, description="People's decisions; review.jsonl in the folder is read by itself."
    )
    only: Literal["accepted"] | None = Field(default=None, description="Take only what the review accepts or edits.")
    validation: float = Field(
        default=VALIDATION_SHARE, ge=0, le=0.9, description="Share of the training side held out for validation."
    )

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
