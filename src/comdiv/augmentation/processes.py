"""A function applied to many items by forked processes, which see what the parent sees without a copy being made.

Results are texts and come back over a pipe, in the items' order: nothing is unpickled, and a process that is ahead
waits until its pipe is read, so that memory stays bounded. Only where processes can be forked safely: on Linux.
"""

import gc
import os
import struct
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO, TypeVar

from comdiv.errors import ComdivError

Shared = TypeVar("Shared")
Item = TypeVar("Item")

_HEADER = struct.Struct("<BQ")  # what became of an item, and how many bytes tell of it
_RETURNED, _REFUSED, _FAILED = range(3)


def can_fork() -> bool:
    """Whether work can be shared out: macOS's libraries do not survive a fork, Windows has none."""
    return sys.platform == "linux"


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def forked_map(
    function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item], processes: int
) -> Iterator[str]:
    """What `function(shared, item)` returns for each item."""
    workers: list[tuple[int, BinaryIO]] = []
    gc.freeze()  # a collection in a child would touch, and so copy, everything
    try:
        for number in range(processes):
            workers.append(_started(function, shared, items[number::processes], workers))
        for place in range(len(items)):
            yield _received(workers[place % processes][1])
    finally:
        gc.unfreeze()
        for _, stream in workers:
            stream.close()  # one that still writes is told so, and ends
        for process, _ in workers:
            os.waitpid(process, 0)


def _started(
    function: Callable[[Shared, Item], str],
    shared: Shared,
    items: Sequence[Item],
    others: Sequence[tuple[int, BinaryIO]],
) -> tuple[int, BinaryIO]:
    """A process at work on its share, and the stream to read its results from."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns where other threads run (a progress bar's): the child takes none of their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        try:
            os.close(reading)
            for _, stream in others:
                os.close(stream.fileno())
            _work(function, shared, items, writing)
        finally:  # never into the parent's code, nor what the parent does at its end
            os._exit(0)
    os.close(writing)
    return process, os.fdopen(reading, "rb")


def _work(function: Callable[[Shared, Item], str], shared: Shared, items: Sequence[Item], writing: int) -> None:
    """All that a child does, unless nobody wants the rest."""
    with suppress(BrokenPipeError, KeyboardInterrupt), os.fdopen(writing, "wb") as stream:
        for item in items:
            fate, data = _answer(function, shared, item)
            stream.write(_HEADER.pack(fate, len(data)) + data)


def _answer(function: Callable[[Shared, Item], str], shared: Shared, item: Item) -> tuple[int, bytes]:
    """The result, or what went wrong with it; a result that cannot be sent is such a wrong."""
    try:
        return _RETURNED, function(shared, item).encode()
    except ComdivError as error:
        return _REFUSED, str(error).encode(errors="backslashreplace")
    except Exception:  # noqa: BLE001  (the parent raises it)
        return _FAILED, traceback.format_exc().encode(errors="backslashreplace")


def _received(stream: BinaryIO) -> str:
    header = stream.read(_HEADER.size)
    fate, length = _HEADER.unpack(header) if len(header) == _HEADER.size else (_FAILED, None)
    data = stream.read(length) if length is not None else b""
    if len(data) != length:  # it ended before this answer, or in the middle of it
        raise ComdivError("a process that made new problems has died (of too little memory?); start again to go on")
    answer = data.decode()
    if fate == _REFUSED:
        raise ComdivError(answer)
    if fate == _FAILED:
        raise RuntimeError(f"in a process that made new problems:\n{answer}")
    return answer
