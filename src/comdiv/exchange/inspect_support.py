"""Tasks of this folder for Inspect: data, prompts with examples from the training side, and a scorer of numbers.

It needs nothing but `inspect_ai`: the folder can be taken anywhere. `comdiv export inspect` puts it here.
"""

import json
import re
from pathlib import Path
from typing import Any

from comdiv_scoring import answer_in, process_results
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

FOLDER = Path(__file__).parent


def make_task(part: str, style: str, shots: int) -> Task:
    """The task for one part of the test side, in one style of prompt, with `shots` examples."""
    told = json.loads((FOLDER / "parts.json").read_text(encoding="utf-8"))[part]
    prompt = told["styles"][style]
    examples = [
        _fill(prompt["question"], row) + _gap(prompt) + _fill(prompt["target"], row) for row in _rows(told["train"])
    ]
    beginning = "\n\n".join([prompt["instruction"], *examples[:shots]])
    samples = [
        Sample(
            id=row["id"],
            input=f"{beginning}\n\n{_fill(prompt['question'], row)}",
            target=row["answer"],
            metadata={"id": row["id"], "answer": row["answer"]},
        )
        for row in _rows(told["test"])
    ]
    return Task(
        dataset=MemoryDataset(samples, name=part),
        solver=generate(),
        scorer=number(),
        config=GenerateConfig(temperature=0.0, max_tokens=prompt["tokens"]),
    )


@scorer(metrics=[accuracy(), stderr()])  # type: ignore[untyped-decorator,unused-ignore]
def number() -> Scorer:
    """Whether an answer's number is right: exactly if the gold one is whole, otherwise within 0.0001 relative."""

    async def score(state: TaskState, target: Target) -> Score:
        written = answer_in(state.output.completion)
        right = process_results({"answer": target.text}, [written])["within_tolerance"]
        return Score(value=CORRECT if right else INCORRECT, answer=written, explanation=state.output.completion)

    return score


def _rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / path).read_text(encoding="utf-8").splitlines() if line.strip()]


def _fill(template: str, row: dict[str, Any]) -> str:
    """Fill in the prompt in one pass, so that a problem whose text contains `{{answer}}` is not given it."""
    return re.sub(r"{{(text|answer|solution)}}", lambda match: str(row[match[1]]), template)


def _gap(prompt: dict[str, Any]) -> str:
    return "" if prompt["question"].endswith(("：", ":\n")) else " "
