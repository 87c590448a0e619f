"""Hugging Face datasets as corpora: `hf:owner/name`, `hf:owner/name/configuration#part`, or a local folder.

`hf:owner/name@revision…` reads a commit, tag or branch instead of the current state of the main branch.
A folder may be a clone of a hub repository (its card or its files name the parts), or the output of `save_to_disk`.
Rows are mappings like those of any other corpus: formats and column options work as they do for files.

A table needs one type per column, while the record of a problem has optional keys and a nested `provenance`. In a
table, a problem is therefore a flat row, with the nested parts as JSON texts and a few columns that people would
otherwise have to compute; `restored_record` undoes this.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError
from comdiv.expression import format_number, operator_count, template, to_infix
from comdiv.files import file_sha256
from comdiv.loading import parse_json
from comdiv.problem import KEYS, Problem
from comdiv.reading import read

PREFIX = "hf:"
_NAME = re.compile(r"(?P<repository>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[\w.-]+))?(?:/(?P<configuration>[\w.-]+))?")
_SAVED = ("dataset_dict.json", "state.json")  # written by `save_to_disk`
_CARD_KEYS = re.compile(r"\A---\n(?:.*\n)*?(?:configs|dataset_info):")

# name → type, as Hugging Face calls them; `composition` is structural or lexical in a synthesised set (§III-B)
COLUMNS = {
    "id": "string",
    "language": "string",
    "text": "string",
    "expression": "string",
    "equation": "string",
    "answer": "string",
    "value": "float64",
    "template": "string",
    "operators": "int32",
    "composition": "string",
    "number_words": "bool",
    "provenance": "string",
    "extra": "string",
    "canary": "string",
}
_GREATEST = 10**300  # floats end a little above it; exact answers do not
# Columns computed from the problem and its split; `rule` is also in `extra`.
_COMPUTED = (
    "equation", "value", "template", "operators", "canary", "skill", "rule", "template_seen", "unseen_structures",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HubSource:
    """What to read: a folder or repository, one of its configurations, and one of its parts (all if None)."""

    path: str
    configuration: str | None = None
    part: str | None = None
    revision: str | None = None  # of a repository: a commit, tag or branch; None is the main branch

    @property
    def is_folder(self) -> bool:
        """Whether it is on this machine rather than on the hub."""
        return Path(self.path).is_dir()

    @property
    def name(self) -> str:
        """The corpus's name: the last part of the path and the configuration."""
        last = Path(self.path).resolve().name if self.is_folder else self.path.rpartition("/")[2]
        return "-".join(filter(None, [last, self.configuration]))


def hub_source(source: str | Path) -> HubSource | None:
    """The hub dataset or local dataset folder that a source names; None if it names neither."""
    text = str(source)
    if text.startswith(PREFIX):
        return _parsed(text.removeprefix(PREFIX))
    return HubSource(text) if Path(text).is_dir() and _is_hub_folder(Path(text)) else None


def _parsed(text: str) -> HubSource:
    path, _, part = text.partition("#")
    folder = Path(path).expanduser()
    if path and folder.is_dir():
        return HubSource(str(folder), None, part or None)
    if path.startswith((".", "/", "~")) and folder.parent.is_dir():
        return HubSource(str(folder.parent), folder.name, part or None)
    if not (match := _NAME.fullmatch(path)):
        raise ComdivError(
            f"hf:{text} is not a dataset: write hf:OWNER/NAME[@REVISION][/CONFIGURATION][#PART] or hf:FOLDER"
        )
    return HubSource(match["repository"], match["configuration"], part or None, match["revision"])


def _is_hub_folder(folder: Path) -> bool:
    """Whether a folder is recognisably a hub dataset: a card with configurations, saved tables, or Parquet files."""
    card = folder / "README.md"
    if card.is_file() and _CARD_KEYS.match(card.read_text(encoding="utf-8", errors="replace")[:100_000]):
        return True
    return any((folder / name).is_file() for name in _SAVED) or any(folder.rglob("*.parquet"))


def open_hub(source: HubSource) -> tuple[str, Iterator[tuple[str, Mapping[str, Any]]]]:
    """The version of a dataset, and its records with their places, one part after another."""
    try:
        import datasets
    except ImportError as error:
        raise ComdivError("Hugging Face datasets are read with their package: pip install 'comdiv[hub]'") from error
    try:
        version, parts = _load(datasets, source)
    except (OSError, ValueError) as error:
        raise _unusable(source, error) from error
    if source.part is not None and source.part not in parts:
        raise ComdivError(f"{source.path} has no part '{source.part}'; there are: {', '.join(parts)}")
    wanted = {source.part: parts[source.part]} if source.part else parts
    return version, _records(datasets, source, wanted)


def _load(datasets: Any, source: HubSource) -> tuple[str, dict[str, Any]]:
    if not source.is_folder:
        builder = datasets.load_dataset_builder(source.path, source.configuration, revision=source.revision)
        builder.download_and_prepare()
        return f"hub:{str(builder.hash)[:16]}", dict(builder.as_dataset())
    folder = Path(source.path)
    if any((folder / name).is_file() for name in _SAVED):
        read = datasets.load_from_disk(str(folder))
    else:  # streamed: nothing is copied into the hub's cache, and changed files are seen
        read = datasets.load_dataset(str(folder), source.configuration, streaming=True)
    return _folder_version(folder), dict(read) if isinstance(read, dict) else {"all": read}


def _folder_version(folder: Path) -> str:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    joined = " ".join(f"{path.relative_to(folder).as_posix()} {file_sha256(path)}" for path in paths)
    return f"sha256:{hashlib.sha256(joined.encode()).hexdigest()[:16]}"


def _records(datasets: Any, source: HubSource, parts: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for part, rows in parts.items():
        try:
            for number, row in enumerate(rows, start=1):
                yield f"{source.name}, {part}, row {number}", {key: _plain(value) for key, value in row.items()}
        except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
            raise _unusable(source, error) from error


def _plain(value: Any) -> Any:
    """A value that JSON can hold: tables may also hold dates, bytes and pictures."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else str(value)


def _unusable(source: HubSource, error: Exception) -> ComdivError:
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    if source.is_folder or not isinstance(error, ConnectionError):
        return ComdivError(f"{source.path} cannot be read as a Hugging Face dataset: {reason}")
    revision = f"--revision {source.revision} " if source.revision else ""
    return ComdivError(
        f"hf:{source.path} cannot be fetched: {reason}. Where there is internet, run `hf download {source.path} "
        f"{revision}--repo-type dataset --local-dir FOLDER`, and name FOLDER here"
    )


def flat_row(problem: Problem, canary: str = "") -> dict[str, Any]:
    """The row of a problem, with every column in order. `equation` is the expression over the numbers themselves."""
    extra = {**problem.extra, **({"rule": problem.rule} if problem.rule else {})}
    expression, answer = problem.expression, problem.answer
    return {
        "id": problem.id,
        "language": problem.language,
        "text": problem.text,
        "expression": None if expression is None else to_infix(expression),
        "equation": equation_over_numbers(problem),
        "answer": None if answer is None else format_number(answer),
        "value": None if answer is None or abs(answer) > _GREATEST else float(answer),
        "template": None if expression is None else template(expression),
        "operators": None if expression is None else operator_count(expression),
        "composition": problem.composition or None,
        "number_words": problem.number_words,
        "provenance": json.dumps(problem.provenance.to_json(), ensure_ascii=False),
        "extra": json.dumps(extra, ensure_ascii=False),
        "canary": canary,
    }


def equation_over_numbers(problem: Problem) -> str | None:
    """The expression with the text's numbers instead of `N0`, `N1`…, such as `3*12`; None if it has no value."""
    reading = read(problem)
    if problem.expression is None or reading.value is None:
        return None

    def written(index: int) -> str:
        number = format_number(reading.values[index])
        return f"({number})" if "/" in number or number.startswith("-") else number

    return to_infix(problem.expression, written)


def restored_record(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record of a flat row, without the columns that only the table needed; any other record unchanged."""
    if not isinstance(record.get("provenance"), str):
        return record
    plain = {key: value for key, value in record.items() if key not in (*_COMPUTED, "extra") and value is not None}
    try:
        plain["provenance"] = parse_json(record["provenance"] or "{}")
        extra = parse_json(record.get("extra") or "{}")
    except ValueError:
        return record  # not one of our rows: the reader says what is wrong with it
    return {**plain, **{key: value for key, value in extra.items() if key not in KEYS}}
