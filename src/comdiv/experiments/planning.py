"""From a plan to its cells: a graph in which every cell is named after what determines it (`keys`).

A change upstream renames everything that depends on it, and nothing else. The plan's entries become the settings of
the parts that do the work: splits, synthesis, augmentation, solvers.
"""

import math
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from comdiv.asking.ask_settings import AskSettings
from comdiv.augmentation import AugmentationOptions, ban_hashes
from comdiv.corpora import ReadReport
from comdiv.corpora.read import open_corpus
from comdiv.dataset import PARTS, is_intact, read_facts
from comdiv.errors import ComdivError, located, unknown_name
from comdiv.experiments.cell import Cell, Facts, Kind
from comdiv.experiments.keys import cell_key
from comdiv.experiments.plan import (
    AugmentationPlan,
    DatasetPlan,
    MethodPlan,
    Plan,
    SplitPlan,
    SynthesisPlan,
    TrainingPlan,
)
from comdiv.files import file_sha256
from comdiv.problem import read_problems
from comdiv.registry import SOLVERS
from comdiv.solvers.command import PROGRAM, program_files
from comdiv.solvers.hyperparameters import (
    SolverSettings,
    settings_for,
    weights_files,
)
from comdiv.solvers.language_model import ASK
from comdiv.synthesis.release import find_release
from comdiv.word_vectors import PACKAGE, weights_folder


def check_names(plan: Plan) -> None:
    """Refuse solvers, settings and combinations of options that do not exist; this needs no corpus."""
    for name, method in plan.methods.items():
        if method.of:
            _check_features(method.without, f"methods.{name}.without")
            continue
        with located(f"methods.{name}"):
            check_solver(method.solver)
            first = next(iter(variants(plan, name, method)), {})  # all combinations of a grid have the same types
            solver_settings(method.solver, plan.training, {**method.settings, **first}, seed=0)
    for name, dataset in plan.datasets.items():
        with located(f"datasets.{name}"):
            settings_for("gts", plan.training.preset, dataset.settings)
            augmentation_options(AugmentationPlan(), dataset, plan.training, solver="gts", seed=0)
    for name, augmentation in plan.augmentations.items():
        with located(f"augmentations.{name}"):
            augmentation_options(augmentation, None, plan.training, solver="gts", seed=0)


def _check_features(names: Sequence[str], where: str) -> None:
    if names:
        from comdiv.solvers.plausible import FEATURES

        for name in names:
            if name not in FEATURES:
                raise ComdivError(f"{where}: {unknown_name('feature', name, FEATURES)}")


def variants(plan: Plan, name: str, method: MethodPlan) -> list[dict[str, Any]]:
    """A method's settings to try: those of the tuning, or else just its own."""
    if plan.tuning is None:
        return [{}]
    ranges = {**plan.tuning.ranges, **plan.tuning.also.get(name, {})}
    return grid(ranges, plan.tuning.samples, f"{plan.tuning.seed} {name}")


def check_solver(name: str) -> None:
    """Refuse a solver that is not registered, without loading any."""
    if not name.startswith(PROGRAM) and name not in (*SOLVERS.names(), ASK):
        raise unknown_name("solver", name, (*SOLVERS.names(), ASK))


def solver_settings(
    solver: str, training: TrainingPlan, changes: Mapping[str, Any], seed: int
) -> SolverSettings | AskSettings | None:
    """All hyper-parameters of a training; a user's own program has none that we know."""
    if solver.startswith(PROGRAM):
        return None
    if solver == ASK:
        return AskSettings.checked(**{"seed": seed, **changes})
    fixed = {"seed": seed, "threads": training.threads}
    return settings_for(solver, training.preset, {**training.settings, **changes, **fixed})


def augmentation_options(
    augmentation: AugmentationPlan, dataset: DatasetPlan | None, training: TrainingPlan, solver: str, seed: int
) -> AugmentationOptions:
    """The options of an augmentation. If it ranks, it uses the method's own solver (§IV), trained in the same way.

    A dataset's options and settings override the plan's; the ranker's settings override those of the training.
    """
    changes = {
        "seed": seed,
        **augmentation.options.model_dump(),
        **(dataset.augmentation.model_dump() if dataset else {}),
    }
    options = AugmentationOptions.preset(augmentation.preset, **changes)
    if options.ranker == "none":
        return options
    if ASK in (changes.get("ranker"), solver if "ranker" not in changes else None):
        return AugmentationOptions.preset(augmentation.preset, **{"ranker": ASK, **changes})
    settings = {**training.settings, **(dataset.settings if dataset else {})}
    ranker = {**settings, "threads": training.threads, "seed": seed, **options.ranker_settings}
    changes = {"ranker": solver, "ranker_preset": training.preset, **changes, "ranker_settings": ranker}
    return AugmentationOptions.preset(augmentation.preset, **changes)


def augmentation_with_ban(recipe: Mapping[str, Any], data: Path) -> AugmentationOptions:
    """The options of an augmentation's recipe; with `ban: test`, also the hashes of the test texts to exclude.

    The augmentation itself never reads a test set: the experiment does, and passes on only hashes.
    """
    options = AugmentationOptions(**recipe["options"])
    if recipe["ban"] == "nothing":
        return options
    return options.model_copy(update={"ban": tuple(ban_hashes(read_problems(data / "test.jsonl")))})


def grid(ranges: Mapping[str, Sequence[Any]], samples: int | None = None, seed: int | str = 0) -> list[dict[str, Any]]:
    """All combinations, the last range changing fastest; with `samples`, that many different ones, drawn by seed.

    Combinations are numbered, never all built: the paper's ranges have thousands.
    """
    total = math.prod(len(values) for values in ranges.values())
    if samples is None or samples >= total:
        numbers: Sequence[int] = range(total)
    else:
        numbers = sorted(random.Random(str(seed)).sample(range(total), samples))
    return [_combination(ranges, number) for number in numbers]


def _combination(ranges: Mapping[str, Sequence[Any]], number: int) -> dict[str, Any]:
    """The combination of a number, from its digits in a mixed base."""
    digits = {}
    for name in reversed(list(ranges)):
        number, place = divmod(number, len(ranges[name]))
        digits[name] = ranges[name][place]
    return {name: digits[name] for name in ranges}


@dataclass(slots=True)
class CellBook:
    """All cells entered so far. `base` is the folder to which file names in the plan are relative."""

    plan: Plan
    base: Path
    book: dict[tuple[str, str], Cell] = field(default_factory=dict)  # (key, label) → cell: each once

    def cell(
        self,
        kind: Kind,
        label: str,
        facts: Facts,
        recipe: Mapping[str, Any],
        needs: Sequence[Cell] = (),
        inputs: Mapping[str, str] | None = None,
    ) -> Cell:
        keys = tuple(need.key for need in needs)
        key = cell_key(kind, recipe, keys)
        if (key, label) not in self.book:
            self.book[key, label] = Cell(key, kind, label, facts, keys, dict(recipe), inputs or {})
        return self.book[key, label]

    def datasets(self, name: str, dataset: DatasetPlan) -> Iterator[Cell]:
        """One dataset, or one per target of a split with targets."""
        if dataset.folder is not None:
            yield self._given_dataset(name, dataset.folder)
            return
        if dataset.split is not None and dataset.within is not None:
            outer = self._earlier_dataset(dataset.within, f"datasets.{name}.within")
            facts = Facts(dataset=name, corpus=outer.facts.corpus)
            yield from self._splits(name, dataset.split, facts, {"within": "training side"}, [outer], {})
            return
        source = self.source(str(dataset.corpus))
        corpus, version, _ = open_corpus(source, ReadReport())
        recipe: dict[str, Any] = {"corpus": {"name": corpus, "version": version}}
        if dataset.limit is not None:
            recipe["limit"] = dataset.limit
        if dataset.contradictions == "drop":
            recipe["contradictions"] = "drop"
        if dataset.columns is not None:
            recipe["columns"] = dataset.columns.model_dump()
        facts = Facts(dataset=name, corpus=corpus)
        if dataset.split is not None:
            yield from self._splits(name, dataset.split, facts, recipe, [], {"corpus": source})
        elif dataset.synthesize is not None:
            yield self._synthesis(name, facts, recipe, dataset.synthesize, source)

    def _splits(
        self,
        name: str,
        split: SplitPlan,
        facts: Facts,
        recipe: Mapping[str, Any],
        needs: Sequence[Cell],
        inputs: Mapping[str, str],
    ) -> Iterator[Cell]:
        # Within another dataset, it is not the split for which the paper has numbers.
        named_split = f"{split.method} within" if needs else split.method
        facts = replace(facts, split=named_split, k=split.extraction.k, split_seed=split.seed)
        for target in split.targets or (split.target,):
            label = name if target is None else f"{name}-{target:.2f}"
            settings = split.settings(target).model_dump()
            own = replace(facts, dataset=label, target=target)
            yield self.cell("dataset", label, own, {**recipe, "split": settings}, needs, inputs)

    def _earlier_dataset(self, name: str, key: str) -> Cell:
        """A dataset that comes before this one in the plan."""
        there = {cell.label: cell for cell in self.book.values() if cell.kind == "dataset"}
        if name not in there:
            raise ComdivError(f"{key}: {unknown_name('dataset', name, there)}")
        return there[name]

    def _synthesis(
        self, name: str, facts: Facts, recipe: Mapping[str, Any], synthesis: SynthesisPlan, source: str
    ) -> Cell:
        """A synthesized dataset; `exclude` may name another dataset of the plan, whose seeds are left out."""
        files = {key: self.source(path) for key, path in synthesis.files.items()}
        for path in files.values():
            if not Path(path).is_file():
                raise ComdivError(f"datasets.{name}.synthesize: {path}: no such file")
        options, outer = synthesis.settings(), synthesis.exclude
        needs = [] if outer is None else [self._earlier_dataset(outer, f"datasets.{name}.synthesize.exclude")]
        release = None if options.release is None else find_release(options.release)
        disjoint = (options if release is None else release.options).disjoint
        facts = replace(facts, split="disjoint" if disjoint else "synthesis", split_seed=options.seed)
        hashes = {key: file_sha256(Path(path)) for key, path in files.items()}
        version = {} if release is None else {"release": release.version}
        recipe = {**recipe, "synthesize": options.model_dump(mode="json"), "files": hashes, **version}
        return self.cell("dataset", name, facts, recipe, needs, {"corpus": source, **files})

    def _given_dataset(self, name: str, folder: str) -> Cell:
        path = Path(self.source(folder))
        facts = read_facts(path)
        if not is_intact(path, facts):
            raise ComdivError(f"datasets.{name}: {path}: a part is missing or is not what dataset.json says")
        files = {part: file_sha256(path / f"{part}.jsonl") for part in PARTS}
        corpus = facts.get("source", {}).get("corpus") if isinstance(facts.get("source"), dict) else None
        return self.cell(
            "dataset", name, Facts(dataset=name, corpus=corpus, split="folder"), {"files": files}, (),
            {"folder": str(path)},
        )  # fmt: skip

    def source(self, name: str) -> str:
        """A corpus's name, or the path of a file or folder, relative to the plan's own folder."""
        name = self.plan.corpora.get(name, name)
        path = self.base / name
        return str(path.resolve()) if os.path.exists(path) else name  # noqa: PTH110 (Path.exists raises on long names)


def plan_cells(plan: Plan, base: Path | None = None) -> tuple[Cell, ...]:
    """All cells of a plan, each after those that it needs. `base` is the folder to which file names are relative.

    All mistakes in a plan are found here, before anything runs.
    """
    check_names(plan)
    return tuple(_Planner(plan, base or Path()).cells())


class _Planner(CellBook):
    """The cells of a plan's methods, on top of those of its datasets."""

    def cells(self) -> Iterable[Cell]:
        datasets = {name: list(self.datasets(name, dataset)) for name, dataset in self.plan.datasets.items()}
        for data in chain.from_iterable(datasets.values()):
            self._measurements(data)
        for name, method in self.plan.methods.items():
            for origin in datasets if method.datasets is None else method.datasets:
                for data in datasets[origin]:
                    self._method(name, method, origin, data)
        return self.book.values()

    def _measurements(self, data: Cell) -> None:
        for k in self.plan.measure.k if self.plan.measure else ():
            recipe = {"k": k, "alpha": self.plan.measure.alpha} if self.plan.measure else {}
            self.cell("measurement", f"{data.label}, k = {k}", replace(data.facts, k=k), recipe, (data,))

    # --- methods ---

    def _method(self, name: str, method: MethodPlan, origin: str, data: Cell) -> None:
        """All trainings of a method on a dataset, with their evaluations."""
        if method.of:
            self._together(name, method, origin, data)
            return
        facts = replace(data.facts, method=name, solver=method.solver)
        if method.augmentation is None:
            for like in self._steps_of_plain(name, origin, data):
                self._trainings(name, method, origin, facts, data, data, like)
            return
        augmentation = self.plan.augmentations[method.augmentation]
        facts = replace(facts, augmentation=method.augmentation, plain=self._plain(method))
        for seed in (*augmentation.seeds, *augmentation.more_seeds.get(origin, ())):
            grown = self._augmentation(method, augmentation, origin, data, seed)
            seeded = replace(facts, augmentation_seed=seed)
            like = (self._plain(method) or f"{method.solver} without augmentation", data)
            for rounds in method.rounds or (None,):
                trained_on = self._after_rounds(grown, data, rounds)
                self._trainings(
                    name, method, origin, replace(seeded, rounds=rounds), trained_on, data,
                    like if self._steps_like(origin) == "plain" else None,
                )  # fmt: skip

    def _augmentation(
        self, method: MethodPlan, augmentation: AugmentationPlan, origin: str, data: Cell, seed: int
    ) -> Cell:
        """One per dataset, setting and seed, and also per solver if the solver ranks."""
        dataset = self.plan.datasets[origin]
        options = augmentation_options(augmentation.on(origin), dataset, self.plan.training, method.solver, seed)
        facts = replace(data.facts, augmentation=method.augmentation, augmentation_seed=seed)
        ranked = options.ranker != "none"
        label = f"{method.augmentation} on {data.label}, seed {seed}" + (f", ranked by {options.ranker}" * ranked)
        if ranked:
            facts = replace(facts, solver=options.ranker)
        recipe: dict[str, Any] = {"options": options.model_dump(mode="json"), "ban": augmentation.ban}
        if options.ranker.startswith(PROGRAM):
            recipe["program"] = program_files(options.ranker)
        return self.cell("augmentation", label, facts, recipe, (data,))

    def _after_rounds(self, grown: Cell, data: Cell, rounds: int | None) -> Cell:
        if rounds is None:
            return grown
        if rounds == 0:
            return data
        if rounds > (most := grown.recipe["options"]["rounds"]):
            raise ComdivError(f"{rounds} rounds of {grown.label}: the augmentation has {most}")
        label = f"{rounds} round{'s' * (rounds > 1)} of {grown.label}"
        return self.cell("rounds", label, replace(grown.facts, rounds=rounds), {"rounds": rounds}, (grown, data))

    def _seeds(self, origin: str) -> tuple[int, ...]:
        """The seeds of the trainings on a dataset."""
        own = self.plan.datasets[origin].seeds
        return self.plan.training.seeds if own is None else own

    def _plain(self, method: MethodPlan) -> str | None:
        """The method that differs from this one only in the augmentation."""
        for name, other in self.plan.methods.items():
            if other.augmentation is None and (other.solver, other.settings) == (method.solver, method.settings):
                return name
        return None

    def _steps_like(self, origin: str) -> str:
        return self.plan.datasets[origin].steps_like or self.plan.training.steps_like

    def _steps_of_plain(self, name: str, origin: str, data: Cell) -> list[tuple[str, Cell] | None]:
        """Whose number of steps a plain method takes: its own, or that of each of its +DA variants."""
        methods: list[tuple[str, Cell] | None] = []
        if (self.plan.training.steps, self._steps_like(origin)) == ("equal", "augmented"):
            for other_name, other in self.plan.methods.items():
                applies = other.datasets is None or origin in other.datasets
                if other.augmentation is not None and applies and self._plain(other) == name:
                    augmentation = self.plan.augmentations[other.augmentation]
                    grown = self._augmentation(other, augmentation, origin, data, augmentation.seeds[0])
                    methods.append((other_name, grown))
        return methods or [None]

    def _trainings(
        self,
        name: str,
        method: MethodPlan,
        origin: str,
        facts: Facts,
        trained_on: Cell,
        data: Cell,
        like: tuple[str, Cell] | None,
    ) -> None:
        """One training per variant and seed. `like` is whose number of steps it takes, if steps are equal."""
        facts, needs = self._with_steps(facts, trained_on, like)
        for changes in variants(self.plan, name, method):
            for seed in self._seeds(origin):
                cell = self._training(name, method, origin, facts, data, needs, changes, seed)
                decodes = method.solver != ASK and not method.solver.startswith(PROGRAM)
                for cover in self.plan.evaluate.cover if decodes else ("none",):
                    self._evaluation(cell, trained_on, data, cover)  # a program or a model does its own decoding

    def _training(
        self,
        name: str,
        method: MethodPlan,
        origin: str,
        facts: Facts,
        data: Cell,
        needs: Sequence[Cell],
        changes: Mapping[str, Any],
        seed: int,
    ) -> Cell:
        shared = {} if method.solver == ASK else self.plan.datasets[origin].settings
        training = self.plan.training
        settings = solver_settings(method.solver, training, {**shared, **method.settings, **changes}, seed)
        recipe: dict[str, Any] = {
            "solver": method.solver,
            "preset": training.preset,
            "settings": _determining(settings),
            "steps": "equal" if len(needs) > 1 else "epochs",
        }
        if settings is None:
            recipe["program"] = program_files(method.solver)
        if self.plan.datasets[origin].select == "last":  # only then, so that the keys of other trainings do not change
            recipe["select"] = "last"
        inputs: dict[str, str] = {}
        if isinstance(settings, AskSettings):  # also speed and key variable, which change no answer
            inputs = {"ask": settings.model_dump_json()}
        if isinstance(settings, SolverSettings):
            for kind, (setting, file) in settings.named_files.items():
                recipe["settings"] |= {setting: self._file_name(file)}
                recipe |= {kind: self._file_hashes(file)}
                inputs |= self._file_place(kind, file)
        own_facts = replace(facts, seed=seed, settings={**method.settings, **changes})
        label = _training_label(name, data.label, own_facts, changes)
        return self.cell("training", label, own_facts, recipe, needs, inputs)

    # --- trained methods together, and re-ranked ---

    def _together(self, name: str, method: MethodPlan, origin: str, data: Cell) -> None:
        """One evaluation per seed of the methods that a method is made of, or one of all seeds together."""
        evaluate, seeds = self.plan.evaluate, self._seeds(origin)
        solvers = " + ".join(self.plan.methods[member].solver for member in method.of)
        for group in [seeds] if method.pool_seeds else [(seed,) for seed in seeds]:
            each = [(member, seed) for seed in group for member in method.of]
            steps = {member: self._steps_of_plain(member, origin, data)[0] for member in method.of}
            members = [self._member(member, origin, data, steps[member], seed) for member, seed in each]
            nested: list[Cell] = []
            if method.plausible == "nested":
                outer = self.plan.datasets[origin].split or SplitPlan()
                split = SplitPlan.checked(preset="paper", validation=outer.validation_share)
                label = f"{data.label} nested"
                (inner,) = self._splits(label, split, data.facts, {"within": "training side"}, [data], {})
                nested = [*(self._member(member, origin, inner, None, seeds[0]) for member in method.of), inner]
            recipe: dict[str, Any] = {"parts": list(evaluate.parts), "beam": evaluate.beam, "members": len(members)}
            if method.plausible != "none":
                recipe |= {"plausible": method.plausible, "without": sorted(method.without)}
            others = [*members[1:], *nested]
            needs = [members[0], data, *others] + ([data] if others else [])  # the last is what is evaluated on
            by = f"seed{'s' * (len(group) > 1)} {', '.join(map(str, group))}"
            for cover in evaluate.cover:
                label = f"{name} on {data.label}, {by}" + (f", cover {cover}" if cover != "none" else "")
                facts = replace(members[0].facts, method=name, solver=solvers, cover=cover)
                self.cell("evaluation", f"{label}: evaluation", facts, {**recipe, "cover": cover}, needs)

    def _member(self, name: str, origin: str, data: Cell, like: tuple[str, Cell] | None, seed: int) -> Cell:
        """The training of a plain method of the plan; with equal steps, the first of them."""
        method = self.plan.methods[name]
        facts, needs = self._with_steps(replace(data.facts, method=name, solver=method.solver), data, like)
        return self._training(name, method, origin, facts, data, needs, {}, seed)

    def _with_steps(self, facts: Facts, trained_on: Cell, like: tuple[str, Cell] | None) -> tuple[Facts, list[Cell]]:
        """The known steps of a training, and the cells that it needs."""
        if self.plan.training.steps != "equal":
            return replace(facts, steps="epochs"), [trained_on]
        facts = replace(facts, steps="equal", steps_like=like[0] if like else None)
        return facts, [trained_on] + ([like[1]] if like is not None and like[1].key != trained_on.key else [])

    # Pre-trained weights and word vectors: known by their bytes, not by their place.

    def _file_hashes(self, name: str) -> dict[str, str]:
        """The hashes of a file or of a folder's files; a name on the hub has none."""
        try:
            return weights_files(Path(self.source(weights_folder(name))))
        except ComdivError:  # a missing package: the cell says so when it runs, and others are not affected
            return {}

    def _file_name(self, name: str) -> str:
        return Path(self.source(name)).name if self._file_place("", name) else name

    def _file_place(self, kind: str, name: str) -> dict[str, str]:
        """Where it is on this machine; a package is looked for where the cell runs."""
        path = Path(self.source(name))
        return {kind: str(path)} if path.exists() and not name.startswith(PACKAGE) else {}

    def _evaluation(self, training: Cell, trained_on: Cell, data: Cell, cover: str) -> None:
        """Evaluate on the parts of the dataset itself: an augmentation may have its own validation problems."""
        evaluate = self.plan.evaluate
        recipe = {"parts": list(evaluate.parts), "cover": cover, "beam": evaluate.beam}
        label = training.label if cover == "none" else f"{training.label}, cover {cover}"
        needs = [training, trained_on] if trained_on is data else [training, trained_on, data]
        solver = training.facts.solver or ""
        allowed = solver.startswith(PROGRAM) or solver == ASK
        program = {"program": solver, **training.inputs} if allowed else {}  # what the plan allows, nothing else
        self.cell("evaluation", f"{label}: evaluation", replace(training.facts, cover=cover), recipe, needs, program)


def _determining(settings: SolverSettings | AskSettings | None) -> dict[str, Any] | None:
    """The settings that determine a result."""
    if isinstance(settings, AskSettings):
        return settings.identity()
    return None if settings is None else settings.model_dump()


def _training_label(method: str, dataset: str, facts: Facts, changes: Mapping[str, Any]) -> str:
    parts = [f"{method} on {dataset}", f"seed {facts.seed}", *facts.variant()]
    return ", ".join([*parts, *(f"{key}={value}" for key, value in changes.items())])
