"""Numbers for people."""

import pytest

from comdiv.experiments.reporting.tables import duration, interval_text, p_text, percent, signed, signed_percent


def test_percent_and_signs() -> None:
    assert percent(0.4843) == "48.4"
    assert signed(1.25, 2) == "+1.25"
    assert signed(-1.24) == "−1.2"
    assert signed(-0.04) == "0.0"
    assert signed_percent(-0.156) == "−15.6"
    assert interval_text((-0.012, 0.345)) == "−1.2 to 34.5"


@pytest.mark.parametrize(("p", "text"), [(0.0002, "p < 0.001"), (0.0444, "p = 0.044"), (1.0, "p = 1.000")])
def test_p_values(p: float, text: str) -> None:
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.2 s"), (12.4, "12 s"), (185, "3 min 5 s"), (7805, "2 h 10 min"), (59.6, "1 min 0 s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
