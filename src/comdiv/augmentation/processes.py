"""A function applied to many items by forked processes, which see what the parent sees without a copy being made.

Results come back as JSON over a pipe, in the items' order: nothing is unpickled, and a process that is ahead waits
until its pipe is read, so that memory stays bounded. Only where processes can be forked safely, which is on Linux.
"""

import gc
import json
import os
import struct
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar

from comdiv.errors import ComdivError

Shared = TypeVar("Shared")
Item = TypeVar("Item")

_LENGTH = struct.Struct("<Q")


def can_fork() -> bool:
    """Whether work can be shared out: macOS's libraries do not survive a fork, Windows has none."""
    return sys.platform == "linux"


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def forked_map(
    function: Callable[[Shared, Item], Any], shared: Shared, items: Sequence[Item], processes: int
) -> Iterator[Any]:
    """What `function(shared, item)` returns for each item; plain data, as JSON knows it."""
    workers: list[tuple[int, BinaryIO]] = []
    gc.collect()
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
    function: Callable[[Shared, Item], Any],
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


def _work(function: Callable[[Shared, Item], Any], shared: Shared, items: Sequence[Item], writing: int) -> None:
    """All that a child does, unless nobody wants the rest."""
    with suppress(BrokenPipeError, KeyboardInterrupt), os.fdopen(writing, "wb") as stream:
        for item in items:
            data = _answer(function, shared, item)
            stream.write(_LENGTH.pack(len(data)) + data)


def _answer(function: Callable[[Shared, Item], Any], shared: Shared, item: Item) -> bytes:
    """The result, or what went wrong with it, as JSON; a result that JSON cannot hold is such a wrong."""
    try:
        return json.dumps({"result": function(shared, item)}, ensure_ascii=False).encode()
    except ComdivError as error:
        return json.dumps({"refused": str(error)}).encode()
    except Exception:  # noqa: BLE001  (the parent raises it)
        return json.dumps({"failed": traceback.format_exc()}).encode()


def _received(stream: BinaryIO) -> Any:
    header = stream.read(_LENGTH.size)
    length = _LENGTH.unpack(header)[0] if len(header) == _LENGTH.size else None
    data = stream.read(length) if length is not None else b""
    if len(data) != length:  # it ended before this answer, or in the middle of it
        raise ComdivError("a process that made new problems has died (of too little memory?); start again to go on")
    answer = json.loads(data)
    if "refused" in answer:
        raise ComdivError(answer["refused"])
    if "failed" in answer:
        raise RuntimeError(f"in a process that made new problems:\n{answer['failed']}")
    return answer["result"]
