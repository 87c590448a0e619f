"""The house style of figures: two themes, a font that has Chinese glyphs where the system has one, and checks.

A figure without data, axis labels or n is refused: readers must not have to guess what it shows.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comdiv.files import atomic_path, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Free fonts first, then those of the common operating systems; the first one installed is used.
CHINESE_FONTS = (
    "Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback",
    "PingFang SC", "Heiti SC", "Hiragino Sans GB", "Arial Unicode MS", "Microsoft YaHei", "SimHei",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours that are readable on the page's background; train and test have the same colours everywhere."""

    name: str
    ink: str
    faint: str
    train: str
    test: str
    series: tuple[str, ...]


LIGHT = Theme(
    "light", "#1f2933", "#c9d1da", "#2f6db5", "#d9692a",
    ("#2f6db5", "#d9692a", "#2a8a62", "#8a4fb0", "#b3822a", "#c23b56", "#4a7c8c", "#6b6f76"),
)  # fmt: skip
DARK = Theme(
    "dark", "#e4e8ee", "#46505c", "#7db2f0", "#f2a061",
    ("#7db2f0", "#f2a061", "#63c99b", "#c79bea", "#e0bd6a", "#f08a9d", "#8fc3d1", "#aab0b8"),
)  # fmt: skip

Draw = Callable[[Theme], "Figure"]


@cache
def chinese_font() -> str | None:
    """An installed font with Chinese glyphs; None if there is none, and a PNG would show boxes instead.

    matplotlib lists the system's fonts once and caches the list on disk; fonts installed since then are added here.
    """
    from matplotlib.font_manager import findSystemFonts, fontManager

    if (name := _listed_chinese_font()) is not None:
        return name
    listed = {font.fname for font in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - listed):
        with suppress(OSError, RuntimeError):  # damaged, or of a kind that matplotlib cannot draw: ignored
            fontManager.addfont(path)
    return _listed_chinese_font()


def _listed_chinese_font() -> str | None:
    from matplotlib.font_manager import fontManager

    names = {font.name for font in fontManager.ttflist}
    return next((name for name in CHINESE_FONTS if name in names), None)


@contextmanager
def house_style(theme: Theme = LIGHT) -> Iterator[None]:
    """Fonts, colours and fixed ids, so that the same data give the same bytes. Text in SVG stays text."""
    import matplotlib as mpl

    chinese = chinese_font()
    settings: dict[Any, Any] = {
        "svg.hashsalt": "comdiv", "svg.fonttype": "none", "font.size": 9,
        "font.family": ["DejaVu Sans", *([chinese] if chinese else []), "sans-serif"],
        "text.color": theme.ink, "axes.edgecolor": theme.faint, "axes.labelcolor": theme.ink,
        "xtick.color": theme.ink, "ytick.color": theme.ink, "xtick.major.size": 0, "ytick.major.size": 0,
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "axes.titlesize": 10,
        "axes.grid": True, "axes.grid.axis": "y", "grid.color": theme.faint, "grid.linewidth": 0.6,
        "axes.axisbelow": True, "legend.frameon": False, "figure.facecolor": "none", "axes.facecolor": "none",
        "savefig.facecolor": "none",
    }  # fmt: skip
    with mpl.rc_context(settings):
        yield


def write_figure(path: Path, draw: Draw, *, dark: bool = False) -> list[Path]:
    """Write PATH.svg and PATH.png, and with `dark` PATH-dark.svg; a figure that fails the check is not written."""
    with house_style(LIGHT):
        figure = draw(LIGHT)
        check_figure(figure)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is done: no need to repeat it for each format
        written = [_save(figure, path.with_name(f"{path.name}.{kind}")) for kind in ("svg", "png")]
    if dark:
        target = path.with_name(f"{path.name}-dark.svg")
        write_text(target, recolour(written[0].read_text(encoding="utf-8"), LIGHT, DARK))
        written.append(target)
    return written


def recolour(svg: str, theme: Theme, other: Theme) -> str:
    """The same picture in another theme's colours: faster than drawing it again, and otherwise identical."""
    colours = {
        **dict(zip(theme.series, other.series, strict=True)), theme.ink: other.ink, theme.faint: other.faint,
        theme.train: other.train, theme.test: other.test,
    }  # fmt: skip
    return re.sub("|".join(colours), lambda match: colours[match.group()], svg)


def _save(figure: "Figure", path: Path) -> Path:
    kind = path.suffix[1:]
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    # A PNG may be shown on any page, so it has its own background.
    facecolor = "none" if kind == "svg" else "white"
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=150, metadata=metadata, facecolor=facecolor)
    return path


def check_figure(figure: "Figure") -> int:
    """How many data points a figure shows; raises if any axes lack data or labels, or if n is not stated."""
    if not figure.axes:
        raise ValueError("the figure has no axes")
    total = 0
    for axes in figure.axes:
        points = _points(axes)
        if not points:
            raise ValueError(f"axes '{axes.get_title(loc='left')}' show no data")
        twins = axes.get_shared_x_axes().get_siblings(axes)
        if not any(one.get_xlabel() for one in twins) or not axes.get_ylabel():
            raise ValueError(f"axes '{axes.get_title(loc='left')}' lack a label")
        total += points
    if not any("n = " in text for text in figure_texts(figure)):
        raise ValueError("the figure does not state n, the number of problems")
    return total


def figure_texts(figure: "Figure") -> list[str]:
    """All texts in a figure: titles, labels, legends, annotations."""
    from matplotlib.text import Text

    texts = [artist.get_text() for artist in figure.findobj(Text) if isinstance(artist, Text)]
    return [text for text in texts if text]


def _points(axes: "Axes") -> int:
    import numpy as np

    count = sum(int(np.isfinite(np.asarray(line.get_ydata(), dtype=float)).sum()) for line in axes.lines)
    count += sum(len(container) for container in axes.containers if hasattr(container, "patches"))
    count += sum(len(np.asarray(collection.get_offsets())) for collection in axes.collections)
    return count
