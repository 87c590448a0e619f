"""Exclusive writing: a folder has one owner at a time, and a file that several programs append to is locked.

The operating system holds the locks, so a killed process leaves none behind.
"""

import fcntl
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import IO, BinaryIO, ParamSpec, TypeVar

from comdiv.errors import ComdivError, disk_errors

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_held: dict[Path, int] = {}  # outputs that this process has claimed, and how often
_guard = Lock()


def owns(parameter: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Make a function own the file or folder that a parameter names, from its call until it returns."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(function)

        @wraps(function)
        def owner(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
            output = signature.bind(*arguments, **options).arguments.get(parameter)
            if output is None:
                return function(*arguments, **options)
            with claimed_folder(Path(output)):
                return function(*arguments, **options)

        return owner

    return decorate


@contextmanager
def claimed_folder(folder: Path) -> Iterator[None]:
    """Own an output, a folder or a file, until the block ends; other processes get an error that names the owner.

    The same process may claim it twice. Unfinished files of earlier owners are removed.
    """
    key = folder.resolve()
    with _guard:
        nested = key in _held
        claim = None if nested else _take(key, folder)
        _held[key] = _held.get(key, 0) + 1
    try:
        if not nested:
            sweep_parts(key)
        yield
    finally:
        with _guard:
            _held[key] -= 1
            if not _held[key]:
                del _held[key]
        if claim is not None:
            stream, new_folders = claim
            Path(stream.name).unlink(missing_ok=True)
            stream.close()
            with suppress(OSError):  # something was written there
                for parent in new_folders:
                    parent.rmdir()


@contextmanager
def locked_file(path: Path) -> Iterator[BinaryIO]:
    """A file open for reading and writing, locked against other processes until the block ends; created if missing."""
    refuse_link_out(path)
    with disk_errors(f"{path} cannot be written"):
        stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
    with stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream


def refuse_link_out(path: Path) -> None:
    """Refuse to write through a link that leads out of a claimed folder: a stranger's folder may have one anywhere."""
    for folder in path.absolute().parents if _held else ():
        if (owned := folder.resolve()) in _held and not path.resolve().is_relative_to(owned):
            raise ComdivError(f"{path} leads out of {folder.name} by a link; nothing is written there: remove the link")


def sweep_parts(path: Path) -> None:
    """Remove the temporary files that a killed process left while writing `path`, or files directly in it.

    Files that another process has claimed stay: they are being written.
    """
    beside = path.parent.glob(f".{_escaped(path.name)}.*.part") if path.parent.is_dir() else ()
    inside = path.glob(".*.part") if path.is_dir() else ()
    claimed = (part for part in inside if not _claim_path(part.with_name(part.name[1:].rsplit(".", 2)[0])).exists())
    for part in (*beside, *claimed):
        shutil.rmtree(part) if part.is_dir() and not part.is_symlink() else part.unlink(missing_ok=True)


def _claim_path(output: Path) -> Path:
    """Beside the output, which may not exist yet; inside it if that place is not writable, as with a mounted folder."""
    if output.is_dir() and not os.access(output.parent, os.W_OK):
        return output / ".claim"
    return output.parent / f".{output.name}.claim"


def _take(output: Path, said: Path) -> tuple[IO[str], list[Path]]:
    """The open file whose lock is the claim, and the folders created for it, innermost first."""
    path = _claim_path(output)
    new_folders = [parent for parent in path.parents if not parent.exists()]
    with disk_errors(f"{said} cannot be written"):
        while True:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                stream = open(path, "a+", encoding="utf-8", opener=_open_no_link)  # noqa: SIM115
            except FileNotFoundError:  # another process has just removed the folder that it had made
                continue
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = _owner_in(stream)
                stream.close()
                raise ComdivError(
                    f"{said} is being written by {owner}; wait until it is done, or choose another name"
                ) from None
            if path.exists() and os.path.samestat(path.stat(), os.fstat(stream.fileno())):
                break
            stream.close()  # its owner has just removed it: the name now belongs to another file, or to none
    stream.truncate(0)
    program = " ".join(["comdiv", *sys.argv[1:2]])
    stream.write(f"`{program}`, process {os.getpid()}, since {datetime.now():%Y-%m-%d %H:%M:%S}")
    stream.flush()
    return stream, new_folders


def _open_no_link(path: str, flags: int) -> int:
    """What a planted link points to is not ours to empty."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _owner_in(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read(200).strip() or "another process"


def _escaped(name: str) -> str:
    """A name in a pattern of `glob`."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
