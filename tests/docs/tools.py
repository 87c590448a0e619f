"""The scripts of the documentation, which are no package: loaded from their files."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

TOOLS = Path(__file__).resolve().parents[2] / "docs" / "_tools"


def load_tool(name: str) -> ModuleType:
    """A script as a module."""
    sys.path.insert(0, str(TOOLS))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(TOOLS))
