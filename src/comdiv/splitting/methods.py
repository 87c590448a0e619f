"""Ways to split a corpus behind one interface: compositional (DBCA), random, by length, by template (§III-A, §V-A)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator, model_validator

from comdiv.dataset import VALIDATION_SHARE
from comdiv.errors import ComdivError, unknown_name
from comdiv.expression import operator_count
from comdiv.groups import connected_groups, draw_validation
from comdiv.problem import Problem
from comdiv.registry import SPLIT_METHODS
from comdiv.settings import FLAT, Option, Settings
from comdiv.splitting.divergence import alphas_named
from comdiv.splitting.encoding import Encoded, encode
from comdiv.splitting.extraction import Extraction, ExtractionSettings
from comdiv.splitting.measurement import BALANCE_ALPHA, divergence_to_report, held_out_seeds
from comdiv.splitting.search import Bounded, SplitResult, find_split
from comdiv.splitting.sides import BoundError, check_test_size, random_split, size_of_test

Mask = npt.NDArray[np.bool_]
SearchProgress = Callable[[int, int], None]

SHARE_OF_BOUND = 0.9
STEPS_IN_ALL, LEAST_STEPS, MOST_STEPS = 10_000_000, 100, 4_000
TARGET_TRIES, OTHER_SEEDS = 8, 16
TARGET_TOLERANCE = 0.01  # of the divergence on held-out clusterings


def _bound(description: str) -> Any:
    """A greatest divergence."""
    return Field(default=0.01, ge=0, le=1, description=description)


class SplitSettings(Settings):
    """Everything that determines a split of a corpus."""

    method: str = Field(
        default="dbca",
        description="dbca (compositional), iid, length, template, or a method of an installed package.",
    )
    test_size: float = Field(default=0.2, description="Test problems, as a share (0.2) or a number (474).")
    alpha: str = Field(default="paper", description="Preset of α for the divergences: paper or keysers2020.")
    atom_bound: float | None = _bound(
        "Greatest atom divergence allowed on each clustering; 1 allows any. "
        "What chance gives is allowed where too few problems leave no other way."
    )
    operator_bound: float | None = _bound(
        "Greatest divergence (α = 0.5) allowed for operators and for numbers of operators; 1 allows "
        "any, as in the paper. With too few problems, as much as a random split has is allowed."
    )
    without_expression: Literal["spread", "drop", "anywhere"] = Field(
        default="spread",
        description="Problems without an operator: spread evenly over both sides, drop them, or let the search put "
        "them anywhere.",
    )
    length_weight: float = Field(
        default=0.5, ge=0, description="How heavily a difference in text length between the sides counts."
    )
    target: float | None = Field(
        default=None,
        description="Compound divergence to reach, on held-out clusterings unless there is only one; without it, as "
        "high as possible.",
    )
    search: Literal["anneal", "greedy"] = Field(
        default="anneal", description="Search algorithm; greedy is the published swap search."
    )
    steps_per_item: int | None = Field(
        default=None,
        ge=1,
        description="Length of the annealing, in steps per problem; if not given, the fewer problems, the more.",
    )
    twins: bool = Field(default=True, description="Keep texts that differ only in their numbers on the same side.")
    seed: int = Field(default=0, ge=0, description="Seed of the search; with several splits, of the first one.")
    extraction: Annotated[ExtractionSettings, FLAT] = Field(default_factory=ExtractionSettings)
    validation_share: Annotated[float, Option(key="validation")] = Field(
        default=VALIDATION_SHARE, ge=0, le=0.9, description="Share of the training side held out for validation."
    )

    @field_validator("method")
    @classmethod
    def _known_method(cls, method: str) -> str:
        if method not in SPLIT_METHODS:
            raise ValueError(unknown_name("split method", method, SPLIT_METHODS.names()))
        return method

    @field_validator("alpha")
    @classmethod
    def _known_alpha(cls, alpha: str) -> str:
        try:
            alphas_named(alpha)
        except ComdivError as error:
            raise ValueError(error) from error
        return alpha

    @model_validator(mode="after")
    def _target_is_for_dbca(self) -> Self:
        if self.target is not None and self.method != "dbca":
            raise ValueError(f"a target divergence goes with --method dbca, not {self.method}")
        return self


# `paper` is §III-A: one clustering, and nothing but its atoms is kept alike on both sides.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "comdiv": {},
    "paper": {"clusterings": 1, "operator_bound": None, "without_expression": "anywhere", "steps_per_item": 150},
}


def preset_settings(name: str = "comdiv", **changes: Any) -> SplitSettings:
    """A preset's settings with changes: `comdiv`, the defaults, or `paper`."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return SplitSettings.checked(**{**PRESETS[name], **changes})


def problems_to_split(problems: Sequence[Problem], settings: SplitSettings) -> Sequence[Problem]:
    """The problems that take part in a split: all, or those with an operator."""
    if settings.without_expression != "drop":
        return problems
    return [problem for problem in problems if problem.expression and operator_count(problem.expression)]


def wanted_test_size(settings: SplitSettings, problems: int) -> int:
    """The number of test problems for the test size of the settings."""
    return size_of_test(settings.test_size, problems)


# A split method takes the problems, the settings, the number of test problems and a progress callback; it returns the
# test side as a mask.
SplitMethod = Callable[[Extraction, SplitSettings, int, SearchProgress | None], Mask]


def split_problems(extraction: Extraction, settings: SplitSettings, progress: SearchProgress | None = None) -> Mask:
    """The test side of a split, as a mask over the extraction's problems. Twins never lie on both sides."""
    size = wanted_test_size(settings, len(extraction.problems))
    return SPLIT_METHODS.get(settings.method)(extraction, settings, size, progress)


def split_by_divergence(
    extraction: Extraction, settings: SplitSettings, size: int, progress: SearchProgress | None = None
) -> Mask:
    """`dbca`: compounds diverge, atoms do not (§III-A), under each of the clusterings."""
    if not extraction.operators().any():
        raise ComdivError("no problem has an expression with an operator: there are no compositions to separate")
    extraction.prepare(settings.extraction.k, [*settings.extraction.seeds(), *held_out_seeds(settings.extraction)])
    extraction.forget_vectors()
    views = extraction.views(settings.extraction, twins=settings.twins)
    fixed, test = _spread(extraction, views[0], settings, size)
    free, nodes = ~fixed, extraction.nodes
    if fixed.any():
        views = [view.only(free) for view in views]
    wanted = size - int(test.sum())
    balances = [
        Bounded(name, table.only(free), BALANCE_ALPHA, settings.operator_bound)
        for name, table in (("operator", nodes.operators()), ("operator-count", nodes.sizes()))
        if settings.operator_bound is not None
    ]
    sides = max(1, int(free.sum()) - wanted), max(1, wanted)  # the search refuses an empty one
    alphas, atom_bound = alphas_named(settings.alpha), _within(settings.atom_bound, len(views))
    # What chance gives, in each view; no bound, or one of 0, which chance never meets, is meant as it is.
    chances = [Bounded("atom", view.atoms, alphas.atoms, atom_bound).at_chance(*sides).bound for view in views]
    atoms = [bound for bound in chances if bound is not None and settings.atom_bound]
    at_chance = [balance.at_chance(*sides) for balance in balances]
    search = partial(
        _search_within_reach,
        partial(
            find_split,
            views,
            test_size=wanted,
            search=settings.search,
            alphas=alphas,
            length_weight=settings.length_weight,
            steps_per_item=settings.steps_per_item or default_steps(int(free.sum())),
            progress=progress,
        ),
        [
            {"atom_bound": atom_bound, "also_bounded": balances},
            {"atom_bound": atom_bound, "also_bounded": at_chance},
            *([{"atom_bound": max(atoms), "also_bounded": at_chance}] if atoms else []),
        ],
    )
    if settings.target is None or len(views) == 1:
        test[free] = search(target=settings.target, seed=settings.seed).test_mask
        return test
    test[free] = _at_held_out_target(
        search, settings.target, settings.seed, partial(_held_out_reached, extraction, test, free, settings)
    )
    return test


def _search_within_reach(
    search: Callable[..., SplitResult], bounds: Sequence[Mapping[str, Any]], *, target: float | None, seed: int
) -> SplitResult:
    """The split within the bounds asked for, which come first; of a corpus too small for them, within later ones."""
    *stricter, last = [own for place, own in enumerate(bounds) if own not in bounds[:place]]
    for own in stricter:
        with suppress(BoundError):
            return search(target=target, seed=seed, **own)
    return search(target=target, seed=seed, **last)


def _held_out_reached(
    extraction: Extraction, test: Mask, free: Mask, settings: SplitSettings, test_mask: Mask
) -> float:
    whole = test.copy()
    whole[free] = test_mask
    return divergence_to_report(extraction, whole, settings.extraction, settings.alpha)


def _at_held_out_target(
    search: Callable[..., SplitResult], target: float, seed: int, reached_by: Callable[[Mask], float]
) -> Mask:
    """The split with a given held-out divergence: the search's own target is adjusted until the result has it.

    On a small corpus, the result jumps by more than the tolerance from one target of the search to the next. Then other
    seeds are tried, with the average adjustment.
    """
    aim = target
    tries: list[tuple[float, float, Mask]] = []
    corrections: list[float] = []
    for number in range(TARGET_TRIES + OTHER_SEEDS):
        others = max(0, number - TARGET_TRIES + 1)
        if others and min(tries, key=lambda entry: entry[0])[0] <= TARGET_TOLERANCE:
            break
        try:
            test_mask = search(target=aim, seed=seed + others).test_mask
        except ComdivError:
            if not tries:
                raise
            break  # the target is out of reach
        reached = reached_by(test_mask)
        tries.append((abs(reached - target), reached, test_mask))
        if abs(reached - target) <= TARGET_TOLERANCE / 2:
            break
        corrections.append(aim - reached)
        mean = target + float(np.mean(corrections))
        aim = min(max(aim + target - reached if number < TARGET_TRIES - 1 else mean, 0.0), 1.0)
    distance, reached, nearest = min(tries, key=lambda entry: entry[0])
    if distance > TARGET_TOLERANCE:
        raise ComdivError(
            f"no split found with compound divergence {target:g} on held-out clusterings; the nearest has {reached:.3f}"
        )
    return nearest


def _spread(extraction: Extraction, view: Encoded, settings: SplitSettings, size: int) -> tuple[Mask, Mask]:
    """The problems that the search does not see, since none of their twins has a compound; and which are in test.

    They cost a search nothing, so it would fill test with them. Instead, each side gets its share of them at random.
    """
    fixed = np.zeros(len(extraction.problems), dtype=np.bool_)
    test = fixed.copy()
    if settings.without_expression == "spread":
        idle = np.bincount(view.groups, weights=extraction.operators()) == 0  # (groups)
        fixed = idle[view.groups]
        test[fixed] = draw_validation(view.groups[fixed].tolist(), size / len(fixed), settings.seed)
    return fixed, test


def _within(bound: float | None, views: int) -> float | None:
    """The bound for a search on several clusterings: a little less, so that it also holds on others, on average."""
    return bound if bound is None or views == 1 else SHARE_OF_BOUND * bound


def default_steps(items: int) -> int:
    """Steps per item: small corpora need more for a good split, large ones cannot afford as many."""
    return max(LEAST_STEPS, min(MOST_STEPS, STEPS_IN_ALL // max(items, 1)))


def split_at_random(
    extraction: Extraction, settings: SplitSettings, size: int, progress: SearchProgress | None = None
) -> Mask:
    """`iid`: a random split, the usual control."""
    return random_split(_plain(extraction, settings.twins), size, settings.seed)


def _plain(extraction: Extraction, twins: bool) -> Encoded:
    """Groups and lengths without atoms, for the methods that need no expressions."""
    return encode(
        range(len(extraction.problems)),
        lambda position: (),
        lambda position: (),
        length_of=lambda position: extraction.lengths[position],
        group_of=extraction.twin_groups.__getitem__ if twins else None,
    )


def split_by_length(
    extraction: Extraction, settings: SplitSettings, size: int, progress: SearchProgress | None = None
) -> Mask:
    """`length`: the longest texts go to test, as in the paper's LenDiv; twins count with their mean, ties go by id."""
    encoded = _plain(extraction, settings.twins)
    check_test_size(encoded, size)
    sizes = encoded.group_sizes
    mean_length = np.bincount(encoded.groups, weights=encoded.lengths) / sizes
    first = np.full(len(sizes), len(extraction.problems))
    np.minimum.at(first, encoded.groups, np.arange(len(encoded.groups)))  # problems are sorted by id
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    room = size
    for group in np.lexsort((first, -mean_length)):
        if sizes[group] <= room:
            chosen[group] = True
            room -= int(sizes[group])
    return chosen[encoded.groups]


def split_by_template(
    extraction: Extraction, settings: SplitSettings, size: int, progress: SearchProgress | None = None
) -> Mask:
    """`template`: whole templates are drawn at random until the size is reached; no test template is in train."""
    keys = [
        (twins if settings.twins else position, extraction.templates[position] or position)
        for position, twins in enumerate(extraction.twin_groups.tolist())
    ]
    groups = connected_groups(keys)
    encoded = encode(range(len(groups)), lambda p: (), lambda p: (), group_of=lambda position: groups[position])
    return random_split(encoded, size, settings.seed)
