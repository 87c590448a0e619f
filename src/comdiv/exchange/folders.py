"""Export folders: complete or not there, with `export.json` to say what they were made from."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError
from comdiv.files import atomic_write, file_sha256, refuse_to_overwrite, staging_folder, write_text

EXPORT = "export.json"


def check_target(folder: Path, *, force: bool) -> bool:
    """Refuse a place that must not be written to, before any work is done; whether an earlier export is there."""
    refuse_to_overwrite(folder, force=force)
    occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if occupied and not (folder / EXPORT).is_file():
        raise ComdivError(f"{folder} is no export of comdiv, so it is not replaced; choose another name")
    return occupied


def write_export(folder: Path, make: Callable[[Path], Mapping[str, Any]], *, force: bool) -> dict[str, Any]:
    """Let `make` fill an empty folder and return its facts; it then takes its place as a whole.

    With `force` an earlier export goes, with everything in it; anything else that is there stays, and is an error.
    """
    from comdiv import __version__

    occupied = check_target(folder, force=force)
    with staging_folder(folder) as staging:
        facts = dict(make(staging))
        paths = sorted(path for path in staging.rglob("*") if path.is_file())
        facts["files"] = {path.relative_to(staging).as_posix(): file_sha256(path) for path in paths}
        facts["versions"] = {"comdiv": __version__}
        write_text(staging / EXPORT, json.dumps(facts, ensure_ascii=False, indent=2) + "\n")
        if not occupied:
            staging.replace(folder)  # an empty folder is replaced, too
        else:
            with staging_folder(folder) as away:
                folder.replace(away)
                staging.replace(folder)
    return facts


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSON Lines; returns how many."""
    count = 0
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count
