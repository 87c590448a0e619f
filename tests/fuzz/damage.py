"""Damage, as crashes, editors, other programs and attackers do it: to texts, to bytes, to JSON values."""

import random
from collections.abc import Sequence
from typing import Any

DEEP = 100_000  # levels of nesting, written as text
STRANGE = (
    None, True, False, 0, -1, 1, 10**400, -(10**30), 1e308, float("inf"), float("nan"), "", "0", "²", "\ud800",
    "\x1b[2J", "../../evil", "N0", "a" * 70_000, [], [1], [None], [[[]]], {}, {"": None}, {"files": None},
    "1e999999999", "9" * 5_000,
)  # fmt: skip


def damaged_text(text: str, source: random.Random, pieces: Sequence[str]) -> str:
    """The text with one to three pieces lost, added, doubled or moved."""
    for _ in range(source.randrange(1, 4)):
        start = source.randrange(len(text) + 1)
        end = start + source.randrange(1, 4)
        piece = text[start:end]
        match source.randrange(5):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:start] + source.choice(pieces) + text[start:]
            case 2:
                text = text[:start] + source.choice(pieces) + text[end:]
            case 3:
                text = text[:start] + piece * source.choice((2, 2, 2, 3, 3, 3, 3, 200)) + text[end:]
            case _:
                text = text[end:] + text[:end]
    return text


def damaged_bytes(content: bytes, source: random.Random) -> bytes:
    """The bytes with bits flipped, or cut short, or with something lost, doubled, zeroed or put in."""
    start = source.randrange(len(content) + 1)
    end = min(len(content), start + source.choice((1, 2, 8, 64, 512)))
    match source.randrange(7):
        case 0 | 1:
            flipped = bytearray(content)
            for _ in range(source.choice((1, 1, 1, 8)) if content else 0):
                flipped[source.randrange(len(content))] ^= 1 << source.randrange(8)
            return bytes(flipped)
        case 2:
            return content[:start]
        case 3:
            return content[:start] + content[end:]
        case 4:
            return content[:end] + content[start:end] * source.choice((1, 50)) + content[end:]
        case 5:
            return content[:start] + bytes(end - start) + content[end:]
        case _:
            inserted = source.choice(
                (b"[" * DEEP, b'{"a":' * DEEP, b"\xff\xfe", b"\n", b"}", b'"', b"9" * 5_000, b"- " * 5_000)
            )
            return content[:start] + inserted + content[start:]


def damaged_value(value: Any, source: random.Random) -> Any:
    """A JSON value in which one place, drawn at any depth, is lost, renamed, doubled or of another type."""
    if isinstance(value, dict) and value and source.random() < 0.85:
        key = source.choice(list(value))
        if source.random() < 0.7:
            return {**value, key: damaged_value(value[key], source)}
        rest = {name: item for name, item in value.items() if name != key}
        return source.choice(
            (rest, {**rest, f"{key}x": value[key]}, {**value, "": 1}, {**rest, key.upper(): value[key]})
        )
    if isinstance(value, list) and value and source.random() < 0.85:
        place = source.randrange(len(value))
        if source.random() < 0.7:
            return [*value[:place], damaged_value(value[place], source), *value[place + 1 :]]
        return source.choice((value[:place] + value[place + 1 :], [*value, value[place]], value * 3))
    if isinstance(value, str) and value and source.random() < 0.3:
        return damaged_text(value, source, [str(strange) for strange in STRANGE])
    return source.choice(STRANGE)
