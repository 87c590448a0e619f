"""What judges are given, wherever they judge: a sample of problems, in one order for all, and three questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from comdiv.corpora.hub import equation_over_numbers
from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA
from comdiv.expression import format_number
from comdiv.problem import Problem

# §V-D: what a good problem is
QUESTIONS = {
    "grammar": "Is every sentence grammatical?",
    "fluency": "Does it read as a person would write it?",
    "logic": "Does it make sense, and do equation and answer belong to it?",
}
assert tuple(QUESTIONS) == CRITERIA


@dataclass(frozen=True, slots=True)
class Sheet:
    """A problem as a judge sees it: nothing tells who or what wrote it."""

    id: str
    text: str
    equation: str
    answer: str

    def to_json(self) -> dict[str, Any]:
        """The fields in their order."""
        return {"text": self.text, "equation": self.equation, "answer": self.answer}


def draw_sheets(problems: Sequence[Problem], sample: int | None = None, seed: int = 0) -> list[Sheet]:
    """The problems to judge: all or a sample, shuffled so that their order tells nothing; same seed, same sheets."""
    if not problems:
        raise ComdivError("there are no problems to judge")
    size = len(problems) if sample is None else sample
    if size > len(problems):
        raise ComdivError(f"a sample of {size} from {len(problems)} problems: there are not as many")
    chosen = Random(seed).sample(sorted(problems, key=lambda problem: problem.id), size)
    return [
        Sheet(
            problem.id,
            problem.text,
            equation_over_numbers(problem) or "",
            "" if problem.answer is None else format_number(problem.answer),
        )
        for problem in chosen
    ]
