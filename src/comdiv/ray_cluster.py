"""Joining a Ray cluster and watching its nodes, for `augmentation` and `experiments`.

A wrong address is detected within seconds and reported in one line; Ray itself would try for minutes. A lost node is
reported, and a cluster that has lost its last core is given up after a while.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from comdiv.errors import ComdivError

_PATIENCE = 5.0  # seconds for a port to answer
_LOOK = 1.0  # seconds between two checks of the nodes
WITHOUT_CORES = 120.0  # seconds to wait for a cluster after its last core was lost


def join_cluster(address: str | None, *, cores: int | None = None, **options: Any) -> tuple[Any, bool]:
    """The ray module, and whether this call joined the cluster: if so, the caller must leave it.

    Without an address a cluster is started on this machine, with `cores` cores (None: all); `options` are those of
    `ray.init`. A process that is already in a cluster stays there.
    """
    if address is not None and address != "auto":
        check_port(address)  # before the import, which takes longer
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ComdivError("--engine ray needs Ray: pip install 'comdiv[ray]'") from error
    if ray.is_initialized():
        return ray, False
    quiet = {"log_to_driver": False, "logging_level": "ERROR", **options}
    with _own_signals():
        if address is None:
            ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
            return ray, True
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise ComdivError(f"--address {address}: no Ray cluster: {str(error).splitlines()[0]}") from error
        return ray, True


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this program's handler of SIGTERM: Ray's own, which it installs, ends the process silently."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


class NodeWatch:
    """Watches the nodes of a cluster while work is awaited. `note` is called once for every lost node, because Ray
    repeats its work silently.
    """

    def __init__(self, ray: Any, note: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._ray, self._note, self._clock = ray, note, clock
        self._looked = self._had_cores = clock()
        self._alive = self._nodes().keys()

    def look(self) -> None:
        """Report what was lost since the last look; a cluster that lost its last core long ago is an error."""
        now = self._clock()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        nodes = self._nodes()
        for name in sorted(self._alive - nodes.keys()):
            self._note(f"Ray node {name[:12]} was lost; its work is repeated elsewhere")
        self._alive = nodes.keys()
        if any(nodes.values()):
            self._had_cores = now
        elif now - self._had_cores > WITHOUT_CORES:
            raise ComdivError(
                f"the Ray cluster has had no core for {WITHOUT_CORES:.0f} seconds; the same command continues the work"
            )

    def _nodes(self) -> dict[str, float]:
        """The cores of every node that is alive."""
        return {node["NodeID"]: node["Resources"].get("CPU", 0.0) for node in self._ray.nodes() if node["Alive"]}


def check_port(address: str) -> None:
    """Refuse an address at which nothing answers, or something other than Ray."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (host and colon and port.isdigit() and 0 < int(port) < 65536):
        raise ComdivError(f"--address {address}: expected HOST:PORT, ray://HOST:PORT or auto")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE) as connection:
            answers = os.environ.get("RAY_USE_TLS") == "1" or _greets_like_ray(connection)
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise ComdivError(f"--address {address}: no Ray cluster there: {reason}") from error
    if not answers:
        raise ComdivError(f"--address {address}: no Ray cluster there: something else answers")


def _greets_like_ray(connection: socket.socket) -> bool:
    """Whether the server speaks first with Ray's greeting, whose fourth byte is 4."""
    with connection.makefile("rb") as stream:
        return stream.read(4)[3:] == b"\4"
