"""The demo corpora: original word problems in English and Chinese, generated from scenario data and free to share.

A problem is made from a scenario: choose a path, draw the slots and numbers, tell the story, compose the expression.
"""

import operator
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from comdiv.corpora.demo.chaining import actors, chain
from comdiv.corpora.demo.scenarios import PLACEHOLDER, Condition, Forms, Scenario, Step, default_form, load_scenarios
from comdiv.errors import ComdivError
from comdiv.expression import Constant, Expression, Leaf, Reference, map_leaves, value_of
from comdiv.problem import Problem, Provenance
from comdiv.reading import read_text

VERSION = "5"  # raised with every change of a text, because the keys of cells depend on it
DEFAULT_SIZE = 2_000
OPERATOR_WEIGHTS = {1: 35, 2: 38, 3: 19, 4: 8}  # in per cent; real corpora have few problems with four operators
MAX_TRIES = 2_000  # to find numbers that fit, and a text that is new
_SENTENCE_START = re.compile(r"(?:^|(?<=[.?!]\s))\S")
_THOUSANDS = {"en": ",", "zh": ""}  # their separators


def generate(language: str, size: int = DEFAULT_SIZE, seed: int = 0) -> Iterator[Problem]:
    """`size` different problems, the same for the same seed; a smaller corpus is a prefix of a larger one."""
    if size < 1:
        raise ComdivError(f"a corpus has at least 1 problem, not {size}")
    random_source = random.Random(f"{language} {seed}")
    paths = _paths_by_operators(language)
    seen: set[str] = set()
    for number in range(1, size + 1):
        for _ in range(MAX_TRIES):
            (operators,) = random_source.choices(list(OPERATOR_WEIGHTS), list(OPERATOR_WEIGHTS.values()))
            scenario, choices = random_source.choice(paths[operators])
            story = _tell(scenario, random_source.choice(choices), language, random_source)
            if story is not None and story.text not in seen:
                break
        else:
            raise ComdivError(f"the demo scenarios give no more than {number - 1} different problems")
        seen.add(story.text)
        yield _problem(language, number, seed, story)


@dataclass(frozen=True, slots=True)
class _DemoStory:
    scenario: Scenario
    path: tuple[Step, ...]
    text: str
    expression: Expression
    values: tuple[Fraction, ...]


@cache
def _paths_by_operators(language: str) -> dict[int, list[tuple[Scenario, list[tuple[Step, ...]]]]]:
    """For every operator count, the scenarios with such paths, so that each scenario is used equally often."""
    result: dict[int, list[tuple[Scenario, list[tuple[Step, ...]]]]] = {}
    for operators in OPERATOR_WEIGHTS:
        result[operators] = [
            (scenario, paths)
            for scenario in load_scenarios(language)
            if (paths := [p for p in scenario.paths(max(OPERATOR_WEIGHTS)) if sum(s.operators for s in p) == operators])
        ]
    return result


def _problem(language: str, number: int, seed: int, story: _DemoStory) -> Problem:
    if read_text(story.text, language).values != story.values:  # our own reader misreads it: a bug in the scenario
        raise RuntimeError(
            f"scenario '{story.scenario.id}': other quantities in the text than in the story: {story.text}"
        )
    details = {"scenario": story.scenario.id, "steps": [step.id for step in story.path], "seed": seed}
    return Problem(
        id=f"demo-{language}-{number:06d}",
        language=language,
        text=story.text,
        expression=story.expression,
        answer=value_of(story.expression, story.values),
        provenance=Provenance(corpus=f"demo-{language}", version=VERSION, details=details),
    )


def _tell(scenario: Scenario, path: tuple[Step, ...], language: str, random_source: random.Random) -> _DemoStory | None:
    """The story of a path, or None where no numbers fit (then another path is drawn)."""
    numbers = _draw_numbers(path, random_source)
    if numbers is None:
        return None
    slots = _draw_slots(scenario, random_source)
    thousands = _THOUSANDS[language]
    order: list[tuple[int, str]] = []  # (step, quantity) as they appear in the text
    pieces: list[str] = []
    for position, step in enumerate(path):

        def fill(match: re.Match[str], position: int = position, step: Step = step) -> str:
            name, form = match.groups()
            if name in step.quantities:
                order.append((position, name))
                return step.quantities[name].write(numbers[position][name], thousands)
            return slots[name][form] if form else default_form(slots[name])

        pieces.append(PLACEHOLDER.sub(fill, random_source.choice(step.tell)))
        if position == len(path) - 1:
            pieces.append(PLACEHOLDER.sub(fill, random_source.choice(step.ask)))
    if language == "zh":
        text = chain("".join(pieces), actors(slots))
    else:
        text = _SENTENCE_START.sub(lambda match: match[0].upper(), " ".join(pieces))
    values = tuple(numbers[position][name] for position, name in order)
    return _DemoStory(scenario, path, text, _compose(path, order), values)


def _draw_slots(scenario: Scenario, random_source: random.Random) -> dict[str, Forms]:
    """An entry for every slot; two slots of one list never get the same entry."""
    choices: dict[str, Forms] = {}
    for name, entries in scenario.slots.items():
        taken = [choices[other] for other, others in scenario.slots.items() if others is entries and other in choices]
        choices[name] = random_source.choice([entry for entry in entries if entry not in taken])
    return choices


def _draw_numbers(path: Sequence[Step], random_source: random.Random) -> list[dict[str, Fraction]] | None:
    """Numbers for every step such that every intermediate value is what the step says it must be."""
    for _ in range(MAX_TRIES):
        by_step: list[dict[str, Fraction]] = []
        before = Fraction(0)
        for step in path:
            numbers = {name: kind.draw(random_source) for name, kind in step.quantities.items()}
            values = (before, *numbers.values())
            before = value_of(step.value, values)
            if step.result and not step.result.accepts(before):
                break
            if not all(_holds(condition, values) for condition in step.conditions):
                break
            by_step.append(numbers)
        else:
            return by_step
    return None


_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _holds(condition: Condition, values: Sequence[Fraction]) -> bool:
    holds = _COMPARISONS[condition.sign](value_of(condition.left, values), value_of(condition.right, values))
    return bool(holds)


def _compose(path: Sequence[Step], order: list[tuple[int, str]]) -> Expression:
    """The expression of the whole path over the quantities in text order."""
    expression: Expression = Constant(Fraction(0))
    for position, step in enumerate(path):
        names = list(step.quantities)

        def placed(
            leaf: Leaf, position: int = position, names: list[str] = names, it: Expression = expression
        ) -> Expression:
            if isinstance(leaf, Constant):
                return leaf
            return it if leaf.index == 0 else Reference(order.index((position, names[leaf.index - 1])))

        expression = map_leaves(step.value, placed)
    return expression
