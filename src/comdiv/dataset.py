"""A dataset is a folder: train, validation and test as JSON Lines, a record of how it was made, and a README card.

`dataset.json` is written last, so a folder that has it is complete.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from comdiv.claims import claimed_folder
from comdiv.errors import ComdivError
from comdiv.files import file_sha256, refuse_to_overwrite, staging_folder, write_text
from comdiv.loading import load_object, validate
from comdiv.problem import Problem, read_problems, write_problems

PARTS = ("train", "validation", "test")
FACTS = "dataset.json"
VALIDATION_SHARE = 0.2  # of the training side (§V, implementation details)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The three parts and the facts: method, parameters, seeds, divergences, counts, hashes of the inputs."""

    train: tuple[Problem, ...]
    validation: tuple[Problem, ...]
    test: tuple[Problem, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def training_side(self) -> tuple[Problem, ...]:
        """Train and validation together: what the paper calls the training set."""
        return self.train + self.validation


class _RecordedFile(BaseModel):
    problems: int = 0
    sha256: str = ""


class _RecordedFacts(BaseModel):
    """The required part of a `dataset.json`; other keys are not checked."""

    files: dict[str, _RecordedFile] = {}
    settings: dict[str, Any] = {}
    source: dict[str, Any] = {}


def write_dataset(
    folder: Path,
    dataset: Dataset,
    *,
    title: str,
    paragraphs: Iterable[str] = (),
    more: Callable[[Path], object] | None = None,
    copies: Mapping[str, Path] | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write the folder and return its facts with sizes and hashes; `more` may add files such as figures.

    Parts named in `copies` are copied as bytes and never parsed, so that augmentation cannot see a test set.

    Everything is written to a staging folder, which is then renamed: the folder is either complete or absent.
    With `force`, the files of an existing folder are replaced, `dataset.json` last; other files in it are kept.
    """
    refuse_to_overwrite(folder, force=force)
    if folder.exists() and not folder.is_dir():
        raise ComdivError(f"{folder} is a file: a dataset is a folder")
    with claimed_folder(folder), staging_folder(folder) as staging:
        files: dict[str, dict[str, Any]] = {}
        for part in PARTS:
            path = staging / f"{part}.jsonl"
            if part in (copies or {}):
                count = _copied((copies or {})[part], path)
            else:
                count = write_problems(path, getattr(dataset, part))
            files[path.name] = {"problems": count, "sha256": file_sha256(path)}
        facts = {**dataset.facts, "files": files}
        if more is not None:
            more(staging)
        counts = {part: files[f"{part}.jsonl"]["problems"] for part in PARTS}
        write_text(staging / "README.md", card(dataset, title, paragraphs, counts))
        write_text(staging / FACTS, json.dumps(facts, ensure_ascii=False, indent=2) + "\n")
        _move_into_place(staging, folder)
    return facts


def _copied(source: Path, path: Path) -> int:
    """Copy a part and return its number of non-blank lines."""
    shutil.copyfile(source, path)
    with path.open("rb") as stream:
        return sum(1 for line in stream if line.strip())


def _move_into_place(staging: Path, folder: Path) -> None:
    if not folder.exists() or not any(folder.iterdir()):
        staging.replace(folder)
        return
    (folder / FACTS).unlink(missing_ok=True)
    for path in sorted(staging.iterdir(), key=lambda path: path.name == FACTS):
        path.replace(folder / path.name)


def read_dataset(folder: Path) -> Dataset:
    """Read a dataset folder; an incomplete one is refused."""
    if not folder.is_dir():
        raise ComdivError(_no_folder(folder))
    parts = {part: _read_part(folder / f"{part}.jsonl") for part in PARTS}
    return Dataset(**parts, facts=read_facts(folder))


def _no_folder(path: Path) -> str:
    if not path.is_file():
        return f"there is no folder {path}"
    whole = f": give {path.parent}" if (path.parent / FACTS).is_file() else "; `comdiv split` makes one of a file"
    return f"{path} is a file, and a dataset is a folder{whole}"


def read_facts(folder: Path) -> dict[str, Any]:
    """How a dataset was made."""
    path = folder / FACTS
    if not path.is_file():
        raise ComdivError(f"{folder} is not a complete dataset folder: it has no {FACTS}")
    facts = load_object(path)
    validate(facts, _RecordedFacts, str(path))
    return facts


def is_intact(folder: Path, facts: Mapping[str, Any]) -> bool:
    """Whether the parts of a dataset still match its facts: none missing, none changed."""
    recorded = facts.get("files", {})
    return set(recorded) == {f"{part}.jsonl" for part in PARTS} and all(
        (folder / name).is_file() and file_sha256(folder / name) == entry.get("sha256")
        for name, entry in recorded.items()
    )


def _read_part(path: Path) -> tuple[Problem, ...]:
    if not path.is_file():
        raise ComdivError(f"{path.parent} is not a complete dataset folder: it has no {path.name}")
    return tuple(read_problems(path))


def card(dataset: Dataset, title: str, paragraphs: Iterable[str], counts: Mapping[str, int] | None = None) -> str:
    """The README.md card, with the header that tells Hugging Face `datasets` about the splits.

    `counts` gives the sizes of the parts when some of them are not in memory.
    """
    counts = counts or {part: len(getattr(dataset, part)) for part in PARTS}
    languages = sorted({problem.language for part in PARTS for problem in getattr(dataset, part)})
    filled = [part for part in PARTS if counts[part]]
    header = ["---", "language:", *(f"- {code}" for code in languages), "tags:", "- math-word-problems"]
    header += ["- compositional-generalization", "configs:", "- config_name: default", "  data_files:"]
    header += [line for part in filled for line in (f"  - split: {part}", f"    path: {part}.jsonl")]
    sizes = " / ".join(f"{counts[part]:,}" for part in PARTS)
    body = [f"# {title}", f"Train / validation / test: {sizes} problems.", *paragraphs]
    body.append("Made by comdiv; `dataset.json` has every parameter, seed and hash.")
    return "\n".join([*header, "---", ""]) + "\n" + "\n\n".join(body) + "\n"
