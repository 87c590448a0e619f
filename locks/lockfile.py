"""Lock files: one pinned requirement per entry, with the SHA-256 of every file that may be installed for it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
_ENTRY = re.compile(r"([a-z0-9][a-z0-9.-]*)==([^\s;]+)(?: ; (.+?))?((?:\s+--hash=sha256:[0-9a-f]{64})*)")


@dataclass(frozen=True, slots=True)
class Pin:
    """One entry of a lock: a package at one version, where `marker` holds."""

    name: str  # normalised: lower case, hyphens
    version: str
    marker: str
    hashes: tuple[str, ...]  # hexadecimal, sorted

    def __str__(self) -> str:
        condition = f" ; {self.marker}" if self.marker else ""
        hashes = (f"    --hash=sha256:{sha}" for sha in self.hashes)
        return " \\\n".join([f"{self.name}=={self.version}{condition}", *hashes])


def parse_lock(text: str) -> list[Pin]:
    """The pins of a lock; anything but pins, their hashes and comments is an error."""
    pins = []
    for line in re.sub(r"\s*\\\n", " ", text).splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not (entry := _ENTRY.fullmatch(line.strip())):
            raise ValueError(f"not a pinned requirement with its SHA-256: {line[:120]}")
        name, version, marker, hashes = entry.groups(default="")
        pins.append(Pin(name, version, marker, tuple(sorted(sha.rpartition(":")[2] for sha in hashes.split()))))
    return pins


def read_lock(name: str) -> list[Pin]:
    """The pins of `locks/NAME.txt`; none where there is no such file yet."""
    path = FOLDER / f"{name}.txt"
    return parse_lock(path.read_text(encoding="utf-8")) if path.is_file() else []


def lock_text(pins: Iterable[Pin], comment: str = "") -> str:
    """A lock as a file: a comment, then the pins in the order of their names."""
    ordered = sorted(pins, key=lambda pin: (pin.name, pin.version, pin.marker))
    return "".join([*(f"# {line}\n" for line in comment.splitlines()), *(f"{pin}\n" for pin in ordered)])


def normalised(name: str) -> str:
    """A package's name as the index and the locks write it."""
    return re.sub(r"[-_.]+", "-", name).lower()
