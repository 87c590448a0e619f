"""Record the net: `PYTHONPATH=tests python -m net.record`. What is recorded already stays, unless `--force` is given.

`--lines FOLDER` writes what is hashed instead, one file each: run it before and after a change, and compare with diff.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from net import golden
from net.recordings import RECORDINGS, Recording, hashes_of


def main(arguments: list[str] | None = None) -> int:
    """Record what is missing; returns 1 where something recorded would have changed and `--force` was not given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="recordings whose names contain one of these")
    parser.add_argument("--force", action="store_true", help="replace recorded hashes that differ")
    parser.add_argument("--lines", type=Path, metavar="FOLDER", help="write the lines there, record nothing")
    options = parser.parse_args(arguments)
    chosen = {
        name: recording
        for name, recording in RECORDINGS.items()
        if (not options.only or any(part in name for part in options.only)) and _at_hand(name, recording)
    }
    refused = False
    for name, recording in chosen.items():
        with tempfile.TemporaryDirectory() as folder:
            if options.lines is not None:
                _write_lines(options.lines / name.replace(" ", "-"), recording, Path(folder))
            else:
                refused |= not _record(name, hashes_of(recording, Path(folder)), force=options.force)
    return int(refused)


def _at_hand(name: str, recording: Recording) -> bool:
    if recording.real and not os.environ.get("COMDIV_DATA"):
        _say(f"{name}: left out, COMDIV_DATA is not set")
        return False
    return True


def _record(name: str, hashes: dict[str, str], *, force: bool) -> bool:
    """Enter hashes; False where others are recorded, which stay unless forced."""
    known = golden.recorded() if golden.PATH.is_file() else {}
    if name in known and (difference := golden.difference(name, hashes)) and not force:
        _say(f"{difference}\n{name}: stays as it is recorded; --force replaces it")
        return False
    if known.get(name) != hashes:
        golden.write({**known, name: hashes})
        _say(f"{name}: recorded")
    else:
        _say(f"{name}: unchanged")
    return True


def _write_lines(folder: Path, recording: Recording, work: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in recording.make(work).items():
        path = folder / f"{name.replace(' ', '-').replace('/', '-')}.txt"
        text = lines if isinstance(lines, str) else "\n".join(lines)
        path.write_text(text + "\n", encoding="utf-8")
    _say(f"{folder}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
