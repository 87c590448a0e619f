"""Exclusive writing: a folder has one owner at a time, and a file that several programs append to is locked.

The operating system holds the locks, so a killed process leaves none behind.
"""

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import IO, BinaryIO

from comdiv.errors import ComdivError

_held: dict[Path, int] = {}  # folders that this process has claimed, and how often
_guard = Lock()


@contextmanager
def claimed_folder(folder: Path) -> Iterator[None]:
    """Own an output folder until the block ends; another process that wants it gets an error naming the owner.

    The same process may claim a folder twice. Unfinished files of earlier owners are removed.
    """
    key = folder.resolve()
    with _guard:
        nested = key in _held
        stream = None if nested else _take(folder)
        _held[key] = _held.get(key, 0) + 1
    try:
        if not nested:
            sweep_parts(folder)
        yield
    finally:
        with _guard:
            _held[key] -= 1
            if not _held[key]:
                del _held[key]
        if stream is not None:
            _claim_path(folder).unlink(missing_ok=True)
            stream.close()


@contextmanager
def locked_file(path: Path) -> Iterator[BinaryIO]:
    """A file open for reading and writing, locked against other processes until the block ends; created if missing."""
    try:
        stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
    except OSError as error:
        raise ComdivError(f"{path} cannot be written: {error.strerror or error}") from error
    with stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream


def sweep_parts(path: Path) -> None:
    """Remove the temporary files that a killed process left while writing `path`, a file or a folder."""
    if not path.parent.is_dir():
        return
    for part in path.parent.glob(f".{_escaped(path.name)}.*.part"):
        shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)


def _claim_path(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.claim"


def _take(folder: Path) -> IO[str]:
    """The open file whose lock is the claim."""
    path = _claim_path(folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            stream = path.open("a+", encoding="utf-8")
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = _owner_in(stream)
                stream.close()
                raise ComdivError(
                    f"{folder} is being written by {owner}; wait until it is done, or choose another folder"
                ) from None
            if path.exists() and os.path.samestat(path.stat(), os.fstat(stream.fileno())):
                break
            stream.close()  # its owner has just removed it: the name now belongs to another file, or to none
    except OSError as error:
        raise ComdivError(f"{folder} cannot be written: {error.strerror or error}") from error
    stream.truncate(0)
    program = " ".join(["comdiv", *sys.argv[1:2]])
    stream.write(f"`{program}`, process {os.getpid()}, since {datetime.now():%Y-%m-%d %H:%M:%S}")
    stream.flush()
    return stream


def _owner_in(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read(200).strip() or "another process"


def _escaped(name: str) -> str:
    """A name in a pattern of `glob`."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
