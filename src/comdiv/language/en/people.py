"""People in English texts: found by their capitals, resolved from pronouns, renamed together with their pronouns.

In a corpus without capitals, people are found by a lexicon of given names and by where a word stands: before a verb at
the beginning of a clause, or after "did", and never behind an article or a number.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from comdiv.language.base import NUMBER_MASK
from comdiv.language.coherence import Actors, WordLists

if TYPE_CHECKING:
    from comdiv.reading import Clause, Reading

_LISTS = WordLists("comdiv.language.en")
_TITLES = _LISTS.words("titles")
_NOT_PEOPLE = _LISTS.words("not_people")
_PRONOUNS = {"he": "m", "him": "m", "his": "m", "himself": "m", "she": "f", "her": "f", "hers": "f", "herself": "f"}
_TURNED = {
    "he": "she",
    "him": "her",
    "his": "her",
    "himself": "herself",
    "she": "he",
    "hers": "his",
    "herself": "himself",
}
SUBJECTS = frozenset(["he", "she"])
_NAMES = WordLists("comdiv.language.en", "names.yaml")
_GIVEN_NAMES = {name: gender for gender in "mf" for name in _NAMES.words(gender)}
_NAMES_THAT_ARE_WORDS = _NAMES.words("words")
_FEW_CAPITALS = 0.05  # of a corpus's texts: fewer capitals mean that it has been lower-cased
_OFTEN = 3  # times that an unknown word must be the subject of a sentence to count as a name
_DETERMINERS = _LISTS.words("determiners")
_BEFORE_SUBJECTS = frozenset(["", *".,;", "if", "when", "then", "and", "while", "but", "after", "mr", "mrs", "ms"])
_AFTER_SUBJECTS = _LISTS.words("acting")
_ASKING = frozenset(["did", "does"])
_OWNING = frozenset(["'s", "’s"])
_NOBODY = _LISTS.words("nobody")
_LEADING = frozenset(["at", "for", "in", "on", "during", "while", "last", "this", "one"])
_TOGETHER = frozenset(["they", "together"])


def find_people(readings: "Iterable[Reading]") -> Actors:
    """The people of a corpus with their gender, by the pronouns around them and by their names."""
    clauses = [reading.clauses for reading in readings]
    capitals = sum(any(token.text[:1].isupper() for part in parts for token in part.tokens) for parts in clauses)
    names = _names_by_place(clauses) if capitals <= _FEW_CAPITALS * len(clauses) else _names_by_capitals(clauses)
    alone: dict[str, Counter[str]] = defaultdict(Counter)
    for parts in clauses:
        words = {token.text for part in parts for token in part.tokens}
        pronouns = {_PRONOUNS[word.lower()] for word in words if word.lower() in _PRONOUNS}
        for word in words & names:
            alone[word].update(pronouns)
    gender = {}
    for word in sorted(names):
        votes = alone[word].most_common(2)
        clear = votes and (len(votes) == 1 or votes[0][1] > 2 * votes[1][1])
        gender[word] = _GIVEN_NAMES.get(word, "") or (votes[0][0] if clear else "")
    return Actors(gender)


def _names_by_capitals(texts: "Iterable[Sequence[Clause]]") -> frozenset[str]:
    """Words that are always capitalised, inside sentences too."""
    capital: set[str] = set()
    small: set[str] = set()
    for clauses in texts:
        for clause in clauses:
            for place, token in enumerate(clause.tokens):
                if token.text[:1].islower():
                    small.add(token.text)
                elif token.text[:1].isalpha() and place and token.text.lower() not in _NOT_PEOPLE | _TITLES:
                    capital.add(token.text)
    return frozenset(word for word in capital if word.lower() not in small and word[1:].islower())


def _names_by_place(texts: "Iterable[Sequence[Clause]]") -> frozenset[str]:
    """Given names, and other words that stand where only people do; all in lower case."""
    seen: set[str] = set()
    acts: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for clauses in texts:
        for clause in clauses:
            words = clause.masked
            for place, word in enumerate(words):
                if not word.isalpha() or word in _NOT_PEOPLE or word in _TITLES:
                    continue
                seen.add(word)
                before = words[place - 1] if place else ""
                after = words[place + 1] if place + 1 < len(words) else ""
                if before in _DETERMINERS or before == NUMBER_MASK:
                    counted[word] += 1
                elif before in _ASKING or after in _OWNING or (before in _BEFORE_SUBJECTS and after in _AFTER_SUBJECTS):
                    acts[word] += 1
    known = (
        word
        for word in seen & _GIVEN_NAMES.keys()
        if acts[word] > counted[word] or not (counted[word] or word in _NAMES_THAT_ARE_WORDS)
    )
    others = (
        word
        for word, count in acts.items()
        if count >= _OFTEN and not counted[word] and not word.endswith("s") and word not in _NOBODY
    )
    return frozenset([*known, *others])


def actor_at(clause: "Clause", place: int, actors: Actors) -> tuple[str | None, int]:
    """The person named at a place, with title, and where the name ends; None for two people joined by "and"."""
    tokens = clause.tokens
    first = place
    while place < len(tokens) and (
        tokens[place].text.lower() in _TITLES or (place > first and tokens[place].text == ".")
    ):
        place += 1
    named = place
    while place < len(tokens) and tokens[place].text in actors:
        place += 1
    if place == named or (place < len(tokens) and tokens[place].text.lower() in ("and", "'s", "’s", "'", ",")):
        return None, first
    text = "".join(
        (" " if number and tokens[number].start > tokens[number - 1].end else "") + tokens[number].text
        for number in range(first, place)
    )
    return text.strip(), place


def subject_at(clause: "Clause", number: int, actors: Actors) -> int:
    """Where the subject of a clause begins: after "For Halloween", "At the fair", which state no amount."""
    if clause.masked[0] in _LEADING:
        for place in range(1, number):
            if clause.tokens[place].text in actors or clause.masked[place] in SUBJECTS:
                titled = clause.masked[place - 1] == "." or clause.masked[place - 1] in _TITLES
                return 0 if titled else place
    return 0


def person_before(reading: "Reading", clause: int, pronoun: str, actors: Actors) -> str | None:
    """The person that a pronoun refers to: the only one in the text whose gender allows it."""
    people: dict[str, str] = {}
    for part in reading.clauses:
        for place, token in enumerate(part.tokens):
            if token.text in actors and actors.gender[token.text] in ("", _PRONOUNS[pronoun]):
                start = place
                while start and (
                    part.tokens[start - 1].text in (".",) or part.tokens[start - 1].text.lower() in _TITLES
                ):
                    start -= 1
                people.setdefault(token.text, actor_at(part, start, actors)[0] or token.text)
    return next(iter(people.values())) if len(people) == 1 else None


def gender_of_given_name(name: str) -> str:
    """The gender of a given name that the lexicon has; empty for any other word, such as the name of a place."""
    return "" if name.lower() in _NAMES_THAT_ARE_WORDS else _GIVEN_NAMES.get(name.lower(), "")


def may_mean(pronoun: str, name: str, actors: Actors) -> bool:
    """Whether a pronoun can refer to a person, by gender; "they" refers to more than one."""
    return actors.gender.get(name.split()[-1], "") in ("", _PRONOUNS[pronoun]) if pronoun in _PRONOUNS else False


def people_in(clause: "Clause", actors: Actors) -> list[str]:
    """The people named in a clause, with their titles."""
    names = []
    place = 0
    while place < len(clause.tokens):
        name, end = actor_at(clause, place, actors)
        if name is None and clause.tokens[place].text in actors:
            name, end = clause.tokens[place].text, place + 1
        if name is not None:
            names.append(name)
        place = max(end, place + 1)
    return names


def _gender(name: str, reading: "Reading", actors: Actors) -> str:
    """A person's gender: from the corpus, else from the pronouns of a text that has no other person."""
    title = name.split()[0].rstrip(".").lower()
    if title in ("mr", "mister", "uncle"):
        return "m"
    if title in ("mrs", "ms", "miss", "aunt"):
        return "f"
    known = actors.gender.get(name.split()[-1], "")
    if known:
        return known
    pronouns = {_PRONOUNS[word] for part in reading.clauses for word in part.masked if word in _PRONOUNS}
    return next(iter(pronouns)) if len(pronouns) == 1 else ""


_HER_OBJECT = re.compile(
    r"\bher(?=\s*(?:[.,;!?]|$|\d|a\b|an\b|the\b|some\b|more\b|to\b|for\b|from\b|another\b))", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)


def _switch_pronouns(text: str) -> str:
    """The text with its pronouns switched to the other gender."""
    objects = {match.start() for match in _HER_OBJECT.finditer(text)}

    def other(match: re.Match[str]) -> str:
        word = match[0].lower()
        turned = ("him" if match.start() in objects else "his") if word == "her" else _TURNED[word]
        return turned.capitalize() if match[0][0].isupper() else turned

    return _PRONOUN.sub(other, text)


def rename(text: str, reading: "Reading", old: str, new: str, other: "Reading", actors: Actors) -> str | None:
    """A narrative of `reading` with `old` renamed to `new`, for insertion into `other`; None if people collide."""
    mine = {token.text for part in reading.narrative for token in part.tokens if token.text in actors}
    others = {token.text for part in other.clauses for token in part.tokens if token.text in actors}
    if (mine - set(old.split())) & (others | set(new.split())):
        return None  # one name for two people
    if mine - set(old.split()) and not _TOGETHER.isdisjoint(other.question.masked):
        return None  # "together" would include what these people have
    if not new:
        return text
    pronouns = {_PRONOUNS[word] for part in reading.narrative for word in part.masked if word in _PRONOUNS}
    gender = _gender(new, other, actors)
    if pronouns and gender not in pronouns:
        if not gender or len(pronouns) > 1 or mine - set(old.split()):
            return None  # the pronouns are ambiguous
        text = _switch_pronouns(text)
    if old == new:
        return text
    titles = (
        r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Coach|Uncle|Aunt)\.?\s+)?"
        if old.split()[0].rstrip(".").lower() not in _TITLES
        else ""
    )
    return re.sub(rf"\b{titles}{re.escape(old)}\b", new, text)
