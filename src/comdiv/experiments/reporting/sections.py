"""What the page shows of each plan, and the few numbers at its top."""

from collections.abc import Sequence
from dataclasses import dataclass

from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.augmentation_tables import augmentation_table
from comdiv.experiments.reporting.curve_tables import divergence_table, rounds_table
from comdiv.experiments.reporting.dataset_tables import dataset_table
from comdiv.experiments.reporting.detail_tables import breakdown_table, numbers_table
from comdiv.experiments.reporting.entries import paired_tone
from comdiv.experiments.reporting.figures import Picture
from comdiv.experiments.reporting.numbers import Number, breakdowns
from comdiv.experiments.reporting.overlap_tables import overlap_table
from comdiv.experiments.reporting.pictures import plan_pictures
from comdiv.experiments.reporting.result_tables import (
    accuracy_table,
    composition_table,
    coverage_table,
    find,
    main_numbers,
    pairs,
)
from comdiv.experiments.reporting.tables import Table, Tone, file_name
from comdiv.experiments.reporting.training_tables import training_table
from comdiv.experiments.reporting.wording import interval_text, p_text, signed_percent

MOST_PICTURES = 4  # of a section; the others are folded away
MOST_TILES = 6


@dataclass(frozen=True, slots=True)
class Section:
    """A plan on the page: tables and figures in sight, details and further figures folded away."""

    id: str
    title: str
    kicker: str
    tables: tuple[Table, ...]
    details: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    more_pictures: tuple[Picture, ...]

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Everything that is written as a file, too."""
        return self.tables + self.details

    @property
    def all_pictures(self) -> tuple[Picture, ...]:
        """Everything that is drawn."""
        return self.pictures + self.more_pictures


@dataclass(frozen=True, slots=True)
class Bar:
    """A labelled accuracy in percent; `kind` gives its colour."""

    label: str
    percent: float
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """A result at a glance: bars, and what the difference between them is worth."""

    title: str
    bars: tuple[Bar, ...]
    text: str
    strong: str = ""
    tone: Tone = ""


def in_order(plans: Sequence[PlanResults]) -> list[PlanResults]:
    """Plans in the order that they ask for; those that do not care by name."""
    return sorted(plans, key=lambda plan: (plan.order, plan.name))


def plan_section(plan: PlanResults, numbers: Sequence[Number]) -> Section:
    """All that can be shown of a plan."""
    found = [dataset_table(plan)]
    if any(n.facts.rounds is None and n.facts.target is None for n in main_numbers(numbers)):
        found.append(accuracy_table(plan.name, "Answer accuracy", numbers))
    found += [divergence_table(plan, numbers), rounds_table(plan, numbers), composition_table(plan.name, numbers)]
    found += [coverage_table(plan.name, numbers), overlap_table(plan.name, numbers)]
    details = [breakdown_table(plan.name, breakdowns(numbers))] if numbers else []
    details += [numbers_table(plan.name, numbers)] if numbers else []
    details += [augmentation_table(plan), training_table(plan)]
    pictures = plan_pictures(plan, numbers)
    # Training curves are for whoever looks into a run, not for the first look.
    first = [picture for picture in pictures if "-training-" not in picture.name][:MOST_PICTURES]
    return Section(
        id=f"plan-section-{file_name(plan.name)}",
        title=plan.title or plan.name,
        kicker=_kicker(plan),
        tables=tuple(table for table in found if table is not None),
        details=tuple(table for table in details if table is not None),
        pictures=tuple(first),
        more_pictures=tuple(picture for picture in pictures if picture not in first),
    )


def _kicker(plan: PlanResults) -> str:
    told = [f"Plan {plan.name}"]
    if plan.reproduces:
        told.append(f"reproduces {plan.reproduces}")
    if plan.preset:
        miniature = ": a small run of the whole path, not a result to compare with the paper"
        told.append(f"preset {plan.preset}{miniature if plan.preset == 'smoke' else ''}")
    done = sum(cell.status == "done" for cell in plan.cells)
    failed = sum(cell.status == "failed" for cell in plan.cells)
    told.append(f"{done} of {len(plan.cells)} cells done" + (f", {failed} failed" if failed else ""))
    return "; ".join(told) + "."


def tiles(numbers: Sequence[Number]) -> list[Tile]:
    """The mission in a few tiles: what new compositions cost, and what augmentation gives back, gain or loss."""
    chosen = [n for n in main_numbers(numbers) if n.facts.rounds is None and n.facts.target is None]
    return [*_gain_tiles(chosen), *_gap_tiles(chosen)][:MOST_TILES]


def _gain_tiles(numbers: Sequence[Number]) -> list[Tile]:
    found = []
    for number in numbers:
        paired = next((one for one in number.paired if one.against == number.facts.plain), None)
        if paired is None or number.accuracy is None or number.part != "test":
            continue
        sure = f"({interval_text(paired.interval)}), {p_text(paired.p)}"
        bars = (Bar(paired.against, 100 * paired.other), Bar(number.method, 100 * number.accuracy, "hard"))
        gain = Tile(
            f"Augmentation, {number.facts.dataset} test",
            bars,
            f"points {sure}, n = {paired.n:,}, {_seeds(len(paired.by_seed))}",
            signed_percent(paired.difference),
            paired_tone((paired,)),
        )
        found.append((abs(paired.difference), gain))
    return [tile for _, tile in sorted(found, key=lambda pair: -pair[0])[: MOST_TILES // 2]]


def _gap_tiles(numbers: Sequence[Number]) -> list[Tile]:
    found = []
    for pair in pairs(numbers):
        for method in dict.fromkeys(number.method for number in numbers if number.facts.plain is None):
            easy, hard = find(numbers, method, pair.easy), find(numbers, method, pair.hard)
            if easy is None or hard is None or easy.accuracy is None or hard.accuracy is None:
                continue
            names = ("validation", "test") if pair.easy[1] == "validation" else ("i.i.d.", "ComDiv")
            bars = (Bar(names[0], 100 * easy.accuracy, "easy"), Bar(names[1], 100 * hard.accuracy, "hard"))
            told = f"points, n = {hard.n:,}, {_seeds(len(hard.shares))}"
            fall = signed_percent(hard.accuracy - easy.accuracy)
            found.append((easy.accuracy - hard.accuracy, pair.title, Tile(f"{method}, {pair.title}", bars, told, fall)))
    # One method for each pair of test sets: the one that does best on new compositions, so as not to exaggerate.
    best: dict[str, Tile] = {}
    for _, title, tile in sorted(found, key=lambda one: -one[2].bars[1].percent):
        best.setdefault(title, tile)
    return list(best.values())


def _seeds(count: int) -> str:
    return f"{count} seed{'' if count == 1 else 's'}"
