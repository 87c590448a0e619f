"""A small dataset folder with its i.i.d. control, and a synthesised one with both halves: what exports start from."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from comdiv.corpora.demo import generate
from comdiv.dataset import Dataset, write_dataset
from comdiv.problem import Problem


def small_dataset(problems: Sequence[Problem], folder: Path, method: str | None) -> None:
    facts = {"made_by": "a test", **({"settings": {"method": method}} if method else {})}
    dataset = Dataset(tuple(problems[:12]), tuple(problems[12:15]), tuple(problems[15:]), facts)
    write_dataset(folder, dataset, title=f"{folder.name} by {method}", paragraphs=["compound divergence: 0.9"])


@pytest.fixture(scope="session")
def split_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12/3/10 English problems, and the same ones the other way round as the i.i.d. control."""
    folder = tmp_path_factory.mktemp("made") / "shop-comdiv"
    problems = list(generate("en", 25))
    small_dataset(problems, folder, "dbca")
    small_dataset(problems[::-1], folder / "iid", "iid")
    return folder


@pytest.fixture(scope="session")
def synthesised_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12/3/6 Chinese problems; the test side is half structural, half lexical."""
    folder = tmp_path_factory.mktemp("made") / "sd"
    problems = list(generate("zh", 21))
    test = [
        replace(problem, composition="structural" if number % 2 else "lexical")
        for number, problem in enumerate(problems[15:])
    ]
    small_dataset([*problems[:15], *test], folder, None)
    return folder
