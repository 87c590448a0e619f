"""Operation 1 by unifying (§IV): a story keeps its words, and what another problem does with a number follows from it.

The donor's narrative states what its question asks for. A host shows a step, such as sharing out or comparing; the
language tells that step again about the donor's people and things (`comdiv.language.sequels`). Numbers that do not fit
are drawn anew, from those that the training set has for the same unit. Everything is learnt from the training set.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from comdiv.augmentation.operations import Draft, Refusal, draft_of
from comdiv.augmentation.soundness import is_degenerate, positive_value
from comdiv.expression import Constant, Expression, Operation, Reference, renumber
from comdiv.language import sequels_of
from comdiv.language.base import SHARE
from comdiv.language.sequels import NUMBER, STORY, Sequel, Sequels, Topic, fill_in, number_comes_first
from comdiv.problem import Quantity
from comdiv.reading import Reading

DRAWS = 24  # tries to find numbers that fit; the first half keeps the donor's own
VARIANTS = 2  # problems that one donor makes with one sequel
HOSTS = 4  # hosts tried for each of them
WHOLE_SHARE = 0.95  # of a unit's values that are whole numbers: then it counts things
LEAST_USES = 2  # clauses in which the training set must show a use of a thing
LARGEST = {"topic": Fraction(10), "part": Fraction(1, 2)}  # number, as a multiple of what the story counts
SLOWEST = 20  # kilometres per hour that a car drives
MOST_COUNTED = 100  # of what has no unit of its own, such as boxes to fill
READABLE = frozenset([1, 2, 4, 5, 8, 10, 20, 25, 50, 100])  # denominators of values that can be written with decimals


class HostStep(NamedTuple):
    """The last step of a host: its number, and the words that it has for open slots of the sequel."""

    place: int
    number: Quantity
    words: Mapping[str, str]
    things: frozenset[str]  # of the number's clause


class Values(NamedTuple):
    """The numbers of a new problem: the story's, and the sequel's."""

    story: tuple[Fraction, ...]
    number: Fraction


class UsualNumbers:
    """The numbers that the training set has for each unit: what is asked or told in that unit looks like these."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        values: defaultdict[str, list[Fraction]] = defaultdict(list)
        for reading in readings:
            for quantity in reading.quantities:
                if quantity.unit and quantity.kind == "measure":
                    values[quantity.unit].append(quantity.value)
            if reading.asked_unit and reading.value is not None:
                values[reading.asked_unit].append(reading.value)
        self._values = {unit: sorted(those) for unit, those in values.items()}
        self._whole = {
            unit for unit, those in self._values.items()
            if sum(value.denominator == 1 for value in those) >= WHOLE_SHARE * len(those)
        }  # fmt: skip

    def admit(self, value: Fraction, unit: str) -> bool:
        """Whether a value is one that the training set could have for the unit."""
        those = self._values.get(unit)
        if value <= 0 or value.denominator not in READABLE or (unit in self._whole and value.denominator != 1):
            return False
        return those is None or those[0] / 2 <= value <= those[-1 - len(those) // 50] * 2

    def draw(self, unit: str, source: random.Random) -> Fraction | None:
        """A number that the training set has for the unit."""
        those = self._values.get(unit)
        return source.choice(those) if those else None


@dataclass(frozen=True)
class Unifier:
    """What is learnt from the problems of one language: topics, steps, uses of things, names, numbers."""

    readings: Sequence[Reading]
    language: Sequels
    topics: Mapping[int, Topic]  # by the place of the donor
    steps: Mapping[str, Sequence[HostStep]]  # by the name of the sequel
    uses: Mapping[str, frozenset[str]]  # of a thing
    numbers: UsualNumbers
    names: Sequence[str]  # of people with a topic of their own

    @classmethod
    def learn(cls, readings: Sequence[Reading], places: Sequence[int], language: Sequels) -> "Unifier":
        """Learn from those places of the current set that are in the language."""
        mine = [readings[place] for place in places]
        topics = {place: topic for place, topic in zip(places, language.topics(mine), strict=True) if topic is not None}
        steps: defaultdict[str, list[HostStep]] = defaultdict(list)
        for place in places:
            for sequel, step in steps_of(place, readings[place], language):
                steps[sequel].append(step)
        names = Counter(topic.slots["owner"] for topic in topics.values() if "named" in topic.traits)
        return cls(readings, language, topics, steps, learn_uses(mine, language), UsualNumbers(mine), sorted(names))

    def drafts(self, place: int, source: random.Random) -> Iterator[Draft | Refusal]:
        """The donor's story with one sequel after the other, in random order."""
        topic = self.topics.get(place)
        if topic is None:
            yield Refusal("the question names nothing to go on with", (self.readings[place].problem.id,))
            return
        turns = [sequel for sequel in self.language.sequels if self._fits(sequel, topic)] * VARIANTS
        source.shuffle(turns)
        for sequel in turns:
            steps = self._steps(sequel, topic)
            for step in source.sample(steps, min(HOSTS, len(steps))):
                draft = self._draft(place, topic, sequel, step, source)
                yield draft
                if not isinstance(draft, Refusal):
                    break

    def _steps(self, sequel: Sequel, topic: Topic) -> Sequence[HostStep]:
        """The hosts of a sequel: all that show it, or only those about the same thing."""
        steps = self.steps[sequel.name]
        if not sequel.same_thing:
            return steps
        return [step for step in steps if topic.thing in step.things and self.language.suits(topic, step.number.unit)]

    def _fits(self, sequel: Sequel, topic: Topic) -> bool:
        known = topic.traits | self.uses.get(topic.thing, frozenset())
        return topic.role in sequel.roles and sequel.needs <= known and sequel.name in self.steps

    def _draft(
        self, place: int, topic: Topic, sequel: Sequel, step: HostStep, source: random.Random
    ) -> Draft | Refusal:  # fmt: skip
        donor, host = self.readings[place], self.readings[step.place]
        assert donor.expression is not None
        parents = (donor.problem.id, host.problem.id)
        values = self._draw_values(donor, topic, sequel, step, source)
        if values is None:
            return Refusal("no numbers fit", parents)
        story = write_values(topic.story, donor, values.story)
        number = donor.language.write_number(values.number, step.number)
        if story is None or number is None:
            return Refusal("a number cannot be written in its form", parents)
        slots = self._slots(topic, sequel, step, source) | {"n": number}
        wording = source.choice(sequel.texts)
        sentences = fill_in(wording, slots, plural=topic.plural)
        if sentences is None:
            return Refusal("nobody and nothing to compare with", parents)
        first = number_comes_first(wording)
        inner = renumber(donor.expression, lambda index: index + first)
        expression = sequel.compose(inner, Reference(0 if first else len(values.story)))
        if is_degenerate(expression):
            return Refusal("degenerate expression", parents)
        text = self.language.join(story, sentences, donor)
        kept = values == (_story_values(donor), step.number.value)
        return draft_of((donor, host), text, expression, sequel=sequel.name, numbers="kept" if kept else "drawn")

    def _slots(self, topic: Topic, sequel: Sequel, step: HostStep, source: random.Random) -> dict[str, str]:
        """The words of the sequel: the story's, then the host's, then the sequel's own."""
        slots = {slot: source.choice(words) for slot, words in sequel.words.items()} | dict(step.words)
        slots["hu"] = step.number.unit or ""
        slots |= {slot: word for slot, word in topic.slots.items() if word}
        if companions := self.language.companions(topic, self.names):
            slots["other"] = source.choice(companions)
        return slots

    # --- numbers ---

    def _draw_values(
        self, donor: Reading, topic: Topic, sequel: Sequel, step: HostStep, source: random.Random
    ) -> Values | None:  # fmt: skip
        """The parents' own numbers if they fit, else other numbers of the sequel, else also of the story."""
        own = _story_values(donor)
        for attempt in range(DRAWS):
            story = own if attempt < DRAWS // 2 else redraw(donor, own, source)
            if sequel.number in ("topic", "part"):
                number = self.numbers.draw(topic.unit, source)
            else:
                number = (step if attempt == 0 else source.choice(self._steps(sequel, topic))).number.value
            if number is not None and self._are_plausible(donor, topic, sequel, Values(story, number)):
                return Values(story, number)
        return None

    def _are_plausible(self, donor: Reading, topic: Topic, sequel: Sequel, values: Values) -> bool:
        """Whether all values on the way are positive and usual, and the number is of the kind that the sequel tells."""
        assert donor.expression is not None
        number, told = values.number, positive_value(donor.expression, values.story)
        if told is None or not (told < 1 if topic.unit == SHARE else self.numbers.admit(told, topic.unit)):
            return False
        if sequel.number == "share":
            if number >= 1 or not is_simple_share(number):
                return False
        elif number <= (SLOWEST if sequel.number == "speed" else 1) or (
            sequel.number in LARGEST and not told / 30 <= number <= told * LARGEST[sequel.number]
        ):
            return False
        answer = positive_value(sequel.step, (told, number))
        if answer is None or answer == 1:
            return False
        if sequel.asks == "none":
            return answer.denominator == 1 and answer <= MOST_COUNTED
        if sequel.asks == "whole":
            return answer.denominator == 1
        if sequel.asks == "number":
            return answer.denominator in READABLE
        return self.numbers.admit(answer, topic.unit if sequel.asks == "topic" else sequel.asks)


def learn_unifiers(readings: Sequence[Reading]) -> dict[str, Unifier]:
    """A unifier for each language of the current set."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        places[reading.problem.language].append(place)
    return {code: Unifier.learn(readings, those, sequels_of(code)) for code, those in places.items()}


def learn_uses(readings: Sequence[Reading], language: Sequels) -> dict[str, frozenset[str]]:
    """What the training set does with a thing: it is given, sold, packed… in at least a few clauses."""
    counts: Counter[tuple[str, str]] = Counter()
    for reading in readings:
        for number in range(len(reading.clauses)):
            for thing, text in language.mentions(reading, number):
                counts.update((thing, use) for use, pattern in language.uses.items() if pattern.search(text))
    uses: defaultdict[str, set[str]] = defaultdict(set)
    for (thing, use), count in counts.items():
        if count >= LEAST_USES:
            uses[thing].add(use)
    return {thing: frozenset(those) for thing, those in uses.items()}


def steps_of(place: int, reading: Reading, language: Sequels) -> Iterator[tuple[str, HostStep]]:
    """The sequels that a host shows: its expression ends with their step, and their clue is there."""
    assert reading.expression is not None
    for sequel in language.sequels:
        for number in numbers_in(sequel.step, reading.expression):
            quantity = reading.quantities[number]
            if reading.uses[number] != 1 or is_written_as_share(quantity) != (sequel.number == "share"):
                continue
            if match := sequel.clue.search(language.clue_text(reading, number)):
                words = {name: word for name, word in match.groupdict().items() if word}
                things = frozenset(language.things(reading, reading.clause_of(number)))
                yield sequel.name, HostStep(place, quantity, words, things)
                break


def is_written_as_share(quantity: Quantity) -> bool:
    """Whether a number is below one, or written as a percentage or a fraction."""
    return quantity.value < 1 or quantity.form in ("percent", "fraction", "mixed")


def numbers_in(step: Expression, tree: Expression) -> Iterator[int]:
    """The quantities that stand in the number's place where a tree has the form of a step; -1 stands for none."""
    if step == NUMBER:
        if isinstance(tree, Reference):
            yield tree.index
    elif step == STORY or (isinstance(step, Constant) and step == tree):
        yield -1
    elif isinstance(step, Operation) and isinstance(tree, Operation) and step.operator == tree.operator:
        sides = (
            [(tree.left, tree.right), (tree.right, tree.left)] if tree.operator in "+*" else [(tree.left, tree.right)]
        )
        for left, right in sides:
            for first in numbers_in(step.left, left):
                yield from (max(first, second) for second in numbers_in(step.right, right))


def is_simple_share(number: Fraction) -> bool:
    """Whether a share is one that schoolbooks use: tenths at the finest, or a multiple of 5 %."""
    return number.denominator <= 10 or (number * 20).denominator == 1


def redraw(donor: Reading, values: Sequence[Fraction], source: random.Random) -> tuple[Fraction, ...]:
    """Other values of about the same size and form; shares and small numbers stay as they are."""
    return tuple(
        value if value <= 2 or donor.quantities[index].kind == "share" else _near(value, source)
        for index, value in enumerate(values)
    )


def _near(value: Fraction, source: random.Random) -> Fraction:
    unit = Fraction(1, value.denominator)
    low, high = max(2, int(value / unit / 2)), max(2, int(value / unit * 2))
    return source.randint(low, high) * unit


def write_values(story: str, donor: Reading, values: Sequence[Fraction]) -> str | None:
    """The story with these values in place of its numbers, each in its form; None if a form cannot represent one."""
    pieces: list[str] = []
    position = 0
    for quantity, value in zip(donor.quantities, values, strict=False):
        written = quantity.text if value == quantity.value else donor.language.write_number(value, quantity)
        start = story.find(quantity.text, position)
        if written is None or start < 0:
            return None
        pieces += [story[position:start], written]
        position = start + len(quantity.text)
    return "".join(pieces) + story[position:]


def _story_values(donor: Reading) -> tuple[Fraction, ...]:
    """The numbers before the question."""
    return donor.values[: len(donor.values) - len(donor.question.quantities)]
