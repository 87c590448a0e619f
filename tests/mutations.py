"""Damage to files, drawn by seed: what a stranger, a crash or a bad disk could put where our readers look.

A mutant of a JSON, JSON Lines or YAML file is mostly still such a file, with one value replaced; the rest is damage to
the bytes.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_RAW = {  # what Python's writers would not write, by the text that stands for it
    "«digits»": "1" + "0" * 400,
    "«exponent»": "1e999999999",
    "«nan»": "NaN",
    "«deep»": "[" * 3000 + "]" * 3000,
    "«half»": '"\\ud800"',
}
_VALUES: list[Any] = [
    None, True, 0, -1, 10**12, 0.5, 1e308, "", " ", "²", "x", "../../evil", "a\x1b[2Jb\u202e", "1/0", "1e999999999",
    "N0+N99999999", "(" * 200, "9" * 400, [], {}, [1], [[]], {"x": 1}, {"": None}, [None, "x", {}], *_RAW,
]  # fmt: skip


def mutants(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """So many damaged versions of a file."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        yield (_structural(content, rng) if rng.random() < 0.8 else None) or _bytes(content, rng)


def damaged(path: Path, count: int, seed: int = 0) -> Iterator[Path]:
    """The file itself, damaged in so many ways one after the other, and whole again at the end."""
    content = path.read_bytes()
    try:
        for mutant in mutants(content, count, seed):
            path.write_bytes(mutant)
            yield path
    finally:
        path.write_bytes(content)


def _structural(content: bytes, rng: random.Random) -> bytes | None:
    """One value of a document replaced, removed or repeated; None if the file is no document."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    try:
        record = json.loads(text)
    except ValueError:
        return _line(text, rng) or _yaml(text, rng)
    return _written(_changed(record, rng))


def _line(text: str, rng: random.Random) -> bytes | None:
    lines = text.splitlines()
    place = rng.randrange(len(lines)) if lines else 0
    try:
        lines[place] = _written(_changed(json.loads(lines[place]), rng)).decode()
    except (ValueError, IndexError):
        return None
    return ("\n".join(lines) + "\n").encode()


def _yaml(text: str, rng: random.Random) -> bytes | None:
    try:
        record = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if not isinstance(record, dict):
        return None
    # JSON is YAML; what only JSON's readers know (NaN) becomes a text.
    return _written(_changed(record, rng))


def _written(record: Any) -> bytes:
    text = json.dumps(record, ensure_ascii=False, default=str)
    for name, raw in _RAW.items():
        text = text.replace(json.dumps(name, ensure_ascii=False), raw)
    return text.encode("utf-8", "surrogatepass")


def _changed(record: Any, rng: random.Random) -> Any:
    """The record with one of its values changed; any value at any depth is equally likely."""
    places = list(_places(record))
    if not places:
        return rng.choice(_VALUES)
    outer, key = rng.choice(places)
    act = rng.random()
    if act < 0.15:
        del outer[key]
    elif act < 0.2 and isinstance(outer, list):
        outer.append(outer[key])
    elif act < 0.25 and isinstance(outer, dict):
        outer[rng.choice(["x", "", "../../evil", "²"])] = outer.pop(key)
    else:
        outer[key] = rng.choice(_VALUES)
    return record


def _places(record: Any) -> Iterator[tuple[Any, Any]]:
    inner = list(record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ())
    for key, value in inner:
        yield record, key
        yield from _places(value)


def _bytes(content: bytes, rng: random.Random) -> bytes:
    """Damage that knows nothing of formats."""
    place = rng.randrange(len(content) + 1)
    kind = rng.randrange(6)
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + bytes(rng.randrange(256) for _ in range(8)) + content[place + 8 :]
    if kind == 2:
        return content[:place] + rng.choice([b"\x00", b"\xff", b"\x1b[2J", b"[" * 5000, b"9" * 400]) + content[place:]
    if kind == 3:
        return content[place:] + content[:place]
    if kind == 4:
        return b"" if rng.random() < 0.2 else content[:place] + b"\x00" * min(512, len(content) - place)
    return rng.choice([b"null", b"[]", b"{}", b"[1]", b'"x"', b"\xef\xbb\xbf{}", b"a: &a [*a, *a]", b"[" * 100_000])
