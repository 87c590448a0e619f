"""The public corpora as data: where each file is published, what its bytes must be, and where it is on this machine.

Every file is pinned to a commit and to its git blob id, so that a result obtained today can be repeated on the same
bytes in ten years, from any mirror. We redistribute none of them: `comdiv data download` gets them from where their
authors put them. They are looked for in the folder that COMDIV_DATA names, then in the user's data folder; the
environment is read at each call, so that a change made in a notebook or a test takes effect at once.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlsplit

import yaml

from comdiv.errors import ComdivError, disk_errors, plain_spelling, unknown_name

DEMO_CORPORA = {"demo-en": "en", "demo-zh": "zh"}  # bundled: name → language
PUBLIC_BASE = "https://raw.githubusercontent.com"
# In order of preference if a folder holds several files of the same name: our own format comes first.
_SUFFIXES = (".jsonl", ".json", ".csv", ".xml")
_PLAIN_NAME = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True)
class PublishedFile:
    """One file of a public repository, pinned to a commit and to the git blob id of its content."""

    repository: str  # owner/name
    commit: str
    path: str
    blob_id: str

    @property
    def filename(self) -> str:
        """The file's name on disk, unique within its corpus."""
        return PurePosixPath(self.path).name

    def url(self, mirror: str | None = None) -> str:
        """The address of the file; a mirror replaces raw.githubusercontent.com and has the same paths."""
        base = PUBLIC_BASE if mirror is None else _checked_mirror(mirror)
        return f"{base}/{quote(self.repository)}/{self.commit}/{quote(self.path)}"


@dataclass(frozen=True)
class PublishedCorpus:
    """A published corpus: its files in reading order, and what a user must know before using it."""

    name: str
    title: str
    language: str  # ISO 639-1
    files: tuple[PublishedFile, ...]
    licence: str
    note: str
    citation: str

    @property
    def notice(self) -> str:
        """The one-line notice shown at download: the licence, and what is particular to this version."""
        return f"{self.title}. Licence: {self.licence}. {self.note}"


def published_corpus(name: str) -> PublishedCorpus:
    """The corpus of that name, or an error that suggests the nearest known name."""
    if name not in PUBLISHED_CORPORA:
        raise unknown_name("corpus", name, PUBLISHED_CORPORA)
    return PUBLISHED_CORPORA[name]


def _checked_mirror(mirror: str) -> str:
    """The mirror without its trailing slash; anything but a plain web address is refused.

    `file:` and the like would let an option meant for the network read local files.
    """
    refusal = ComdivError(
        f"--mirror {mirror!r} is not a web address: give http://HOST/PATH or https://HOST/PATH, "
        "in plain ASCII, without user name, spaces, '?' or '#'"
    )
    try:
        parts = urlsplit(mirror)
        well_formed = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:  # a broken IPv6 address, or a port that is not a number
        raise refusal from error
    plain = mirror.isascii() and mirror.isprintable() and "@" not in parts.netloc and not set(mirror) & set(" ?#\\")
    if not (well_formed and plain):
        raise refusal
    return mirror.rstrip("/")


def _published_corpora() -> Iterator[PublishedCorpus]:
    table = files("comdiv.corpora").joinpath("published.yaml").read_text(encoding="utf-8")
    for name, entry in yaml.load(table, _TextLoader).items():
        origin = entry.pop("repository"), entry.pop("commit")
        published = tuple(PublishedFile(*origin, path, blob_id) for path, blob_id in entry.pop("files").items())
        yield PublishedCorpus(name=name, files=published, **entry)


# Strings only: a blob id of digits is not a number, and the result can only be plain data.
_TextLoader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
PUBLISHED_CORPORA = MappingProxyType({corpus.name: corpus for corpus in _published_corpora()})
KNOWN_NAMES = frozenset([*DEMO_CORPORA, *PUBLISHED_CORPORA])


def user_data_folder() -> Path:
    """The operating system's usual folder for our data of this user; it need not exist yet."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return (Path(local) if local else _home() / "AppData" / "Local") / "comdiv"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "comdiv"
    xdg = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification: a relative path is invalid and to be ignored.
    return (Path(xdg) if Path(xdg).is_absolute() else _home() / ".local" / "share") / "comdiv"


def data_folders() -> list[Path]:
    """The folders to search, in order; a COMDIV_DATA that is not a folder is an error rather than ignored."""
    named = os.environ.get("COMDIV_DATA", "")
    if not named:
        return [user_data_folder()]
    try:
        folder = Path(named).expanduser()
        what = "" if folder.is_dir() else "is not a folder" if folder.exists() else "does not exist"
    except (RuntimeError, OSError) as error:  # no such ~user; no permission
        raise ComdivError(f"COMDIV_DATA={named} cannot be used: {error}") from error
    if what:
        raise ComdivError(f"COMDIV_DATA={named} {what}; correct the variable or unset it")
    return [folder, user_data_folder()]


def find_corpus_files(name: str) -> list[Path]:
    """The files of the corpus of that name, in reading order, from the first data folder that has all of them.

    A folder has a corpus either as downloaded (FOLDER/NAME/…, complete) or as one file FOLDER/NAME.jsonl, .json, .csv
    or .xml, in upper or lower case. The name is only compared; it is joined to a path only if it is a published one.
    """
    if not _PLAIN_NAME.fullmatch(name):
        if plain_spelling(name) in KNOWN_NAMES:
            raise unknown_name("corpus", name, KNOWN_NAMES)
        raise ComdivError(f"{name!r} is not the name of a corpus: names are lower-case letters, digits and hyphens")
    corpus = PUBLISHED_CORPORA.get(name)
    folders = data_folders()
    for folder in folders:
        with disk_errors(f"cannot read the data folder {folder}"):
            paths = (_downloaded_files(corpus, folder) if corpus else []) or _single_file(name, folder)
        if paths:
            return paths
    if corpus is None:
        raise unknown_name("corpus", name, KNOWN_NAMES)
    raise ComdivError(
        f"corpus '{name}' is not in {' or '.join(str(folder) for folder in folders)}: "
        f"run 'comdiv data download {name}', or set COMDIV_DATA to a folder that holds it"
    )


def _downloaded_files(corpus: PublishedCorpus, folder: Path) -> list[Path]:
    """All files of the downloaded layout, or none: half a corpus would silently give wrong numbers."""
    paths = [folder / corpus.name / file.filename for file in corpus.files]
    return paths if all(path.is_file() for path in paths) else []


def _single_file(name: str, folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    candidates = sorted(path for path in folder.iterdir() if path.stem.lower() == name and path.is_file())
    for suffix in _SUFFIXES:
        for path in candidates:
            if path.suffix.lower() == suffix:
                return [path]
    return []


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise ComdivError("this user has no home folder; set the environment variable HOME") from error
