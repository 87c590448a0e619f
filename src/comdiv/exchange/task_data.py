"""The problems of a task for an evaluation harness: a file of test problems per part, and one of examples per split.

A row is a problem's record without its provenance, but always with its answer and, where it has one, its working. The
scoring module that goes with the data does not need comdiv.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comdiv.asking.prompting import has_worked_solution, worked_solution
from comdiv.evaluation.outcomes import gold_answer
from comdiv.exchange import lm_eval_scoring
from comdiv.exchange.exports import Part, task_name
from comdiv.expression import format_number
from comdiv.files import write_json_lines, write_text
from comdiv.problem import Problem

DEFAULT_SHOTS = 4
SCORING = "comdiv_scoring"  # the module's name in the folder; `utils` would clash with others


@dataclass(frozen=True, slots=True)
class TaskData:
    """The files of a part, their language, and the number of their problems."""

    stem: str
    files: dict[str, str]
    language: str
    train: int
    test: int
    without_answer: int


def write_task_data(folder: Path, part: Part, examples: Sequence[Problem], *, labels: bool) -> TaskData | None:
    """Write the problems of a part that have an answer, and the examples; nothing if none has.

    With `labels`, every row says which composition it tests, if any test problem does.
    """
    test = [problem for problem in part.test if gold_answer(problem) is not None]
    if not test:
        return None
    stem = task_name(part.name)
    files = {"train": f"data/{task_name(part.split)}.train.jsonl", "test": f"data/{stem}.test.jsonl"}
    # One schema for both files, as `datasets` requires.
    labelled = labels and any(problem.composition for problem in test)
    for side, problems in (("train", examples), ("test", test)):
        write_json_lines(folder / files[side], (_row(problem, labelled=labelled) for problem in problems))
    language = Counter(problem.language for problem in test).most_common(1)[0][0]
    return TaskData(stem, files, language, len(examples), len(test), len(part.test) - len(test))


def worked(problems: Sequence[Problem]) -> list[Problem]:
    """The problems that can be examples: a solution step by step can be written for them."""
    return [problem for problem in problems if has_worked_solution(problem)]


def write_scoring(folder: Path) -> None:
    """Put the scoring module into a folder."""
    write_text(folder / f"{SCORING}.py", Path(lm_eval_scoring.__file__).read_text(encoding="utf-8"))


def _row(problem: Problem, *, labelled: bool) -> dict[str, Any]:
    record = problem.to_json()
    answer = gold_answer(problem)
    return {
        **{key: record[key] for key in ("id", "language", "text", "expression")},
        "answer": None if answer is None else format_number(answer),
        "number_words": problem.number_words,
        "solution": worked_solution(problem) if has_worked_solution(problem) else "",
        **({"composition": problem.composition} if labelled else {}),
    }
