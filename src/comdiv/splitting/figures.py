"""Two pictures of a split: atom and compound frequencies, train against test (the figure of the paper's appendix)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from comdiv.splitting.measurement import Frequency, Measurement

SHOWN = 40  # bars: as many as the paper's figure has clusters
_TRAIN, _TEST = "#3b6fb5", "#e07b39"


def draw_frequencies(measurement: Measurement, folder: Path) -> list[Path]:
    """Write `atoms` and `compounds` as SVG and PNG into a folder; the same measurement gives the same bytes."""
    paths = []
    preset = measurement.alpha
    for name, frequencies, title in (
        ("atoms", measurement.atoms, f"Atoms: divergence {measurement.atom_divergence[preset]:.3f}"),
        ("compounds", measurement.compounds, f"Compounds: divergence {measurement.compound_divergence[preset]:.3f}"),
    ):
        paths += _draw(frequencies, title, f"{name[:-1]}, most frequent first", folder / f"frequencies-{name}")
    return paths


def _draw(frequencies: Sequence[Frequency], title: str, label: str, path: Path) -> list[Path]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = frequencies[:SHOWN]
    train_total = max(1, sum(frequency.train for frequency in frequencies))
    test_total = max(1, sum(frequency.test for frequency in frequencies))
    positions = range(len(shown))
    settings: dict[Any, Any] = {"svg.hashsalt": "comdiv", "svg.fonttype": "none", "font.size": 9}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(9, 3.4), layout="constrained")
        axes = figure.add_subplot()
        width = 0.42
        train = [frequency.train / train_total for frequency in shown]
        test = [frequency.test / test_total for frequency in shown]
        axes.bar([p - width / 2 for p in positions], train, width, color=_TRAIN, label=f"train (n = {train_total:,})")
        axes.bar([p + width / 2 for p in positions], test, width, color=_TEST, label=f"test (n = {test_total:,})")
        axes.set_xticks(list(positions), [frequency.name for frequency in shown], rotation=70, ha="right", fontsize=7)
        axes.set_xlabel(label)
        axes.set_ylabel("share of occurrences")
        axes.set_title(f"{title} (the {len(shown)} most frequent of {len(frequencies):,})", loc="left", fontsize=10)
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        written = []
        for suffix, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
            target = path.with_name(path.name + suffix)
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(f".{target.name}.part")
            figure.savefig(temporary, format=suffix[1:], dpi=150, metadata=metadata)
            temporary.replace(target)
            written.append(target)
    return written
