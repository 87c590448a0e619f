"""Every figure of the report: data points, axis labels, n, and words for those who cannot see it."""

import pytest

from comdiv.experiments.reporting.pictures import (
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
from comdiv.figures import DARK, LIGHT, check_figure, figure_texts, house_style
from comdiv.splitting.measurement import Frequency

GAPS = [Gap("GTS", 71.5, 51.2, (70.0, 50.0)), Gap("MathEN", 66.5, 46.9)]
CURVE = [Point(0.1, 80, (75, 85)), Point(0.5, 60, (55, 65)), Point(0.9, 40)]
HISTORY = [{"epoch": 1, "loss": 2.0, "validation_accuracy": 0.2}, {"epoch": 2, "loss": 1.0, "validation_accuracy": 0.4}]
UNVALIDATED = [{**entry, "validation_accuracy": None} for entry in HISTORY]

PICTURES: dict[str, tuple[Picture, int]] = {
    # two methods: a line of two ends each, two dots each, two rings for the paper
    "gap": (gap_figure("gap", {"mawps (n = 474)": GAPS}, "i.i.d.", "compositional"), 4 + 4 + 2),
    "curve": (curve_figure("c", "Curve", "told", {"GTS (n = 474)": CURVE}, "compound divergence"), 3 + 1),
    "rounds": (
        rounds_figure("r", {"GTS (n = 745)": [Point(0, 8), Point(1, 20)]}, {"GTS": [Point(0, 3), Point(1, 9)]}),
        2 + 1 + 2 + 1,
    ),
    "training": (training_figure("t", "sd", {"GTS (n = 50)": [HISTORY, HISTORY]}), 8),
    "training, nothing held back": (training_figure("t", "sd", {"GTS (n = 50)": [UNVALIDATED, UNVALIDATED]}), 4),
    "composition": (
        composition_figure("k", "sd", {"structural (n = 668)": {"GTS": Point(0, 3, (2, 5)), "GTS+DA": Point(0, 17)}}),
        2 + 2,
    ),
    "frequencies": (frequencies_picture("f", "atoms", "sd", [Frequency("1", 10, 0), Frequency("2", 3, 7)], 0.25), 4),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_figure_has_its_points_labels_and_n(name: str, theme: object) -> None:
    picture, points = PICTURES[name]
    chosen = LIGHT if theme is LIGHT else DARK
    with house_style(chosen):
        figure = picture.draw(chosen)
        assert check_figure(figure) == points
        assert any("n = " in text for text in figure_texts(figure))
    for axes in figure.axes:
        assert axes.get_ylabel()


@pytest.mark.parametrize("name", PICTURES)
def test_every_figure_says_in_words_what_it_shows(name: str) -> None:
    picture, _ = PICTURES[name]
    assert picture.title
    assert picture.caption.endswith((".", "told"))
    assert len(picture.alternative) > 10


def test_the_values_drawn_are_the_values_given() -> None:
    picture, _ = PICTURES["curve"]
    with house_style():
        figure = picture.draw(LIGHT)
    line = figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [0.1, 0.5, 0.9]
    assert list(line.get_ydata()) == [80, 60, 40]
    assert picture.alternative == "GTS (n = 474): 80.0 at 0.10, 60.0 at 0.50, 40.0 at 0.90"


def test_more_series_than_colours_are_all_drawn() -> None:
    many = {f"run {number} (n = 10)": CURVE for number in range(20)}
    with house_style():
        figure = curve_figure("c", "Curve", "told", many, "x").draw(LIGHT)
    assert len(figure.axes[0].lines) == 20


def test_the_paper_is_drawn_as_rings_only_where_it_has_numbers() -> None:
    with house_style():
        with_paper = PICTURES["gap"][0].draw(LIGHT)
        without = gap_figure("gap", {"demo (n = 4)": [GAPS[1]]}, "i.i.d.", "compositional").draw(LIGHT)
    assert "the paper" in figure_texts(with_paper)
    assert "the paper" not in figure_texts(without)
