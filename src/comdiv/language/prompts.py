"""How a language model is asked and shown examples: the prompts of a language's `prompts.yaml`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """With or without working: what is asked for, and where the model's words end."""

    name: str
    instruction: str
    question: str  # a Jinja template over a row of the exported data
    target: str
    until: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """The styles of one language, direct first, and how a worked solution is put into words."""

    styles: tuple[PromptStyle, ...]
    between_steps: str
    after_steps: str
    answer: str

    def solution(self, steps: Sequence[str], answer: str) -> str:
        """The steps of a calculation and its answer, as a worked example shows them."""
        told = self.between_steps.join(steps) + self.after_steps if steps else ""
        return told + self.answer.format(answer=answer)


def prompts_from(table: Mapping[str, Any]) -> Prompts:
    """The prompts that a `prompts.yaml` describes."""
    styles = tuple(PromptStyle(**{**style, "until": tuple(style["until"])}) for style in table["styles"])
    solution = table["solution"]
    return Prompts(styles, solution["between_steps"], solution["after_steps"], solution["answer"])
