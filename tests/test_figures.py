"""The house style: what a figure must have before it is written, both themes, Chinese glyphs."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.image import imread

from comdiv.figures import DARK, LIGHT, Theme, check_figure, chinese_font, figure_texts, house_style, write_figure


def good(theme: Theme = LIGHT, title: str = "Accuracy (n = 40)") -> Figure:
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    axes.plot([1, 2, 3], [1, 4, 9], color=theme.train)
    axes.set_xlabel("round")
    axes.set_ylabel("accuracy")
    axes.set_title(title)
    return figure


def test_data_points_of_lines_bars_and_dots_are_counted() -> None:
    figure = good()
    figure.axes[0].bar([1, 2], [3, 4])
    figure.axes[0].scatter([1, 2, 3, 4], [1, 1, 1, 1])
    assert check_figure(figure) == 3 + 2 + 4


def test_points_that_are_no_numbers_are_none() -> None:
    figure = good()
    figure.axes[0].lines[0].set_ydata([1, float("nan"), 2])
    assert check_figure(figure) == 2


@pytest.mark.parametrize("spoil", ["x", "y", "n", "data", "axes"])
def test_a_figure_that_leaves_the_reader_guessing_is_refused(spoil: str, tmp_path: Path) -> None:
    def draw(theme: Theme) -> Figure:
        figure = good(theme)
        axes = figure.axes[0]
        if spoil == "x":
            axes.set_xlabel("")
        elif spoil == "y":
            axes.set_ylabel("")
        elif spoil == "n":
            axes.set_title("Accuracy", loc="left")
            axes.set_title("Accuracy")
        elif spoil == "data":
            axes.lines[0].remove()
        else:
            axes.remove()
        return figure

    with pytest.raises(ValueError, match=r"figure|axes"):
        write_figure(tmp_path / "picture", draw)
    assert list(tmp_path.iterdir()) == []


def test_twin_axes_share_the_label_of_x_but_need_their_own_of_y() -> None:
    figure = good()
    twin = figure.axes[0].twinx()
    twin.plot([1, 2], [1, 2])
    with pytest.raises(ValueError, match="label"):
        check_figure(figure)
    twin.set_ylabel("seconds")
    assert check_figure(figure) == 5


def test_a_figure_is_written_as_svg_and_png_and_for_dark_pages(tmp_path: Path) -> None:
    written = write_figure(tmp_path / "new" / "picture", good, dark=True)
    assert [path.name for path in written] == ["picture.svg", "picture.png", "picture-dark.svg"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in written)
    light, dark = written[0].read_text(), written[2].read_text()
    assert LIGHT.ink in light
    assert LIGHT.ink not in dark
    assert DARK.train in dark
    for text in (light, dark):
        assert "accuracy" in "".join(ElementTree.fromstring(text).itertext())
    assert imread(written[1]).shape[0] > 300


def test_a_figure_that_cannot_be_drawn_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = write_figure(tmp_path / "picture", good)
    before = [path.read_bytes() for path in written]

    def fail(self: Figure, path: Path, **_: object) -> None:
        path.write_text("half of it")
        raise ZeroDivisionError

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(ZeroDivisionError):
        write_figure(tmp_path / "picture", good)
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert [path.read_bytes() for path in written] == before


def test_chinese_text_has_glyphs_in_both_formats(tmp_path: Path) -> None:
    if chinese_font() is None:
        pytest.skip("no font with Chinese characters on this system: apt-get install fonts-wqy-microhei")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of every missing glyph
        svg, _ = write_figure(tmp_path / "中文", lambda theme: good(theme, "原子：多少千克 (n = 40)"))
    assert "多少千克" in svg.read_text(encoding="utf-8")


def make_font(path: Path, name: str, glyphs: str) -> None:
    """A font whose every glyph is a filled square."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 1000), (1000, 1000), (1000, 0)):
        pen.lineTo(corner)
    pen.closePath()
    order = [".notdef", *(f"uni{ord(glyph):04X}" for glyph in glyphs)]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(order)
    font.setupCharacterMap({ord(glyph): f"uni{ord(glyph):04X}" for glyph in glyphs})
    font.setupGlyf(dict.fromkeys(order, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(order, (1000, 0)))
    font.setupHorizontalHeader(ascent=1000, descent=0)
    font.setupNameTable({"familyName": name, "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(path)


@pytest.fixture
def unlisted_font(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a system's fonts, which matplotlib listed when it was empty."""
    folder = tmp_path / "fonts"
    folder.mkdir()
    monkeypatch.setattr("comdiv.figures.CHINESE_FONTS", ("Test Hei",))
    monkeypatch.setattr("matplotlib.font_manager.X11FontDirectories", [str(folder)])
    monkeypatch.setattr(font_manager.fontManager, "ttflist", list(font_manager.fontManager.ttflist))
    chinese_font.cache_clear()
    yield folder
    chinese_font.cache_clear()


def test_a_font_installed_after_matplotlib_listed_them_is_used(unlisted_font: Path, tmp_path: Path) -> None:
    assert chinese_font() is None
    chinese_font.cache_clear()  # the next process
    make_font(unlisted_font / "hei.ttf", "Test Hei", "多少千克")
    (unlisted_font / "damaged.ttf").write_bytes(b"no font")
    assert chinese_font() == "Test Hei"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_figure(tmp_path / "picture", lambda theme: good(theme, "多少千克 (n = 40)"))


def test_texts_are_what_a_reader_sees() -> None:
    with house_style():
        assert {"Accuracy (n = 40)", "round", "accuracy"} <= set(figure_texts(good()))
