"""What the page shows of each plan, and the few numbers at its top."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from comdiv.evaluation.judgements import read_judgement_files
from comdiv.evaluation.kappa import Agreement, Kappa, PairAgreement, agreement
from comdiv.evaluation.significance import wilson_interval
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.accuracy_tables import (
    accuracy_table,
    composition_table,
    coverage_table,
    find,
    main_numbers,
    overlap_table,
    pairs,
)
from comdiv.experiments.reporting.cell_tables import augmentation_table, dataset_table, training_table
from comdiv.experiments.reporting.detail_tables import breakdown_table, numbers_table
from comdiv.experiments.reporting.figures import Picture, plan_pictures
from comdiv.experiments.reporting.numbers import Number, breakdowns, paired_tone
from comdiv.experiments.reporting.paper import read_paper
from comdiv.experiments.reporting.tables import (
    EMPTY,
    Column,
    Entry,
    Table,
    Tone,
    file_name,
    interval_text,
    p_text,
    percent,
    signed_percent,
)
from comdiv.experiments.store import JUDGEMENTS, judgement_files
from comdiv.registry import TABLES

MOST_PICTURES = 4  # shown in a section; further ones are folded away
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
        """All tables, each of which is also written as files."""
        return self.tables + self.details

    @property
    def all_pictures(self) -> tuple[Picture, ...]:
        """All figures."""
        return self.pictures + self.more_pictures


@dataclass(frozen=True, slots=True)
class Bar:
    """A labelled accuracy in percent; `kind` gives its colour."""

    label: str
    percent: float
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """A result at a glance: bars, and the difference between them."""

    title: str
    bars: tuple[Bar, ...]
    text: str
    strong: str = ""
    tone: Tone = ""


def in_order(plans: Sequence[PlanResults]) -> list[PlanResults]:
    """Plans by their `order`, then by name."""
    return sorted(plans, key=lambda plan: (plan.order, plan.name))


def plan_section(plan: PlanResults, numbers: Sequence[Number]) -> Section:
    """Everything the page shows of a plan."""
    made = [TABLES.get(name)(plan, numbers) for name in TABLES.names()]
    tables = [table for table in made if table is not None]
    pictures = plan_pictures(plan, numbers)
    # Training curves are for readers who look closely at a run, not for the first glance.
    first = [picture for picture in pictures if "-training-" not in picture.name][:MOST_PICTURES]
    return Section(
        id=f"plan-section-{file_name(plan.name)}",
        title=plan.title or plan.name,
        kicker=_kicker(plan),
        tables=tuple(table for table in tables if not table.detail),
        details=tuple(table for table in tables if table.detail),
        pictures=tuple(first),
        more_pictures=tuple(picture for picture in pictures if picture not in first),
    )


# --- the tables of a plan, as named in the registry: a table from a plan and its numbers, or None ---

MakeTable = Callable[[PlanResults, Sequence[Number]], Table | None]


def datasets(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Table I."""
    return dataset_table(plan)


def accuracies(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Tables II and IV."""
    if any(n.facts.rounds is None and n.facts.target is None for n in main_numbers(numbers)):
        return accuracy_table(plan.name, "Answer accuracy", numbers)
    return None


def compositions(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Table III."""
    return composition_table(plan.name, numbers)


def coverage(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """With and without the coverage constraint."""
    return coverage_table(plan.name, numbers)


def overlap(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Test texts in the training set."""
    return overlap_table(plan.name, numbers)


def parts(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Accuracy by operators, templates and composition."""
    return _detail(breakdown_table(plan.name, breakdowns(numbers)))


def all_numbers(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Every number with everything it is based on."""
    return _detail(numbers_table(plan.name, numbers)) if numbers else None


def augmentations(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """What each round made and kept."""
    return _detail(augmentation_table(plan))


def trainings(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """What trainings cost."""
    return _detail(training_table(plan))


def _detail(table: Table | None) -> Table | None:
    return None if table is None else replace(table, detail=True)


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
    """The main results in a few tiles: what new compositions cost, and what augmentation gains or loses."""
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
    # One method per pair of test sets: the best one on new compositions, so as not to exaggerate.
    best: dict[str, Tile] = {}
    for _, title, tile in sorted(found, key=lambda one: -one[2].bars[1].percent):
        best.setdefault(title, tile)
    return list(best.values())


def _seeds(count: int) -> str:
    return f"{count} seed{'' if count == 1 else 's'}"


_TEXT = Column("Judge", number=False)


def human_section(runs: Path, plans: Sequence[PlanResults], files: Sequence[Path] = ()) -> Section | None:
    """Shares, κ and the tables behind it; without marks, how to get them. None if nothing was augmented either."""
    chosen = list(files) or judgement_files(runs)
    augmented = [cell for plan in plans for cell in plan.of_kind("augmentation") if cell.status == "done"]
    if not chosen and not augmented:
        return None
    printed = read_paper().human_evaluation
    shares = " and ".join(map(str, printed["judged_good"]))
    paper = (
        f"In the paper, two people marked {printed['problems']} augmented problems: {shares} were judged good, "
        f"κ = {printed['kappa']:g} (§V-D)."
    )
    if not chosen:
        there = next((cell for cell in augmented if cell.file("dataset/train.jsonl") is not None), None)
        data = "AUGMENTED" if there is None else f"{runs.name}/cells/{there.key}/dataset"
        command = f"comdiv judge {data} --judge Ann --judge Ben --sample 100 --out {runs.name}/{JUDGEMENTS}"
        told = "Nobody has judged problems of these results yet"
        return _human_section(f"{paper} {told}: {command}, then make the report again.")
    found = agreement(read_judgement_files(chosen))
    told = f"{len(found.problems):,} problems, {len(found.judges)} judges. {paper}"
    return _human_section(told, (_shares_table(found), _kappa_table(found), *map(_pair_table, found.good.pairs)))


def _human_section(kicker: str, tables: tuple[Table, ...] = ()) -> Section:
    return Section("human-evaluation", "Human evaluation", kicker, tables, (), (), ())


def _shares_table(found: Agreement) -> Table:
    printed = read_paper().human_evaluation
    rows = [_share_row(share.judge, share.good, share.n) for share in found.good.shares]
    rows += [
        _share_row(f"the paper's judge {place}", good, printed["problems"])
        for place, good in enumerate(printed["judged_good"], start=1)
    ]
    columns = (_TEXT, Column("Good"), Column("of"), Column("Share"), Column("low"), Column("high"))
    caption = "Problems judged good, in percent with Wilson's 95 % interval: grammar, fluency and logic are all right."
    return Table("human-shares", "Problems judged good", columns, tuple(rows), caption)


def _share_row(judge: str, good: int, n: int) -> tuple[Entry, ...]:
    bounds = (_percent_entry(bound) for bound in wilson_interval(good, n))
    return (Entry(judge, judge), Entry(f"{good:,}", good), Entry(f"{n:,}", n), _percent_entry(good / n), *bounds)


def _kappa_table(found: Agreement) -> Table:
    printed = read_paper().human_evaluation
    rows = [(Entry(one.criterion, one.criterion), *_kappa_entries(one.kappa)) for one in found.criteria]
    paper = Entry(f"{printed['kappa']:g}", printed["kappa"])
    unknown = (EMPTY, EMPTY, EMPTY, EMPTY)
    rows.append((Entry("good, in the paper"), paper, *unknown, _count_entry(printed["problems"])))
    columns = (
        Column("Criterion", number=False), Column("κ"), Column("low"), Column("high"),
        Column("Agreement", number=False), Column("same mark (%)"), Column("n"),
    )  # fmt: skip
    kind = "Cohen's" if len(found.judges) == 2 else "Fleiss'"
    caption = f"{kind} κ with its 95 % interval; the words are those of Landis and Koch."
    notes = ("No table with 83 and 84 good of 100 gives the paper's 0.71: the nearest are 0.67 and 0.75.",)
    return Table("human-agreement", "How far the judges agree", columns, tuple(rows), caption, notes)


def _kappa_entries(kappa: Kappa) -> Iterator[Entry]:
    yield EMPTY if kappa.value is None else Entry(f"{kappa.value:.2f}".replace("-", "−"), kappa.value)
    for bound in kappa.interval or (None, None):
        yield EMPTY if bound is None else Entry(f"{bound:.2f}".replace("-", "−"), bound)
    yield from (Entry(kappa.band, kappa.band), _percent_entry(kappa.observed), _count_entry(kappa.n))


def _pair_table(pair: PairAgreement) -> Table:
    first, second = pair.judges
    columns = (_TEXT, Column("good", group=second), Column("not good", group=second))
    rows = tuple(
        (Entry(f"{first}: {word}"), *(_count_entry(count) for count in counts))
        for word, counts in zip(("good", "not good"), pair.table, strict=True)
    )
    return Table(f"human-table-{first}-{second}", f"{first} against {second}", columns, rows)


def _percent_entry(share: float) -> Entry:
    return Entry(percent(share), 100 * share)


def _count_entry(count: int) -> Entry:
    return Entry(f"{count:,}", count)
