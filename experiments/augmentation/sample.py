"""Draw new problems and originals to be judged, shuffled, without saying which is which.

    python experiments/augmentation/sample.py FOLDER CORPUS OPERATION NEW ORIGINALS

FOLDER is what `comdiv augment CORPUS --out FOLDER` left. Prints a number, the text, the expression and its value for
each; with `--key` the numbers and ids, for joining verdicts afterwards.
"""

import random
import sys

from comdiv.corpora import read_corpus
from comdiv.dataset import read_dataset
from comdiv.expression import to_infix
from comdiv.expression.evaluation import format_number
from comdiv.problem import Problem

SEED = 2026


def drawn(folder: str, corpus: str, operation: str, new: int, originals: int) -> list[Problem]:
    """The problems in the order in which they are judged."""
    from pathlib import Path

    source = random.Random(f"{SEED}/{operation}")
    made = [p for p in read_dataset(Path(folder)).train if p.provenance.operation == f"operation {operation}"]
    given = [p for p in read_corpus(corpus).problems if p.expression is not None]
    chosen = source.sample(made, new) + source.sample(given, originals)
    source.shuffle(chosen)
    return chosen


def main() -> None:
    """Print the sample, or its key."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--key"]
    chosen = drawn(arguments[0], arguments[1], arguments[2], int(arguments[3]), int(arguments[4]))
    for number, problem in enumerate(chosen, start=1):
        if "--key" in sys.argv:
            print(number, problem.id)  # noqa: T201
        elif problem.expression is not None and problem.answer is not None:
            print(f"{number}. {problem.text} | {to_infix(problem.expression)} = {format_number(problem.answer)}")  # noqa: T201


if __name__ == "__main__":
    main()
