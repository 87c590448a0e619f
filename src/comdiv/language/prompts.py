"""How to prompt a language model and show it examples: the contents of a language's `prompts.yaml`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from comdiv.errors import unknown_name


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
    """The prompt styles of one language, the direct one first, and the wording of a worked solution.

    `program` asks for an expression; other harnesses do not get it, because they cannot evaluate expressions.
    """

    styles: tuple[PromptStyle, ...]
    between_steps: str
    after_steps: str
    answer: str
    program: PromptStyle | None = None

    def style(self, name: str) -> PromptStyle:
        """The style of that name; an unknown one, or one that the language lacks, is an error."""
        styles = {style.name: style for style in (*self.styles, self.program) if style is not None}
        if name not in styles:
            raise unknown_name("style of prompt", name, styles)
        return styles[name]

    def solution(self, steps: Sequence[str], answer: str) -> str:
        """The steps of a calculation and its answer, as shown in a worked example."""
        told = self.between_steps.join(steps) + self.after_steps if steps else ""
        return told + self.answer.format(answer=answer)


def prompts_from(table: Mapping[str, Any]) -> Prompts:
    """The prompts that a `prompts.yaml` describes."""
    solution, program = table["solution"], table.get("program")
    return Prompts(
        styles=tuple(map(_style, table["styles"])),
        between_steps=solution["between_steps"],
        after_steps=solution["after_steps"],
        answer=solution["answer"],
        program=_style(program) if program else None,
    )


def _style(record: Mapping[str, Any]) -> PromptStyle:
    return PromptStyle(**{**record, "until": tuple(record["until"])})
