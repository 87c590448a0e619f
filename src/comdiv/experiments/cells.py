"""From a plan to its cells: a graph in which every cell is named by the hash of everything that determines it.

A key covers the recipe (all settings, defaults included, and hashes of the sources) and the keys of the cells that it
needs: whatever changes upstream changes the names of all that depends on it, and nothing else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell, Facts
from comdiv.experiments.cell_book import CellBook
from comdiv.experiments.options import PROGRAM, augmentation_options, check_names, solver_settings, variants
from comdiv.experiments.plan import AugmentationPlan, MethodPlan, Plan
from comdiv.files import file_sha256
from comdiv.solvers.command import command_words
from comdiv.solvers.packaged import PREFIX, unpackaged
from comdiv.solvers.settings import SolverSettings


def plan_cells(plan: Plan, base: Path | None = None) -> tuple[Cell, ...]:
    """All cells of a plan, each after those that it needs. `base` is the folder from which the plan names files.

    Everything that can be wrong with a plan is found here, before anything runs.
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
        return self.made.values()

    def _measurements(self, data: Cell) -> None:
        for k in self.plan.measure.k if self.plan.measure else ():
            recipe = {"k": k, "alpha": self.plan.measure.alpha} if self.plan.measure else {}
            self.cell("measurement", f"{data.label}, k = {k}", replace(data.facts, k=k), recipe, (data,))

    # --- methods ---

    def _method(self, name: str, method: MethodPlan, origin: str, data: Cell) -> None:
        """All trainings of a method on a dataset, with their evaluations."""
        facts = replace(data.facts, method=name, solver=method.solver)
        if method.augmentation is None:
            for like in self._steps_of_plain(name, method, origin, data):
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
        """One for each dataset, setting and seed; and one for each solver where the solver ranks."""
        dataset = self.plan.datasets[origin]
        options = augmentation_options(augmentation, dataset, self.plan.training, method.solver, seed)
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

    def _plain(self, method: MethodPlan) -> str | None:
        """The method that differs from this one in nothing but the augmentation."""
        for name, other in self.plan.methods.items():
            if other.augmentation is None and (other.solver, other.settings) == (method.solver, method.settings):
                return name
        return None

    def _steps_like(self, origin: str) -> str:
        return self.plan.datasets[origin].steps_like or self.plan.training.steps_like

    def _steps_of_plain(self, name: str, method: MethodPlan, origin: str, data: Cell) -> list[tuple[str, Cell] | None]:
        """Whose number of steps a plain method takes: its own, or that of each of its +DA."""
        found: list[tuple[str, Cell] | None] = []
        if (self.plan.training.steps, self._steps_like(origin)) == ("equal", "augmented"):
            for other_name, other in self.plan.methods.items():
                used = other.datasets is None or origin in other.datasets
                if other.augmentation is not None and used and self._plain(other) == name:
                    augmentation = self.plan.augmentations[other.augmentation]
                    grown = self._augmentation(other, augmentation, origin, data, augmentation.seeds[0])
                    found.append((other_name, grown))
        return found or [None]

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
        """A training for each variant and seed. `like` is whose number of steps it takes, if steps are equal."""
        training = self.plan.training
        needs = [trained_on]
        if training.steps == "equal":
            facts = replace(facts, steps="equal", steps_like=like[0] if like else None)
            if like is not None and like[1].key != trained_on.key:
                needs.append(like[1])
        else:
            facts = replace(facts, steps="epochs")
        for changes in variants(self.plan, name, method):
            for seed in training.seeds:
                own = {**self.plan.datasets[origin].settings, **method.settings, **changes}
                settings = solver_settings(method.solver, training, own, seed)
                recipe = {
                    "solver": method.solver,
                    "preset": training.preset,
                    "settings": None if settings is None else settings.model_dump(),
                    "steps": "equal" if len(needs) > 1 else "epochs",
                }
                if settings is None:
                    recipe["program"] = program_files(method.solver)
                if self.plan.datasets[origin].select == "last":  # entered only then: the keys of other trainings stay
                    recipe["select"] = "last"
                inputs: dict[str, str] = {}
                if settings is not None and settings.weights:
                    recipe |= self._weights(settings)
                    inputs = self._weights_place(settings.weights)
                named = replace(facts, seed=seed, settings={**method.settings, **changes})
                label = _training_label(name, data.label, named, changes)
                cell = self.cell("training", label, named, recipe, needs, inputs)
                for cover in self.plan.evaluate.cover if settings is not None else ("none",):
                    self._evaluation(cell, trained_on, data, cover)  # a program decodes by itself

    def _weights(self, settings: SolverSettings) -> dict[str, Any]:
        """Pre-trained weights by their bytes: where a folder lies takes no part in a key. A hub's name has no files."""
        try:
            path = Path(self.source(unpackaged(settings.weights)))
        except ComdivError:  # a package that is not here: the cell says so when it runs, the others are none the worse
            path = Path(settings.weights)
        files = [path] if path.is_file() else sorted(path.glob("*")) if path.is_dir() else []
        hashes = {file.name: file_sha256(file) for file in files if file.is_file()}
        name = path.name if self._weights_place(settings.weights) else settings.weights
        return {"settings": {**settings.model_dump(), "weights": name}, "weights": hashes}

    def _weights_place(self, named: str) -> dict[str, str]:
        """Where weights lie on this machine; a package is looked for wherever the cell runs."""
        path = Path(self.source(named))
        return {"weights": str(path)} if path.exists() and not named.startswith(PREFIX) else {}

    def _evaluation(self, training: Cell, trained_on: Cell, data: Cell, cover: str) -> None:
        """On the parts of the dataset itself: an augmentation may have its own validation problems."""
        evaluate = self.plan.evaluate
        recipe = {"parts": list(evaluate.parts), "cover": cover, "beam": evaluate.beam}
        label = training.label if cover == "none" else f"{training.label}, cover {cover}"
        needs = [training, trained_on] if trained_on is data else [training, trained_on, data]
        self.cell("evaluation", f"{label}: evaluation", replace(training.facts, cover=cover), recipe, needs)


def program_files(solver: str) -> dict[str, str]:
    """The files that the command line of a user's own program names, by their bytes: another program, another cell."""
    return {path.name: file_sha256(path) for path in map(Path, command_words(solver)) if path.is_file()}


def _training_label(method: str, dataset: str, facts: Facts, changes: Mapping[str, Any]) -> str:
    parts = [f"{method} on {dataset}", f"seed {facts.seed}"]
    if facts.rounds is not None:
        parts.append(f"{facts.rounds} round{'s' * (facts.rounds != 1)}")
    if facts.augmentation_seed:
        parts.append(f"augmentation seed {facts.augmentation_seed}")
    if facts.steps_like is not None and facts.augmentation is None:
        parts.append(f"steps of {facts.steps_like}")
    return ", ".join([*parts, *(f"{key}={value}" for key, value in changes.items())])
