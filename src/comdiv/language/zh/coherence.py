"""Chinese: people by pattern, frames by the nouns and verbs around a measure word."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from comdiv.language.base import NUMBER_MASK, SHARE
from comdiv.language.coherence import Actors, Coherence, Frame, WordLists
from comdiv.language.zh import tag_words

if TYPE_CHECKING:
    from comdiv.reading import Clause, Reading

_LISTS = WordLists("comdiv.language.zh")
_PERSON = re.compile(r"小[\u4e00-\u9fff]|[\u4e00-\u9fff](?:师傅|老师|叔叔|阿姨|爷爷|奶奶|医生)|[甲乙丙丁]")
_NOT_PEOPLE = _LISTS.words("not_people")
_SUM = re.compile(r"共|总|剩|全部|合计")
_ASKING = frozenset(["多少", "几"])
_RELATIONS = re.compile(_LISTS.pattern("relations"))
_NO_QUESTION = re.compile(_LISTS.pattern("no_question"))
_STATE_VERBS = _LISTS.words("state_verbs")
_IGNORED = _LISTS.words("ignored")
_GENERAL = _LISTS.words("general")
_PLACE = re.compile(rf"[\u4e00-\u9fff]{{0,2}}(?:{_LISTS.pattern('places')})")
_ARITHMETIC = re.compile(_LISTS.pattern("arithmetic"))


@lru_cache(maxsize=65_536)
def _tag(word: str) -> str:
    tags = tag_words(word)
    return tags[0][1] if len(tags) == 1 else ""


class ChineseCoherence(Coherence):
    """Mandarin, as in Math23K."""

    def actors(self, readings: "Iterable[Reading]") -> Actors:
        """Chinese names are found by pattern: 小明, 王师傅, 甲. Pronouns are rare, so gender is ignored."""
        return Actors({})

    def question_frame(self, reading: "Reading", actors: Actors) -> Frame | None:
        text = reading.question.text
        if reading.asked_unit in (None, SHARE) or _NO_QUESTION.search(text):
            return None
        return _frame(reading, reading.question, text, str(reading.asked_unit))

    def clause_frame(self, reading: "Reading", clause: int, actors: Actors) -> Frame | None:
        seen = reading.clauses[clause]
        quantity = reading.quantities[seen.quantities[0]]
        text = "".join(seen.masked)
        if quantity.unit is None or quantity.kind != "measure" or _RELATIONS.search(text):
            return None
        return _frame(reading, seen, seen.text, quantity.unit)

    def told_by_events(self, reading: "Reading", frame: Frame) -> bool:
        """A sum of the same event: 买来3箱，又买来4箱，一共买来多少箱."""
        text = "".join("".join(clause.masked) for clause in reading.narrative)
        operator = getattr(reading.expression, "operator", "")
        return all(str(verb) in text for verb in frame.key[1]) and operator in ("+", "*")  # type: ignore[attr-defined]

    def recast(
        self, reading: "Reading", old: str, new: str, other: "Reading", clause: int, actors: Actors
    ) -> str | None:
        text = reading.problem.text[: reading.question.start]
        mine, others = set(people(text)), set(people(other.problem.text))
        if (mine - {old}) & (others | {new}):
            return None
        rest = other.problem.text[: other.clauses[clause].start] + other.problem.text[other.clauses[clause].end :]
        here, there = set(_PLACE.findall(text)), set(_PLACE.findall(rest))
        if here and there and here != there:
            return None  # two schools, two shops: the second story is about another one
        if not _tells_apart(reading, other, clause):
            return None
        return text.replace(old, new) if old else text

    def fragment_kind(self, tokens: Sequence[str], actors: Actors) -> str | None:
        kinds = []
        for token in tokens:
            tag = _tag(token)
            if _PERSON.fullmatch(token) and token not in _NOT_PEOPLE and len(token) > 1:
                kinds.append("person")
            elif _ARITHMETIC.search(token) or not tag.startswith(("n", "a")) or len(token) < 2:
                return None
            else:
                kinds.append(tag[:2] if tag.startswith("n") and tag != "n" else tag[:1])
        return " ".join(kinds) if kinds and kinds[-1] != "a" else None

    def content_stems(self, tokens: Iterable[str]) -> frozenset[str]:
        return frozenset(token for token in tokens if self.is_content(token))

    def is_content(self, token: str) -> bool:
        return token not in _IGNORED and _tag(token).startswith(("n", "v", "a")) and token != NUMBER_MASK


def _tells_apart(reading: "Reading", other: "Reading", clause: int) -> bool:
    """Whether the story does not state what the other question asks, adds nothing to its sum, and keeps its subject."""
    question = other.question.text
    asked, told = _things(question), _things("".join("".join(part.masked) for part in reading.narrative))
    stated = _things("".join(other.clauses[clause].masked))
    if asked & told:
        return False  # the story already states the answer: the problem would be circular
    if _SUM.search(question) and not told <= stated | asked:
        return False  # "altogether" would include what the story adds
    following = other.clauses[clause + 1]
    first = tag_words("".join(following.masked))[0]
    if first[1].startswith(("n", "r")) or people(first[0]):
        return True
    subject = _things("".join(reading.narrative[-1].masked[:3]))  # a clause without a subject takes the one before it
    return bool(subject & _things(reading.question.text))


def _things(text: str) -> frozenset[str]:
    """The people and the specific nouns of a text."""
    nouns = {word for word, tag in tag_words(text) if tag.startswith("n") and word not in _GENERAL | _IGNORED}
    return frozenset({word for word in nouns if not _PLACE.search(word)} | set(people(text)))


def people(text: str) -> list[str]:
    """The people of a text, in order."""
    return [match[0] for match in _PERSON.finditer(text) if match[0] not in _NOT_PEOPLE]


def _frame(reading: "Reading", clause: "Clause", text: str, unit: str) -> Frame | None:
    """Unit, verbs and nouns: what remains of a clause without its number, or a question without its question word."""
    named = sorted(set(people(text)))
    if len(named) > 1:
        return None
    nouns, verbs = set(), set()
    for word, tag in tag_words("".join(clause.masked)):
        if word in _IGNORED or word in named or word == unit or word in _ASKING:
            continue
        if tag.startswith("n"):
            nouns.add(word)
        elif tag.startswith("v") and word not in _STATE_VERBS:
            verbs.add(word)
        elif tag.startswith(("t", "r", "f", "s", "m", "a")) and not word.isascii():
            return None  # a time, a place, a pointer or another number: what it points to is not here
    if nouns <= _GENERAL and not named:
        return None  # whose price, which pupils?
    return Frame((unit, frozenset(verbs), frozenset(nouns)), named[0] if named else None, state=not verbs)
