"""A plan: which datasets, which methods on them, with which seeds; read from YAML.

Every key is checked before anything runs:

    name: main-results
    datasets:
      mawps-iid:    {corpus: mawps, split: {method: iid, test_size: 474}}
      mawps-comdiv: {corpus: mawps, split: {method: dbca, test_size: 474}}
    augmentations:
      DA: {preset: comdiv}
    methods:
      GTS:    {solver: gts}
      GTS+DA: {solver: gts, augmentation: DA}
    training: {seeds: [0, 1, 2], steps: equal}
    presets:
      smoke: {training: {seeds: [0], settings: {epochs: 2}}}
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.errors import ComdivError, located, unknown_name
from comdiv.loading import load_mapping
from comdiv.settings import Settings, complaint
from comdiv.solvers.command import PROGRAM
from comdiv.solvers.hyperparameters import Plausible
from comdiv.solvers.language_model import ASK
from comdiv.splitting.methods import PRESETS, SplitSettings
from comdiv.synthesis import SynthesisOptions

Name = str
Part = Literal["validation", "test"]
FILE_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.+()/,=-]*")


def _distinct_seeds(seeds: tuple[int, ...]) -> tuple[int, ...]:
    if not seeds or len(set(seeds)) != len(seeds) or min(seeds) < 0:
        raise ValueError("give at least one seed, none of them twice or below 0")
    return seeds


Seeds = Annotated[tuple[int, ...], AfterValidator(_distinct_seeds)]


class PlanPart(Settings):
    """A part of a plan; what one of its settings is called there is a key."""

    noun: ClassVar[str] = "key"


class SplitPlan(SplitSettings):
    """A split of a corpus: the options of `comdiv split` under the same names; one dataset per entry of `targets`."""

    preset: Literal["comdiv", "paper"] = Field(default="comdiv", description="The preset of `comdiv split`.")
    targets: tuple[float, ...] = Field(default=(), description="Compound divergences, with one dataset for each.")

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, values: Any) -> Any:
        """The preset's options, except for those that the plan gives."""
        return {**PRESETS.get(values.get("preset", "comdiv"), {}), **values} if isinstance(values, Mapping) else values

    @model_validator(mode="after")
    def _targets_are_for_dbca(self) -> "SplitPlan":
        if self.targets and self.method != "dbca":
            raise ValueError(f"targets go with the method dbca, not {self.method}")
        if len(set(self.targets)) != len(self.targets):
            raise ValueError("a target occurs twice")
        return self

    def settings(self, target: float | None) -> SplitSettings:
        """The settings of one dataset."""
        return SplitSettings.checked(**{**self.model_dump(exclude={"preset", "targets"}), "target": target})


class SynthesisPlan(SynthesisOptions):
    """A synthesis: the options of `comdiv synthesize` under the same names; files are relative to the plan."""

    exclude: Name | None = Field(  # type: ignore[assignment]
        default=None, description="Another synthetic dataset of the plan, whose seeds are left out."
    )

    @property
    def files(self) -> dict[str, str]:
        """The options that name files."""
        return {name: str(path) for name in self.FILES if (path := getattr(self, name)) is not None}

    def settings(self) -> SynthesisOptions:
        """The options without files and other datasets, which a cell identifies by their contents."""
        return SynthesisOptions.checked(**self.model_dump(exclude={"exclude", *self.FILES}))


class AugmentationChanges(AugmentationOptions):
    """Options of `comdiv augment` that differ from those of the preset."""

    def __eq__(self, other: object) -> bool:
        """Compared by what the plan gives: `ranker: none` changes the preset `paper`, although it is the default."""
        return isinstance(other, AugmentationChanges) and self.model_dump() == other.model_dump()

    __hash__ = None  # type: ignore[assignment]

    @field_validator("per_problem")
    @classmethod
    def _one_for_each(cls, value: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        """The right length depends on the operations, which may be named elsewhere."""
        return value

    @model_serializer
    def _as_given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


class ColumnsPlan(PlanPart):
    """The columns of a user's own file, if their names are not recognised."""

    text: str = Field(description="Column with the problem's text.")
    equation: str | None = Field(default=None, description="Column with the equation or expression.")
    answer: str | None = Field(default=None, description="Column with the answer.")
    id: str | None = Field(default=None, description="Column with the id; the line number if there is none.")


class DatasetPlan(PlanPart):
    """Where a dataset comes from: a corpus to split or to synthesize from, or an existing dataset folder.

    `within: NAME` splits the training side of another dataset of the plan again, as a development set on which
    choices can be made without looking at that dataset's test set.
    """

    corpus: str | None = Field(default=None, description="A corpus's name, or a file in any format.")
    within: Name | None = Field(default=None, description="Another dataset of the plan, whose training side is split.")
    columns: ColumnsPlan | None = Field(default=None, description="The columns of a file of your own.")
    split: SplitPlan | None = Field(default=None, description="How the corpus is split.")
    synthesize: SynthesisPlan | None = Field(default=None, description="How the dataset is made by rules.")
    folder: str | None = Field(default=None, description="An existing dataset folder.")
    contradictions: Literal["keep", "drop"] = Field(
        default="keep",
        description="Keep or drop problems whose expression contradicts their answer; `comdiv split` drops by default.",
    )
    limit: int | None = Field(
        default=None, ge=10, description="Number of problems of the corpus, drawn by their ids, for trials."
    )
    steps_like: Literal["plain", "augmented"] | None = Field(
        default=None, description="Overrides the training's, for this dataset."
    )
    select: Literal["best", "last"] = Field(
        default="best", description="The epoch that is kept, as in `comdiv train --select`."
    )
    seeds: Seeds | None = Field(default=None, description="Only these of the plan's seeds of training.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Hyper-parameters of all trainings on it.")
    augmentation: AugmentationChanges = Field(
        default_factory=AugmentationChanges, description="Options of its augmentations."
    )

    @model_validator(mode="after")
    def _one_origin(self) -> "DatasetPlan":
        given = [name for name in ("split", "synthesize", "folder") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of split, synthesize and folder, not {' and '.join(given) or 'none'}")
        if self.folder is not None and (self.corpus or self.within):
            raise ValueError("a folder has no corpus")
        if self.folder is None and (self.corpus is None) == (self.within is None):
            raise ValueError("a split or a synthesis needs either a corpus or `within` another dataset")
        if self.within is not None and (self.split is None or self.limit is not None or self.columns is not None):
            raise ValueError("`within` needs `split`, and allows neither `limit` nor `columns`")
        return self


AugmentationPreset = Literal["comdiv", "sense", "mixed", "structure", "paper"]


class AugmentationPlan(PlanPart):
    """One setting of the augmentation: a preset of `comdiv augment` and changes to it.

    `ranker: solver` takes the method's own solver, as in the paper; `ban: test` excludes the test texts by hash.
    """

    preset: AugmentationPreset = Field(default="sense", description="The preset of `comdiv augment`.")
    presets: dict[Name, AugmentationPreset] = Field(
        default_factory=dict, description="Other presets, of individual datasets."
    )
    options: AugmentationChanges = Field(
        default_factory=AugmentationChanges, description="Options that differ from the preset's."
    )
    seeds: Seeds = Field(default=(0,), description="One augmented set for each seed.")
    more_seeds: dict[Name, tuple[int, ...]] = Field(
        default_factory=dict, description="Further seeds for individual datasets."
    )
    ban: Literal["nothing", "test"] = Field(
        default="nothing", description="Whether texts of the test side are excluded."
    )

    def on(self, dataset: Name) -> "AugmentationPlan":
        """As it is on one of the plan's datasets."""
        return self.model_copy(update={"preset": self.presets.get(dataset, self.preset)})


class MethodPlan(PlanPart):
    """A row of a table: a solver, optionally with an augmentation; or a language model to ask: `ask: {model: …}`.

    Or trained methods of the plan, `of: [GTS, MathEN]`: they solve together, seed by seed, or all seeds
    at once (`pool_seeds`). With `plausible`, their beam is re-ranked by values.
    """

    solver: str = Field(default="", description="A registered solver, command:PROGRAM, or ask.")
    of: tuple[Name, ...] = Field(
        default=(), description="Instead of a solver: other methods of the plan, which solve together."
    )
    plausible: Plausible = Field(
        default="none",
        description="With `of`: where the weights of the re-ranking are learnt: validation problems, or the test "
        "side of a compositional split of the training side, for which the methods are trained once more, with the "
        "first seed.",
    )
    without: tuple[str, ...] = Field(
        default=(), description="With `plausible`: features that the re-ranking leaves out."
    )
    pool_seeds: bool = Field(
        default=False, description="With `of`: the trainings of all seeds solve together, in one evaluation."
    )
    augmentation: Name | None = Field(default=None, description="One of the plan's augmentations.")
    rounds: tuple[int, ...] = Field(
        default=(), description="Train on the augmented set as it is after each of these rounds."
    )
    datasets: tuple[Name, ...] | None = Field(default=None, description="Only these datasets; all by default.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Hyper-parameters of the solver.")

    @model_validator(mode="after")
    def _a_solver_or_others(self) -> "MethodPlan":
        if bool(self.solver) == bool(self.of):
            raise ValueError("give either a solver, or `of`, the methods that solve together")
        if self.of and (self.augmentation or self.rounds or self.settings):
            raise ValueError("`of` names trained methods, which have their own augmentation, rounds and settings")
        if not self.of and (self.plausible != "none" or self.without):
            raise ValueError("`plausible` and `without` need `of`, the methods whose beams are re-ranked")
        if self.pool_seeds and not self.of:
            raise ValueError("`pool_seeds` needs `of`, the methods whose trainings solve together")
        if self.without and self.plausible == "none":
            raise ValueError("`without` needs `plausible`")
        return self

    @model_validator(mode="before")
    @classmethod
    def _asked(cls, values: Any) -> Any:
        """`ask: {…}` is the solver `ask` with these settings, those of `comdiv ask`."""
        if not isinstance(values, Mapping) or "ask" not in values:
            return values
        if given := [name for name in ("solver", "settings") if name in values]:
            raise ValueError(f"give either ask or {given[0]}")
        if not isinstance(values["ask"], Mapping):
            raise ValueError("ask: the options of `comdiv ask` are expected, such as {base_url: …, model: …}")
        others = {name: value for name, value in values.items() if name != "ask"}
        return {**others, "solver": "ask", "settings": dict(values["ask"])}


class TrainingPlan(PlanPart):
    """What all trainings share.

    `steps: equal` gives a method and its +DA variant the same number of optimiser steps, because an augmented set is
    larger and more steps alone make a solver better: `steps_like: plain` trains the +DA variant for fewer epochs,
    `augmented` trains the plain method for more. `steps: epochs` gives all the same number of epochs, as in the paper.
    """

    preset: Literal["cpu", "paper"] = Field(default="cpu", description="The preset of `comdiv train`.")
    seeds: Seeds = Field(default=(0,), description="One training for each seed.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Hyper-parameters of all solvers.")
    steps: Literal["epochs", "equal"] = Field(
        default="epochs",
        description="Equal numbers of epochs for all, or of optimiser steps for a method and its +DA.",
    )
    steps_like: Literal["plain", "augmented"] = Field(
        default="plain", description="With `equal` steps: whose number of steps both take."
    )
    threads: int = Field(
        default=1, ge=1, description="CPU threads of each training; they affect the last bits of a result."
    )


class EvaluationPlan(PlanPart):
    """What every training is evaluated on, and how it decodes."""

    parts: tuple[Part, ...] = Field(default=("validation", "test"), description="The parts to evaluate on.")
    cover: tuple[Literal["none", "soft", "hard"], ...] = Field(
        default=("none",), description="Whether expressions should use every quantity; one evaluation for each."
    )
    beam: int | None = Field(
        default=None, ge=1, le=100, description="Hypotheses to follow; the solver's own without it."
    )


class MeasurementPlan(PlanPart):
    """Divergences of every dataset at each k, with frequencies and figures."""

    k: tuple[int, ...] = Field(default=(10,), description="Numbers of clusters of quantities.")
    alpha: Literal["paper", "keysers2020"] = Field(default="paper", description="Preset for the α of the divergences.")


class TuningPlan(PlanPart):
    """Hyper-parameters to try: every combination, or a number of them drawn by seed."""

    ranges: dict[str, tuple[Any, ...]] = Field(description="The values to try of each hyper-parameter.")
    also: dict[Name, dict[str, tuple[Any, ...]]] = Field(
        default_factory=dict, description="Further ranges, of single methods."
    )
    samples: int | None = Field(default=None, ge=1, description="Combinations to try of each method; all without it.")
    seed: int = Field(default=0, ge=0, description="Seed of the draw of combinations.")


class Plan(PlanPart):
    """Everything that `comdiv run` needs to know."""

    name: str = Field(description="Its name, in small letters, digits and hyphens.")
    title: str = Field(default="", description="Its title in reports.")
    reproduces: str = Field(default="", description="The table or figure of the paper.")
    about: str = Field(default="", description="What a reader of its results should know.")
    order: int = Field(default=100, ge=0, description="Its place in reports and on the page of results.")
    corpora: dict[str, str] = Field(
        default_factory=dict, description="The plan's own names of corpora: {math23k: demo-zh}."
    )
    datasets: dict[Name, DatasetPlan] = Field(description="What is trained and tested on.")
    measure: MeasurementPlan | None = Field(default=None, description="Whether divergences are measured, and how.")
    augmentations: dict[Name, AugmentationPlan] = Field(default_factory=dict, description="Ways to augment, by name.")
    methods: dict[Name, MethodPlan] = Field(default_factory=dict, description="The rows of the tables.")
    training: TrainingPlan = Field(default_factory=TrainingPlan, description="What all trainings share.")
    evaluate: EvaluationPlan = Field(default_factory=EvaluationPlan, description="How everything is evaluated.")
    tuning: TuningPlan | None = Field(default=None, description="Hyper-parameters to try.")

    def solvers(self) -> list[str]:
        """Every solver that the plan names, as a method's or as a ranker."""
        options = [entry.options for entry in self.augmentations.values()]
        options += [dataset.augmentation for dataset in self.datasets.values()]
        rankers = [changes.ranker for changes in options if "ranker" in changes.model_fields_set]
        return [*(method.solver for method in self.methods.values() if method.solver), *rankers]

    @field_validator("name")
    @classmethod
    def _name_of_a_file(cls, name: str) -> str:
        if not FILE_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not a name for a plan: use lower-case letters, digits and hyphens")
        return name

    @field_validator("datasets", "augmentations", "methods")
    @classmethod
    def _plain_names(cls, entries: dict[str, Any]) -> dict[str, Any]:
        for name in entries:
            if not _NAME.fullmatch(name):
                raise ValueError(f"'{name}' is not a name: use letters, digits, spaces and _.+-()/,=")
        return entries

    @model_validator(mode="after")
    def _names_are_known(self) -> "Plan":
        for name, method in self.methods.items():
            where = f"methods.{name}"
            if method.augmentation is not None and method.augmentation not in self.augmentations:
                raise _said(where, "augmentation", method.augmentation, self.augmentations)
            for dataset in method.datasets or ():
                if dataset not in self.datasets:
                    raise _said(where, "dataset", dataset, self.datasets)
            if method.rounds and method.augmentation is None:
                raise ValueError(f"{where}: rounds need an augmentation")
            self._members_are_known(method, f"{where}.of")
        for name, augmentation in self.augmentations.items():
            for key in ("presets", "more_seeds"):
                for dataset in getattr(augmentation, key):
                    if dataset not in self.datasets:
                        raise _said(f"augmentations.{name}.{key}", "dataset", dataset, self.datasets)
        for name in self.tuning.also if self.tuning else ():
            if name not in self.methods:
                raise _said("tuning.also", "method", name, self.methods)
        if self.tuning and any(method.augmentation for method in self.methods.values()):
            raise ValueError("tuning is for plain methods: remove the augmentation")
        if not self.methods and self.measure is None:
            raise ValueError("the plan does nothing: it has neither methods nor measure")
        return self

    def _members_are_known(self, method: MethodPlan, where: str) -> None:
        """Members are plain trained methods of the plan, on all datasets of the method itself."""
        for name in method.of:
            if name not in self.methods:
                raise _said(where, "method", name, self.methods)
            member = self.methods[name]
            if member.of or member.augmentation or member.solver == ASK or member.solver.startswith(PROGRAM):
                raise ValueError(f"{where}: {name} is not a plain method with a solver of ours")
            apart = set(self.datasets if method.datasets is None else method.datasets)
            if member.datasets is not None and (missing := sorted(apart - set(member.datasets))):
                raise ValueError(f"{where}: {name} is not trained on {missing[0]}")
        if method.of and self.tuning:
            raise ValueError(f"{where}: a tuning trains single methods")


def make_plan(record: Mapping[str, Any]) -> Plan:
    """The plan that a mapping describes; any mistake in it is a one-line error."""
    try:
        return Plan.model_validate(record)
    except ValidationError as error:
        raise complaint(error, Plan) from error


def _said(where: str, what: str, name: str, known: Mapping[str, Any]) -> ValueError:
    return ValueError(f"{where}: {unknown_name(what, name, known)}")


def read_plan(path: Path, preset: str | None = None, samples: int | None = None) -> Plan:
    """The plan of a YAML file, with one of its presets applied; `samples` overrides that of its tuning."""
    if not path.exists():
        raise ComdivError(f"{path}: no such plan")
    record = load_mapping(path, "a plan")
    with located(str(path)):
        presets = _presets(record.pop("presets", None) or {})
        if preset is not None:
            if preset not in presets:
                raise unknown_name("preset of this plan", preset, presets)
            record = _laid_over(record, presets[preset])
        if samples is not None:
            if not isinstance(record.get("tuning"), dict):
                raise ComdivError("--samples needs a plan with `tuning`")
            record["tuning"]["samples"] = samples
        return make_plan(record)


def _presets(presets: Any) -> dict[str, Any]:
    """The presets by name; a name becomes part of a file's name."""
    if not isinstance(presets, dict):
        raise ComdivError("presets must be a mapping of names to changes of the plan")
    for name in presets:
        if not FILE_NAME.fullmatch(str(name)):
            raise ComdivError(
                f"presets: '{name}' is not a name for a preset: use lower-case letters, digits and hyphens"
            )
    return presets


def _laid_over(record: Mapping[str, Any], changes: Any) -> dict[str, Any]:
    if not isinstance(changes, dict):
        raise ComdivError("a preset must be a mapping of keys to values")
    result = dict(record)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _laid_over(result[key], value)
        else:
            result[key] = value
    return result
