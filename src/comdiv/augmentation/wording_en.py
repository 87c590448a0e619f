"""English: people by capitals and pronouns, frames by word order, verbs by stem."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from comdiv.augmentation.lexicon import forms, words
from comdiv.augmentation.view import NUMBER, ClauseView, ProblemView
from comdiv.augmentation.wording import Actors, Frame, Wording
from comdiv.language.english import singular

_TITLES = words("en", "titles")
_NOT_PEOPLE = words("en", "not_people")
_RELATIONS = words("en", "relations")
_NO_QUESTION = words("en", "no_question")
_SUMMING = words("en", "summing")
_ARITHMETIC = words("en", "arithmetic") | _RELATIONS
_IRREGULAR = forms("en", "irregular")
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
_SUBJECTS = frozenset(["he", "she"])
_BE = frozenset(["is", "are", "was", "were", "be"])
_HAVE = frozenset(["have", "has", "had", "own", "owns", "owned"])
_AUXILIARIES = frozenset(["do", "does", "did", "will"])
_CONDITIONS = frozenset(["if", "when", "after"])
_TOGETHER = frozenset(["they", "together"])
_DOLLARS: tuple[str, ...] = ("dollar",)
_EMPTY = _SUMMING | _BE | _HAVE
_TAGS = {"NN": "thing", "NNS": "things", "JJ": "quality"}


@lru_cache(maxsize=65_536)
def _tag(word: str) -> str:
    from textblob.en import tag

    return str(tag(word, tokenize=False)[0][1])


@lru_cache(maxsize=65_536)
def verb_stem(word: str) -> str:
    """What the forms of a verb have in common: picked, picks, pick."""
    word = _IRREGULAR.get(word, word)
    for ending in ("ied", "ies"):
        if word.endswith(ending) and len(word) > 4:
            return word[:-3] + "y"
    for ending in ("ed", "ing", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.rstrip("e")


class EnglishWording(Wording):
    """English, as in MAWPS."""

    code = "en"

    def actors(self, views: Iterable[ProblemView]) -> Actors:
        """Words that are always written with a capital, inside sentences too; gender by the pronouns around them."""
        capital: Counter[str] = Counter()
        small: set[str] = set()
        alone: dict[str, Counter[str]] = defaultdict(Counter)
        for view in views:
            words: set[str] = set()
            for clause in view.clauses:
                for place, token in enumerate(clause.tokens):
                    if not token.text[:1].isalpha():
                        continue
                    if token.text[:1].islower():
                        small.add(token.text)
                    elif place and token.text.lower() not in _NOT_PEOPLE and token.text.lower() not in _TITLES:
                        capital[token.text] += 1
                    words.add(token.text)
            for word in words:
                if word[:1].isupper():
                    alone[word].update({_PRONOUNS[other.lower()] for other in words if other.lower() in _PRONOUNS})
        gender = {}
        for word in sorted(capital):
            if word.lower() in small or not word[1:].islower():
                continue
            votes = alone[word].most_common(2)
            clear = votes and (len(votes) == 1 or votes[0][1] > 2 * votes[1][1])
            gender[word] = votes[0][0] if clear else ""
        return Actors(gender)

    # --- frames ---

    def question_frame(self, view: ProblemView, actors: Actors) -> Frame | None:
        question = view.question
        words = question.masked
        if view.asked_unit is None or not _NO_QUESTION.isdisjoint(words) or "how" not in words:
            return None
        if view.narrative[-1].masked[0] in _CONDITIONS:
            return None  # the condition belongs to the question: "if she gives them all away , how many …"
        how = len(words) - 1 - words[::-1].index("how")
        before = {word for word in words[:how] if word[:1].isalpha()}  # "in total , how many …"
        if not before <= _SUMMING or words[how + 1 : how + 2] not in (("many",), ("much",)):
            return None
        noun = _noun_group(words, how + 2, view.asked_unit)
        if noun is None:
            return None
        phrase, rest = noun
        tail = list(words[rest:])
        while tail and not tail[-1][:1].isalpha():
            tail.pop()
        if not tail:
            return None
        if tail[0] in _BE or tail[:2] == ["will", "be"]:
            return self._being(view, phrase, tail, rest, actors)
        if tail[0] not in _AUXILIARIES:
            return None
        actor, place = _actor_at(question, rest + 1, actors)
        if actor is None and words[rest + 1 : rest + 2] and words[rest + 1] in _SUBJECTS:
            actor, place = _person_before(view, len(view.clauses) - 1, words[rest + 1], actors), rest + 2
        if actor is None or place >= len(words):
            return None
        verb = words[place]
        state = verb in _HAVE or words[place : place + 2] == ("end", "with")
        around = self._things(words[place + 1 :], question.tokens[place + 1 :], actors, phrase)
        if around is None:
            return None
        return Frame((phrase, "have" if state else verb_stem(verb), around), actor, state)

    def _being(
        self, view: ProblemView, phrase: tuple[str, ...], tail: list[str], rest: int, actors: Actors
    ) -> Frame | None:
        """ "How many … are there in the park": about a place; "how many … are left" in a story of one: about them."""
        question = view.question
        if any(token.text in actors for token in question.tokens):
            return None
        around = self._things(tail, question.tokens[rest:], actors, phrase)
        if around is None:
            return None
        people = {name: None for part in view.narrative for name in _named(part, actors)}
        if not around and tail[-1] == "left" and len(people) == 1:
            return Frame((phrase, "have", around), next(iter(people)))
        return Frame((phrase, "be", around))

    def clause_frame(self, view: ProblemView, clause: int, actors: Actors) -> Frame | None:
        seen = view.clauses[clause]
        words = seen.masked
        quantity = view.quantities[seen.quantities[0]]
        if quantity.unit is None or quantity.kind != "measure" or not _RELATIONS.isdisjoint(words):
            return None
        number = words.index(NUMBER)
        if number and words[number - 1] == "$":
            phrase, rest = _DOLLARS, number + 1
        else:
            noun = _noun_group(words, number + 1, quantity.unit)
            if noun is None:
                return None
            phrase, rest = noun
        return self._clause_about(view, clause, number, phrase, rest, actors)

    def _clause_about(
        self, view: ProblemView, clause: int, number: int, phrase: tuple[str, ...], rest: int, actors: Actors
    ) -> Frame | None:
        seen = view.clauses[clause]
        words = seen.masked
        if words[0] == "there" and words[1:2] and words[1] in _BE and number <= 3:
            around = self._things(words[rest:], seen.tokens[rest:], actors, phrase)
            named = any(token.text in actors for token in seen.tokens)
            return None if around is None or named else Frame((phrase, "be", around))
        actor, place = _actor_at(seen, 0, actors)
        if actor is None and words[0] in _SUBJECTS:
            actor, place = _person_before(view, clause, words[0], actors), 1
        if actor is None or place >= number:
            return None
        verb = words[place]
        start_with = verb_stem(verb) == "start" and words[place + 1] == "with"
        if number > place + 1 + start_with + (words[number - 1] == "$"):
            return None  # "gave her 9 apples": something stands between
        earlier = [
            part for part in view.clauses[:clause] if any(token.text == actor.split()[-1] for token in part.tokens)
        ]
        if any(part.quantities for part in view.clauses[:clause] if part in earlier or words[0] in _SUBJECTS):
            return None  # an amount of this person's has been told: another beginning would contradict it
        state = verb in _HAVE or start_with
        around = self._things(words[rest:], seen.tokens[rest:], actors, phrase)
        return None if around is None else Frame((phrase, "have" if state else verb_stem(verb), around), actor, state)

    def _things(
        self, words: Sequence[str], tokens: Sequence[object], actors: Actors, phrase: tuple[str, ...]
    ) -> frozenset[str] | None:
        """The content words beside unit and actor: places, companions. None where another person is among them."""
        if any(getattr(token, "text", "") in actors for token in tokens):
            return None
        return frozenset(singular(word) for word in words if self.is_content(word) and word not in _SUMMING)

    def told_by_events(self, view: ProblemView, frame: Frame) -> bool:
        """A sum of the same event: "found 3 … found 4 … how many did she find"."""
        stems = {verb_stem(word) for clause in view.narrative for word in clause.masked if word[:1].isalpha()}
        operator = getattr(view.expression, "operator", "")
        return frame.key[1] in stems and operator in ("+", "*")

    # --- people ---

    def recast(
        self, view: ProblemView, old: str, new: str, other: ProblemView, clause: int, actors: Actors
    ) -> str | None:
        text = view.problem.text[: view.question.start]
        mine = {token.text for part in view.narrative for token in part.tokens if token.text in actors}
        others = {token.text for part in other.clauses for token in part.tokens if token.text in actors}
        if (mine - set(old.split())) & (others | set(new.split())):
            return None  # one name for two people
        if mine - set(old.split()) and not _TOGETHER.isdisjoint(other.question.masked):
            return None  # "together" would count what these people have
        if not new:
            return text
        pronouns = {_PRONOUNS[word] for part in view.narrative for word in part.masked if word in _PRONOUNS}
        gender = _gender(new, other, actors)
        if pronouns and gender not in pronouns:
            if not gender or len(pronouns) > 1 or mine - set(old.split()):
                return None  # whom the pronouns mean is not certain
            text = _turned(text)
        if old == new:
            return text
        titles = (
            r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Coach|Uncle|Aunt)\.?\s+)?"
            if old.split()[0].rstrip(".").lower() not in _TITLES
            else ""
        )
        return re.sub(rf"\b{titles}{re.escape(old)}\b", new, text)

    # --- fragments ---

    def fragment_kind(self, tokens: Sequence[str], actors: Actors) -> str | None:
        if len(tokens) == 1 and tokens[0].capitalize() in actors:
            return f"person {actors.gender[tokens[0].capitalize()]}" if actors.gender[tokens[0].capitalize()] else None
        kinds = []
        for token in tokens:
            if token in _ARITHMETIC or not token.isalpha() or token.capitalize() in actors:
                return None
            kind = _TAGS.get(_tag(token))
            if kind is None or token.endswith("ing"):
                return None
            kinds.append("things" if kind == "thing" and singular(token) != token else kind)
        return " ".join(kinds) if kinds[-1] in ("thing", "things") else None

    def content_stems(self, tokens: Iterable[str]) -> frozenset[str]:
        return frozenset(singular(token) for token in tokens if self.is_content(token))

    def is_content(self, token: str) -> bool:
        return token[:1].isalpha() and token not in _EMPTY and _tag(token).startswith(("NN", "JJ", "VB"))


def _noun_group(words: Sequence[str], start: int, unit: str) -> tuple[tuple[str, ...], int] | None:
    """The words of the counted noun, its head in the singular, and where it ends: "red apples" → (red, apple)."""
    unit = "money" if unit == "dollar" and words[start : start + 1] == ("money",) else unit
    for place in range(start, min(start + 5, len(words))):
        if singular(words[place]) == unit or words[place] == unit:
            group = (*words[start:place], "dollar" if unit == "money" else unit)
            end = place + 1
            if words[end : end + 1] == ("of",) and end + 1 < len(words):  # pounds of honey
                group = (*group, singular(words[end + 1]))
                end += 2
            return group, end
    return None


def _actor_at(clause: ClauseView, place: int, actors: Actors) -> tuple[str | None, int]:
    """The person named at a place, with the title, and where the name ends; two people joined by "and" are nobody."""
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


def _person_before(view: ProblemView, clause: int, pronoun: str, actors: Actors) -> str | None:
    """Whom a pronoun means: the one person of the text whose gender does not forbid it."""
    people: dict[str, str] = {}
    for part in view.clauses:
        for place, token in enumerate(part.tokens):
            if token.text in actors and actors.gender[token.text] in ("", _PRONOUNS[pronoun]):
                start = place
                while start and (
                    part.tokens[start - 1].text in (".",) or part.tokens[start - 1].text.lower() in _TITLES
                ):
                    start -= 1
                people.setdefault(token.text, _actor_at(part, start, actors)[0] or token.text)
    return next(iter(people.values())) if len(people) == 1 else None


def _named(clause: ClauseView, actors: Actors) -> list[str]:
    """The people named in a clause, with their titles."""
    found = []
    place = 0
    while place < len(clause.tokens):
        name, end = _actor_at(clause, place, actors)
        if name is None and clause.tokens[place].text in actors:
            name, end = clause.tokens[place].text, place + 1
        if name is not None:
            found.append(name)
        place = max(end, place + 1)
    return found


def _gender(name: str, view: ProblemView, actors: Actors) -> str:
    """A person's gender: as the corpus has it, else as the pronouns of a text with nobody else have it."""
    title = name.split()[0].rstrip(".").lower()
    if title in ("mr", "mister", "uncle"):
        return "m"
    if title in ("mrs", "ms", "miss", "aunt"):
        return "f"
    known = actors.gender.get(name.split()[-1], "")
    if known:
        return known
    pronouns = {_PRONOUNS[word] for part in view.clauses for word in part.masked if word in _PRONOUNS}
    return next(iter(pronouns)) if len(pronouns) == 1 else ""


_HER_OBJECT = re.compile(
    r"\bher(?=\s*(?:[.,;!?]|$|\d|a\b|an\b|the\b|some\b|more\b|to\b|for\b|from\b|another\b))", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)


def _turned(text: str) -> str:
    """The text with the other gender's pronouns."""
    objects = {match.start() for match in _HER_OBJECT.finditer(text)}

    def other(match: re.Match[str]) -> str:
        word = match[0].lower()
        turned = ("him" if match.start() in objects else "his") if word == "her" else _TURNED[word]
        return turned.capitalize() if match[0][0].isupper() else turned

    return _PRONOUN.sub(other, text)
