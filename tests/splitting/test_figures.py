"""The two pictures of a split: there in both formats, readable, and the same bytes each time."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.splitting.extraction import ExtractionSettings, extract
from comdiv.splitting.measurement import Frequency, Measurement, measure
from comdiv.splitting.outputs import SHOWN, draw_frequencies

NAMES = ["frequencies-atoms.svg", "frequencies-atoms.png", "frequencies-compounds.svg", "frequencies-compounds.png"]


@pytest.fixture(scope="module")
def measurement() -> Measurement:
    expressions = ["N0+N1", "N0-N1", "N0*N1", "N0/N1+1"]
    problems = [Problem(str(n), "en", f"{n} {'a' * (n + 1)} and 2 pears", parse(expressions[n % 4])) for n in range(8)]
    return measure(extract(problems), np.arange(8) >= 5, ExtractionSettings(k=2))


def texts(path: Path) -> str:
    root = ElementTree.parse(path).getroot()
    return " | ".join("".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text"))


def test_both_figures_are_written_as_svg_and_png_and_nothing_else(measurement: Measurement, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert draw_frequencies(measurement, folder) == [folder / name for name in NAMES]
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)


def test_the_same_measurement_gives_the_same_bytes(measurement: Measurement, tmp_path: Path) -> None:
    draw_frequencies(measurement, tmp_path / "one")
    draw_frequencies(measurement, tmp_path / "two")
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_png_files_open_and_are_not_blank(measurement: Measurement, tmp_path: Path) -> None:
    for path in draw_frequencies(measurement, tmp_path):
        if path.suffix == ".png":
            image = imread(path)
            assert image.shape[0] > 300
            assert image.shape[1] > 1000
            assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 3


def test_svg_files_are_well_formed_and_name_their_axes_and_sides(measurement: Measurement, tmp_path: Path) -> None:
    draw_frequencies(measurement, tmp_path)
    for what, frequencies in (("atom", measurement.atoms), ("compound", measurement.compounds)):
        found = texts(tmp_path / f"frequencies-{what}s.svg")
        assert f"{what}, most frequent first" in found
        assert "share of occurrences" in found
        assert f"train (n = {sum(f.train for f in frequencies)})" in found
        assert f"test (n = {sum(f.test for f in frequencies)})" in found
        for frequency in frequencies:
            assert frequency.name in found


def test_the_title_has_the_divergence_of_the_clustering_drawn_at_the_chosen_preset(
    measurement: Measurement, tmp_path: Path
) -> None:
    told = {"paper": [0.111, 0.5], "keysers2020": [0.222, 0.6]}
    for preset, values in told.items():
        chosen = replace(measurement, alpha=preset, compound_divergence_by_clustering=told)
        draw_frequencies(chosen, tmp_path)
        assert f"Compounds: divergence {values[0]}" in texts(tmp_path / "frequencies-compounds.svg")


def test_only_the_most_frequent_are_drawn_but_shares_are_of_all(measurement: Measurement, tmp_path: Path) -> None:
    many = tuple(Frequency(f"name{number}", 100 - number, 1) for number in range(SHOWN + 5))
    draw_frequencies(replace(measurement, compounds=many), tmp_path)
    found = texts(tmp_path / "frequencies-compounds.svg")
    assert f"name{SHOWN - 1}" in found
    assert f"name{SHOWN}" not in found
    assert f"the {SHOWN} most frequent of {SHOWN + 5}" in found
    assert f"test (n = {SHOWN + 5})" in found
