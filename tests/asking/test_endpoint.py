"""The pace of questions, by a clock of our own."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from comdiv.asking.endpoint import Pace, _retry_after


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_questions_keep_to_requests_per_minute() -> None:
    clock = Clock()
    pace = Pace(30, None, clock, clock.sleep)
    starts = []
    for _ in range(4):
        pace.wait(1000)
        starts.append(clock.now)
    assert starts == [0, 2, 4, 6]


def test_questions_keep_to_tokens_per_minute_as_they_turn_out() -> None:
    clock = Clock()
    pace = Pace(None, 6000, clock, clock.sleep)
    pace.wait(500)  # 5 seconds' worth
    pace.correct(500, 200)  # but only 2 were needed
    pace.wait(500)
    assert clock.now == 2
    pace.wait(500)
    assert clock.now == 7


def test_a_pause_holds_for_everybody() -> None:
    clock = Clock()
    pace = Pace(None, None, clock, clock.sleep)
    pace.pause(9)
    pace.wait(1)
    assert clock.now == 9


def test_retry_after_is_a_number_or_a_date() -> None:
    assert _retry_after("1.5") == 1.5
    assert _retry_after(None) is None
    assert _retry_after("soon") is None
    assert _retry_after("nan") is None
    later = _retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True))
    assert later is not None
    assert 90 < later <= 100
