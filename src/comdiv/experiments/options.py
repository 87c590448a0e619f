"""What a plan says, as the options of those who do the work: splits, synthesis, augmentation, solvers."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comdiv.errors import ComdivError, unknown_name
from comdiv.experiments.grid import grid
from comdiv.experiments.plan import AugmentationPlan, DatasetPlan, MethodPlan, Plan, TrainingPlan
from comdiv.problem import read_problems
from comdiv.solvers.registry import solver_names
from comdiv.solvers.settings import SolverSettings, settings_for

if TYPE_CHECKING:
    from comdiv.augmentation import AugmentationOptions
    from comdiv.synthesis import SynthesisOptions

SYNTHESIS_FILES = ("rules", "review")  # options of a synthesis that name files
PROGRAM = "command:"  # how the name of a solver begins that is a program of the user's own


def check_names(plan: Plan) -> None:
    """Refuse solvers, settings and options that do not exist; needs no corpus."""
    for name, method in plan.methods.items():
        try:
            check_solver(method.solver)
            for settings in variants(plan, name, method):
                solver_settings(method.solver, plan.training, {**method.settings, **settings}, seed=0)
                break  # the ranges of a grid are of one kind
        except ComdivError as error:
            raise ComdivError(f"methods.{name}: {error}") from error
    for name, dataset in plan.datasets.items():
        try:
            settings_for("gts", plan.training.preset, dataset.settings)
            augmentation_options(AugmentationPlan(), dataset, plan.training, solver="gts", seed=0)
        except ComdivError as error:
            raise ComdivError(f"datasets.{name}: {error}") from error
        if dataset.synthesize is not None:
            try:
                synthesis_options(dataset.synthesize)
            except ComdivError as error:
                raise ComdivError(f"datasets.{name}.synthesize: {error}") from error
    for name, augmentation in plan.augmentations.items():
        try:
            augmentation_options(augmentation, None, plan.training, solver="gts", seed=0)
        except ComdivError as error:
            raise ComdivError(f"augmentations.{name}: {error}") from error


def variants(plan: Plan, name: str, method: MethodPlan) -> list[dict[str, Any]]:
    """The settings to try of a method: those of the tuning, else just its own."""
    if plan.tuning is None:
        return [{}]
    ranges = {**plan.tuning.ranges, **plan.tuning.also.get(name, {})}
    return grid(ranges, plan.tuning.samples, f"{plan.tuning.seed} {name}")


def check_solver(name: str) -> None:
    """Refuse a solver that nobody registered, without loading any."""
    if not name.startswith(PROGRAM) and name not in solver_names():
        raise unknown_name("solver", name, solver_names())


def solver_settings(
    solver: str, training: TrainingPlan, changes: Mapping[str, Any], seed: int
) -> SolverSettings | None:
    """All hyper-parameters of a training; a program of the user's own has none that we know."""
    if solver.startswith(PROGRAM):
        return None
    fixed = {"seed": seed, "threads": training.threads}
    return settings_for(solver, training.preset, {**training.settings, **changes, **fixed})


def synthesis_options(record: Mapping[str, Any]) -> "SynthesisOptions":
    """The options of a synthesis."""
    from comdiv.synthesis import SynthesisOptions

    return SynthesisOptions.checked(**record)


def augmentation_options(
    augmentation: AugmentationPlan, dataset: DatasetPlan | None, training: TrainingPlan, solver: str, seed: int
) -> "AugmentationOptions":
    """The options of an augmentation. Where it ranks, the method's own solver does (§IV), trained as it is.

    A dataset's own options and settings are laid over the plan's, the ranker's own settings over those of the training.
    """
    from comdiv.augmentation import AugmentationOptions

    named = {"seed": seed, **augmentation.options, **(dataset.augmentation if dataset else {})}
    options = AugmentationOptions.preset(augmentation.preset, **named)
    if options.ranker == "none":
        return options
    settings = {**training.settings, **(dataset.settings if dataset else {})}
    trained = {**settings, "threads": training.threads, "seed": seed, **options.ranker_settings}
    changes = {"ranker": solver, "ranker_preset": training.preset, **named, "ranker_settings": trained}
    return AugmentationOptions.preset(augmentation.preset, **changes)


def augmentation_with_ban(recipe: Mapping[str, Any], data: Path) -> "AugmentationOptions":
    """The options of an augmentation's recipe; with `ban: test`, the hashes of the test texts that must not come out.

    The augmentation itself never reads a test set: whoever runs an experiment may, and hands over hashes only.
    """
    from comdiv.augmentation import AugmentationOptions, ban_hashes

    options = AugmentationOptions(**recipe["options"])
    if recipe["ban"] == "nothing":
        return options
    return options.model_copy(update={"ban": tuple(ban_hashes(read_problems(data / "test.jsonl")))})
