"""Accuracies as the paper prints them: methods against test sets, curves, and the effect of test texts in train.

Augmentation can rejoin what a synthesis took apart, and so reproduce a test text; the table of overlaps says how much
that explains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from comdiv.evaluation import relative_gap
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.cell_tables import compound_divergence
from comdiv.experiments.reporting.numbers import COMPOSITIONS, UNCOVERED, Number, number_entry, paper_number
from comdiv.experiments.reporting.paper import read_paper
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table, signed
from comdiv.experiments.work import IN_TRAIN, NOT_IN_TRAIN

SPLITS = {
    "iid": "i.i.d.",
    "dbca": "ComDiv",
    "length": "LenDiv",
    "template": "templates",
    "synthesis": "SD",
    "disjoint": "SD, disjoint",
    "folder": "",
}


MakeEntry = Callable[[Number], Entry]
SYNTHESES = ("synthesis", "disjoint")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two test sets, of which only the second needs new compositions: i.i.d. and ComDiv, SD's validation and test."""

    title: str
    corpus: str
    easy: tuple[str, str]  # dataset, part
    hard: tuple[str, str]


def main_numbers(numbers: Sequence[Number], *, cover: str = "none") -> list[Number]:
    """The numbers that tables show: whole parts, decoded in one way."""
    return [number for number in numbers if number.subset is None and number.facts.cover in (None, cover)]


def pairs(numbers: Sequence[Number]) -> list[Pair]:
    """Which of a plan's test sets are to be compared, by corpus and split."""
    facts = {number.facts.dataset: number.facts for number in numbers if number.facts.target is None}
    validated = {number.facts.dataset for number in numbers if number.part == "validation"}
    found = []
    for name, fact in facts.items():
        if name is None:
            continue
        if fact.split in SYNTHESES and name in validated:
            found.append(Pair(name, "sd", (name, "validation"), (name, "test")))
        elif fact.split in ("dbca", "length", "template"):
            control = next(
                (o for o, other in facts.items() if other.corpus == fact.corpus and other.split == "iid"), None
            )
            if control is not None:
                title = f"{fact.corpus} {SPLITS[fact.split]}"
                found.append(Pair(title, fact.corpus or "", (control, "test"), (name, "test")))
    return found


def find(numbers: Sequence[Number], method: str, place: tuple[str, str]) -> Number | None:
    """The number of a method on a dataset's part, if the plan has it."""
    return next((n for n in numbers if n.method == method and (n.facts.dataset, n.part) == place), None)


def accuracy_table(plan: str, title: str, numbers: Sequence[Number], entry: MakeEntry = number_entry) -> Table:
    """Methods × test sets, with the relative gap where there is something to compare (Tables II and IV)."""
    chosen = [n for n in main_numbers(numbers) if n.facts.rounds is None and n.facts.target is None]
    methods = list(dict.fromkeys(number.method for number in chosen))
    compared = pairs(chosen)
    validated = {pair.easy for pair in compared if pair.easy[1] == "validation"}
    places: list[tuple[str, str]] = []
    for name in dict.fromkeys(number.facts.dataset or "" for number in chosen):
        places += [(name, "validation"), (name, "test")] if (name, "validation") in validated else [(name, "test")]
    columns = [Column("Method", number=False)]
    columns += [Column(part, group=name) for name, part in places]
    columns += [Column(pair.title, group="Relative gap") for pair in compared]
    rows = []
    for method in methods:
        entries = [_or_empty(find(chosen, method, place), entry) for place in places]
        gaps = [_gap_entry(chosen, method, pair) for pair in compared]
        rows.append((Entry(method, method), *entries, *gaps))
    caption = (
        "Answer accuracy in percent: mean over seeds ± half of its 95 % interval. "
        "Below it the paper's number with ours minus the paper's, and the paired difference from the method without "
        "augmentation on the same problems. Relative gap: accuracy without over accuracy with new compositions, less 1."
    )
    return Table(f"{plan}-accuracy", title, tuple(columns), tuple(rows), caption)


def composition_table(plan: str, numbers: Sequence[Number], entry: MakeEntry = number_entry) -> Table | None:
    """Accuracy on new structures and on known structures in new surroundings, separately (Table III)."""
    chosen = [n for n in numbers if n.subset in COMPOSITIONS and n.facts.cover in (None, "none")]
    chosen = [n for n in chosen if n.facts.rounds is None and n.facts.target is None]
    if not chosen:
        return None
    datasets = list(dict.fromkeys(number.facts.dataset or "" for number in chosen))
    places = [(name, subset) for name in datasets for subset in COMPOSITIONS]
    columns = (Column("Method", number=False), *(Column(subset, group=name) for name, subset in places))
    rows = []
    for method in dict.fromkeys(number.method for number in chosen):
        found = {(n.facts.dataset or "", n.subset): n for n in chosen if n.method == method}
        rows.append((Entry(method, method), *(_or_empty(found.get(place), entry) for place in places)))
    return Table(
        f"{plan}-compositions", "By what is new: structure or surroundings", columns, tuple(rows),
        "Structural: a new expression template. Lexical: a known template in surroundings in which it was not seen.",
    )  # fmt: skip


def coverage_table(plan: str, numbers: Sequence[Number]) -> Table | None:
    """The same trained solvers, decoded with and without the constraint that every quantity is used."""
    chosen = [n for n in numbers if n.part == "test" and n.subset is None and n.facts.rounds is None]
    covers = [cover for cover in ("none", "soft", "hard") if any(n.facts.cover == cover for n in chosen)]
    if len(covers) < 2:
        return None
    keys = list(dict.fromkeys((n.method, n.facts.dataset or "", n.facts.target) for n in chosen))
    rows = []
    for method, dataset, target in keys:
        found = {
            n.facts.cover: n
            for n in chosen
            if (n.method, n.facts.dataset or "", n.facts.target) == (method, dataset, target)
        }
        rows.append(
            (
                Entry(method, method),
                Entry(dataset, dataset),
                *(_or_empty(found.get(cover), partial(number_entry, against=UNCOVERED)) for cover in covers),
            )
        )
    titles = {"none": "without", "soft": "soft", "hard": "hard"}
    columns = (
        Column("Method", number=False), Column("Dataset", number=False),
        *(Column(titles[cover], group="Coverage constraint") for cover in covers),
    )  # fmt: skip
    caption = "Answer accuracy on test when decoding must use every quantity of the text (hard), or is rewarded for it."
    return Table(f"{plan}-coverage", "With and without the coverage constraint", columns, tuple(rows), caption)


def _or_empty(number: Number | None, entry: MakeEntry) -> Entry:
    return EMPTY if number is None else entry(number)


def _gap_entry(numbers: Sequence[Number], method: str, pair: Pair) -> Entry:
    easy, hard = find(numbers, method, pair.easy), find(numbers, method, pair.hard)
    if easy is None or hard is None or easy.accuracy is None or hard.accuracy is None:
        return EMPTY
    gap = relative_gap(easy.accuracy, hard.accuracy)
    if gap is None:
        return Entry("∞", None, hint="nothing is solved once compositions are new")
    printed = _printed_gap(easy, hard, pair)
    lines = () if printed is None else (f"paper {printed:g} · {signed(gap - printed, 2)}",)
    return Entry(signed(gap, 2).removeprefix("+"), gap, lines)


def _printed_gap(easy: Number, hard: Number, pair: Pair) -> float | None:
    """The paper prints gaps for three corpora; it has one for ours only if it has both accuracies."""
    if paper_number(easy) is None or paper_number(hard) is None or hard.facts.split == "length":
        return None
    gaps = next((g for name, g in read_paper().gaps.items() if name.casefold() == hard.method.casefold()), {})
    return gaps.get(pair.corpus)


_CURVE_CAPTION = "Answer accuracy in percent on test: mean over seeds ± half of its 95 % interval."
FEWEST_TARGETS = 3  # distinct ones, including "none", that make a curve


def has_curve(numbers: Sequence[Number]) -> bool:
    """Whether a plan has splits at several targets."""
    return len({number.facts.target for number in numbers}) >= FEWEST_TARGETS


def divergence_table(plan: PlanResults, numbers: Sequence[Number], entry: MakeEntry = number_entry) -> Table | None:
    """One row per split, by increasing target divergence (Figure 5a)."""
    chosen = [number for number in main_numbers(numbers) if number.part == "test"]
    if not has_curve(chosen):
        return None
    chosen.sort(key=lambda number: (number.facts.corpus or "", number.method, number.facts.target or 0.0))
    rows = []
    for number in chosen:
        divergence = compound_divergence(plan, number.cells[0])
        reached = EMPTY if divergence is None else Entry(f"{divergence:.2f}", divergence)
        target = number.facts.target
        asked = Entry("i.i.d.", 0.0) if target is None else Entry(f"{target:g}", target)
        rows.append((Entry(number.facts.corpus or "", number.facts.corpus), Entry(number.method, number.method),
                     asked, reached, entry(number), _n_entry(number)))  # fmt: skip
    columns = (
        Column("Corpus", number=False), Column("Method", number=False),
        Column("asked for", group="Compound divergence"), Column("reached", group="Compound divergence"),
        Column("Accuracy"), Column("n"),
    )  # fmt: skip
    return Table(f"{plan.name}-curve", "Accuracy against compound divergence", columns, tuple(rows), _CURVE_CAPTION)


def rounds_table(plan: PlanResults, numbers: Sequence[Number], entry: MakeEntry = number_entry) -> Table | None:
    """One row per number of rounds (Figure 5b)."""
    chosen = [n for n in main_numbers(numbers) if n.part == "test" and n.facts.rounds is not None]
    if not chosen:
        return None
    rows = []
    for number in chosen:
        trainings = [found for cell in number.cells if (found := plan.ancestor(cell, "training")) is not None]
        sizes = [int(one.summary["problems"]) for one in trainings if one.summary.get("problems") is not None]
        times = seconds_per_epoch(plan, number)
        rows.append(
            (
                Entry(number.method, number.method),
                Entry(number.facts.dataset or "", number.facts.dataset),
                Entry(str(number.facts.rounds), number.facts.rounds),
                Entry(f"{sizes[0]:,}", sizes[0]) if sizes else EMPTY,
                entry(number),
                _n_entry(number),
                Entry(f"{fmean(times):.1f}", fmean(times)) if times else EMPTY,
            )
        )
    columns = (
        Column("Method", number=False), Column("Dataset", number=False), Column("Rounds"), Column("Training problems"),
        Column("Accuracy"), Column("n"), Column("Seconds per epoch"),
    )  # fmt: skip
    caption = f"{_CURVE_CAPTION} Times depend on the machine."
    return Table(f"{plan.name}-curve", "Accuracy and time against rounds", columns, tuple(rows), caption)


def seconds_per_epoch(plan: PlanResults, number: Number) -> list[float]:
    """The training times behind a number, one per seed."""
    trainings = (plan.ancestor(cell, "training") for cell in number.cells)
    found = [one.summary.get("seconds_per_epoch") for one in trainings if one is not None]
    return [float(seconds) for seconds in found if seconds is not None]


def _n_entry(number: Number) -> Entry:
    return Entry(f"{number.n:,}", number.n) if number.n else EMPTY


OVERLAP_PARTS = (None, NOT_IN_TRAIN, IN_TRAIN)


def overlap_table(plan: str, numbers: Sequence[Number]) -> Table | None:
    """One row per method with augmentation, and for others if training and test share a text."""
    found: dict[tuple[object, ...], dict[str | None, Number]] = {}
    for number in numbers:
        if number.part == "test" and number.subset in OVERLAP_PARTS and number.facts.cover in (None, "none"):
            facts = number.facts
            key = (number.method, facts.dataset, facts.target, facts.rounds)
            found.setdefault(key, {})[number.subset] = number
    rows = [_overlap_row(parts) for parts in found.values() if _has_overlap(parts)]
    if not rows:
        return None
    columns = (
        Column("Method", number=False), Column("Dataset", number=False), Column("Test texts in train"), Column("of"),
        Column("all", group="Accuracy"), Column("without them", group="Accuracy"), Column("on them", group="Accuracy"),
    )  # fmt: skip
    caption = "Texts without their numbers; the training set is the augmented one. Answer accuracy in percent on test."
    return Table(f"{plan}-overlap", "Test texts in the training set", columns, tuple(rows), caption)


def _has_overlap(parts: dict[str | None, Number]) -> bool:
    known = IN_TRAIN in parts and NOT_IN_TRAIN in parts
    return known and (parts[IN_TRAIN].n > 0 or parts[IN_TRAIN].facts.augmentation is not None)


def _overlap_row(parts: dict[str | None, Number]) -> tuple[Entry, ...]:
    number = parts[IN_TRAIN]
    rounds = "" if number.facts.rounds is None else f", {number.facts.rounds} rounds"
    dataset = f"{number.facts.dataset}{rounds}"
    of = number.n + parts[NOT_IN_TRAIN].n
    accuracies = (_plain_entry(parts.get(part)) for part in OVERLAP_PARTS)
    return (
        Entry(number.method, number.method), Entry(dataset, dataset), Entry(f"{number.n:,}", number.n),
        Entry(f"{of:,}", of), *accuracies,
    )  # fmt: skip


def _plain_entry(number: Number | None) -> Entry:
    """Only the accuracy: comparisons are in the other tables."""
    if number is None or number.accuracy is None:
        return EMPTY
    whole = number_entry(number)
    return Entry(whole.text, whole.value, (), "", whole.hint, whole.link)
