"""The twins of `export`, by any kind that the registry knows."""

from pathlib import Path

import pytest

import comdiv
from comdiv import ComdivError


def test_problems_are_exported_by_the_kinds_name(tmp_path: Path) -> None:
    facts = comdiv.export("csv", "demo-en", tmp_path / "sheet.csv")
    assert facts["problems"] == 2_000
    assert (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig").startswith("id,text,")


def test_an_unknown_kind_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=r"unknown export 'cvs'\. Did you mean 'csv'"):
        comdiv.export("cvs", "demo-en", tmp_path / "sheet.csv")
