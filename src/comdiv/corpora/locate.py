"""Where corpora lie on this machine: the folder that COMDIV_DATA names, then the user's data folder.

The environment is read at each call, so that a notebook or a test that changes it is believed at once.
"""

import os
import re
import sys
from pathlib import Path

from comdiv.corpora.registry import DEMO_CORPORA, PUBLISHED_CORPORA, PublishedCorpus
from comdiv.errors import ComdivError, plain_spelling, unknown_name

# In order of preference where a folder holds several files of one name: our own format comes first.
SUFFIXES = (".jsonl", ".json", ".csv", ".xml")

KNOWN_NAMES = frozenset([*DEMO_CORPORA, *PUBLISHED_CORPORA])
_PLAIN_NAME = re.compile(r"[a-z0-9-]+")


def user_data_folder() -> Path:
    """The folder in which the operating system wants a user's data of ours; it need not exist yet."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return (Path(local) if local else _home() / "AppData" / "Local") / "comdiv"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "comdiv"
    xdg = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification: a relative path is invalid and to be ignored.
    return (Path(xdg) if Path(xdg).is_absolute() else _home() / ".local" / "share") / "comdiv"


def data_folders() -> list[Path]:
    """The folders that are searched, in order; a COMDIV_DATA that is no folder is an error rather than passed over."""
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
    """The files of the corpus of that name, in reading order, from the first data folder that has them all.

    A folder has a corpus as the download leaves it (FOLDER/NAME/…, complete), or as one file FOLDER/NAME.jsonl, .json,
    .csv or .xml in any case. The name is only ever compared, never joined to a path unless it is a published one.
    """
    if not _PLAIN_NAME.fullmatch(name):
        if plain_spelling(name) in KNOWN_NAMES:
            raise unknown_name("corpus", name, KNOWN_NAMES)
        raise ComdivError(f"{name!r} is not the name of a corpus: names are lower-case letters, digits and hyphens")
    corpus = PUBLISHED_CORPORA.get(name)
    folders = data_folders()
    for folder in folders:
        try:
            found = (_downloaded_files(corpus, folder) if corpus else []) or _single_file(name, folder)
        except OSError as error:
            raise ComdivError(f"cannot read the data folder {folder}: {error.strerror}") from error
        if found:
            return found
    if corpus is None:
        raise unknown_name("corpus", name, KNOWN_NAMES)
    raise ComdivError(
        f"corpus '{name}' is not in {' or '.join(str(folder) for folder in folders)}: "
        f"run 'comdiv data download {name}', or set COMDIV_DATA to a folder that holds it"
    )


def _downloaded_files(corpus: PublishedCorpus, folder: Path) -> list[Path]:
    """All files of the downloaded layout, or none: half a corpus would give wrong numbers in silence."""
    paths = [folder / corpus.name / file.filename for file in corpus.files]
    return paths if all(path.is_file() for path in paths) else []


def _single_file(name: str, folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    candidates = sorted(path for path in folder.iterdir() if path.stem.lower() == name and path.is_file())
    for suffix in SUFFIXES:
        for path in candidates:
            if path.suffix.lower() == suffix:
                return [path]
    return []


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise ComdivError("this user has no home folder; set the environment variable HOME") from error
