"""Problems small enough to augment by hand, and ways to make more."""

import json
from pathlib import Path
from typing import Any

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.dataset import Dataset, write_dataset
from comdiv.expression import parse, value_of
from comdiv.problem import Problem
from comdiv.reading import Reading, read, read_text

SHELLS = "Joan found 70 seashells . She gave Sam 27 seashells . How many seashells does Joan have ?"
MARKS = "Sam has 9 seashells . Tom has 50 seashells . Tom lost 8 of his seashells . How many seashells does Tom have ?"
PEACHES = "苹果有12个，梨有30个，苹果和梨一共有多少个？"


def problem(name: str, text: str, expression: str, language: str = "en", **more: Any) -> Problem:
    """A problem whose answer is its expression's value."""
    tree = parse(expression)
    number_words = bool(more.get("number_words", False))
    values = read_text(text, language, number_words=number_words).values
    return Problem(name, language, text, tree, value_of(tree, values), **more)


def reading(text: str, expression: str, language: str = "en", name: str = "p", **more: Any) -> Reading:
    """The reading of such a problem."""
    return read(problem(name, text, expression, language, **more))


_NAMES = ("Joan", "Mary", "Sara", "Nancy", "Alyssa", "Sandy")
_BOYS = ("Tom", "Sam", "Dan", "Fred", "Mike", "Keith")
_THINGS = ("marbles", "seashells", "apples", "peaches")


def english(size: int = 36) -> tuple[Problem, ...]:
    """Problems about people who find and lose things: every one can ask, and many can be asked about."""
    problems = []
    for number in range(size):
        girl, boy = _NAMES[number % 6], _BOYS[(number // 6) % 6]
        thing = _THINGS[number % 4]
        first, second = 40 + number, 3 + number % 7
        kind = number % 3
        if kind == 0:
            text = f"{girl} has {first} {thing} . She gave {boy} {second} . How many {thing} does {girl} have now ?"
            problems.append(problem(f"e{number:03}", text, "N0-N1"))
        elif kind == 1:
            text = f"{boy} has {first} {thing} . He found {second} more today . How many {thing} does {boy} have now ?"
            problems.append(problem(f"e{number:03}", text, "N0+N1"))
        else:
            text = f"{girl} has {second} {thing} . {boy} has {first} times as many . How many {thing} does {boy} have ?"
            problems.append(problem(f"e{number:03}", text, "N0*N1"))
    return tuple(problems)


def write_small_dataset(folder: Path, *, unparsable_test: bool = False) -> Path:
    """A dataset folder; its test part may be one that nobody can parse."""
    problems = english()
    write_dataset(folder, Dataset(problems[:28], problems[28:32], problems[32:]), title="small")
    if unparsable_test:
        (folder / "test.jsonl").write_bytes(b'{"id": "broken"\n\xff\xfe no JSON at all\n')
    return folder


def options(preset: str = "comdiv", **changes: Any) -> AugmentationOptions:
    """Options without a ranker."""
    return AugmentationOptions.preset(preset, **{"ranker": "none", "repeat_originals": 1, **changes})


def bytes_of(folder: Path) -> dict[str, bytes]:
    """All files of an augmented dataset but those that tell of the work: timings, rankers, checkpoints."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.name != "timings.json" and "ranker" not in path.relative_to(folder).parts
    }


def records(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
