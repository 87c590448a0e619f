"""Every kind of file that comdiv reads, damaged in a few ways each: it is read, or refused in one line.

`make fuzz` draws thousands of cases; here every kind of file has its turn.
"""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from comdiv.augmentation import AugmentationOptions, augment_dataset
from comdiv.dataset import FACTS, Dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.synthesis import load_rules
from comdiv.synthesis import rules as rules_module
from experiments.tiny import tiny_problems
from fuzz.folders import FOLDERS, damaged_folder, examine, patterns

TIMES = 2  # that each kind of file is damaged
OPTIONS = AugmentationOptions.preset().changed(rounds=1, growth=0.2)


def _make_rules(folder: Path) -> None:
    shutil.copyfile(Path(rules_module.__file__).with_name("rules.yaml"), folder / "rules.yaml")


def _make_augmentation(folder: Path) -> None:
    problems = tiny_problems()
    write_dataset(folder / "data", Dataset(tuple(problems[:20]), tuple(problems[20:24]), ()), title="tiny")
    augment_dataset(folder / "data", folder / "out", OPTIONS)
    (folder / "out" / FACTS).unlink()  # as if it had been stopped just before the end


MORE: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "rules": (_make_rules, lambda folder: load_rules(folder / "rules.yaml") and None),
    "augmentation": (
        _make_augmentation, lambda folder: augment_dataset(folder / "data", folder / "out", OPTIONS) and None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [*FOLDERS, *MORE])
def test_a_damaged_file_is_read_or_refused_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in MORE:
        monkeypatch.setitem(FOLDERS, name, MORE[name])  # type: ignore[misc]
    lines: list[str] = []
    for pattern in patterns(name):
        for number in range(TIMES):
            case = damaged_folder(name, pattern, random.Random(f"{name} {pattern} {number}"))
            try:
                examine(case)
            except ComdivError as error:
                lines.append(str(error))
            except Exception as error:
                raise AssertionError(f"{pattern}, damage {number}") from error
    assert lines  # some of the damage matters
    assert [line for line in lines if "\n" in line] == []
