"""What the page shows of each plan and of people's judgements, and the few numbers at its top."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from comdiv.evaluation.judgements import read_judgement_files
from comdiv.evaluation.kappa import Agreement, Kappa, PairAgreement, agreement
from comdiv.evaluation.significance import wilson_interval
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.accuracies import Number, compared, single_numbers
from comdiv.experiments.reporting.paper import read_paper
from comdiv.experiments.reporting.pictures import Picture, plan_pictures
from comdiv.experiments.reporting.tables import (
    EMPTY,
    Column,
    Entry,
    Table,
    Tone,
    file_name,
    interval_text,
    p_text,
    signed_percent,
    tabulate,
)
from comdiv.experiments.store import JUDGEMENTS, judgement_files
from comdiv.registry import TABLES

MOST_PICTURES = 4  # shown in a section; further ones are folded away
MOST_TILES = 6
MakeTable = Callable[[PlanResults, Sequence[Number]], Table | None]  # what the registry names; None: nothing to show


@dataclass(frozen=True, slots=True)
class Section:
    """A plan on the page: tables and figures in sight, details and further figures folded away."""

    id: str
    title: str
    kicker: str
    tables: tuple[Table, ...]
    details: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    more_pictures: tuple[Picture, ...] = ()

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """All tables, each of which is also written as files."""
        return self.tables + self.details

    @property
    def all_pictures(self) -> tuple[Picture, ...]:
        """All figures."""
        return self.pictures + self.more_pictures


def in_order(plans: Sequence[PlanResults]) -> list[PlanResults]:
    """Plans by their `order`, then by name."""
    return sorted(plans, key=lambda plan: (plan.order, plan.name))


def plan_section(plan: PlanResults, numbers: Sequence[Number]) -> Section:
    """Everything the page shows of a plan."""
    tables = [table for name in TABLES.names() if (table := TABLES.get(name)(plan, numbers)) is not None]
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


def _kicker(plan: PlanResults) -> str:
    parts = [f"Plan {plan.name}"]
    if plan.reproduces:
        parts.append(f"reproduces {plan.reproduces}")
    if plan.preset:
        miniature = ": a small run of everything, not a result to compare with the paper"
        parts.append(f"preset {plan.preset}{miniature if plan.preset == 'smoke' else ''}")
    done = sum(cell.status == "done" for cell in plan.cells)
    failed = sum(cell.status == "failed" for cell in plan.cells)
    parts.append(f"{done} of {len(plan.cells)} cells done" + (f", {failed} failed" if failed else ""))
    return "; ".join(parts) + "."


# --- tiles ---


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
    bars: tuple[Bar, Bar]
    text: str
    strong: str = ""
    tone: Tone = ""


def tiles(numbers: Sequence[Number]) -> list[Tile]:
    """The main results in a few tiles: what new compositions cost, and what augmentation gains or loses."""
    singles = single_numbers(numbers)
    return [*_gain_tiles(singles), *_gap_tiles(singles)][:MOST_TILES]


def _gain_tiles(numbers: Sequence[Number]) -> list[Tile]:
    """The largest gains and losses of augmentation."""
    gains = []
    for number in numbers:
        paired = number.paired_with(number.facts.plain)
        if paired is None or number.accuracy is None or number.part != "test":
            continue
        title = f"Augmentation, {number.facts.dataset} test"
        bars = (Bar(paired.against, 100 * paired.other), Bar(number.method, 100 * number.accuracy, "hard"))
        sure = f"({interval_text(paired.interval)}), {p_text(paired.p)}"
        text = f"points {sure}, n = {paired.n:,}, {_seeds(len(paired.by_seed))}"
        strong = signed_percent(paired.difference)
        gains.append((abs(paired.difference), Tile(title, bars, text, strong, paired.verdict)))
    return [tile for _, tile in sorted(gains, key=lambda gain: -gain[0])[: MOST_TILES // 2]]


def _gap_tiles(numbers: Sequence[Number]) -> list[Tile]:
    """One method per pair of test sets: the best one on new compositions, so as not to exaggerate."""
    plain = {number.method for number in numbers if number.facts.plain is None}
    gaps = [(pair, both) for pair, methods in compared(numbers) for both in methods if both.hard.method in plain]
    best: dict[str, Tile] = {}
    for pair, both in sorted(gaps, key=lambda gap: -gap[1].hard_accuracy):
        easy, hard = ("validation", "test") if pair.easy[1] == "validation" else ("i.i.d.", "ComDiv")
        bars = (Bar(easy, 100 * both.easy_accuracy, "easy"), Bar(hard, 100 * both.hard_accuracy, "hard"))
        text = f"points, n = {both.hard.n:,}, {_seeds(len(both.hard.shares))}"
        fall = signed_percent(both.hard_accuracy - both.easy_accuracy)
        best.setdefault(pair.title, Tile(f"{both.hard.method}, {pair.title}", bars, text, fall))
    return list(best.values())


def _seeds(count: int) -> str:
    return f"{count} seed{'' if count == 1 else 's'}"


# --- human evaluation ---


def human_section(runs: Path, plans: Sequence[PlanResults], files: Sequence[Path] = ()) -> Section | None:
    """Shares, κ and the tables behind it; without marks, how to get them. None if nothing was augmented either."""
    paths = list(files) or judgement_files(runs)
    augmented = [cell for plan in plans for cell in plan.of_kind("augmentation") if cell.status == "done"]
    if not paths and not augmented:
        return None
    section = partial(Section, "human-evaluation", "Human evaluation")
    printed = read_paper().human_evaluation
    shares = " and ".join(map(str, printed["judged_good"]))
    paper = (
        f"In the paper, two people marked {printed['problems']} augmented problems: {shares} were judged good, "
        f"κ = {printed['kappa']:g} (§V-D)."
    )
    if not paths:
        there = next((cell for cell in augmented if cell.file("dataset/train.jsonl") is not None), None)
        data = "AUGMENTED" if there is None else f"{runs.name}/cells/{there.key}/dataset"
        command = f"comdiv judge {data} --judge Ann --judge Ben --sample 100 --out {runs.name}/{JUDGEMENTS}"
        text = "Nobody has judged problems from these results yet"
        return section(f"{paper} {text}: {command}, then make the report again.", ())
    marks = agreement(read_judgement_files(paths))
    text = f"{len(marks.problems):,} problems, {len(marks.judges)} judges. {paper}"
    tables = (_shares_table(marks), _kappa_table(marks), *map(_pair_table, marks.good.pairs))
    return section(text, tuple(table for table in tables if table is not None))


def _shares_table(marks: Agreement) -> Table | None:
    printed = read_paper().human_evaluation
    judged = [(share.judge, share.good, share.n) for share in marks.good.shares]
    judged += [
        (f"the paper's judge {place}", good, printed["problems"])
        for place, good in enumerate(printed["judged_good"], start=1)
    ]
    columns = (
        Column.words("Judge", lambda row: row[0]),
        Column.numbers("Good", lambda row: row[1]),
        Column.numbers("of", lambda row: row[2]),
        Column.shares("Share", lambda row: row[1] / row[2]),
        Column.shares("low", lambda row: wilson_interval(*row[1:])[0]),
        Column.shares("high", lambda row: wilson_interval(*row[1:])[1]),
    )
    caption = "Problems judged good, in percent with Wilson's 95 % interval: grammar, fluency and logic are all right."
    return tabulate("human-shares", "Problems judged good", columns, judged, caption)


def _kappa_table(marks: Agreement) -> Table | None:
    printed = read_paper().human_evaluation
    criteria = [(Entry.words(one.criterion), *_kappa_entries(one.kappa)) for one in marks.criteria]
    paper = (Entry("good, in the paper"), Entry.number(printed["kappa"], "g"), *[EMPTY] * 4)
    titles = ("Criterion", "κ", "low", "high", "Agreement", "same mark (%)", "n")
    columns = [Column(title, number=title not in ("Criterion", "Agreement")) for title in titles]
    kind = "Cohen's" if len(marks.judges) == 2 else "Fleiss'"
    return Table(
        "human-agreement",
        "How far the judges agree",
        tuple(columns),
        (*criteria, (*paper, Entry.number(printed["problems"]))),
        f"{kind} κ with its 95 % interval; the words are those of Landis and Koch.",
        ("No table with 83 and 84 good of 100 gives the paper's 0.71: the nearest are 0.67 and 0.75.",),
    )


def _kappa_entries(kappa: Kappa) -> list[Entry]:
    values = [Entry.number(value, ".2f") for value in (kappa.value, *(kappa.interval or (None, None)))]
    return [*values, Entry.words(kappa.band), Entry.share(kappa.observed), Entry.number(kappa.n)]


def _pair_table(pair: PairAgreement) -> Table | None:
    first, second = pair.judges
    columns = (
        Column("Judge", number=False, show=lambda row: Entry(f"{first}: {row[0]}")),
        Column.numbers("good", lambda row: row[1][0], group=second),
        Column.numbers("not good", lambda row: row[1][1], group=second),
    )
    rows = zip(("good", "not good"), pair.table, strict=True)
    return tabulate(f"human-table-{first}-{second}", f"{first} against {second}", columns, rows)
