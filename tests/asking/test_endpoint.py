"""The pace of questions, by a clock of our own."""

import socket
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from asking.endpoint_server import completion, endpoint
from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.endpoint import LONGEST_WAIT, Endpoint, Pace, _retry_after, key_of
from comdiv.errors import ComdivError


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


def test_a_claim_of_tokens_beyond_all_measure_costs_one_pause() -> None:
    clock = Clock()
    pace = Pace(None, 60, clock, clock.sleep)
    pace.wait(1)
    pace.correct(1, 10**9)
    pace.wait(1)
    assert clock.now == LONGEST_WAIT + 1


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
    assert _retry_after("Mon, 01 Jan " + "9" * 30) is None
    later = _retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True))
    assert later is not None
    assert 90 < later <= 100


class Dripping:
    """An endpoint that sends a byte of its reply now and then, for five seconds."""

    def __init__(self, beginning: bytes) -> None:
        self.beginning = beginning
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._drip, daemon=True).start()

    def _drip(self) -> None:
        with self.listener, self.listener.accept()[0] as connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(self.beginning)
            for _ in range(50):
                connection.sendall(b"x")
                time.sleep(0.1)


@pytest.mark.parametrize(
    "beginning", [b"HTTP/1.1 200 OK\r\nX-", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 500 No\r\n\r\n"]
)
def test_the_time_out_is_for_the_whole_reply(beginning: bytes) -> None:
    address = f"http://127.0.0.1:{Dripping(beginning).listener.getsockname()[1]}/v1"
    settings = AskSettings(base_url=address, model="m", timeout=0.5, retries=0)
    with pytest.raises(ComdivError, match=r"no reply within 0\.5 seconds"):
        Endpoint(settings).ask([{"role": "user", "content": "?"}], {})


@pytest.mark.parametrize("before", [30, 45, 55])
def test_no_part_of_the_key_is_told_where_a_message_is_shortened(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint answers with nonsense that has the key in it, just where the message is cut off."""
    monkeypatch.setenv("TEST_KEY", key := "sk-0123456789-abcdefghij")
    nonsense = Dripping(b"x" * before + key.encode() + b" is the key\r\n")
    address = f"http://127.0.0.1:{nonsense.listener.getsockname()[1]}/v1"
    settings = AskSettings(base_url=address, model="m", timeout=10, retries=0, key_variable="TEST_KEY")
    with pytest.raises(ComdivError, match=r"the connection was cut: x+") as error:
        Endpoint(settings).ask([{"role": "user", "content": "?"}], {})
    assert key[:4] not in str(error.value)


@pytest.mark.parametrize("key", ['sk-"1"', "sk-\\1", "sk-é", "sk-\t1"])
def test_what_a_header_or_a_message_would_spell_otherwise_is_no_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    with pytest.raises(ComdivError, match="TEST_KEY does not hold a key"):
        key_of("TEST_KEY")


def test_whoever_waits_for_a_turn_asks_nothing_once_stopped() -> None:
    stop = threading.Event()
    with endpoint(lambda request: completion("7")) as server:
        slow = Endpoint(AskSettings(base_url=server.url, model="m", requests_per_minute=1), stop)
        slow.ask([{"role": "user", "content": "?"}], {})
        threading.Timer(0.2, stop.set).start()
        with pytest.raises(ComdivError, match="stopped"):
            slow.ask([{"role": "user", "content": "?"}], {})
        assert len(server.requests) == 1
