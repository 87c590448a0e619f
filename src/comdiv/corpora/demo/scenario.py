"""Scenarios: small worlds in YAML from which problems are told step by step.

A scenario has slots (who, what, where) and steps. A step tells one or two facts, computes a value from them and from
the value of the step before (`it`), and may ask for it. A path of steps is a problem, so every scenario goes on where
another problem would end: what operation 1 of the augmentation needs (§IV).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from comdiv.corpora.demo.kinds import NumberKind, parse_kind
from comdiv.errors import ComdivError, unknown_name
from comdiv.expression import Expression, operator_count, parse

DEMO_LANGUAGES = ("en", "zh")
PLACEHOLDER = re.compile(r"\{([a-z_]+)(?:\.([a-z_]+))?\}")
SENTENCE = re.compile(r"[^.?!;。？！；]+[.?!;。？！；]*")
_NAME = re.compile(r"[a-z_]+")
_COMPARISON = re.compile(r"(.+?)(<=|>=|<|>)(.+)")

Forms = Mapping[str, str]  # a slot's entry: form → text; the first form is printed by default


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
    """One step. In `value` and conditions N0 is the value before (`it`), N1, N2… are the quantities in their order."""

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


# Texts only: `off` is a word here, not a truth value, and nothing but plain data can come out.
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
            raise ComdivError(f"step '{data.id}': '{condition}' is no comparison")
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
        raise ComdivError(f"step '{data.id}': each quantity is told once and never asked: {text}")
    if any(character.isdigit() for character in text):
        raise ComdivError(f"step '{data.id}': a digit that is no quantity: {text}")


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
