"""Measuring two sets of problems that nobody of us has split, and the report on it."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from comdiv.errors import ComdivError
from comdiv.files import write_text
from comdiv.problem import Problem
from comdiv.splitting.building import markdown_table
from comdiv.splitting.extraction import ExtractionSettings, Track, extract
from comdiv.splitting.figures import draw_frequencies
from comdiv.splitting.measurement import Measurement, measure


def measure_sides(
    training: Sequence[Problem],
    test: Sequence[Problem],
    settings: ExtractionSettings,
    *,
    alpha: str = "paper",
    track: Track = lambda items: items,
) -> Measurement:
    """The measurement of a training side and a test side."""
    for side, problems in (("training", training), ("test", test)):
        if not problems:
            raise ComdivError(f"the {side} side has no problems")
    extraction = extract([*training, *test], window=settings.window, track=track)
    in_test = {id(problem) for problem in test}  # ids of files may clash, objects do not
    mask = np.array([id(problem) in in_test for problem in extraction.problems])
    return measure(extraction, mask, settings, alpha=alpha)


def write_measurement(measurement: Measurement, folder: Path) -> list[Path]:
    """`report.json` with all frequencies, `report.md`, and the two figures; returns the figures' paths."""
    record = measurement.to_json(frequencies=True)
    write_text(folder / "report.json", json.dumps(record, ensure_ascii=False, indent=2) + "\n")
    write_text(folder / "report.md", markdown_table(measurement) + "\n")
    return draw_frequencies(measurement, folder)
