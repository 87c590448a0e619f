"""What the full checks of the augmentation ask of German: who has what, and who is who."""

import re
from collections.abc import Iterable, Sequence

from comdiv.language import Coherence, Language
from comdiv.language.coherence import Actors, Frame, WordLists
from comdiv.reading import Clause, Reading

_LISTS = WordLists("comdiv_german")
_EMPTY = _LISTS.words("empty")
_NOT_PEOPLE = _LISTS.words("not_people")
_RELATIONS = _LISTS.words("relations")
_PRONOUNS = {"er": "m", "sein": "m", "seine": "m"}
_OWNS = re.compile(r"hat|besitzt")
_ASKS_FOR_STOCK = re.compile(r"wie viele \w+ (?:hat|besitzt) (?P<actor>\w+)(?: (?:jetzt|noch|insgesamt|dann))*", re.I)


class GermanCoherence(Coherence):
    """A clause "Anna hat 12 Äpfel" states what the question "Wie viele Äpfel hat Anna?" asks for."""

    def __init__(self, language: Language) -> None:
        self.things = frozenset(word.lower() for word in language.lexicon.words)

    def actors(self, readings: Iterable[Reading]) -> Actors:
        """People begin a clause and stand right before its verb; "er" in a text with one of them tells the gender."""
        gender: dict[str, str] = {}
        for reading in readings:
            words = {word for clause in reading.clauses for word in clause.masked}
            told = next((gender for pronoun, gender in _PRONOUNS.items() if pronoun in words), "")
            for name in filter(None, map(_subject, reading.clauses)):
                gender[name] = gender.get(name) or told
        return Actors(gender)

    def question_frame(self, reading: Reading, actors: Actors) -> Frame | None:
        asked = _ASKS_FOR_STOCK.search(reading.question.text)
        if reading.asked_unit is None or asked is None or asked["actor"] not in actors:
            return None
        return Frame((reading.asked_unit, "hat"), asked["actor"])

    def clause_frame(self, reading: Reading, clause: int, actors: Actors) -> Frame | None:
        shown = reading.clauses[clause]
        quantity = reading.quantities[shown.quantities[0]]
        name = _subject(shown)
        if name not in actors or quantity.unit is None or not _RELATIONS.isdisjoint(shown.masked):
            return None
        return Frame((quantity.unit, "hat"), name) if _OWNS.fullmatch(shown.masked[1]) else None

    def recast(self, reading: Reading, old: str, new: str, other: Reading, clause: int, actors: Actors) -> str | None:
        mine = {token.text for part in reading.narrative for token in part.tokens if token.text in actors}
        others = {token.text for part in other.clauses for token in part.tokens if token.text in actors}
        if (mine - {old}) & (others | {new}) or actors.gender.get(old) != actors.gender.get(new):
            return None
        return re.sub(rf"\b{re.escape(old)}\b", new, reading.text[: reading.question.start])

    def told_by_events(self, reading: Reading, frame: Frame) -> bool:
        return False

    def fragment_kind(self, tokens: Sequence[str], actors: Actors) -> str | None:
        if len(tokens) != 1:
            return None
        if tokens[0].capitalize() in actors:
            return f"person {actors.gender[tokens[0].capitalize()]}"
        return "thing" if tokens[0] in self.things else None

    def content_stems(self, tokens: Iterable[str]) -> frozenset[str]:
        return frozenset(filter(self.is_content, tokens))

    def is_content(self, token: str) -> bool:
        return token.islower() and token.isalpha() and token not in _EMPTY


def _subject(clause: Clause) -> str | None:
    """The name that begins a clause, right before its verb."""
    first, second = (clause.tokens[0].text, clause.tokens[1].text) if len(clause.tokens) > 1 else ("", "")
    is_name = first[:1].isupper() and first[1:].islower() and first.lower() not in _NOT_PEOPLE
    return first if is_name and second.islower() else None
