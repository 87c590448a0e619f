"""The shapes of the records in a folder of results. They are checked when a file is read: a damaged or foreign file is
a one-line error, and tables and figures can rely on their input.

Only keys that are used are checked.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator, model_validator

from comdiv.experiments.cell import Kind
from comdiv.loading import validate

Count = Annotated[int, Field(ge=0)]
OneOrMore = Annotated[list[float], Field(min_length=1)]
Ratio = Annotated[str, Field(pattern=r"^[0-9]{1,9}/[0-9]{1,9}$")]  # "614/745"


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


# --- summaries of cells, by kind ---


class _Share(_Shape):
    n: Count
    correct: Count


class _Evaluation(_Share):
    answer_accuracy: float
    expression_accuracy: float | None = None
    expression_n: Count = 0
    counts: dict[str, Count] = {}
    by_operator_count: dict[str, _Share] = {}
    by_template_seen: dict[str, _Share] | None = None
    subsets: dict[str, _Share] = {}


class _Sizes(_Shape):
    train: Count
    validation: Count
    test: Count


class _OperationCounts(_Shape):
    candidates: Count = 0
    kept: Count = 0
    drafts: Count = 0
    passed: Count = 0
    new_templates: int = 0
    median_score: float | None = None


class _Round(_Shape):
    model_config = ConfigDict(extra="allow")

    round: int
    least_score_kept: float | None = None

    @model_validator(mode="after")
    def _operations_are_counted(self) -> "_Round":
        """The paper's operations, and those that packages add."""
        for name, counts in (self.model_extra or {}).items():
            if name.startswith("operation "):
                _OperationCounts.model_validate(counts)
        return self


class _RankedBy(_Shape):
    ranker: str


class GrowthReport(_Shape):
    """`report.json` of an augmentation."""

    options: _RankedBy
    rounds: list[_Round]


class _Dataset(_Shape):
    problems: _Sizes | None = None


class _Augmentation(_Dataset):
    report: GrowthReport


class Divergences(_Shape):
    """A measurement, or what a split recorded in `dataset.json`."""

    train_size: Count | None = None
    test_size: Count | None = None
    k: Count | None = None
    length_ratio: float | None = None
    compound_divergence: dict[str, float] | float | None = None
    atom_divergence: dict[str, float] | float | None = None
    compound_divergence_other_clusterings: float | None = None
    compound_divergence_by_clustering: dict[str, OneOrMore] | None = None
    atom_divergence_by_clustering: dict[str, OneOrMore] | None = None
    iid_compound_divergence: float | None = None
    unseen_template_share: float | None = None
    twin_share: float | None = None


class _Measurement(Divergences):
    k: Count
    compound_divergence: dict[str, float]
    atom_divergence: dict[str, float]

    @field_validator("compound_divergence", "atom_divergence")
    @classmethod
    def _has_the_papers(cls, divergence: dict[str, float]) -> dict[str, float]:
        if "paper" not in divergence:
            raise ValueError("'paper' is missing")
        return divergence


class _Training(_Shape):
    problems: Count | None = None
    epochs: Count | None = None
    best_epoch: Count | None = None
    validation_accuracy: float | None = None
    seconds_per_epoch: float | None = None


_SUMMARIES: Mapping[Kind, type[_Shape]] = {
    "dataset": _Dataset,
    "rounds": _Dataset,
    "augmentation": _Augmentation,
    "measurement": _Measurement,
    "training": _Training,
}


def check_summary(kind: Kind, summary: Any, where: str) -> None:
    """Refuse a summary that a finished cell of this kind does not have."""
    if kind == "evaluation":
        validate({"parts": summary}, _Evaluations, where)
    else:
        validate(summary, _SUMMARIES[kind], where)


class _Evaluations(_Shape):
    parts: dict[str, _Evaluation] = Field(min_length=1)


# --- what the files of a folder of runs hold ---


class _File(_Shape):
    bytes: Count
    sha256: str


class Origin(_Shape):
    """Where, when and with what a cell was run."""

    seconds: float | None = None
    started: str = ""
    finished: str = ""
    host: str = ""
    node: str | None = None
    reason: str = ""
    versions: dict[str, str] = {}
    originals: dict[str, str] = {}


class Done(Origin):
    """`done.json`; what the summary must hold depends on the kind of cell."""

    summary: dict[str, Any] = {}
    files: dict[str, _File] = {}


class _CellFacts(_Shape):
    model_config = ConfigDict(extra="forbid")

    dataset: str | None = None
    corpus: str | None = None
    split: str | None = None
    target: float | None = None
    k: int | None = None
    split_seed: int | None = None
    method: str | None = None
    solver: str | None = None
    augmentation: str | None = None
    augmentation_seed: int | None = None
    plain: str | None = None
    rounds: int | None = None
    seed: int | None = None
    steps: str | None = None
    steps_like: str | None = None
    settings: dict[str, Any] = {}
    cover: str | None = None


class CellRecord(_Shape):
    """A cell in a plan's file; with its recipe in `cell.json`."""

    model_config = ConfigDict(extra="forbid")

    key: str
    kind: Kind
    label: str
    facts: _CellFacts
    needs: list[str]
    recipe: dict[str, Any] = {}
    inputs: dict[str, str] = {}


class EarlierCell(_Shape):
    """The parts of a `cell.json` of any version that determine its present key."""

    kind: str = ""
    recipe: dict[str, Any] = {}
    needs: list[str] = []


class Progressing(_Shape):
    """`progress.json` of a running cell."""

    model_config = ConfigDict(extra="forbid")

    what: str
    done: int
    total: int
    note: str


class _EvaluateKeys(_Shape):
    parts: list[str] | None = None


class _PlanKeys(_Shape):
    evaluate: _EvaluateKeys = _EvaluateKeys()


class PlanRecord(_Shape):
    """`plans/NAME.json`."""

    name: str
    title: str = ""
    reproduces: str = ""
    about: str = ""
    preset: str | None = None
    order: int = 100
    plan: _PlanKeys = _PlanKeys()
    cells: list[CellRecord]


class Epoch(_Shape):
    """A line of `metrics.jsonl`."""

    epoch: Count | None = None
    loss: float | None = None
    validation_accuracy: float | None = None


class _Frequency(_Shape):
    model_config = ConfigDict(extra="forbid")

    name: str
    train: Count
    test: Count


class Frequencies(_Shape):
    """The lists in a measurement's `report.json`."""

    atoms: list[_Frequency]
    compounds: list[_Frequency]


class Outcomes(_Shape):
    """`outcomes.json`: the ids of right and wrong answers."""

    right: list[str]
    wrong: list[str]


# --- published results ---


class _PackedEvaluation(_Shape):
    answers: Ratio
    expressions: Ratio | None = None
    counts: dict[str, Count] = {}
    operators: dict[str, Ratio] = {}
    templates: dict[str, Ratio] = {}
    subsets: dict[str, Ratio] = {}


class _PackedAccuracies(_Shape):
    of: Annotated[int, Field(ge=1)]
    right: list[Count | None]


class _PublishedResult(Origin):
    recipe: dict[str, Any]
    summary: dict[str, Any]
    dataset: Divergences | None = None
    curve: dict[str, list[float | None] | _PackedAccuracies] = {}
    frequencies: dict[str, dict[Ratio, str] | list[_Frequency]] = {}
    right: str | None = None
    ids: str | list[str] = ""
    compositions: dict[str, str] = {}
    structures: dict[str, str] = {}

    @field_validator("summary")
    @classmethod
    def _packed_parts_fit(cls, summary: dict[str, Any]) -> dict[str, Any]:
        for part in summary.values():
            if isinstance(part, Mapping) and "answers" in part:
                _PackedEvaluation.model_validate(part)
        return summary

    @field_validator("curve")
    @classmethod
    def _columns_are_equally_long(cls, curve: dict[str, Any]) -> dict[str, Any]:
        lengths = {len(column.right if isinstance(column, _PackedAccuracies) else column) for column in curve.values()}
        if len(lengths) > 1:
            raise ValueError("its columns differ in length")
        return curve


class PublishedCell(_Shape):
    """A line after the first of a file of published results."""

    key: str
    label: str
    needs: list[str]
    facts: dict[str, Any]
    result: _PublishedResult | None = None


class OtherCells(RootModel[list[tuple[Count, PublishedCell]]]):
    """The cells of a plan that have no result in its file, each with the number of its line."""


class PublishedPlan(_Shape):
    """The first line of a file of published results."""

    plan: str
    definition: _PlanKeys
    title: str
    reproduces: str
    about: str
    order: int
    preset: str | None
    versions: dict[str, str] = {}
    others: str | None = None
