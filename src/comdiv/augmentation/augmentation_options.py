"""The options of the augmentation, and its presets: `sense`, `mixed`, `structure` and `paper` (§IV)."""

import hashlib
import re
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator

from comdiv.errors import ComdivError, unknown_name
from comdiv.registry import OPERATIONS, SCORERS
from comdiv.settings import NOT_AN_OPTION, Option, Settings

PAPER_OPERATIONS = ("1", "2")
_TRAINING = ("ranker_preset", "ranker_settings", "warm_start")  # nothing without a solver that ranks
_RANKING = (*_TRAINING, "rank", "keep", "keep_by")  # nothing without a ranker
_HASH = re.compile(r"[0-9a-f]{64}")


class AugmentationOptions(Settings):
    """Everything that determines an augmented set, except the data.

    The fields' defaults are the preset `structure`, on which the keys of published results are based; `preset` and the
    command line begin with `sense`.
    """

    noun: ClassVar[str] = "option"

    rounds: int = Field(default=1, ge=1, le=100, description="Number of rounds, T of Algorithm 1.")
    operations: tuple[int | str, ...] = Field(
        default=(1, 2), description="1 (structural), 2 (lexical), or the name of a package's operation: 1,2,NAME."
    )
    compose: Literal["unify", "paste", "both"] = Field(
        default="paste",
        description="How operation 1 joins two problems: unify tells one story, paste exchanges clauses as they are "
        "(the paper), both makes half of each.",
    )
    match: Literal["unit", "environment"] = Field(
        default="unit", description="What question and clause must share in operation 1; the paper uses environment."
    )
    # For training, many compounds beat few coherent ones; `full` is for texts that people read.
    checks: Literal["full", "paper"] = Field(
        default="paper", description="full: also check texts for coherence; paper: check values and texts only."
    )
    per_problem: tuple[int, ...] = Field(
        default=(12, 2),
        description="New problems per original and round: of operations 1 and 2, then of the others in order: 10,2.",
    )
    growth: float | None = Field(
        default=9.0, gt=0, description="Most new problems per round, as a multiple of the originals."
    )
    max_growth: float = Field(
        default=10.0, gt=1, description="Greatest final size, as a multiple of the originals; no limit in the paper."
    )
    template_quota: float | None = Field(
        default=None,
        gt=0,
        description="Most new problems of one operation and template per round, as a multiple of the originals.",
    )
    more_operators: int | None = Field(
        default=1, ge=0, description="How many more operators a problem may have than the larger of its parents."
    )
    most_tokens: int = Field(default=60, ge=1, description="Most tokens of a new text.")
    most_quantities: int = Field(default=6, ge=1, description="Most quantities of a new text.")
    ranker: Annotated[str, Option("--solver", "--ranker")] = Field(
        default="none", description="What ranks the new problems: a solver, command:PROGRAM, or none."
    )
    ranker_preset: Annotated[str, Option("--solver-preset")] = Field(
        default="cpu", description="Preset of the ranker's sizes: cpu or paper."
    )
    ranker_settings: Annotated[dict[str, Any], Option("--set")] = Field(
        default_factory=dict, description="A setting of the ranker: --set hidden=128 --set epochs=20."
    )
    rank: Literal["prediction", "given", "coherence"] = Field(
        default="prediction",
        description="Rank by the ranker's own best expression (the paper), by the problem's expression, or by how "
        "coherent the text is (needs no solver).",
    )
    scorer: str = Field(default="pairs", description="Scorer for --rank coherence: pairs, or one from a package.")
    keep: float = Field(default=0.2, gt=0, le=1, description="Share of the ranked candidates that is kept.")
    keep_by: Literal["joint", "stratum"] = Field(
        default="stratum", description="One ranking for all, or one for each operation and template."
    )
    warm_start: Annotated[bool, Option("--warm-start/--cold-start")] = Field(
        default=False, description="Start each ranker from the last round's weights."
    )
    # So that new problems do not drown out the ordinary ones.
    repeat_originals: int = Field(default=6, ge=1, le=100, description="How many copies of each original the set has.")
    ban: Annotated[tuple[str, ...], NOT_AN_OPTION] = Field(
        default=(), repr=False, description="`text_hash` of each number-masked text that must not be made."
    )
    compositional_validation: int = Field(
        default=0, ge=0, description="Number of problems composed from validation problems alone, for early stopping."
    )
    seed: int = Field(default=0, ge=0, description="Seed of everything drawn.")

    @field_validator("operations")
    @classmethod
    def _known_operations(cls, value: tuple[int | str, ...]) -> tuple[int | str, ...]:
        """The paper's operations are numbers and come first; the others keep their order."""
        names = [str(name) for name in value]
        if not names or len(set(names)) != len(names):
            raise ValueError("name at least one operation, each once")
        for name in names:
            if name not in OPERATIONS:
                raise ValueError(str(unknown_name("operation", name, OPERATIONS.names())))
        return (*(int(name) for name in PAPER_OPERATIONS if name in names), *_others(names))

    @field_validator("per_problem")
    @classmethod
    def _one_for_each(cls, value: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        """One number stands for all operations."""
        most = len(PAPER_OPERATIONS) + len(_others(map(str, info.data.get("operations", ()))))
        numbers = value * most if len(value) == 1 else value
        if not len(PAPER_OPERATIONS) <= len(numbers) <= most:
            raise ValueError("give one number for all operations, or one for 1, one for 2, and one for each other")
        if min(numbers) < 0:
            raise ValueError("a number of new problems must not be negative")
        return numbers

    @field_validator("scorer")
    @classmethod
    def _known_scorer(cls, value: str) -> str:
        if value not in SCORERS:
            raise ValueError(str(unknown_name("scorer", value, SCORERS.names())))
        return value

    @field_validator("ban")
    @classmethod
    def _hashes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := next((entry for entry in value if not _HASH.fullmatch(entry)), None):
            raise ValueError(f"'{wrong[:70]}' is not a SHA-256 in hexadecimal digits")
        return tuple(sorted(set(value)))

    @property
    def operation_names(self) -> tuple[str, ...]:
        """The operations in reports: the paper's two, used or not, then the others."""
        return (*PAPER_OPERATIONS, *_others(map(str, self.operations)))

    @property
    def wanted(self) -> dict[str, int]:
        """New problems per problem and round, by the name of the operation."""
        numbers = dict(zip(self.operation_names, self.per_problem, strict=False))
        names = map(str, self.operations)
        return {name: numbers[name] if name in numbers else OPERATIONS.get(name).per_problem for name in names}

    def facts(self) -> dict[str, Any]:
        """The options as a record; the bans are summarised by their number and one hash."""
        digest = hashlib.sha256("\n".join(self.ban).encode()).hexdigest()
        banned = {"texts": len(self.ban), "sha256": digest} if self.ban else None
        # Folders from before there were quotas and scorers keep their records.
        idle = {"template_quota"} if self.template_quota is None else set()
        idle |= set() if self.rank == "coherence" else {"scorer"}
        return {**self.model_dump(mode="json", exclude={"ban", *idle}), "ban": banned}

    @classmethod
    def preset(cls, name: str = "sense", **changes: Any) -> Self:
        """A preset's options with changes; the error for an unknown name suggests the nearest known one."""
        if name not in PRESETS:
            raise unknown_name("preset", name, PRESETS)
        options = cls.checked(**{**PRESETS[name], **changes})
        options.check_ranking(changes)
        options.check_composing(changes)
        return options

    def check_ranking(self, given: Iterable[str]) -> None:
        """Refuse options that were given but would have no effect."""
        coherence = self.rank == "coherence"
        if coherence and self.ranker != "none":
            raise ComdivError(
                f"option rank: coherence is ranked by the scorer '{self.scorer}', not by {self.ranker}; "
                "use --solver none, or another --rank"
            )
        unused = () if self.ranker != "none" else _TRAINING if coherence else _RANKING
        if idle := next((one for one in unused if one in given), None):
            raise ComdivError(f"option {idle}: there is no ranker to use it; name one, such as --solver gts")
        if "scorer" in given and not coherence:
            raise ComdivError("option scorer: only --rank coherence uses one")

    def check_composing(self, given: Iterable[str]) -> None:
        """Refuse a way to match that was given but that no composing would use."""
        if "match" in given and self.compose == "unify" and self.match != "unit":
            raise ComdivError("option match: compounds of one story match nothing; use --compose paste or both with it")


def _others(names: Iterable[str]) -> tuple[str, ...]:
    """The operations that packages add."""
    return tuple(name for name in names if name not in PAPER_OPERATIONS)


PRESETS: dict[str, dict[str, Any]] = {
    # Problems that people would write: one story each, made from stories of the training set.
    "sense": {"compose": "unify", "checks": "full", "per_problem": (12, 6), "template_quota": 0.5},
    # Half of the compounds make sense, half are pasted; meant for accuracy.
    "mixed": {"compose": "both", "per_problem": (8, 2)},
    # Many compounds, hardly one of them coherent: what structure alone teaches.
    "structure": {},
    "comdiv": {},  # the name of `structure` before there were others
    # Algorithm 1 as printed, with GTS as the ranker; sampling bounds it, because Math23K has too many pairs to rank.
    "paper": {
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
    },
}
