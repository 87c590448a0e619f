"""What an augmentation reads: the training problems, the validation texts, the bans. Never a test set."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_corpus
from comdiv.dataset import FACTS, read_facts
from comdiv.errors import ComdivError
from comdiv.files import file_sha256
from comdiv.observer import SILENT, Observer
from comdiv.problem import Problem, read_problems
from comdiv.reading import read

_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class AugmentationSource:
    """The training problems, the validation problems, and the files that are copied as they are."""

    train: tuple[Problem, ...]
    validation: tuple[Problem, ...]
    copies: dict[str, Path]  # part → file
    facts: dict[str, Any]

    @property
    def name(self) -> str:
        """What it was read from, for messages."""
        return str(self.facts.get("dataset") or self.facts.get("corpus"))


def read_source(
    source: Path | str, reading: CorpusOptions = AS_IT_COMES, observer: Observer = SILENT
) -> AugmentationSource:
    """Read a dataset folder (or its train.jsonl) without opening its test part; any other corpus is all training data.

    `reading` says how to read the user's own table; a dataset is always in comdiv's format, and takes no such options.
    """
    path = Path(source)
    folder = path.parent if path.name == "train.jsonl" and (path.parent / FACTS).is_file() else path
    if folder.is_dir():
        _refuse_reading_options(folder, reading)
        return _read_folder(folder)
    if path.is_file():
        _refuse_a_test_part(path)
    corpus = load_corpus(source, reading, observer)
    problems = tuple(sorted(corpus.problems, key=_numbering))
    digest = hashlib.sha256()
    for problem in problems:
        digest.update(json.dumps(problem.to_json(), ensure_ascii=False).encode() + b"\n")
    facts = {"corpus": corpus.name, "version": corpus.version, "train": digest.hexdigest()}
    return AugmentationSource(_some(problems, path), (), {}, facts)


def _refuse_reading_options(folder: Path, reading: CorpusOptions) -> None:
    """Refuse options that would do nothing: a dataset's problems were read when it was made."""
    given = reading.model_dump(exclude_none=True)
    if given and given != {"contradictions": "keep"}:
        raise ComdivError(
            f"option {next(iter(given))} is for files and corpora; {folder} is a dataset folder, which is read as it is"
        )


def _numbering(problem: Problem) -> tuple[list[str | tuple[int, str]], str]:
    """The order in which corpora number their problems, 2 before 10: a file in another order gives the same set."""
    texts, numbers = _DIGITS.split(problem.id), [digits.lstrip("0") for digits in _DIGITS.findall(problem.id)]
    pieces: list[str | tuple[int, str]] = [texts[0]]
    for digits, text in zip(numbers, texts[1:], strict=True):
        pieces += [(len(digits), digits), text]
    return pieces, problem.id


def _read_folder(folder: Path) -> AugmentationSource:
    train, validation, test = (folder / f"{part}.jsonl" for part in ("train", "validation", "test"))
    if not train.is_file():
        raise ComdivError(f"{folder} is not a dataset folder: it has no train.jsonl")
    copies = {path.stem: path for path in (validation, test) if path.is_file()}
    facts: dict[str, Any] = {"dataset": folder.resolve().name}
    facts |= {path.stem: file_sha256(path) for path in (train, *copies.values())}
    problems, held_out = (_by_id(part) if part.is_file() else () for part in (train, validation))
    return AugmentationSource(_some(problems, train), held_out, copies, facts)


def _by_id(part: Path) -> tuple[Problem, ...]:
    """The problems of a part in the order in which datasets are written."""
    return tuple(sorted(read_problems(part), key=lambda problem: problem.id))


def _some(problems: tuple[Problem, ...], path: Path) -> tuple[Problem, ...]:
    if not any(problem.expression is not None for problem in problems):
        raise ComdivError(f"{path}: no problem with an expression, so there is nothing to augment")
    return problems


def _refuse_a_test_part(path: Path) -> None:
    """Refuse to augment a test set, recognised by its name or by its bytes."""
    refusal = ComdivError(f"{path} is the test part of a dataset: augmentation must not see it; give the folder")
    if path.name == "test.jsonl":
        raise refusal
    if (path.parent / FACTS).is_file():
        recorded = read_facts(path.parent).get("files", {}).get("test.jsonl", {}).get("sha256")
        if recorded == file_sha256(path):
            raise refusal


def ban_hashes(problems: Iterable[Problem]) -> list[str]:
    """The hashes that ban these texts; sorted, so that they reveal nothing but membership."""
    return sorted({read(problem).mask_hash for problem in problems})
