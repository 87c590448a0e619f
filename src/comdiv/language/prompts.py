"""How to prompt a language model and show it examples: the contents of a language's `prompts.yaml`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """A style of prompt, with or without working: what is asked for, and where the model's output ends."""

    name: str
    instruction: str
    question: str  # a Jinja template over a row of the exported data
    target: str
    until: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompt styles of one language, the direct one first, and the wording of a worked solution."""

    styles: tuple[PromptStyle, ...]
    between_steps: str
    after_steps: str
    answer: str

    def solution(self, steps: Sequence[str], answer: str) -> str:
        """The steps of a calculation and its answer, as shown in a worked example."""
        told = self.between_steps.join(steps) + self.after_steps if steps else ""
        return told + self.answer.format(answer=answer)


def prompts_from(table: Mapping[str, Any]) -> Prompts:
    """The prompts that a `prompts.yaml` describes."""
    styles = tuple(PromptStyle(**{**style, "until": tuple(style["until"])}) for style in table["styles"])
    solution = table["solution"]
    return Prompts(styles, solution["between_steps"], solution["after_steps"], solution["answer"])
