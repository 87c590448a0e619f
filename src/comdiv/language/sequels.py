"""How a story goes on: what `comdiv augment --compose unify` needs from a language.

Operation 1 (§IV) puts the answer of one problem, the *donor*, where another, the *host*, states a number. To read as
one story, the donor's narrative is kept unchanged, and a *sequel* applies the host's step to the donor's people and
things: a clause with the host's number, and a question. Sequels are sentences in the `sequels.yaml` of a language's
folder; which of them suit a thing is learnt from the training set.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from comdiv.errors import ComdivError
from comdiv.expression import Expression, Leaf, Operation, Reference, map_leaves, parse, used_quantities

if TYPE_CHECKING:
    from comdiv.reading import Reading

STORY, NUMBER = Reference(0), Reference(1)  # in a step: the donor's answer and the host's number
STORY_SLOT = "{story}"  # place of the story; without it, the sequel follows the story
_CHOICE = re.compile(r"\[([^\]|]*)\|([^\]|]*)(?:\|([^\]]*))?\]")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Topic:
    """What a donor asks for, as something that a story can go on with.

    `role` says how the question puts it (somebody has it, it lies there, it was earned…), `unit` and `thing` what is
    counted, `slots` the words that sequels use. `story` is the narrative, made to end a sentence.
    """

    role: str
    unit: str
    thing: str
    story: str
    slots: Mapping[str, str]
    plural: bool = False  # whether the subject of the story is plural
    past: bool = False  # whether the story is told in the past
    traits: frozenset[str] = frozenset()  # what sequels may ask for: `count`, `measure`, `named`…

    @property
    def whole_unit(self) -> str:
        """The unit of the whole of which the story tells a share."""
        return self.slots.get("hu", "")


@dataclass(frozen=True, slots=True)
class Sequel:
    """One way to go on: `step` is the expression over the story's value and the number, `texts` are its wordings.

    A host shows the step if its expression ends with it and `clue` matches the number's clause and the question. Named
    groups of the clue fill slots. `needs` are traits of the topic, or uses of its thing that the training set must
    show; `asks` is the unit of the answer, `topic` for the story's own, `whole unit` for that of the whole of which it
    tells a share, `speed` for that of a car.
    """

    name: str
    roles: frozenset[str]
    step: Expression
    texts: tuple[str, ...]
    clue: re.Pattern[str]
    needs: frozenset[str] = frozenset()
    asks: str = "topic"
    # `topic`: the number counts what the story counts; `part`: it is less than half of that; `times`: it is small;
    # `paid`: a round amount above what is asked for; `count`: so many pieces; `speed`: of a car; `time`, `pace`: like
    # the story's own; `whole`: that of which the story tells a share. No number is one that the story has already.
    number: str = "host"
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # for slots that the clue does not fill

    @property
    def compares(self) -> bool:
        """Whether its wordings speak of somebody or something else of the same kind."""
        return "{other}" in self.texts[0]

    def compose(self, inner: Expression, number: Expression) -> Expression:
        """The step with the donor's expression and the host's number in place."""

        def fill(leaf: Leaf) -> Expression:
            return inner if leaf == STORY else number if leaf == NUMBER else leaf

        return map_leaves(self.step, fill)


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """A form of question that names a topic by its words alone: what `asks`, what the `story` must and must not have.

    Named groups of both patterns are slots of the topic.
    """

    role: str
    asks: re.Pattern[str]
    story: re.Pattern[str]
    unless: re.Pattern[str] | None
    units: frozenset[str]  # any if empty
    traits: frozenset[str]

    def slots(self, question: str, unit: str, story: str) -> dict[str, str] | None:
        """The words of a question and its story for the slots; None if they do not have this form."""
        question_match = self.asks.fullmatch(question) if not self.units or unit in self.units else None
        story_match = self.story.search(story) if question_match else None
        if question_match is None or story_match is None or (self.unless and self.unless.search(story)):
            return None
        return {slot: word for slot, word in (question_match.groupdict() | story_match.groupdict()).items() if word}


class Sequels(ABC):
    """One language's sequels and its way to find topics."""

    unfamiliar_words = 0  # of a problem, that the training set need not show with a thing that is exchanged into it

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.sequels = tuple(read_sequel(entry) for entry in table["sequels"])
        self.forms = tuple(read_form(entry) for entry in table.get("questions", ()))
        self.uses = {name: re.compile(pattern) for name, pattern in table["uses"].items()}
        self.patterns = {name: re.compile("|".join(parts)) for name, parts in table.get("patterns", {}).items()}
        self.words = {name: frozenset(words.split()) for name, words in table.get("words", {}).items()}
        self.names = {name: dict(entries) for name, entries in table.get("names", {}).items()}

    @abstractmethod
    def topics(self, readings: "Sequence[Reading]") -> "list[Topic | None]":
        """The topic of each problem, None where the question names nothing that a story could go on with."""

    @abstractmethod
    def things(self, reading: "Reading", clause: int) -> Iterable[str]:
        """The things in a clause, as topics name them."""

    def kinds(self, thing: str) -> Sequence[str]:
        """The thing, then wider kinds of which it is one by its name."""
        return (thing,)

    def mentions(self, reading: "Reading", clause: int) -> Iterable[tuple[str, str]]:
        """Each thing of a clause, with the text in which to look for its `uses`."""
        text = self.clause_text(reading.clauses[clause].masked)
        return [(thing, text) for thing in dict.fromkeys(self.things(reading, clause))]

    @abstractmethod
    def companions(self, topic: Topic, names: Sequence[str]) -> Sequence[str]:
        """What the story's person or thing can be compared with: some of the corpus's people, or things of its kind."""

    def introduce(self, other: str, topic: Topic) -> str:
        """How a sequel names somebody of whom the story has not told yet."""
        return other

    @abstractmethod
    def cast(self, readings: "Sequence[Reading]") -> "list[dict[str, str]]":
        """The people that each problem names, with their kind: people of one kind can replace each other."""

    @abstractmethod
    def stem(self, word: str) -> str:
        """The common stem of the forms of a thing's name."""

    @abstractmethod
    def exchangeable(self, reading: "Reading") -> frozenset[str]:
        """The things of a problem that another could replace: none that carries the arithmetic."""

    def is_sound(self, reading: "Reading") -> bool:
        """Whether the text has no flaw that a recast copy of it would have, too."""
        return True

    def hangs(self, story: str) -> bool:
        """Whether a story breaks off without its question: it ends in a condition, or in "when" or "at this rate"."""
        return "hanging" in self.patterns and self.patterns["hanging"].search(story) is not None

    def are_alike(self, first: str, second: str) -> bool:
        """Whether two things are of one kind by their names; their places in texts are compared as well."""
        return True

    @abstractmethod
    def join(self, story: str, sentences: str, donor: "Reading") -> str:
        """The story and its sequel as one text in the donor's own spelling: its spaces, signs and capitals.

        Sentences with a `STORY_SLOT` have their own place for the story.
        """

    @abstractmethod
    def clause_text(self, words: Iterable[str]) -> str:
        """The masked words of a clause as one text, for patterns."""

    def clue_text(self, reading: "Reading", quantity: int) -> str:
        """The text that clues are matched with: the number's clause with the number as `@`, a bar, and the question."""
        clause = reading.clauses[reading.clause_of(quantity)]
        words = [
            "@" if token.quantity == quantity else word
            for token, word in zip(clause.tokens, clause.masked, strict=True)
        ]
        return self.clause_text([*words, "|", *reading.question.masked])


def is_whole(reading: "Reading") -> bool:
    """Whether the story's end is only what is asked for: "now he has 85" includes more than what he bought."""
    tree = reading.expression
    if not isinstance(tree, Operation) or tree.operator != "-":
        return True
    first, second = (min(used_quantities(side), default=0) for side in (tree.left, tree.right))
    return first <= second


def read_sequel(entry: Mapping[str, Any]) -> Sequel:
    """A sequel of a `sequels.yaml`; raises an error that names it."""
    try:
        step = parse(str(entry["step"]).replace("X", "N0").replace("n", "N1"))
        return Sequel(
            name=entry["name"],
            roles=frozenset(str(entry["roles"]).split()),
            step=step,
            texts=tuple(entry["texts"]),
            clue=re.compile(str(entry["clue"])),
            needs=frozenset(str(entry.get("needs", "")).split()),
            asks=entry.get("asks", "topic"),
            number=entry.get("number", "host"),
            words={slot: tuple(words) for slot, words in entry.get("words", {}).items()},
        )
    except (KeyError, TypeError, re.error) as error:
        raise ComdivError(f"sequel '{entry.get('name', '?')}': {error}") from error


def read_form(entry: Mapping[str, Any]) -> QuestionForm:
    """A form of question of a `sequels.yaml`; raises an error that names its role."""
    try:
        return QuestionForm(
            role=entry["role"],
            asks=re.compile(entry["asks"]),
            story=re.compile(entry.get("story", "")),
            unless=re.compile(entry["unless"]) if "unless" in entry else None,
            units=frozenset(str(entry.get("units", "")).split()),
            traits=frozenset(str(entry.get("traits", "")).split()),
        )
    except (KeyError, TypeError, re.error) as error:
        raise ComdivError(f"question form '{entry.get('role', '?')}': {error}") from error


def number_comes_first(wording: str) -> bool:
    """Whether a wording has its number before the story: `{t}有{n}{u}，{story}，还剩多少{u}？`."""
    return STORY_SLOT in wording and wording.index("{n}") < wording.index(STORY_SLOT)


def fill_in(text: str, slots: Mapping[str, str], *, plural: bool, past: bool = False) -> str | None:
    """A wording with its slots filled and `[gives|give|gave]` decided; None if a slot is open.

    A choice without a form for the past has the same form as in the present.
    """

    def choose(match: re.Match[str]) -> str:
        singular_form, plural_form, past_form = match.groups()
        return str(past_form if past and past_form else plural_form if plural else singular_form)

    wording = _CHOICE.sub(choose, text)
    wording = wording.replace(STORY_SLOT, "\0")
    if any(not slots.get(slot) for slot in _SLOT.findall(wording)):
        return None
    return _SLOT.sub(lambda match: slots[match[1]], wording).replace("\0", STORY_SLOT)
