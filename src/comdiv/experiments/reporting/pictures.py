"""The report's figures, each drawn from plain values that are also given as data.

A figure function returns a `Picture`: the drawing, its caption and its alternative text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from statistics import fmean
from typing import TYPE_CHECKING

from comdiv.evaluation.significance import Interval
from comdiv.experiments.cell import Cell, PlanResults, Record
from comdiv.experiments.reporting.accuracies import (
    Both,
    Number,
    compared,
    composition_numbers,
    has_curve,
    main_numbers,
    single_numbers,
    trainings_of,
)
from comdiv.experiments.reporting.cell_tables import compound_divergence, split_families
from comdiv.experiments.reporting.tables import file_name
from comdiv.figures import Draw, Theme
from comdiv.splitting.measurement import Frequency, counted_divergence
from comdiv.splitting.outputs import frequency_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = ("-", "--", ":", "-.")
_ACCURACY = "answer accuracy (%)"
HALF, FULL = 5.3, 10.6  # inches: half and all of the page's width, so that letters have the same size everywhere


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure; `alternative` says in words what it shows, `wide` that it takes the page's whole width."""

    name: str
    title: str
    caption: str
    alternative: str
    draw: Draw
    wide: bool = False

    @property
    def file(self) -> str:
        """Its file name without the suffix; also its id on the page."""
        return file_name(self.name)


@dataclass(frozen=True, slots=True)
class Point:
    """A value on a curve with its interval; both in percent."""

    x: float
    y: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """A method without and with new compositions, in percent, and the same in the paper if it has them."""

    method: str
    easy: float
    hard: float
    paper: tuple[float | None, float | None] = (None, None)


# --- drawing ---


def gap_figure(name: str, panels: Mapping[str, Sequence[Gap]], easy: str, hard: str, about: str = "") -> Picture:
    """Each method's drop from the easy to the hard test set; one panel per title, which says n."""

    def draw(theme: Theme) -> "Figure":
        height = 0.9 + 0.34 * max(len(gaps) for gaps in panels.values())
        figure, all_axes = _panels(HALF if len(panels) == 1 else FULL, max(2.2, height), len(panels))
        for axes, (title, gaps) in zip(all_axes, panels.items(), strict=True):
            _draw_gaps(axes, gaps, theme, easy, hard)
            _label(axes, x=_ACCURACY, y="method", title=title)
        all_axes[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, fontsize=8)
        return figure

    words = _in_words(
        (title, (f"{gap.method} {gap.easy:.1f} to {gap.hard:.1f}" for gap in gaps)) for title, gaps in panels.items()
    )
    caption = about or f"From {easy} to {hard}: the length of a line is what new compositions cost."
    if any(gap.paper[1] is not None for gaps in panels.values() for gap in gaps):
        caption += " Rings: the paper."
    return Picture(name, f"The gap between {easy} and {hard}", caption, words, draw, wide=len(panels) > 1)


def _draw_gaps(axes: "Axes", gaps: Sequence[Gap], theme: Theme, easy: str, hard: str) -> None:
    rows = list(range(len(gaps)))[::-1]
    for row, gap in zip(rows, gaps, strict=True):
        axes.plot([gap.hard, gap.easy], [row, row], color=theme.faint, linewidth=3, solid_capstyle="round", zorder=1)
        ring = "the paper" if row == rows[0] else None  # one entry in the legend
        for printed, colour in zip(gap.paper[::-1], (theme.test, theme.train), strict=True):
            if printed is not None:
                axes.scatter(
                    [printed], [row], 95, facecolors="none", edgecolors=colour, zorder=2, linewidths=1, label=ring
                )
                ring = None
        for value in (gap.hard, gap.easy):
            _annotate(axes, value, value, row, 6)
    axes.scatter([gap.hard for gap in gaps], rows, s=36, color=theme.test, zorder=3, label=hard)
    axes.scatter([gap.easy for gap in gaps], rows, s=36, color=theme.train, zorder=3, label=easy)
    axes.set_yticks(rows, [gap.method for gap in gaps])
    axes.set_ylim(-0.6, len(gaps) - 0.3)
    axes.set_xlim(-3, 103)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")


def curve_figure(name: str, title: str, caption: str, series: Mapping[str, Sequence[Point]], x: str) -> Picture:
    """Lines with intervals, such as accuracy against divergence. The names of the series say n."""

    def draw(theme: Theme) -> "Figure":
        figure, (axes,) = _panels(HALF, 3.3)
        for colour, (label, points) in zip(cycle(theme.series), series.items(), strict=False):
            _line(axes, points, colour, label)
        _label(axes, x=x, title=title, legend=8)
        return figure

    words = _in_words((label, (f"{p.y:.1f} at {p.x:.2f}" for p in points)) for label, points in series.items())
    return Picture(name, title, caption, words, draw)


def rounds_figure(
    name: str, accuracy: Mapping[str, Sequence[Point]], seconds: Mapping[str, Sequence[Point]]
) -> Picture:
    """Accuracy and training time per epoch against the number of rounds: Figure 5b."""
    title = "Accuracy and time against rounds"

    def draw(theme: Theme) -> "Figure":
        from matplotlib.ticker import MaxNLocator

        figure, (axes,) = _panels(HALF, 3.7)
        for (label, points), style in zip(accuracy.items(), cycle(_STYLES), strict=False):
            _line(axes, points, theme.train, f"accuracy, {label}", style)
        _label(axes, x="rounds of augmentation", title=title)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        handles = list(axes.lines)
        if any(seconds.values()):
            right = axes.twinx()
            for (label, points), style in zip(seconds.items(), cycle(_STYLES), strict=False):
                _line(right, points, theme.test, f"time, {label}", style)
            _label(right, y="processor seconds per epoch")
            right.spines["right"].set_visible(True)
            right.grid(visible=False)
            handles += list(right.lines)
        entries = {str(handle.get_label()): handle for handle in handles if not str(handle.get_label()).startswith("_")}
        # Below the axes: the lines of two measures leave no corner free.
        columns = 2 if len(entries) > 2 else 1
        figure.legend(entries.values(), entries.keys(), fontsize=7, loc="outside lower center", ncols=columns)
        return figure

    words = _in_words((label, (f"{p.y:.1f} % after {p.x:g}" for p in points)) for label, points in accuracy.items())
    caption = "More rounds, more data: what they bring (blue) and what they cost (orange). The paper's Figure 5b."
    return Picture(name, title, caption, words, draw)


def training_figure(
    name: str, where: str, runs: Mapping[str, Sequence[Sequence[Mapping[str, float | None]]]]
) -> Picture:
    """Loss and validation accuracy by epoch; one colour per method, one line per seed. Names of methods say n.

    If no training held problems back (`select: last`), there is no accuracy to draw.
    """
    entries = [entry for histories in runs.values() for history in histories for entry in history]
    measures = {"loss": ("training loss", 1)}
    if any(entry.get("validation_accuracy") is not None for entry in entries):
        measures["validation_accuracy"] = ("validation accuracy (%)", 100)

    def draw(theme: Theme) -> "Figure":
        figure, panels = _panels(FULL, 3.2, len(measures))
        for axes, (key, (what, scale)) in zip(panels, measures.items(), strict=True):
            for colour, (label, histories) in zip(cycle(theme.series), runs.items(), strict=False):
                for place, history in enumerate(histories):
                    points = [(entry["epoch"], scale * y) for entry in history if (y := entry.get(key)) is not None]
                    shown = label if place == 0 else None
                    axes.plot(*zip(*points, strict=True), color=colour, label=shown, linewidth=1.3)
            _label(axes, x="epoch", y=what)
        _label(panels[0], x="epoch", y="training loss", title=f"Training on {where}", legend=7)
        return figure

    words = "; ".join(f"{label}: {len(histories)} trainings" for label, histories in runs.items())
    names = " and ".join(what.removesuffix(" (%)") for what, _ in measures.values())
    caption = f"Trainings on {where}: {names} by epoch, one line per seed."
    return Picture(name, f"Training on {where}", caption, words, draw, wide=True)


def composition_figure(name: str, where: str, parts: Mapping[str, Mapping[str, Point]]) -> Picture:
    """Bars for structural and lexical accuracy of each method: part → method → value. Names of the parts say n."""
    methods = list(dict.fromkeys(method for values in parts.values() for method in values))
    wide = len(methods) > 5

    def draw(theme: Theme) -> "Figure":
        figure, (axes,) = _panels(FULL if wide else HALF, 3.3)
        width = 0.8 / len(parts)
        for place, (colour, (label, values)) in enumerate(zip(theme.series[2:], parts.items(), strict=False)):
            shift = (place - (len(parts) - 1) / 2) * width
            xs = [methods.index(method) + shift for method in values]
            axes.bar(xs, [point.y for point in values.values()], width * 0.94, color=colour, label=label)
            for x, point in zip(xs, values.values(), strict=True):
                if point.interval is not None:
                    axes.plot([x, x], point.interval, color=theme.ink, linewidth=1)
                _annotate(axes, point.y, x, point.interval[1] if point.interval else point.y, 3)
        axes.set_xticks(range(len(methods)), methods)
        _label(axes, x="method", title=f"What is new in the test problems of {where}", legend=8)
        axes.set_ylim(0, 105)
        return figure

    words = _in_words(
        (label, (f"{method} {p.y:.1f}" for method, p in values.items())) for label, values in parts.items()
    )
    caption = "New expression structures against known structures in new surroundings, with 95 % intervals (Table III)."
    return Picture(name, f"Composition types of {where}", caption, words, draw, wide=wide)


def frequencies_picture(
    name: str, kind: str, where: str, frequencies: Sequence[Frequency], divergence: float
) -> Picture:
    """Atoms or compounds in train and in test."""
    only_test = sum(frequency.train == 0 and frequency.test > 0 for frequency in frequencies)
    caption = f"{kind.capitalize()} of {where}; {only_test} of {len(frequencies)} occur in test only."
    words = f"{kind} of {where}: divergence {divergence:.3f}. {caption}"
    draw = frequency_figure(kind, frequencies, divergence)
    return Picture(name, f"{kind.capitalize()} of {where}", caption, words, draw, wide=True)


def _panels(width: float, height: float, count: int = 1) -> tuple["Figure", Sequence["Axes"]]:
    """A figure with axes side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def _label(axes: "Axes", *, x: str = "", y: str = _ACCURACY, title: str = "", legend: int | None = None) -> None:
    """Say what the axes show; their values begin at 0."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    if y != "method":
        axes.set_ylim(bottom=0)
    if legend is not None:
        axes.legend(fontsize=legend)


def _line(axes: "Axes", points: Sequence[Point], colour: str, label: str, style: str = "-") -> None:
    ordered = sorted(points, key=lambda point: point.x)
    xs = [point.x for point in ordered]
    axes.plot(xs, [point.y for point in ordered], marker="o", markersize=4, color=colour, label=label, linestyle=style)
    bands = [(point.x, *point.interval) for point in ordered if point.interval is not None]
    x, low, high = zip(*bands, strict=True) if bands else ((), (), ())
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


def _annotate(axes: "Axes", value: float, x: float, y: float, above: int) -> None:
    axes.annotate(f"{value:.1f}", (x, y), (0, above), textcoords="offset points", ha="center", fontsize=7)


def _in_words(parts: Iterable[tuple[str, Iterable[str]]]) -> str:
    """A figure in words: its parts, each with its values."""
    return "; ".join(f"{label}: {', '.join(values)}" for label, values in parts)


# --- the figures of a plan ---


def plan_pictures(plan: PlanResults, numbers: Sequence[Number]) -> list[Picture]:
    """All figures that a plan has data for."""
    return [
        *_gaps(plan, numbers),
        *_compositions(plan, numbers),
        *_divergence_curve(plan, numbers),
        *_rounds_curve(plan, numbers),
        *_grid(plan, numbers),
        *_frequencies(plan),
        *_trainings(plan),
    ]


def _gaps(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    singles = single_numbers(numbers)
    for kind, easy, hard in (("test", "i.i.d.", "compositional"), ("validation", "validation", "test")):
        panels = {}
        for pair, methods in compared(singles):
            if methods and pair.easy[1] == kind:
                n = max(number.n for number in singles if (number.dataset, number.part) == pair.hard)
                panels[f"{pair.title} (n = {n:,})"] = [_gap(both) for both in methods]
        if panels:
            yield gap_figure(f"{plan.name}-gap-{kind}", panels, easy, hard)


def _gap(both: Both) -> Gap:
    easy, hard = (None if number.paper is None else number.paper.percent for number in (both.easy, both.hard))
    return Gap(both.easy.method, 100 * both.easy_accuracy, 100 * both.hard_accuracy, (easy, hard))


def _compositions(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    datasets: dict[str, dict[str, dict[str, Point]]] = {}
    for number in composition_numbers(numbers):
        if number.known:
            parts = datasets.setdefault(number.dataset, {})
            parts.setdefault(f"{number.subset} (n = {number.n:,})", {})[number.method] = _point(0, number)
    for dataset, parts in datasets.items():
        yield composition_figure(f"{plan.name}-compositions-{dataset}", dataset, parts)


def _divergence_curve(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    """Accuracy against compound divergence, if a plan has splits at several targets: Figure 5a."""
    if not has_curve(numbers):
        return
    series: dict[str, list[Point]] = {}
    for number in main_numbers(numbers):
        divergence = compound_divergence(plan, number.cells[0])
        if number.part == "test" and number.known and divergence is not None:
            label = f"{number.method}, {number.facts.corpus} (n = {number.n:,})"
            series.setdefault(label, []).append(_point(divergence, number))
    if series:
        caption = (
            "Each point is a split of the same sizes; the further right, the more its compounds differ (Figure 5a). "
            "Bands: 95 % intervals."
        )
        title, x = "Accuracy against compound divergence", "compound divergence between train and test"
        yield curve_figure(f"{plan.name}-divergence", title, caption, series, x)


def _rounds_curve(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    accuracy: dict[str, list[Point]] = {}
    seconds: dict[str, list[Point]] = {}
    for number in main_numbers(numbers):
        rounds = number.facts.rounds
        if number.part != "test" or rounds is None or not number.known:
            continue
        label = f"{number.method} on {number.dataset}"
        accuracy.setdefault(f"{label} (n = {number.n:,})", []).append(_point(rounds, number))
        if times := trainings_of(plan, number, "seconds_per_epoch"):
            seconds.setdefault(label, []).append(Point(rounds, fmean(times)))
    if accuracy:
        yield rounds_figure(f"{plan.name}-rounds", accuracy, seconds)


def _grid(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[Picture]:
    """Without and with augmentation, if a plan has several solvers and encoders; splits of a family together."""
    tested = [n for n in single_numbers(numbers) if n.part == "test" and n.facts.split != "iid"]
    plain = {n.facts.plain for n in tested}
    if min(len({n.facts.solver for n in tested}), len({n.facts.settings.get("encoder") for n in tested})) < 2:
        return
    families = split_families(plan)
    accuracies: dict[str, dict[str, dict[bool, list[float]]]] = {}
    sizes: dict[str, int] = {}
    for number in tested:
        augmented = number.facts.plain is not None
        method = number.facts.plain if augmented else number.method
        if number.accuracy is not None and method in plain:
            name = families.get(number.dataset, number.dataset)
            sizes.setdefault(name, number.n)
            accuracies.setdefault(name, {}).setdefault(method or "", {}).setdefault(augmented, []).append(
                100 * number.accuracy
            )
    panels = {
        f"{dataset} (n = {sizes[dataset]:,})": [
            Gap(m, fmean(both[True]), fmean(both[False])) for m, both in methods.items() if len(both) == 2
        ]
        for dataset, methods in accuracies.items()
    }
    if panels := {dataset: gaps for dataset, gaps in panels.items() if gaps}:
        about = (
            "Solvers on compositional splits, without and with augmentation; splits that differ in seeds: their mean."
        )
        yield gap_figure(f"{plan.name}-grid", panels, "with augmentation", "without", about)


def _frequencies(plan: PlanResults) -> Iterator[Picture]:
    for cell in plan.of_kind("measurement"):
        lists = cell.details.frequencies() if cell.details is not None else {}
        for kind, entries in lists.items():
            if entries:
                k, divergence = cell.summary["k"], counted_divergence(cell.summary, kind, "paper")
                name = f"{plan.name}-{kind}-{cell.facts.dataset}-{k}"
                shown = [Frequency(**entry) for entry in entries]
                yield frequencies_picture(name, kind, f"{cell.facts.dataset}, k = {k}", shown, divergence)


def _trainings(plan: PlanResults) -> Iterator[Picture]:
    """One figure per dataset; trainings with other hyper-parameters or rounds have lines of their own."""
    datasets: dict[str, dict[str, list[list[Record]]]] = {}
    for cell in plan.of_kind("training"):
        if history := training_history(cell):
            problems = cell.summary.get("problems")
            name = _training_name(cell) + (f" (n = {problems:,})" if problems is not None else "")
            datasets.setdefault(cell.facts.dataset or "", {}).setdefault(name, []).append(history)
    for dataset, runs in datasets.items():
        if any("n = " in name for name in runs):
            yield training_figure(f"{plan.name}-training-{dataset}", dataset, runs)


def _training_name(cell: Cell) -> str:
    facts = cell.facts
    rounds = [] if facts.rounds is None else [f"{facts.rounds} rounds"]
    target = [] if facts.target is None else [f"target {facts.target:g}"]
    settings = (f"{name} {value}" for name, value in facts.settings.items())
    return ", ".join([facts.method or facts.solver or "?", *rounds, *target, *settings])


def training_history(cell: Cell) -> list[Record]:
    """The epochs of a training, without records of anything else."""
    history = cell.details.history() if cell.details is not None else ()
    return [entry for entry in history if "loss" in entry and "epoch" in entry]


def _point(x: float, number: Number) -> Point:
    interval = number.over_seeds or number.over_problems
    shown = None if interval is None else (100 * interval[0], 100 * interval[1])
    return Point(x, 100 * (number.accuracy or 0.0), shown)
