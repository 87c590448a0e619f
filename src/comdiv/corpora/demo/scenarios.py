"""Scenarios: small worlds in YAML from which problems are built step by step.

A scenario has slots (who, what, where) and steps. A step tells one or two facts, computes a value from them and from
the value of the previous step (`it`), and may ask for it. A path of steps is a problem, so a scenario continues where
a shorter problem would end: operation 1 of the augmentation needs such problems (§IV).

The kind of a quantity or result says what may be drawn, what results are allowed, and how to write it: `whole 4..18`,
`whole 20..400 step 20`, `decimal 0.5..3 step 0.1`, `money 2..20 step 0.25`, `share 1/6..5/6`, `percent 10..60 step 5`.
"""

import math
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from comdiv.errors import ComdivError, unknown_name
from comdiv.expression import Expression, format_number, operator_count, parse

DEMO_LANGUAGES = ("en", "zh")
PLACEHOLDER = re.compile(r"\{([a-z_]+)(?:\.([a-z_]+))?\}")
SENTENCE = re.compile(r"[^.?!;。？！；]+[.?!;。？！；]*")
_NAME = re.compile(r"[a-z_]+")
_COMPARISON = re.compile(r"(.+?)(<=|>=|<|>)(.+)")

Forms = Mapping[str, str]  # a slot's entry: form → text; the first form is printed by default
KindName = Literal["whole", "decimal", "money", "share", "percent"]
_KIND = re.compile(
    r"(?P<name>[a-z]+)(?:\s+(?P<low>[\d./]+)\.\.(?P<high>[\d./]+)(?:\s+step\s+(?P<step>[\d.]+))?)?", re.ASCII
)
_DENOMINATORS = range(2, 11)
_DEFAULT_STEP = {
    "whole": Fraction(1), "decimal": Fraction(1, 10), "money": Fraction(1, 4), "percent": Fraction(5),
}  # fmt: skip


@dataclass(frozen=True)
class NumberKind:
    """A range of numbers of one kind; `choices` are all of them."""

    name: KindName
    low: Fraction
    high: Fraction
    step: Fraction

    @cached_property
    def choices(self) -> tuple[Fraction, ...]:
        if self.name == "share":
            fractions = {Fraction(top, bottom) for bottom in _DENOMINATORS for top in range(1, bottom)}
            return tuple(sorted(value for value in fractions if self.low <= value <= self.high))
        scale = 100 if self.name == "percent" else 1
        count = (self.high - self.low) // self.step
        return tuple((self.low + self.step * index) / scale for index in range(int(count) + 1))

    def draw(self, random_source: random.Random) -> Fraction:
        """One of the choices, uniformly."""
        return random_source.choice(self.choices)

    def accepts(self, value: Fraction) -> bool:
        """Whether a computed value is a sensible result of this kind; `step` restricts only what is drawn."""
        if self.name == "share":
            return 0 < value < 1 and value.denominator <= 100
        if self.name == "percent":
            return self.low <= value * 100 <= self.high
        places = {"whole": 0, "decimal": 2, "money": 2}[self.name]
        return self.low <= value <= self.high and (value * 10**places).denominator == 1

    def write(self, value: Fraction, thousands: str) -> str:
        """The number as printed in a textbook; `thousands` separates groups of digits (English), or is empty."""
        if self.name == "percent":
            return f"{format_number(value * 100)}%"
        if self.name == "share":
            return f"{value.numerator}/{value.denominator}"
        if self.name == "money" and value.denominator != 1:
            return f"{math.floor(value)}.{round(value % 1 * 100):02d}"
        if value.denominator == 1 and thousands:
            return f"{value.numerator:,}"
        return format_number(value)


def parse_kind(text: str) -> NumberKind:
    """A kind from its text; raises `ComdivError` that says what is wrong."""
    match = _KIND.fullmatch(text.strip())
    if match is None or match["name"] not in get_args(KindName):
        raise ComdivError(f"'{text}' is not a kind of number such as 'whole 4..18 step 2'")
    name: KindName = match["name"]  # type: ignore[assignment]
    if match["low"] is None and name != "share":
        raise ComdivError(f"'{text}' lacks a range such as '4..18'")
    low, high = Fraction(match["low"] or "0"), Fraction(match["high"] or "1")
    kind = NumberKind(name, low, high, Fraction(match["step"] or _DEFAULT_STEP.get(name, Fraction(1))))
    if not low < high or not kind.choices:
        raise ComdivError(f"'{text}' is an empty range")
    return kind


class _StepData(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    after: list[str] = []
    quantities: dict[str, str]
    value: str
    result: str | None = None
    where: list[str] = []
    tell: list[str]
    ask: list[str] = []


class _ScenarioData(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    slots: dict[str, str | list[str | dict[str, str]]] = {}
    steps: list[_StepData]


@dataclass(frozen=True)
class Condition:
    """`left < right`, both over the step's names."""

    left: Expression
    sign: str
    right: Expression


@dataclass(frozen=True)
class Step:
    """One step. In `value` and conditions, N0 is the previous value (`it`); N1, N2… are the quantities in order."""

    id: str
    after: tuple[str, ...]
    quantities: Mapping[str, NumberKind]
    value: Expression
    result: NumberKind | None
    conditions: tuple[Condition, ...]
    tell: tuple[str, ...]
    ask: tuple[str, ...]

    @property
    def operators(self) -> int:
        return operator_count(self.value)


@dataclass(frozen=True)
class Scenario:
    """A world with its slots and steps."""

    id: str
    slots: Mapping[str, tuple[Forms, ...]]
    steps: Mapping[str, Step]

    def paths(self, most_operators: int) -> Iterator[tuple[Step, ...]]:
        """All paths from a root to a step that asks, with 1 to `most_operators` operators."""
        waiting: list[tuple[Step, ...]] = [(step,) for step in self.steps.values() if not step.after]
        while waiting:
            path = waiting.pop(0)
            operators = sum(step.operators for step in path)
            if path[-1].ask and 1 <= operators <= most_operators:
                yield path
            if operators < most_operators:
                waiting += [(*path, step) for step in self.steps.values() if path[-1].id in step.after]


@cache
def load_scenarios(language: str) -> tuple[Scenario, ...]:
    """The scenarios of a demo language, checked; ordered by file and place, so that seeds mean the same everywhere."""
    if language not in DEMO_LANGUAGES:
        raise unknown_name("demo language", language, DEMO_LANGUAGES)
    folder = files("comdiv.corpora.demo").joinpath(language)
    documents = {
        entry.name: yaml.load(entry.read_text(encoding="utf-8"), _TextLoader)
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".yaml")
    }
    lexicon = {name: tuple(map(_forms, entries)) for name, entries in documents.pop("lexicon.yaml").items()}
    scenarios = tuple(_scenario(data, lexicon, name) for name, items in documents.items() for data in items)
    check_frames(scenarios)
    return scenarios


# Strings only: `off` is a word here, not a truth value, and the result can only be plain data.
_TextLoader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _scenario(data: Any, lexicon: Mapping[str, tuple[Forms, ...]], file: str) -> Scenario:
    where = f"{file}, scenario '{data.get('id', '?') if isinstance(data, dict) else '?'}'"
    try:
        checked = _ScenarioData.model_validate(data)
        slots: dict[str, tuple[Forms, ...]] = {}
        for name, entries in checked.slots.items():
            if isinstance(entries, str):
                if entries.removeprefix("$") not in lexicon:
                    raise unknown_name("lexicon list", entries, (f"${known}" for known in lexicon))
                slots[name] = lexicon[entries.removeprefix("$")]
            else:
                slots[name] = tuple(map(_forms, entries))
        steps = {step.id: _step(step, slots) for step in checked.steps}
        for step in steps.values():
            for before in step.after:
                if before not in steps:
                    raise unknown_name("step", before, steps)
    except ValidationError as error:
        first = error.errors()[0]
        raise ComdivError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except ComdivError as error:
        raise ComdivError(f"{where}: {error}") from error
    return Scenario(checked.id, slots, steps)


def _step(data: _StepData, slots: Mapping[str, tuple[Forms, ...]]) -> Step:
    names = (["it"] if data.after else ["_"]) + list(data.quantities)
    for text in (*data.tell, *data.ask):
        _check_text(text, data, slots, told=text in data.tell)
    conditions = []
    for condition in data.where:
        match = _COMPARISON.fullmatch(condition)
        if match is None:
            raise ComdivError(f"step '{data.id}': '{condition}' is not a comparison")
        conditions.append(Condition(_over(match[1], names), match[2], _over(match[3], names)))
    return Step(
        id=data.id,
        after=tuple(data.after),
        quantities={name: parse_kind(kind) for name, kind in data.quantities.items()},
        value=_over(data.value, names),
        result=parse_kind(data.result) if data.result else None,
        conditions=tuple(conditions),
        tell=tuple(data.tell),
        ask=tuple(data.ask),
    )


def _over(text: str, names: list[str]) -> Expression:
    """An expression over the step's names."""

    def numbered(match: re.Match[str]) -> str:
        if match[0] not in names:
            raise unknown_name("name", match[0], names)
        return f"N{names.index(match[0])}"

    return parse(_NAME.sub(numbered, text))


def _check_text(text: str, data: _StepData, slots: Mapping[str, tuple[Forms, ...]], *, told: bool) -> None:
    used = [match.groups() for match in PLACEHOLDER.finditer(text)]
    for name, form in used:
        if name in data.quantities:
            continue
        if name not in slots:
            raise unknown_name("slot", name, [*slots, *data.quantities])
        if form and any(form not in entry for entry in slots[name]):
            raise ComdivError(f"step '{data.id}': an entry of slot '{name}' has no form '{form}'")
    quantities = sorted(name for name, _ in used if name in data.quantities)
    if quantities != (sorted(data.quantities) if told else []):
        raise ComdivError(f"step '{data.id}': each quantity must be told exactly once, and not in the question: {text}")
    if any(character.isdigit() for character in text):
        raise ComdivError(f"step '{data.id}': a digit that is not a quantity: {text}")


def _forms(entry: str | dict[str, str]) -> Forms:
    return {"text": entry} if isinstance(entry, str) else entry


def check_frames(scenarios: tuple[Scenario, ...]) -> None:
    """No two scenarios share a sentence frame: a sentence with its placeholders blanked."""
    owners: dict[str, set[str]] = defaultdict(set)
    for scenario in scenarios:
        for step in scenario.steps.values():
            for text in (*step.tell, *step.ask):
                for sentence in SENTENCE.findall(PLACEHOLDER.sub("_", text)):
                    owners[sentence.strip().lower()].add(scenario.id)
    for frame, ids in owners.items():
        if len(ids) > 1:
            raise ComdivError(f"scenarios {', '.join(sorted(ids))} share the sentence '{frame}'")


def default_form(entry: Forms) -> str:
    """What `{slot}` prints: the first form."""
    return next(iter(entry.values()))
