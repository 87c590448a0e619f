"""Atomic writing: no crash, full disk or concurrent reader ever leaves or sees a half-written file.

Names that come from files become parts of paths only through `path_part`.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from comdiv.claims import refuse_link_out
from comdiv.errors import ComdivError, disk_errors, shortened

_LINES = json.JSONEncoder(ensure_ascii=False)
_PATH_PART = re.compile(r"""(?!\.)[^/\\:*?"<>|]+""")
_LONGEST_PART = 200  # bytes; file systems allow 255, and comdiv adds suffixes


def path_part(name: str, what: str) -> str:
    """A name as one part of a path. It may come from a stranger's file: `../x` or `/x` would lead elsewhere."""
    if not _PATH_PART.fullmatch(name) or not name.isprintable() or len(name.encode()) > _LONGEST_PART:
        raise ComdivError(f"{what} '{shortened(name)}' cannot be part of a path; use letters, digits and hyphens")
    return name


def inside(folder: Path, path: Path) -> Path:
    """A path in a folder that a stranger may have filled; an error if a link in it leads out of the folder."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ComdivError(f"{path} leads out of {folder} by a link; nothing is written there: remove the link")
    return path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary file that takes the name `path` only when the block ends without an error.

    It is in the same folder, so that the final rename stays within one file system.
    """
    refuse_link_out(path)
    path = path.resolve() if path.is_symlink() else path  # a link is kept, and its target replaced
    if path.exists() and not path.is_file():
        raise ComdivError(f"{path} is {'a folder' if path.is_dir() else 'a device'}, not a file to write")
    with disk_errors(f"{path} cannot be written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        make_readable(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.filename is not None:  # about another file than the one being written
            raise
        raise ComdivError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[str]]:
    """A text file that appears under its name only when the block ends without an error."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream


def make_readable(path: Path) -> None:
    """Give a file the permissions of the user's other files: temporary files are created private."""
    path.chmod(0o666 & ~_umask())


def write_text(path: Path, text: str) -> None:
    """Write a whole text atomically."""
    with atomic_write(path) as stream:
        stream.write(text)


def json_line(record: Mapping[str, Any]) -> str:
    """A record as a line of a JSON Lines file, without the line break."""
    return _LINES.encode(record)


def write_json_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write records as JSON Lines, atomically and one at a time; returns how many."""
    count = 0
    with atomic_write(path) as stream:
        for record in records:
            stream.write(json_line(record) + "\n")
            count += 1
    return count


@contextmanager
def staging_folder(folder: Path) -> Iterator[Path]:
    """An empty folder beside `folder`, for files that are then moved there; removed when the block ends."""
    with disk_errors(f"{folder} cannot be written"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        staging.chmod(0o777 & ~_umask())  # mkdtemp makes private folders
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def refuse_to_overwrite(path: Path, *, force: bool) -> None:
    """Raise if `path` exists (for a folder: is not empty) and the user did not pass `--force`."""
    occupied = any(path.iterdir()) if path.is_dir() else path.exists()
    if occupied and not force:
        raise ComdivError(f"{path} exists already; choose another name, or use --force to replace it")


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
