"""Which figures a plan has: its numbers, measurements and training logs turned into what the figures take."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from comdiv.experiments.cell import Cell, PlanResults, Record
from comdiv.experiments.reporting.curve_tables import has_curve, seconds_per_epoch
from comdiv.experiments.reporting.dataset_tables import compound_divergence
from comdiv.experiments.reporting.entries import paper_number
from comdiv.experiments.reporting.figures import (
    Gap,
    Picture,
    Point,
    composition_figure,
    curve_figure,
    frequencies_picture,
    gap_figure,
    rounds_figure,
    training_figure,
)
from comdiv.experiments.reporting.numbers import COMPOSITIONS, Number
from comdiv.experiments.reporting.result_tables import Pair, find, main_numbers, pairs
from comdiv.splitting.measurement import Frequency


def plan_pictures(plan: PlanResults, numbers: Sequence[Number]) -> list[Picture]:
    """All figures that a plan has data for."""
    return [
        *_gaps(plan, numbers),
        *_compositions(plan, numbers),
        *_divergence_curve(plan, numbers),
        *_rounds_curve(plan, numbers),
        *_frequencies(plan),
        *_trainings(plan),
    ]


def _gaps(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    chosen = [number for number in main_numbers(numbers) if number.facts.rounds is None]
    for kind, easy, hard in (("test", "i.i.d.", "compositional"), ("validation", "validation", "test")):
        panels = {}
        for pair in pairs(chosen):
            gaps = list(_pair_gaps(chosen, pair)) if pair.easy[1] == kind else []
            if gaps:
                n = max(number.n for number in chosen if (number.facts.dataset, number.part) == pair.hard)
                panels[f"{pair.title} (n = {n:,})"] = gaps
        if panels:
            yield gap_figure(f"{plan.name}-gap-{kind}", panels, easy, hard)


def _pair_gaps(numbers: Sequence[Number], pair: Pair) -> Iterator[Gap]:
    for method in dict.fromkeys(number.method for number in numbers):
        easy, hard = find(numbers, method, pair.easy), find(numbers, method, pair.hard)
        if easy is not None and hard is not None and easy.accuracy is not None and hard.accuracy is not None:
            printed = [None if (found := paper_number(number)) is None else found.percent for number in (easy, hard)]
            yield Gap(method, 100 * easy.accuracy, 100 * hard.accuracy, *printed)


def _compositions(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    chosen = [n for n in numbers if n.subset in COMPOSITIONS and n.facts.cover in (None, "none") and n.known]
    chosen = [n for n in chosen if n.facts.rounds is None and n.facts.target is None]
    for dataset in dict.fromkeys(number.facts.dataset or "" for number in chosen):
        parts: dict[str, dict[str, Point]] = {}
        for number in chosen:
            if number.facts.dataset == dataset:
                label = f"{number.subset} (n = {number.n:,})"
                parts.setdefault(label, {})[number.method] = _point(0, number)
        yield composition_figure(f"{plan.name}-compositions-{dataset}", dataset, parts)


def _divergence_curve(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    """Accuracy against compound divergence, where a plan has splits at several targets: Figure 5a."""
    if not has_curve(numbers):
        return
    series: dict[str, list[Point]] = {}
    for number in main_numbers(numbers):
        divergence = compound_divergence(plan, number.cells[0])
        if number.part == "test" and number.known and divergence is not None:
            label = f"{number.method}, {number.facts.corpus} (n = {number.n:,})"
            series.setdefault(label, []).append(_point(divergence, number))
    if series:
        yield curve_figure(
            f"{plan.name}-divergence",
            "Accuracy against compound divergence",
            "Each point is a split of the same sizes; the further right, the more its compounds differ (Figure 5a). "
            "Bands: 95 % intervals.",
            series,
            "compound divergence between train and test",
        )  # fmt: skip


def _rounds_curve(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    accuracy: dict[str, list[Point]] = {}
    seconds: dict[str, list[Point]] = {}
    for number in main_numbers(numbers):
        rounds = number.facts.rounds
        if number.part != "test" or rounds is None or not number.known:
            continue
        label = f"{number.method} on {number.facts.dataset}"
        accuracy.setdefault(f"{label} (n = {number.n:,})", []).append(_point(rounds, number))
        if times := seconds_per_epoch(plan, number):
            seconds.setdefault(label, []).append(Point(rounds, fmean(times)))
    if accuracy:
        yield rounds_figure(f"{plan.name}-rounds", accuracy, seconds)


def _frequencies(plan: PlanResults) -> Iterator[Picture]:
    for cell in plan.of_kind("measurement"):
        lists = cell.details.frequencies() if cell.details is not None else {}
        for kind, entries in lists.items():
            if entries:
                k, divergence = cell.summary["k"], cell.summary[f"{kind[:-1]}_divergence"]["paper"]
                name = f"{plan.name}-{kind}-{cell.facts.dataset}-{k}"
                shown = [Frequency(**entry) for entry in entries]
                yield frequencies_picture(name, kind, f"{cell.facts.dataset}, k = {k}", shown, divergence)


def _trainings(plan: PlanResults) -> Iterator[Picture]:
    """A figure for each dataset; trainings with other hyper-parameters or rounds are lines of their own."""
    found: dict[str, dict[str, list[list[Record]]]] = {}
    for cell in plan.of_kind("training"):
        history = _history(cell)
        if history:
            problems = cell.summary.get("problems")
            name = _training_name(cell) + (f" (n = {problems:,})" if problems is not None else "")
            found.setdefault(cell.facts.dataset or "", {}).setdefault(name, []).append(history)
    for dataset, runs in found.items():
        if any("n = " in name for name in runs):
            yield training_figure(f"{plan.name}-training-{dataset}", dataset, runs)


def _training_name(cell: Cell) -> str:
    facts = cell.facts
    rounds = [] if facts.rounds is None else [f"{facts.rounds} rounds"]
    target = [] if facts.target is None else [f"target {facts.target:g}"]
    return ", ".join(
        [facts.method or facts.solver or "?", *rounds, *target, *(f"{k} {v}" for k, v in facts.settings.items())]
    )


def _history(cell: Cell) -> list[Record]:
    history = cell.details.history() if cell.details is not None else ()
    return [entry for entry in history if "loss" in entry and "epoch" in entry]


def _point(x: float, number: Number) -> Point:
    interval = number.over_seeds or number.over_problems
    shown = None if interval is None else (100 * interval[0], 100 * interval[1])
    return Point(x, 100 * (number.accuracy or 0.0), shown)
