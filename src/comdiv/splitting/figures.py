"""Two pictures of a split: atom and compound frequencies, train against test (the figure of the paper's appendix)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from comdiv.figures import Draw, Theme, write_figure
from comdiv.splitting.measurement import Frequency, Measurement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 40  # bars: as many as the paper's figure has clusters


def draw_frequencies(measurement: Measurement, folder: Path) -> list[Path]:
    """Write `atoms` and `compounds` as SVG and PNG into a folder; the same measurement gives the same bytes."""
    paths = []
    preset = measurement.alpha
    for name, frequencies, divergence in (
        ("atoms", measurement.atoms, measurement.atom_divergence[preset]),
        ("compounds", measurement.compounds, measurement.compound_divergence[preset]),
    ):
        if frequencies:  # expressions may have no quantity at all
            paths += write_figure(folder / f"frequencies-{name}", frequency_figure(name, frequencies, divergence))
    return paths


def frequency_figure(name: str, frequencies: Sequence[Frequency], divergence: float) -> Draw:
    """The picture for `atoms` or `compounds`, ready to be drawn in a theme."""
    shown = frequencies[:SHOWN]
    train_total = max(1, sum(frequency.train for frequency in frequencies))
    test_total = max(1, sum(frequency.test for frequency in frequencies))

    def draw(theme: Theme) -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10.6, 3.4), layout="constrained")
        axes = figure.add_subplot()
        positions, width = range(len(shown)), 0.42
        train = [frequency.train / train_total for frequency in shown]
        test = [frequency.test / test_total for frequency in shown]
        for shift, shares, colour, label in (
            (-width / 2, train, theme.train, f"train (n = {train_total:,})"),
            (width / 2, test, theme.test, f"test (n = {test_total:,})"),
        ):
            axes.bar([position + shift for position in positions], shares, width, color=colour, label=label)
        axes.set_xticks(list(positions), [frequency.name for frequency in shown], rotation=70, ha="right", fontsize=7)
        axes.set_xlabel(f"{name[:-1]}, most frequent first")
        axes.set_ylabel("share of occurrences")
        title = f"{name.capitalize()}: divergence {divergence:.3f}"
        axes.set_title(f"{title} (the {len(shown)} most frequent of {len(frequencies):,})", loc="left")
        axes.legend()
        return figure

    return draw
