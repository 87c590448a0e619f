"""Logs of Inspect as predictions: `.eval`, a zip with one JSON file per sample, or one JSON file for all.

A log may come from anywhere: every file in it is bounded in size, packed and unpacked, and so is their number.
"""

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError, disk_errors
from comdiv.loading import load_json, parse_json

LARGEST_SAMPLE = 32 * 2**20  # bytes, unpacked
LARGEST_LOG = 4 * 2**30  # bytes, unpacked
MOST_SAMPLES = 500_000
_PIECE = 4_096  # bytes, packed
_ZSTANDARD = 93  # how newer logs are packed
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)
_ZIP = b"PK\x03\x04"


def inspect_samples(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]] | None:
    """The samples of a log as records with their places; None if the file is not a log of Inspect."""
    with disk_errors(path), path.open("rb") as stream:
        beginning = stream.read(4_096)
    if beginning.startswith(_ZIP):
        return _from_zip(path) if path.suffix == ".eval" else None
    if beginning.lstrip().startswith(b"{") and path.suffix == ".json":
        log = load_json(path)
        if isinstance(log, dict) and isinstance(log.get("eval"), dict) and isinstance(log.get("samples"), list):
            return _from_list(path, log["samples"])
    return None


def _from_list(path: Path, samples: list[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, sample in enumerate(samples, start=1):
        where = f"{path}, sample {number}"
        yield where, _record(sample, where)


def _from_zip(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    damage: tuple[type[Exception], ...] = (
        zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, UnicodeDecodeError, *_zstandard_errors()
    )  # fmt: skip
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                m for m in archive.infolist() if m.filename.startswith("samples/") and m.filename.endswith(".json")
            ]
            members.sort(key=lambda member: member.filename)
            if len(members) > MOST_SAMPLES or sum(member.file_size for member in members) > LARGEST_LOG:
                raise ComdivError(
                    f"{path}: too large: at most {MOST_SAMPLES:,} samples and {LARGEST_LOG:,} bytes are read"
                )
            if not members:
                raise ComdivError(f"{path}: a log of Inspect without samples")
            for member in members:
                where = f"{path}, {member.filename}"
                yield where, _record(_member(archive, member, where), where)
    except damage as error:
        raise ComdivError(f"{path}: a damaged log of Inspect: {error}") from error


def _zstandard_errors() -> tuple[type[Exception], ...]:
    """Teach `zipfile` zstandard with a package that Inspect installs; returns its errors, or none if it is missing."""
    try:
        import_module("zipfile_zstd")
        error: type[Exception] = import_module("zstandard").ZstdError
    except ImportError:
        return ()
    return (error,)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> Any:
    """A file of the archive; its own claim about its size is not trusted.

    It is unpacked piece by piece, because zstandard expands all of its input at once. Other methods, which Inspect does
    not use, could expand a single piece to gigabytes.
    """
    if member.compress_type not in _METHODS:
        raise ComdivError(f"{where}: packed by method {member.compress_type}, which Inspect does not use")
    data = bytearray()
    try:
        with archive.open(member) as stream:
            while len(data) <= LARGEST_SAMPLE and (piece := stream.read(_PIECE)):
                data += piece
    except NotImplementedError as error:
        raise ComdivError(
            f"{where}: packed with zstandard: pip install zipfile-zstd, or run Inspect with --log-format json"
        ) from error
    except RuntimeError as error:
        raise ComdivError(f"{where}: {error}") from error
    if len(data) > LARGEST_SAMPLE:
        raise ComdivError(f"{where}: more than {LARGEST_SAMPLE:,} bytes")
    try:
        return parse_json(data.decode())
    except ValueError as error:
        raise ComdivError(f"{where}: not valid JSON: {error}") from error


def _record(sample: Any, where: str) -> Mapping[str, Any]:
    """The problem's id and the model's words. Run from the hub, samples are numbered; the id is in the metadata."""
    if not isinstance(sample, dict):
        raise ComdivError(f"{where}: not a sample")
    metadata = sample.get("metadata")
    name = metadata.get("id") if isinstance(metadata, dict) else None
    return {"id": sample.get("id") if name is None else name, "output": _words(sample.get("output"))}


def _words(output: Any) -> str:
    if not isinstance(output, dict):
        return ""
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = first.get("message")
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
