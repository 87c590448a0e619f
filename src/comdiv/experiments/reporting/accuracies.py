"""The numbers of a plan: one per method and test set, over seeds, with its uncertainty. Every table and figure of
accuracies shows these records, chosen and arranged.

Two intervals answer two questions. Over seeds (Student's): what would another training give? Over problems (Wilson's):
what would other problems of the same kind give? Paired tests draw problems, and take each problem's mean over seeds.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from comdiv.evaluation import Share, mean_over_seeds, wilson_interval
from comdiv.evaluation.significance import Interval, paired_bootstrap
from comdiv.experiments.cell import Cell, Facts, PlanResults, right_answers
from comdiv.experiments.reporting.paper import ROUNDS, PaperNumber, Place, read_paper

RESAMPLES = 10_000
FEWEST_SEEDS = 3  # with two, Student's factor is 12.7
FEWEST_TARGETS = 3  # distinct ones, including "none", that make a curve
PARTS = ("validation", "test")
COMPOSITIONS = ("structural", "lexical")
UNCOVERED = "no coverage constraint"  # the baseline of constrained decoding
SIGNIFICANT = 0.05
SPLITS = {"dbca": "ComDiv", "length": "LenDiv", "template": "templates"}  # those that have an i.i.d. control


@dataclass(frozen=True, slots=True)
class Paired:
    """One method against another on the same test problems: difference in accuracy, interval, two-sided p."""

    against: str
    difference: float
    interval: Interval
    p: float
    n: int
    other: float  # the accuracy of the other method on these problems and seeds
    by_seed: tuple[float, ...]  # the difference for each common seed: the test draws problems, not trainings

    @property
    def verdict(self) -> Literal["", "better", "worse"]:
        """Better or worse than what it is compared with, if both other problems and other seeds would say so.

        With fewer than three seeds nothing is said: two trainings may differ by that much.
        """
        over_seeds = mean_over_seeds(self.by_seed).interval if len(self.by_seed) >= FEWEST_SEEDS else None
        if self.p >= SIGNIFICANT or over_seeds is None or over_seeds[0] <= 0 <= over_seeds[1]:
            return ""
        return "better" if self.difference > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Number:
    """The accuracy of a method on a part of a dataset. `cells` are all its sources, finished or not."""

    plan: str
    method: str
    facts: Facts
    part: str  # validation or test
    subset: str | None
    shares: Mapping[str, Share]  # replicate (seeds of training and split) → share of right answers
    cells: tuple[Cell, ...]
    paired: tuple[Paired, ...] = ()

    @property
    def id(self) -> str:
        """Its id on the page: the same for the same plan, method, dataset and part."""
        identity = (self.plan, self.method, repr(self.facts), self.part, self.subset)
        return f"number-{hashlib.sha256(repr(identity).encode()).hexdigest()[:12]}"

    @property
    def dataset(self) -> str:
        """The plan's name of the dataset."""
        return self.facts.dataset or ""

    @property
    def place(self) -> Place:
        """The place of the paper's corresponding number."""
        target = "" if self.facts.target is None else f"@{self.facts.target:g}"
        return (self.facts.corpus or "", f"{self.facts.split or ''}{target}", self.part, self.subset)

    @property
    def paper(self) -> PaperNumber | None:
        """What the paper prints for the same method, corpus, split, part and number of rounds."""
        same = self.unconstrained and self.facts.rounds in (None, ROUNDS)
        return read_paper().accuracy(self.method, self.place) if same else None

    @property
    def unconstrained(self) -> bool:
        """Whether decoding was free to leave quantities unused."""
        return self.facts.cover in (None, "none")

    @property
    def on_curve(self) -> bool:
        """Whether it is a point among others of its method: after some rounds, or at a target divergence."""
        return self.facts.rounds is not None or self.facts.target is not None

    @property
    def known(self) -> bool:
        """Whether at least one seed has finished, on at least one problem."""
        return any(share.n for share in self.shares.values())

    @property
    def accuracies(self) -> list[float]:
        """One accuracy per finished seed."""
        return [share.correct / share.n for share in self.shares.values() if share.n]

    @property
    def accuracy(self) -> float | None:
        """The mean over seeds."""
        return fmean(self.accuracies) if self.known else None

    @property
    def n(self) -> int:
        """The number of test problems; the smallest if it differs between seeds of the split."""
        return min((share.n for share in self.shares.values() if share.n), default=0)

    @property
    def half_width(self) -> float | None:
        """The number after ±: half the width of Student's interval over seeds; None with fewer than three seeds."""
        if len(self.accuracies) < FEWEST_SEEDS:
            return None
        interval = mean_over_seeds(self.accuracies).interval
        return None if interval is None else (interval[1] - interval[0]) / 2

    @property
    def over_seeds(self) -> Interval | None:
        """Student's interval of the mean, within [0, 1]; None with fewer than three seeds."""
        accuracy, half = self.accuracy, self.half_width
        return None if accuracy is None or half is None else (max(0.0, accuracy - half), min(1.0, accuracy + half))

    @property
    def over_problems(self) -> Interval | None:
        """Wilson's interval for the mean accuracy on n problems."""
        accuracy = self.accuracy
        return None if accuracy is None else wilson_interval(round(accuracy * self.n), self.n)

    @property
    def lacking(self) -> list[Cell]:
        """The missing cells: those that failed or were not run."""
        return [cell for cell in self.cells if cell.status != "done"]

    @property
    def why_lacking(self) -> str:
        """The missing cells, with their reasons."""
        return "; ".join(
            f"{cell.label}: {cell.status}{f' ({cell.reason})' if cell.reason else ''}" for cell in self.lacking
        )

    @property
    def breakdown(self) -> dict[str, Share]:
        """Accuracy on parts of the test set, pooled over seeds: by operators, by template seen or not, by subset."""
        pooled: dict[str, Share] = {}
        for cell in self.cells:
            for name, record in _test_parts(cell.summary.get("test", {})):
                share = pooled.get(name, Share(0, 0))
                pooled[name] = Share(share.correct + int(record["correct"]), share.n + int(record["n"]))
        return pooled

    def paired_with(self, method: str | None) -> Paired | None:
        """The paired test against a method, if there is one."""
        return next((paired for paired in self.paired if paired.against == method), None)

    def to_json(self) -> dict[str, Any]:
        """The number and all it is based on, for programs: ids and numbers, never a problem's text."""
        paper = self.paper
        return {
            "plan": self.plan,
            "method": self.method,
            "facts": self.facts.to_json(),
            "part": self.part,
            "subset": self.subset,
            "accuracy": self.accuracy,
            "n": self.n,
            "over_seeds": self.over_seeds,
            "over_problems": self.over_problems,
            "seeds": {name: {"correct": share.correct, "n": share.n} for name, share in self.shares.items()},
            "paper": None if paper is None else {"accuracy": paper.share, "n": paper.n, "interval": paper.interval},
            "paired": [
                {"against": paired.against, "difference": paired.difference, "interval": paired.interval, "p": paired.p,
                 "n": paired.n, "by_seed": paired.by_seed}
                for paired in self.paired
            ],
            "cells": {cell.key: cell.status for cell in self.cells},
        }  # fmt: skip


def _test_parts(record: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, int]]]:
    for count, share in record.get("by_operator_count", {}).items():
        yield f"{count} operator{'' if count == '1' else 's'}", share
    for seen, share in (record.get("by_template_seen") or {}).items():
        yield f"template {seen}", share
    yield from record.get("subsets", {}).items()


# --- the numbers of a plan ---


def plan_numbers(plan: PlanResults) -> list[Number]:
    """All numbers of a plan in the order of its cells, including those without a finished seed."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in plan.of_kind("evaluation"):
        groups[_group(cell.facts)].append(cell)
    whole = {name: tuple(cells) for name, cells in groups.items()}
    return [number for cells in whole.values() for number in _numbers(plan, cells, whole)]


def _group(facts: Facts, **changes: object) -> str:
    """Everything that makes two cells seeds of the same number."""
    group = {
        "dataset": facts.dataset, "target": facts.target, "method": facts.method, "rounds": facts.rounds,
        "augmentation_seed": facts.augmentation_seed, "cover": facts.cover, "settings": dict(facts.settings),
        "steps_like": facts.steps_like, **changes,
    }  # fmt: skip
    return json.dumps(group, sort_keys=True)


def _numbers(plan: PlanResults, cells: tuple[Cell, ...], groups: Mapping[str, tuple[Cell, ...]]) -> Iterator[Number]:
    facts = cells[0].facts
    method = _method(facts, groups)
    subsets = dict.fromkeys(name for cell in cells for name in cell.summary.get("test", {}).get("subsets", {}))
    parts: list[tuple[str, str | None]] = [(part, None) for part in _evaluated_parts(plan, cells)]
    for part, subset in (*parts, *(("test", name) for name in subsets)):
        shares = {}
        for cell in cells:
            record = cell.summary.get(part)
            if record and subset is not None:
                record = record.get("subsets", {}).get(subset)
            if record:
                shares[_replicate(cell.facts)] = Share(int(record["correct"]), int(record["n"]))
        paired = () if part != "test" else tuple(_paired(cells, groups, subset))
        yield Number(plan.name, method, facts, part, subset, shares, cells, paired)


def _evaluated_parts(plan: PlanResults, cells: tuple[Cell, ...]) -> list[str]:
    """The parts that a plan evaluates, without those that the dataset turned out not to have."""
    parts = plan.plan.get("evaluate", {}).get("parts", PARTS)
    done = [cell.summary for cell in cells if cell.status == "done"]
    return [part for part in PARTS if part in parts and (not done or any(part in summary for summary in done))]


def _method(facts: Facts, groups: Mapping[str, tuple[Cell, ...]]) -> str:
    """The method's name, with what distinguishes it from others of that name in the plan."""
    same = [cells[0].facts for cells in groups.values() if cells[0].facts.method == facts.method]
    name = facts.method or facts.solver or "?"
    seeds = sorted({one.augmentation_seed for one in same if one.augmentation_seed is not None})
    if facts.augmentation_seed is not None and facts.augmentation_seed != seeds[0]:
        name += f", augmentation seed {facts.augmentation_seed}"
    differing = {
        key for one in same for key, value in one.settings.items() if any(o.settings.get(key) != value for o in same)
    }
    changes = [f"{key} {value}" for key, value in facts.settings.items() if key in differing]
    if len({one.steps_like for one in same if one.dataset == facts.dataset}) > 1 and facts.steps_like is not None:
        changes.append(f"steps of {facts.steps_like}")
    return ", ".join([name, *changes])


def _replicate(facts: Facts) -> str:
    split = f"split {facts.split_seed}, " if facts.split_seed else ""
    return f"{split}seed {facts.seed}"


# --- paired tests ---


def _paired(cells: Sequence[Cell], groups: Mapping[str, tuple[Cell, ...]], subset: str | None) -> Iterator[Paired]:
    """Against the method without augmentation, and against itself without the coverage constraint."""
    if subset is not None and subset not in COMPOSITIONS:
        return
    facts = cells[0].facts
    others = []
    if facts.plain is not None:
        # With equal steps, the plain method may have been trained once per method that it is compared with.
        keys = [
            _group(facts, method=facts.plain, augmentation_seed=None, steps_like=like) for like in (facts.method, None)
        ]
        others.append((facts.plain, next((key for key in keys if key in groups), "")))
    if facts.cover not in (None, "none"):
        others.append((UNCOVERED, _group(facts, cover="none")))
    for name, key in others:
        paired = _compare(name, cells, groups.get(key, ()), subset)
        if paired is not None:
            yield paired


def _compare(against: str, cells: Sequence[Cell], others: Sequence[Cell], subset: str | None) -> Paired | None:
    """Problems are drawn, seeds are not: a problem counts with its mean over the seeds common to both methods."""
    ours, theirs = _finished(cells), _finished(others)
    wins: dict[tuple[int | None, str], int] = defaultdict(int)  # split and problem → seeds that got it right
    other_wins: dict[tuple[int | None, str], int] = defaultdict(int)
    by_seed = []
    for name in (name for name in ours if name in theirs):
        right, other = right_answers(ours[name], subset), right_answers(theirs[name], subset)
        if right is None or other is None or right.keys() != other.keys():
            continue
        by_seed.append((sum(right.values()) - sum(other.values())) / max(1, len(right)))
        for problem in sorted(right):  # in a fixed order, on which the draws depend
            wins[ours[name].facts.split_seed, problem] += right[problem]
            other_wins[ours[name].facts.split_seed, problem] += other[problem]
    if not wins:
        return None
    each = len(by_seed) / len({split for split, _ in wins})  # trainings that a problem was tested with
    counts, other_counts = list(wins.values()), list(other_wins.values())
    difference, (low, high), p = paired_bootstrap(counts, other_counts, resamples=RESAMPLES)
    accuracy = sum(other_counts) / each / len(wins)
    return Paired(against, difference / each, (low / each, high / each), p, len(wins), accuracy, tuple(by_seed))


def _finished(cells: Sequence[Cell]) -> dict[str, Cell]:
    return {_replicate(cell.facts): cell for cell in cells if cell.status == "done"}


# --- choosing and arranging numbers ---


def main_numbers(numbers: Sequence[Number]) -> list[Number]:
    """The numbers that tables show: whole parts, decoded without a constraint."""
    return [number for number in numbers if number.subset is None and number.unconstrained]


def single_numbers(numbers: Sequence[Number]) -> list[Number]:
    """Those of them that are not points of a curve: one per method and test set."""
    return [number for number in main_numbers(numbers) if not number.on_curve]


def composition_numbers(numbers: Sequence[Number]) -> list[Number]:
    """The same for structural and lexical problems."""
    return [n for n in numbers if n.subset in COMPOSITIONS and n.unconstrained and not n.on_curve]


def has_curve(numbers: Sequence[Number]) -> bool:
    """Whether a plan has splits at several targets."""
    return len({number.facts.target for number in numbers}) >= FEWEST_TARGETS


TestSet = tuple[str, str]  # dataset, part
Line = dict[Hashable, Number]  # the numbers of a table's row, by column


def arrange(
    numbers: Sequence[Number], row: Callable[[Number], Hashable], column: Callable[[Number], Hashable]
) -> list[Line]:
    """Numbers by row and column, in the order in which they come."""
    lines: dict[Hashable, Line] = {}
    for number in numbers:
        lines.setdefault(row(number), {}).setdefault(column(number), number)
    return list(lines.values())


def by_method(numbers: Sequence[Number]) -> dict[str, Line]:
    """The numbers of each method by test set."""
    lines = arrange(numbers, lambda number: number.method, lambda number: (number.dataset, number.part))
    return {any_of(line).method: line for line in lines}


def any_of(line: Line) -> Number:
    """A number of a row, for what they have in common."""
    return next(iter(line.values()))


@dataclass(frozen=True, slots=True)
class Both:
    """A method's known numbers on the two test sets of a pair."""

    easy: Number
    hard: Number
    easy_accuracy: float
    hard_accuracy: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two test sets, of which only the second needs new compositions: i.i.d. and ComDiv, SD's validation and test."""

    title: str
    corpus: str
    easy: TestSet
    hard: TestSet

    def of(self, line: Line) -> Both | None:
        """A method's numbers; None if one of them is not known."""
        easy, hard = line.get(self.easy), line.get(self.hard)
        if easy is None or hard is None or easy.accuracy is None or hard.accuracy is None:
            return None
        return Both(easy, hard, easy.accuracy, hard.accuracy)


def pairs(numbers: Sequence[Number]) -> list[Pair]:
    """Which of a plan's test sets are to be compared, by corpus and split."""
    facts = {number.dataset: number.facts for number in numbers if number.dataset and number.facts.target is None}
    validated = {number.dataset for number in numbers if number.part == "validation"}
    compared = []
    for name, fact in facts.items():
        if fact.split in ("synthesis", "disjoint") and name in validated:
            compared.append(Pair(name, "sd", (name, "validation"), (name, "test")))
        elif fact.split in SPLITS:
            same = (o for o, other in facts.items() if (other.corpus, other.split) == (fact.corpus, "iid"))
            if (control := next(same, None)) is not None:
                title = f"{fact.corpus} {SPLITS[fact.split]}"
                compared.append(Pair(title, fact.corpus or "", (control, "test"), (name, "test")))
    return compared


def compared(numbers: Sequence[Number]) -> list[tuple[Pair, list[Both]]]:
    """Each pair of test sets with the numbers of the methods that are known on both."""
    lines = by_method(numbers).values()
    return [(pair, [both for line in lines if (both := pair.of(line)) is not None]) for pair in pairs(numbers)]


def trainings_of(plan: PlanResults, number: Number, key: str) -> list[float]:
    """A fact from the summaries of the trainings behind a number, one per seed that has it."""
    trainings = (plan.ancestor(cell, "training") for cell in number.cells)
    values = [training.summary.get(key) for training in trainings if training is not None]
    return [float(value) for value in values if value is not None]
