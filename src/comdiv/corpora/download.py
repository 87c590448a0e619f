"""Downloading a published corpus: it resumes and verifies, and a file under its final name is always right.

Bytes are collected in `<file>.part` and stay there when the transfer ends early, for whatever reason, so that the next
run asks only for the rest. A complete part is copied to a private temporary file while its git blob id is computed, and
only that copy, if right, takes the final name.

This makes two downloads of one corpus at the same time harmless without any lock (which a killed process would leave
behind): the content is pinned, so both write the same bytes at the same positions of the part file, and only the
process that made a copy ever writes to it. At worst, if the part file was already damaged, one of the two stops with an
error; a wrong file never gets a final name.
"""

import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from comdiv.corpora.published import PublishedCorpus, PublishedFile
from comdiv.errors import ComdivError, disk_errors

PIECE_BYTES = 1 << 16  # held in memory at once
MAXIMUM_FILE_BYTES = 1 << 30  # ten times the largest published file: a server that never stops must not fill the disk
LONGEST_WAIT = 8.0  # seconds between two attempts

_TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-[0-9]{1,15}/([0-9]{1,15}|\*)")
_LENGTH = re.compile(r"[0-9]{1,15}")


class Progress(Protocol):
    """Called after every piece with the bytes of a file so far; the total is None if the server does not give it."""

    def __call__(self, file: PublishedFile, done_bytes: int, total_bytes: int | None, /) -> None: ...


@dataclass(frozen=True)
class _Transfer:
    """What one attempt needs to know."""

    file: PublishedFile
    url: str
    path: Path
    timeout: float
    progress: Progress | None

    @property
    def part_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part")

    def report(self, done_bytes: int, total_bytes: int | None) -> None:
        if self.progress is not None:
            self.progress(self.file, done_bytes, total_bytes)


class _DroppedError(Exception):
    """The transfer ended early; trying again may help."""


class _RangeRefusedError(Exception):
    """The server cannot continue from where our part file ends."""


def download(
    corpus: PublishedCorpus,
    folder: Path,
    *,
    mirror: str | None = None,
    progress: Progress | None = None,
    retries: int = 5,
    timeout: float = 30.0,
    backoff: float = 0.5,
) -> list[Path]:
    """Put the files of a corpus into `folder`/NAME and return their paths; files already there and right are kept.

    `retries` applies to each file, `timeout` (seconds) to every wait on the network; the pause before a retry
    starts at `backoff` seconds and doubles. An existing file whose content is not the published one is replaced.
    """
    urls = [file.url(mirror) for file in corpus.files]  # first, so that a bad mirror is always refused
    corpus_folder = folder / corpus.name
    with disk_errors(f"cannot read or write {corpus_folder}"):
        corpus_folder.mkdir(parents=True, exist_ok=True)
    paths = [corpus_folder / file.filename for file in corpus.files]
    for file, url, path in zip(corpus.files, urls, paths, strict=True):
        transfer = _Transfer(file, url, path, timeout, progress)
        if _is_right(path, file.blob_id):
            size = path.stat().st_size
            transfer.report(size, size)
        else:
            _fetch_persistently(transfer, retries, backoff)
    return paths


def git_blob_id(stream: BinaryIO, copy_to: BinaryIO | None = None) -> str:
    """The id under which git stores this content: sha1 of `blob LENGTH`, a zero byte and the content, read in pieces.

    With `copy_to`, exactly the bytes that were hashed are written there as well.
    """
    length = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    # Git's choice of hash; here it guards against damage, as the commit in the address does.
    digest = hashlib.sha1(b"blob %d\0" % length, usedforsecurity=False)
    while piece := stream.read(PIECE_BYTES):
        digest.update(piece)
        if copy_to is not None:
            copy_to.write(piece)
    return digest.hexdigest()


def _fetch_persistently(transfer: _Transfer, retries: int, backoff: float) -> None:
    """Fetch one file in as many attempts as allowed; each continues where the last one ended."""
    for attempt in range(retries + 1):
        if attempt:
            time.sleep(min(backoff * 2 ** (attempt - 1), LONGEST_WAIT))
        try:
            _fetch(transfer)
            return
        except _DroppedError as dropped:
            reason = f"{dropped}, at the last of {retries + 1} attempts" if retries else str(dropped)
        finally:
            _remove_if_empty(transfer.part_path)
    raise ComdivError(f"{transfer.url}: {reason}; what has arrived is kept: run the same command again to resume")


def _fetch(transfer: _Transfer) -> None:
    """One attempt: complete the part file, verify it, give it its name."""
    part_path = transfer.part_path
    expected = transfer.file.blob_id
    with _open_part(part_path) as part:
        # Measured before the check: if another download completes the part meanwhile, we still ask for a valid range.
        offset = part.seek(0, os.SEEK_END)
        # A run may have been killed between the last byte and the final name: then there is nothing to ask for.
        if git_blob_id(part) != expected:
            try:
                _receive(part, offset, transfer)
            except _RangeRefusedError:
                # The part is at least as long as the content, and wrong. Emptied rather than overwritten, so that the
                # next attempt can resume.
                part.truncate(0)
                _receive(part, 0, transfer)
        with disk_errors(f"cannot read or write {transfer.path}"):
            blob_id = _publish_if_right(part, transfer.path, expected)
    # After closing, for Windows; there another download may still hold the part open, and will remove it itself.
    with suppress(PermissionError):
        part_path.unlink(missing_ok=True)
    if blob_id != expected:
        raise ComdivError(
            f"{transfer.url}: wrong content for {transfer.file.filename}: expected git blob id {expected}, "
            f"found {blob_id}; the partial file is removed, running the same command again starts anew"
        )


def _receive(part: BinaryIO, offset: int, transfer: _Transfer) -> None:
    """Append to the part what follows `offset`; afterwards it has the length that the server announced."""
    with _request(transfer.url, offset, transfer.timeout) as response:
        start, total = _extent(response, offset)
        done = part.seek(start)
        transfer.report(done, total)
        while piece := _read_piece(response):
            with disk_errors(f"cannot read or write {transfer.part_path}"):
                part.write(piece)
                part.flush()  # so that a kill loses nothing
            done += len(piece)
            if done > MAXIMUM_FILE_BYTES:
                part.truncate(0)
                raise ComdivError(f"{transfer.url}: more than {MAXIMUM_FILE_BYTES} bytes; this cannot be the file")
            transfer.report(done, total)
    if total is not None and done < total:
        raise _DroppedError(f"the connection ended after {done} of {total} bytes")
    part.truncate(done)  # a server that ignores Range may have rewritten a part that was too long


@contextmanager
def _request(url: str, offset: int, timeout: float) -> Iterator[http.client.HTTPResponse]:
    request = urllib.request.Request(url, headers={"User-Agent": "comdiv"})
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    try:
        response: http.client.HTTPResponse = _web_only_opener().open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and offset:
            raise _RangeRefusedError from error
        status = f"HTTP status {error.code} {error.reason}"
        if error.code in _TRANSIENT_STATUSES:
            raise _DroppedError(status) from error
        raise ComdivError(f"{url}: {status}") from error
    except (urllib.error.URLError, UnicodeError) as error:  # UnicodeError: an impossible host name
        raise ComdivError(
            f"cannot reach {url}: {getattr(error, 'reason', error)}; "
            "without internet, name a mirror with --mirror URL, or set COMDIV_DATA to a folder that holds the corpora"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise _DroppedError(_reason(error)) from error
    with response:
        yield response


def _web_only_opener() -> urllib.request.OpenerDirector:
    """Urllib's usual opener without `file:`, `ftp:` and `data:`, to which a redirect could otherwise lead."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _extent(response: http.client.HTTPResponse, offset: int) -> tuple[int, int | None]:
    """Where in the file the response begins, and the file's whole length if the server gives it."""
    header = response.headers.get("Content-Length", "")
    length = int(header) if _LENGTH.fullmatch(header) else None
    if response.status != http.HTTPStatus.PARTIAL_CONTENT or offset == 0:
        return 0, length  # the whole file, even if a range was asked for: not every server supports Range
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if match is None or int(match[1]) != offset:
        raise _RangeRefusedError
    if match[2] != "*":
        return offset, int(match[2])
    return offset, None if length is None else offset + length


def _read_piece(response: http.client.HTTPResponse) -> bytes:
    try:
        # Take whatever has arrived instead of waiting for a full piece: then a broken connection costs nothing.
        return response.read1(PIECE_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise _DroppedError(_reason(error)) from error


def _publish_if_right(part: BinaryIO, path: Path, expected: str) -> str:
    """Give the content its final name if its blob id is the expected one; return its actual id."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.verified")
    try:
        with temporary.open("xb") as copy:
            blob_id = git_blob_id(part, copy_to=copy)
            copy.flush()
            os.fsync(copy.fileno())
        if blob_id == expected:
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return blob_id


def _open_part(path: Path) -> BinaryIO:
    """The part file, opened for reading and writing at any position; created if missing.

    In one step: between two, another download of the same corpus could remove a part that is still empty.
    """
    with disk_errors(f"cannot read or write {path}"):
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666), "r+b")


def _remove_if_empty(path: Path) -> None:
    """An attempt that brought nothing (a 404, no network) leaves nothing behind."""
    with suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


def _is_right(path: Path, blob_id: str) -> bool:
    with disk_errors(f"cannot read or write {path}"):
        if not path.exists():
            return False
        with path.open("rb") as stream:
            return git_blob_id(stream) == blob_id


def _reason(error: Exception) -> str:
    return f"the connection broke ({str(error) or type(error).__name__})"
