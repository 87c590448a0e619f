"""Lists of numbers as short texts, and back: a record is packed only if that is exact, and otherwise left unchanged."""

import base64
import math
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from comdiv.errors import ComdivError, shortened
from comdiv.evaluation import Share
from comdiv.evaluation.accuracy import FAILURES, Evaluation
from comdiv.experiments.cell import Record

_MOST_PROBLEMS = 100_000  # largest validation set whose accuracies are written as counts
_PACKED = "answers"  # only a packed evaluation has it
_SQUEEZED, _LONG_TEXT, _MOST_BYTES = "zlib:", 1_000, 10_000_000


# --- evaluations ---


def pack_summary(summary: Record) -> Record:
    """The parts of an evaluation as counts; any other summary unchanged."""
    packed = {part: pack_part(record) for part, record in summary.items()} if _is_evaluation(summary) else summary
    return packed if unpack_summary(packed) == summary else summary


def unpack_summary(packed: Record) -> Record:
    """The inverse: accuracies and intervals follow from counts."""
    return {
        name: unpack_part(value) if isinstance(value, Mapping) and _PACKED in value else value
        for name, value in packed.items()
    }


def _is_evaluation(summary: Record) -> bool:
    return bool(summary) and all(isinstance(part, Mapping) and "counts" in part for part in summary.values())


def pack_part(record: Record) -> Record:
    """One part of an evaluation as counts."""
    expressions = record["expression_accuracy"]
    packed: dict[str, Any] = {_PACKED: f"{record['correct']}/{record['n']}"}
    if expressions is not None:
        packed["expressions"] = f"{round(expressions * record['expression_n'])}/{record['expression_n']}"
    if counts := {name: count for name, count in record["counts"].items() if count}:
        packed["counts"] = counts
    for short, name in _SHARES.items():
        if name in record:
            packed[short] = {part: f"{share['correct']}/{share['n']}" for part, share in record[name].items()}
    return packed


def unpack_part(packed: Record) -> Record:
    """The record that follows from the counts."""
    parts = {
        name: {part: _share(written) for part, written in packed[short].items()} if short in packed else None
        for short, name in _SHARES.items()
    }
    return Evaluation(
        answers=_share(packed[_PACKED]),
        expressions=_share(packed["expressions"]) if "expressions" in packed else None,
        counts={**dict.fromkeys((*FAILURES, "unknown_ids", "without_gold"), 0), **packed.get("counts", {})},
        by_operator_count=parts["by_operator_count"] or {},
        by_template_seen=parts["by_template_seen"],
        subsets=parts["subsets"] or {},
    ).to_json()


_SHARES = {"operators": "by_operator_count", "templates": "by_template_seen", "subsets": "subsets"}


def _share(written: str) -> Share:
    correct, _, n = written.partition("/")
    return Share(int(correct), int(n))


# --- ids and bits ---


def pack_names(names: Sequence[str]) -> str | list[str]:
    """Names separated by spaces, if none of them contains a space."""
    packed = " ".join(names)
    return packed if packed.split() == list(names) else list(names)


def unpack_names(packed: str | Sequence[str]) -> list[str]:
    """The opposite."""
    return packed.split() if isinstance(packed, str) else list(packed)


def pack_bits(bits: Sequence[bool]) -> str:
    """One bit per value, the first one highest, as base64."""
    number = int("0" + "".join("01"[bit] for bit in bits), 2) << -len(bits) % 8
    return base64.b64encode(number.to_bytes(-(-len(bits) // 8))).decode()


def unpack_bits(text: str, count: int) -> list[bool]:
    """The first `count` bits."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ComdivError(f"'{shortened(text, 20)}' are not bits: {error}") from error
    if len(data) != -(-count // 8):
        raise ComdivError(f"'{shortened(text, 20)}' are {8 * len(data)} bits, not {count}")
    return [bool(data[place // 8] >> (7 - place % 8) & 1) for place in range(count)]


# --- training curves ---


def pack_curve(history: Sequence[Record]) -> Record:
    """Records of epochs as columns; consecutive epoch numbers are left out, rates keep four digits."""
    names = list(dict.fromkeys(name for entry in history for name in entry))
    columns: dict[str, Any] = {name: [entry.get(name) for entry in history] for name in names}
    if columns.get("epoch") == list(range(1, len(history) + 1)):
        del columns["epoch"]
    if "learning_rate" in columns:
        columns["learning_rate"] = [None if rate is None else float(f"{rate:.4g}") for rate in columns["learning_rate"]]
    if "validation_accuracy" in columns:
        columns["validation_accuracy"] = _counts(columns["validation_accuracy"])
    return columns


def unpack_curve(columns: Record) -> list[dict[str, Any]]:
    """One record per epoch."""
    lists = {name: _accuracies(values) for name, values in columns.items()}
    length = max(map(len, lists.values()), default=0)
    numbered = {} if "epoch" in lists else {"epoch": list(range(1, length + 1))}
    return [{name: values[place] for name, values in {**numbered, **lists}.items()} for place in range(length)]


def _counts(accuracies: Sequence[float | None]) -> Any:
    """Accuracies as counts of right answers out of a total, if that is exact."""
    known = [Fraction(value).limit_denominator(_MOST_PROBLEMS) for value in accuracies if value is not None]
    n = math.lcm(*(fraction.denominator for fraction in known)) if known else _MOST_PROBLEMS + 1
    if n > _MOST_PROBLEMS:
        return list(accuracies)
    packed = {"of": n, "right": [None if value is None else round(value * n) for value in accuracies]}
    return packed if _accuracies(packed) == list(accuracies) else list(accuracies)


def _accuracies(values: Any) -> list[Any]:
    if not isinstance(values, Mapping):
        return list(values)
    return [None if right is None else right / values["of"] for right in values["right"]]


# --- frequencies ---


def pack_frequencies(entries: Sequence[Record]) -> Any:
    """{"train/test": names}, long lists squeezed; the entries unchanged if they are not sorted by frequency."""
    groups = defaultdict(list)
    for entry in entries:
        groups[f"{entry['train']}/{entry['test']}"].append(str(entry["name"]))
    packed = {counts: squeezed(" ".join(names)) for counts, names in groups.items()}
    return packed if unpack_frequencies(packed) == list(entries) else list(entries)


def unpack_frequencies(packed: Any) -> list[dict[str, Any]]:
    """One record per atom or compound, the most frequent first, as in a measurement."""
    if not isinstance(packed, Mapping):
        return list(packed)
    entries = []
    for counts, names in packed.items():
        train, _, test = counts.partition("/")
        words = unsqueezed(names).split()
        entries += [{"name": name, "train": int(train), "test": int(test)} for name in words]
    return sorted(entries, key=lambda entry: (-entry["train"] - entry["test"], entry["name"]))


def squeezed(text: str) -> str:
    """A long text, such as thousands of compounds, compressed to a fifth; nobody reads them in diffs."""
    if len(text) < _LONG_TEXT:
        return text
    return _SQUEEZED + base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unsqueezed(text: str) -> str:
    """The text that `squeezed` made smaller, or left as it was."""
    if not text.startswith(_SQUEEZED):
        return text
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(base64.b64decode(text.removeprefix(_SQUEEZED), validate=True), _MOST_BYTES)
        if not stream.eof:
            raise ComdivError(f"'{shortened(text, 20)}' is cut, or stands for more than {_MOST_BYTES:,} bytes")
        return data.decode()
    except (ValueError, zlib.error) as error:
        raise ComdivError(f"'{shortened(text, 20)}' is not compressed text: {error}") from error
