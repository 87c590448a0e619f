"""A Ray cluster: a wrong address is one line at once, a lost node is told, and nobody waits for ever."""

import socket
import threading
from contextlib import suppress
from typing import Any

import pytest

from comdiv.errors import ComdivError
from comdiv.ray_cluster import WITHOUT_CORES, NodeWatch, check_port


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_an_address_at_which_somebody_else_answers_is_one_line(greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(greeting)
                connection.shutdown(socket.SHUT_WR)
                with suppress(ConnectionError):  # the other side has heard enough
                    while connection.recv(1024):
                        pass

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ComdivError, match="no Ray cluster there: something else answers"):
            check_port(f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()


@pytest.mark.parametrize("address", ["somewhere", "host:", "host:port", ":6379", "host:99999"])
def test_an_address_that_is_none_is_one_line(address: str) -> None:
    with pytest.raises(ComdivError, match="expected HOST:PORT"):
        check_port(address)


class FakeRay:
    """A cluster of which a test says which nodes are alive, with how many cores."""

    def __init__(self, **cores: float) -> None:
        self.cores: dict[str, float] = cores
        self.dead: set[str] = set()

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": name, "Alive": name not in self.dead, "Resources": {"CPU": cores} if cores else {}}
            for name, cores in self.cores.items()
        ]


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_lost_node_is_told_once() -> None:
    ray, clock, notes = FakeRay(head=1.0, second=2.0), Clock(), list[str]()
    watch = NodeWatch(ray, notes.append, clock)
    for seconds in (2.0, 4.0, 6.0):
        clock.now = seconds
        if seconds == 4.0:
            ray.dead.add("second")
        watch.look()
    assert notes == ["Ray node second was lost; its work is repeated elsewhere"]


def cluster_without_cores() -> tuple[FakeRay, Clock, NodeWatch]:
    """Its last core was lost, and has nearly been waited for long enough."""
    ray, clock = FakeRay(head=0.0, second=2.0), Clock()
    watch = NodeWatch(ray, lambda line: None, clock)
    ray.dead.add("second")
    clock.now = WITHOUT_CORES - 1
    watch.look()
    return ray, clock, watch


def test_a_cluster_that_lost_its_last_core_is_not_waited_for_without_end() -> None:
    _, clock, watch = cluster_without_cores()
    clock.now = WITHOUT_CORES + 1
    with pytest.raises(ComdivError, match="no core for 120 seconds; the same command continues the work"):
        watch.look()


def test_a_core_that_comes_back_in_time_is_worked_with() -> None:
    ray, clock, watch = cluster_without_cores()
    ray.cores["third"] = 4.0
    for seconds in (WITHOUT_CORES + 1, 3 * WITHOUT_CORES):
        clock.now = seconds
        watch.look()
