"""Joining a Ray cluster: an address that is none, or at which something else answers, is one line at once."""

import socket
import threading
from contextlib import suppress

import pytest

from comdiv.errors import ComdivError
from comdiv.ray_cluster import check_port


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
