"""The numbers of a plan: one per method and test set, over seeds, with its uncertainty.

Two intervals answer two questions. Over seeds (Student's): what would another training give? Over problems (Wilson's):
what would other problems of the same kind give? Paired tests draw problems, and take each problem's mean over seeds.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, mean
from typing import Any

from comdiv.evaluation import Share, mean_over_seeds, wilson_interval
from comdiv.evaluation.significance import Interval, paired_bootstrap
from comdiv.experiments.cell import Cell, Facts, PlanResults, right_answers
from comdiv.experiments.reporting.paper import ROUNDS, PaperNumber, Place, read_paper
from comdiv.experiments.reporting.tables import (
    EMPTY,
    Entry,
    Tone,
    interval_text,
    p_text,
    percent,
    signed,
    signed_percent,
)

RESAMPLES = 10_000
FEWEST_SEEDS = 3  # with two, Student's factor is 12.7
PARTS = ("validation", "test")
COMPOSITIONS = ("structural", "lexical")
UNCOVERED = "no coverage constraint"  # the baseline of constrained decoding


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
    def place(self) -> Place:
        """The place of the paper's corresponding number."""
        target = "" if self.facts.target is None else f"@{self.facts.target:g}"
        return (self.facts.corpus or "", f"{self.facts.split or ''}{target}", self.part, self.subset)

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


def plan_numbers(plan: PlanResults) -> list[Number]:
    """All numbers of a plan in the order of its cells, including those without a finished seed."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in plan.of_kind("evaluation"):
        groups[_group(cell.facts)].append(cell)
    whole = {name: tuple(cells) for name, cells in groups.items()}
    return [number for cells in whole.values() for number in _numbers(plan, cells, whole)]


def _group(facts: Facts, **changes: object) -> str:
    """Everything that makes two cells seeds of the same number."""
    named = {
        "dataset": facts.dataset, "target": facts.target, "method": facts.method, "rounds": facts.rounds,
        "augmentation_seed": facts.augmentation_seed, "cover": facts.cover, "settings": dict(facts.settings),
        "steps_like": facts.steps_like, **changes,
    }  # fmt: skip
    return json.dumps(named, sort_keys=True)


def _numbers(plan: PlanResults, cells: tuple[Cell, ...], groups: Mapping[str, tuple[Cell, ...]]) -> Iterator[Number]:
    facts = cells[0].facts
    method = _method(facts, groups)
    subsets = list(dict.fromkeys(name for cell in cells for name in cell.summary.get("test", {}).get("subsets", {})))
    parts: list[tuple[str, str | None]] = [(part, None) for part in _evaluated(plan, cells)]
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


def _evaluated(plan: PlanResults, cells: tuple[Cell, ...]) -> list[str]:
    """The parts that a plan evaluates, without those that the dataset turned out not to have."""
    asked = plan.plan.get("evaluate", {}).get("parts", PARTS)
    done = [cell.summary for cell in cells if cell.status == "done"]
    return [part for part in PARTS if part in asked and (not done or any(part in summary for summary in done))]


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
        found = _compare(name, cells, groups.get(key, ()), subset)
        if found is not None:
            yield found


@dataclass(slots=True)
class _Tally:
    """How many seeds got a problem right with each method."""

    ours: int = 0
    others: int = 0


def _compare(against: str, cells: Sequence[Cell], others: Sequence[Cell], subset: str | None) -> Paired | None:
    """Problems are drawn, seeds are not: a problem counts with its mean over the seeds common to both methods."""
    ours, theirs = _finished(cells), _finished(others)
    common = [name for name in ours if name in theirs]
    tallies: dict[tuple[int | None, str], _Tally] = defaultdict(_Tally)
    by_seed = []
    for name in common:
        right, other = right_answers(ours[name], subset), right_answers(theirs[name], subset)
        if right is None or other is None or right.keys() != other.keys():
            continue
        by_seed.append((sum(right.values()) - sum(other.values())) / max(1, len(right)))
        for problem, is_right in sorted(right.items()):  # always in the same order: the draws depend on it
            tally = tallies[ours[name].facts.split_seed, problem]
            tally.ours += is_right
            tally.others += other[problem]
    if not tallies:
        return None
    splits = {split for split, _ in tallies}
    each = len(by_seed) / len(splits)  # trainings that a problem was tested with
    difference, (low, high), p = paired_bootstrap(
        [tally.ours for tally in tallies.values()], [tally.others for tally in tallies.values()], resamples=RESAMPLES
    )
    accuracy = sum(tally.others for tally in tallies.values()) / each / len(tallies)
    interval = (low / each, high / each)
    return Paired(against, difference / each, interval, p, len(tallies), accuracy, tuple(by_seed))


def _finished(cells: Sequence[Cell]) -> dict[str, Cell]:
    return {_replicate(cell.facts): cell for cell in cells if cell.status == "done"}


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A number's parts, pooled over seeds: by operators, by template seen or not, by subset."""

    number: Number
    parts: Mapping[str, Share] = field(default_factory=dict)


def breakdowns(numbers: Sequence[Number]) -> list[Breakdown]:
    """The parts of every test number that has finished, as `result.json` gives them."""
    found = []
    for number in numbers:
        if number.part == "test" and number.subset is None and number.known:
            parts: dict[str, Share] = {}
            for cell in number.cells:
                for name, share in _parts(cell):
                    have = parts.get(name, Share(0, 0))
                    parts[name] = Share(have.correct + share.correct, have.n + share.n)
            found.append(Breakdown(number, parts))
    return found


def _parts(cell: Cell) -> Iterator[tuple[str, Share]]:
    record = cell.summary.get("test", {})
    for count, share in record.get("by_operator_count", {}).items():
        yield (f"{count} operator{'' if count == '1' else 's'}", _share(share))
    for seen, share in (record.get("by_template_seen") or {}).items():
        yield (f"template {seen}", _share(share))
    for name, share in record.get("subsets", {}).items():
        yield (name, _share(share))


def _share(record: Mapping[str, int]) -> Share:
    return Share(int(record["correct"]), int(record["n"]))


SIGNIFICANT = 0.05


def number_id(number: Number) -> str:
    """A number's id on the page: the same for the same plan, method, dataset and part."""
    told = (number.plan, number.method, repr(number.facts), number.part, number.subset)
    return f"number-{hashlib.sha256(repr(told).encode()).hexdigest()[:12]}"


def number_entry(number: Number, *, against: str | None = None) -> Entry:
    """An accuracy with its context; a missing one says why.

    `against` is what it is tested against: by default the method without augmentation.
    """
    lacking = number.lacking
    reasons = why_missing(number)
    if number.accuracy is None:
        if any(cell.status == "failed" for cell in number.cells):
            return Entry("failed", None, tone="failed", hint=reasons, link=number_id(number))
        if lacking:
            return Entry("not run", None, tone="missing", hint=reasons, link=number_id(number))
        return EMPTY
    text = percent(number.accuracy)
    if number.half_width is not None:
        text += f" ± {percent(number.half_width)}"
    lines = [f"{len(number.shares)} of {len(number.cells)} seeds"] if lacking else []
    if (paper := paper_number(number)) is not None:
        lines.append(f"paper {paper.percent:.1f} · {signed(100 * number.accuracy - paper.percent)}")
    tested = [paired for paired in number.paired if paired.against == (against or number.facts.plain)]
    for paired in tested:
        lines.append(
            f"{signed_percent(paired.difference)} on {paired.against}"
            if against is None
            else signed_percent(paired.difference)
        )
        lines.append(f"{interval_text(paired.interval)}, {p_text(paired.p)}")
        if against is None and len(paired.by_seed) > 1:
            lines.append(f"by seed {by_seed_text(paired)}")
    hint = f"n = {number.n:,}, {len(number.shares)} seed{'' if len(number.shares) == 1 else 's'}"
    if number.over_problems is not None:
        hint += f"; over problems {interval_text(number.over_problems)}"
    return Entry(
        text,
        100 * number.accuracy,
        tuple(lines),
        paired_tone(tested),
        f"{hint}. {reasons}".strip(),
        number_id(number),
    )


def by_seed_text(paired: Paired) -> str:
    """The difference for each seed, in points, which the interval over problems does not show."""
    return ", ".join(signed_percent(difference) for difference in paired.by_seed)


def paper_number(number: Number) -> PaperNumber | None:
    """What the paper prints for the same method, corpus, split, part and number of rounds."""
    same = number.facts.cover in (None, "none") and number.facts.rounds in (None, ROUNDS)
    return read_paper().accuracy(number.method, number.place) if same else None


def why_missing(number: Number) -> str:
    """The cells that a number lacks, with their reasons."""
    return "; ".join(
        f"{cell.label}: {cell.status}{f' ({cell.reason})' if cell.reason else ''}" for cell in number.lacking
    )


def paired_tone(found: Sequence[Paired]) -> Tone:
    """Better or worse than what it is compared with, if the test is significant."""
    decided = [paired for paired in found if paired.p < SIGNIFICANT]
    if not decided:
        return ""
    return "better" if decided[0].difference > 0 else "worse"


Row = dict[str, Any]  # column → value; numbers below 1 are shares


def accuracies(results: PlanResults) -> list[Row]:
    """One row per dataset, method and way to decode, with the mean over seeds; unfinished ones are left out."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in results.of_kind("evaluation"):
        if cell.status == "done":
            groups.setdefault(
                (cell.facts.dataset, ", ".join([str(cell.facts.method), *cell.facts.variant()]), cell.facts.cover), []
            ).append(cell)
    rows = []
    for (dataset, named, cover), cells in groups.items():
        parts = list(cells[0].summary)
        shown = {part: mean(cell.summary[part]["answer_accuracy"] for cell in cells) for part in parts}
        n = cells[0].summary[parts[-1]]["n"]
        rows.append({"dataset": dataset, "method": named, "cover": cover, **shown, "n": n, "seeds": len(cells)})
    return rows


def best_settings(results: PlanResults, shown: int = 3) -> list[Row]:
    """For each method and dataset, the settings with the best mean validation accuracy over seeds."""
    groups: dict[tuple[str | None, str | None], dict[str, list[float]]] = {}
    for cell in results.of_kind("training"):
        accuracy = cell.summary.get("validation_accuracy")
        if cell.status == "done" and accuracy is not None:
            settings = ", ".join(f"{name}={value}" for name, value in cell.facts.settings.items())
            found = groups.setdefault((cell.facts.dataset, cell.facts.method), {})
            found.setdefault(settings, []).append(accuracy)
    return [
        {"dataset": dataset, "method": method, "validation": value, "seeds": seeds, "settings": settings}
        for (dataset, method), found in groups.items()
        for value, seeds, settings in _best(found)[:shown]
    ]


def _best(found: dict[str, list[float]]) -> Sequence[tuple[float, int, str]]:
    ranked = [(mean(values), len(values), settings) for settings, values in found.items()]
    return sorted(ranked, key=lambda row: (-row[0], row[2]))
