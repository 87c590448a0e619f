"""The recorded hashes: one JSON file, with the versions of the libraries that they were recorded with."""

import json
from importlib.metadata import version
from pathlib import Path

PATH = Path(__file__).with_name("golden.json")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "rjieba", "textblob", "torch")


def versions() -> dict[str, str]:
    """The libraries that may change a result."""
    return {name: version(name) for name in LIBRARIES}


def recorded() -> dict[str, dict[str, str]]:
    """The hashes of each recording, by name."""
    hashes: dict[str, dict[str, str]] = json.loads(PATH.read_text(encoding="utf-8"))["recordings"]
    return hashes


def difference(name: str, hashes: dict[str, str]) -> str:
    """What is not as it was recorded, with the libraries that are not either; empty where all is equal."""
    content = json.loads(PATH.read_text(encoding="utf-8"))
    wanted = content["recordings"].get(name, {})
    keys = [key for key in {**wanted, **hashes} if wanted.get(key) != hashes.get(key)]
    if not keys:
        return ""
    lines = [f"{name}: {key}: recorded {wanted.get(key)}, now {hashes.get(key)}" for key in keys]
    now = versions()
    others = [f"{lib} {old} (now {now[lib]})" for lib, old in content["versions"].items() if now[lib] != old]
    return "\n".join([*lines, *([f"recorded with {', '.join(others)}"] if others else [])])


def write(hashes: dict[str, dict[str, str]]) -> None:
    """Replace the file."""
    content = {"versions": versions(), "recordings": dict(sorted(hashes.items()))}
    PATH.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
