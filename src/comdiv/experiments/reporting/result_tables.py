"""Accuracies as the paper prints them: methods against test sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from comdiv.evaluation import relative_gap
from comdiv.experiments.reporting.entries import number_entry, paper_number
from comdiv.experiments.reporting.numbers import COMPOSITIONS, UNCOVERED, Number
from comdiv.experiments.reporting.paper import read_paper
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table
from comdiv.experiments.reporting.wording import signed

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
    """Two test sets of which the second needs new compositions: i.i.d. and ComDiv, SD's validation and test."""

    title: str
    corpus: str
    easy: tuple[str, str]  # dataset, part
    hard: tuple[str, str]


def main_numbers(numbers: Sequence[Number], *, cover: str = "none") -> list[Number]:
    """The numbers that tables are made of: whole parts, decoded in one way."""
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
    """Test problems with a new structure and with known structures in new surroundings apart (Table III)."""
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
    """The paper prints gaps for three corpora; it has ours only if it has both accuracies."""
    if paper_number(easy) is None or paper_number(hard) is None or hard.facts.split == "length":
        return None
    gaps = next((g for name, g in read_paper().gaps.items() if name.casefold() == hard.method.casefold()), {})
    return gaps.get(pair.corpus)
