"""Operation 1 by unifying (§IV): one problem's story keeps its words and goes on with a step of another problem.

The *donor* is the problem whose narrative is kept; it determines what its question asks for. A *host* shows a step,
such as sharing out or comparing, which the language applies to the donor's people and things
(`comdiv.language.sequels`). Numbers that do not fit are replaced by others that the training set has for the same unit.
Everything is learnt from the training set.
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
VARIANTS = 4  # problems from one donor and one sequel
HOSTS = 4  # hosts tried for each of them
WHOLE_SHARE = 0.95  # of a unit's values; with as many whole numbers, the unit counts things
LEAST_NUMBERS = 3  # of a unit beside a thing, before one of them is drawn
ALIKE = (Fraction(2, 3), Fraction(3, 2))  # another's time or pace, as a multiple of the story's own
LEAST_USES = 2  # clauses of the training set that must show a use of a thing
LARGEST = {"topic": Fraction(10), "part": Fraction(1, 2)}  # number, as a multiple of what the story counts
SLOWEST, FASTEST = 20, 130  # kilometres per hour that a car drives
MOST_TIMES = 12  # that one amount is another
FURTHEST = 4  # times the median of a sequel's hosts: larger numbers are of another kind
ROUND = (10, 20, 50, 100)  # what people pay with
MOST_COUNTED = 100  # of things without a unit of their own, such as boxes to fill
READABLE = frozenset([1, 2, 4, 5, 8, 10, 20, 25, 50, 100])  # denominators of values that can be written with decimals


class HostStep(NamedTuple):
    """The last step of a host: its number, and its words for open slots of the sequel."""

    place: int
    number: Quantity
    words: Mapping[str, str]


class Values(NamedTuple):
    """The numbers of a new problem: the story's, and the sequel's."""

    story: tuple[Fraction, ...]
    number: Fraction


class UsualNumbers:
    """The numbers that the training set has for each unit, stated or asked for, and for a unit beside a thing."""

    def __init__(self, readings: Sequence[Reading], language: Sequels) -> None:
        values: defaultdict[str, list[Fraction]] = defaultdict(list)
        beside: defaultdict[tuple[str, str], list[Fraction]] = defaultdict(list)
        self._language = language
        for reading in readings:
            stated = [(one.unit, one.value) for one in reading.quantities if one.unit and one.kind == "measure"]
            if reading.asked_unit and reading.value is not None:
                stated.append((reading.asked_unit, reading.value))
            kinds = dict.fromkeys(
                kind
                for clause in range(len(reading.clauses))
                for thing in language.things(reading, clause)
                for kind in language.kinds(thing)
            )
            for unit, value in stated:
                values[unit].append(value)
            largest = dict(sorted(stated, key=lambda one: one[1]))
            for unit, value in largest.items():  # prices and lengths, not what is paid back or cut off
                for kind in kinds:
                    beside[kind, unit].append(value)
        self._beside = {those: numbers for those, numbers in beside.items() if len(numbers) >= LEAST_NUMBERS}
        self._values = {unit: sorted(those) for unit, those in values.items()}
        self._all = sorted(value for those in values.values() for value in those)
        self._whole = {
            unit for unit, those in self._values.items()
            if sum(value.denominator == 1 for value in those) >= WHOLE_SHARE * len(those)
        }  # fmt: skip

    def admit(self, value: Fraction, unit: str) -> bool:
        """Whether a value is usual for the unit."""
        those = self._values.get(unit)
        if value <= 0 or value.denominator not in READABLE or (unit in self._whole and value.denominator != 1):
            return False
        return those is None or those[0] / 2 <= value <= those[-1 - len(those) // 50] * 2

    def draw(self, unit: str, source: random.Random) -> Fraction | None:
        """A number that the training set has for the unit, or for any if it does not have this one."""
        those = self._values.get(unit) or self._all
        return source.choice(those) if those else None

    def draw_of(self, thing: str, unit: str, source: random.Random) -> Fraction | None:
        """A number that the training set has for the unit beside the thing, or beside others of its kind.

        A washing machine costs what such machines cost, not what a pencil does; None if the training set has too few.
        """
        if not thing:
            return self.draw(unit, source)
        those = next(
            (self._beside[kind, unit] for kind in self._language.kinds(thing) if (kind, unit) in self._beside), ()
        )
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
    usual: Mapping[str, Fraction]  # the median of the hosts' numbers, by the name of the sequel

    @classmethod
    def learn(cls, readings: Sequence[Reading], places: Sequence[int], language: Sequels) -> "Unifier":
        """Learn from the problems of the current set that are in this language; `places` says where they are."""
        mine = [readings[place] for place in places]
        topics = {place: topic for place, topic in zip(places, language.topics(mine), strict=True) if topic is not None}
        steps: defaultdict[str, list[HostStep]] = defaultdict(list)
        for place in places:
            for sequel, step in steps_of(place, readings[place], language):
                steps[sequel].append(step)
        names = Counter(topic.slots["owner"] for topic in topics.values() if "named" in topic.traits)
        usual = {sequel: sorted(one.number.value for one in those)[len(those) // 2] for sequel, those in steps.items()}
        return cls(
            readings,
            language,
            topics,
            steps,
            learn_uses(mine, language),
            UsualNumbers(mine, language),
            sorted(names),
            usual,
        )

    def drafts(self, place: int, source: random.Random) -> Iterator[Draft | Refusal]:
        """The donor's story with each of its sequels, in random order."""
        topic = self.topics.get(place)
        if topic is None:
            yield Refusal("the question names nothing to go on with", (self.readings[place].problem.id,))
            return
        others = self.language.companions(topic, self.names)
        fitting = [
            sequel for sequel in self.language.sequels
            if self._fits(sequel, topic) and (others or not sequel.compares)
        ]  # fmt: skip
        if not fitting:
            yield Refusal("nobody and nothing to compare with", (self.readings[place].problem.id,))
        # Each sequel once before any comes again.
        for sequel in [one for _ in range(VARIANTS) for one in source.sample(fitting, len(fitting))]:
            steps = self.steps[sequel.name]
            for step in source.sample(steps, min(HOSTS, len(steps))):
                draft = self._draft(place, topic, sequel, step, others, source)
                yield draft
                if not isinstance(draft, Refusal):
                    break

    def _fits(self, sequel: Sequel, topic: Topic) -> bool:
        known = topic.traits | self.uses.get(topic.thing, frozenset())
        return topic.role in sequel.roles and sequel.needs <= known and sequel.name in self.steps

    def _draft(
        self, place: int, topic: Topic, sequel: Sequel, step: HostStep, others: Sequence[str], source: random.Random
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
        slots = slots_of(topic, sequel, step, source) | {"n": number}
        if others:
            other = source.choice(others)
            slots |= {"other": other, "friend": self.language.introduce(other, topic)}
        wording = source.choice(sequel.texts)
        sentences = fill_in(wording, slots, plural=topic.plural, past=topic.past)
        if sentences is None:
            return Refusal("a word that the wording needs is missing", parents)
        first = number_comes_first(wording)
        inner = renumber(donor.expression, lambda index: index + first)
        expression = sequel.compose(inner, Reference(0 if first else len(values.story)))
        if is_degenerate(expression):
            return Refusal("degenerate expression", parents)
        text = self.language.join(story, sentences, donor)
        is_unchanged = values == (_story_values(donor), step.number.value)
        return draft_of(
            (donor, host), text, expression, sequel=sequel.name, numbers="kept" if is_unchanged else "drawn"
        )

    # --- numbers ---

    def _draw_values(
        self, donor: Reading, topic: Topic, sequel: Sequel, step: HostStep, source: random.Random
    ) -> Values | None:  # fmt: skip
        """The parents' numbers if they fit; otherwise a new one in the sequel, then new ones in the story, too."""
        own = _story_values(donor)
        for attempt in range(DRAWS):
            # What no expression uses may still contradict other numbers.
            kept = attempt < DRAWS // 2 or len(donor.used) < len(donor.quantities)
            story = own if kept else redraw(donor, own, source)
            number: Fraction | None
            if sequel.number in ("topic", "part"):
                number = self.numbers.draw(topic.unit, source)
            elif sequel.number in ("paid", "whole"):
                assert donor.expression is not None
                amount = positive_value(donor.expression, story)
                if sequel.number == "paid":
                    number = next_round(amount, source)
                else:
                    number = divisible(self.numbers.draw_of(topic.thing, topic.whole_unit, source), sequel, amount)
            else:
                number = (step if attempt == 0 else source.choice(self.steps[sequel.name])).number.value
            if number is not None and self._are_plausible(donor, topic, sequel, Values(story, number)):
                return Values(story, number)
        return None

    def _are_plausible(self, donor: Reading, topic: Topic, sequel: Sequel, values: Values) -> bool:
        """Whether all intermediate values are positive and usual, and the number is of the sequel's kind."""
        assert donor.expression is not None
        number, amount = values.number, positive_value(donor.expression, values.story)
        if amount is None or not (amount < 1 if topic.unit == SHARE else self.numbers.admit(amount, topic.unit)):
            return False
        if number in values.story or not self._is_usual(sequel, number, amount):
            return False
        if sequel.number in ("time", "pace") and not is_like(number, donor, topic, values.story, sequel.number):
            return False
        answer = positive_value(sequel.step, (amount, number))
        if answer is None or answer == 1:
            return False
        if sequel.asks == "none":
            return answer.denominator == 1 and answer <= MOST_COUNTED
        if sequel.asks == "whole":
            return answer.denominator == 1
        if sequel.asks == "speed":
            return is_speed(answer) and self.numbers.admit(answer, topic.unit)
        if sequel.asks == "number":
            return answer.denominator in READABLE
        units = {"topic": topic.unit, "whole unit": topic.whole_unit}
        return self.numbers.admit(answer, units.get(sequel.asks, sequel.asks))

    def _is_usual(self, sequel: Sequel, number: Fraction, amount: Fraction) -> bool:
        """Whether a number is of the kind and size that the sequel tells."""
        if sequel.number == "share":
            return number < 1 and is_simple_share(number)
        if number <= 1 or (sequel.number == "speed" and not is_speed(number)):
            return False
        if sequel.number in LARGEST and not amount / 30 <= number <= amount * LARGEST[sequel.number]:
            return False
        if sequel.number in ("host", "count"):
            is_possible = sequel.number == "host" or number.denominator == 1
            return is_possible and number <= FURTHEST * self.usual[sequel.name]
        return sequel.number != "times" or number <= MOST_TIMES


def learn_unifiers(readings: Sequence[Reading]) -> dict[str, Unifier]:
    """A unifier for each language of the current set."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        places[reading.problem.language].append(place)
    return {code: Unifier.learn(readings, those, sequels_of(code)) for code, those in places.items()}


def learn_uses(readings: Sequence[Reading], language: Sequels) -> dict[str, frozenset[str]]:
    """What happens to each thing in at least `LEAST_USES` clauses of the training set: it is given, sold, packed…"""
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
    """The sequels that a host shows: its expression ends with their step, and their clue matches."""
    assert reading.expression is not None
    for sequel in language.sequels:
        for number in numbers_in(sequel.step, reading.expression):
            quantity = reading.quantities[number]
            is_share = is_written_as_share(quantity)
            if reading.uses[number] != 1 or is_share != (sequel.number == "share"):
                continue
            if is_share and quantity.form == "decimal":
                continue  # 0.8 is how some corpora write a discount of a fifth; nobody says so
            if match := sequel.clue.search(language.clue_text(reading, number)):
                words = {name: word for name, word in match.groupdict().items() if word}
                yield sequel.name, HostStep(place, quantity, words)
                break


def slots_of(topic: Topic, sequel: Sequel, step: HostStep, source: random.Random) -> dict[str, str]:
    """The words of a sequel: the story's, then the host's, then the sequel's own."""
    slots = {slot: source.choice(words) for slot, words in sequel.words.items()} | dict(step.words)
    return slots | {slot: word for slot, word in topic.slots.items() if word}


def is_written_as_share(quantity: Quantity) -> bool:
    """Whether a number is below one, or written as a percentage or a fraction."""
    return quantity.value < 1 or quantity.form in ("percent", "fraction", "mixed")


def numbers_in(step: Expression, tree: Expression) -> Iterator[int]:
    """The quantities in the number's place wherever a tree has the form of a step; -1 for none."""
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


def is_like(number: Fraction, donor: Reading, topic: Topic, story: Sequence[Fraction], kind: str) -> bool:
    """Whether a time, or a pace, is of about the size of one of the story's own: nobody walks back in half the time."""
    period = topic.slots.get("per", "")[:1]
    own = [
        value for quantity, value in zip(donor.quantities, story, strict=False)
        if bool(period and quantity.unit and quantity.unit[:1] == period) == (kind == "time")
    ]  # fmt: skip
    return any(ALIKE[0] <= number / value <= ALIKE[1] for value in own if value)


def is_speed(number: Fraction) -> bool:
    """Whether a car can go so many kilometres an hour."""
    return SLOWEST < number <= FASTEST


def is_simple_share(number: Fraction) -> bool:
    """Whether a share is one that schoolbooks use: a denominator of at most ten, or a multiple of 5 %."""
    return number.denominator <= 10 or (number * 20).denominator == 1


def next_round(value: Fraction | None, source: random.Random) -> Fraction | None:
    """The amount that somebody pays with when something costs the value."""
    return None if value is None else Fraction((value // (unit := source.choice(ROUND)) + 1) * unit)


def divisible(value: Fraction | None, sequel: Sequel, share: Fraction | None) -> Fraction | None:
    """The number next to a value with which the sequel's step comes out whole, such as half of an even number."""
    times_one = None if value is None else positive_value(sequel.step, (share, Fraction(1)) if share else ())
    if value is None or times_one is None:
        return None
    return Fraction(max(1, round(value / times_one.denominator)) * times_one.denominator)


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
        form = quantity.text if value == quantity.value else donor.language.write_number(value, quantity)
        start = story.find(quantity.text, position)
        if form is None or start < 0:
            return None
        pieces += [story[position:start], form]
        position = start + len(quantity.text)
    return "".join(pieces) + story[position:]


def _story_values(donor: Reading) -> tuple[Fraction, ...]:
    """The numbers before the question."""
    return donor.values[: len(donor.values) - len(donor.question.quantities)]
