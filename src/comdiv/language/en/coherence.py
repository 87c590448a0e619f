"""English: frames by word order, verbs by stem; people are found in `people`."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from comdiv.language.base import NUMBER_MASK
from comdiv.language.coherence import Actors, Coherence, Frame, WordLists
from comdiv.language.en import singular
from comdiv.language.en.people import SUBJECTS, actor_at, find_people, people_in, person_before, rename, subject_at
from comdiv.language.en.tagging import tag_words

if TYPE_CHECKING:
    from comdiv.reading import Reading

_LISTS = WordLists("comdiv.language.en")
_RELATIONS = _LISTS.words("relations")
_NO_QUESTION = _LISTS.words("no_question")
_SUMMING = _LISTS.words("summing")
_ARITHMETIC = _LISTS.words("arithmetic") | _RELATIONS
_IRREGULAR = _LISTS.forms("irregular")
_BE = frozenset(["is", "are", "was", "were", "be"])
_HAVE = frozenset(["have", "has", "had", "own", "owns", "owned"])
_AUXILIARIES = frozenset(["do", "does", "did", "will", "would"])
_ADVERBS = frozenset(["now", "then", "actually", "currently"])  # between a subject and its verb
_CONDITIONS = frozenset(["if", "when", "after"])
_SENTENCE_ENDS = ".?!"
_END_UP = ("end", "up", "with")
_GETTING = _LISTS.words("getting")
_FIRST = frozenset(["start", "begin", "first", "originally", "initially", "befor"])
_MONEY = frozenset(["dollar", "cent"])
_COINS = frozenset(["cent", "penny", "nickel", "dime", "quarter"])
_DOLLARS: tuple[str, ...] = ("dollar",)
_EMPTY = _SUMMING | _BE | _HAVE
_TAGS = {"NN": "thing", "NNS": "things", "JJ": "quality"}


def _tag(word: str) -> str:
    return tag_words((word,))[0][1]


def _is_word(token: str) -> bool:
    return token[:1].isalpha() and token != NUMBER_MASK


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


class EnglishCoherence(Coherence):
    """English, as in MAWPS."""

    def actors(self, readings: "Iterable[Reading]") -> Actors:
        return find_people(readings)

    # --- frames ---

    def question_frame(self, reading: "Reading", actors: Actors) -> Frame | None:
        question = reading.question
        words = question.masked
        if reading.asked_unit is None or not _NO_QUESTION.isdisjoint(words) or "how" not in words:
            return None
        if reading.narrative[-1].masked[0] in _CONDITIONS and not _can_be_told(reading):
            return None  # the condition belongs to the question: "when the workers are finished , how many …"
        how = len(words) - 1 - words[::-1].index("how")
        before = {word for word in words[:how] if _is_word(word)}  # "in total , how many …"
        if not before <= _SUMMING or words[how + 1 : how + 2] not in (("many",), ("much",)):
            return None
        noun = _noun_group(words, how + 2, reading.asked_unit)
        if noun is None:
            return None
        phrase, rest = noun
        if phrase[-1] == "dollar" and _in_cents(reading):
            return None  # dollars are not added to cents
        tail = list(words[rest:])
        while tail and not _is_word(tail[-1]):
            tail.pop()
        if not tail:
            return None
        if tail[0] in _BE or tail[:2] in (["will", "be"], ["would", "be"]):
            return self._being(reading, phrase, tail, rest, actors)
        if tail[0] not in _AUXILIARIES:
            return None
        actor, place = actor_at(question, rest + 1, actors)
        if actor is None and words[rest + 1 : rest + 2] and words[rest + 1] in SUBJECTS:
            actor, place = person_before(reading, len(reading.clauses) - 1, words[rest + 1], actors), rest + 2
        if actor is None or place >= len(words):
            return None
        while words[place] in _ADVERBS and place + 1 < len(words):
            place += 1
        place += words[place] == "have" and _is_participle(words[place + 1 : place + 2])  # "would she have earned"
        verb = words[place]
        state = verb in _HAVE or words[place : place + 2] == ("end", "with") or words[place : place + 3] == _END_UP
        around = self._things(words[place + 1 :], question.tokens[place + 1 :], actors, phrase)
        if around is None:
            return None
        return Frame((phrase, "have" if state else verb_stem(verb), around), actor, state)

    def _being(
        self, reading: "Reading", phrase: tuple[str, ...], tail: list[str], rest: int, actors: Actors
    ) -> Frame | None:
        """ "How many … are there in the park" is about a place; "how many … are left" about the only person."""
        question = reading.question
        if any(token.text in actors for token in question.tokens):
            return None
        around = self._things(tail, question.tokens[rest:], actors, phrase)
        if around is None:
            return None
        people = {name: None for part in reading.narrative for name in people_in(part, actors)}
        if not around and tail[-1] == "left" and len(people) == 1:
            return Frame((phrase, "have", around), next(iter(people)))
        return Frame((phrase, "be", around))

    def clause_frame(self, reading: "Reading", clause: int, actors: Actors) -> Frame | None:
        seen = reading.clauses[clause]
        words = seen.masked
        quantity = reading.quantities[seen.quantities[0]]
        if quantity.unit is None or quantity.kind != "measure" or not _RELATIONS.isdisjoint(words):
            return None
        number = words.index(NUMBER_MASK)
        if number and words[number - 1] == "$":
            phrase, rest = _DOLLARS, number + 1
        else:
            noun = _noun_group(words, number + 1, quantity.unit)
            if noun is None:
                return None
            phrase, rest = noun
        return self._clause_about(reading, clause, number, phrase, rest, actors)

    def _clause_about(
        self, reading: "Reading", clause: int, number: int, phrase: tuple[str, ...], rest: int, actors: Actors
    ) -> Frame | None:
        seen = reading.clauses[clause]
        words = seen.masked
        if words[0] == "there" and words[1:2] and words[1] in _BE and number <= 3:
            around = self._things(words[rest:], seen.tokens[rest:], actors, phrase)
            named = any(token.text in actors for token in seen.tokens)
            return None if around is None or named else Frame((phrase, "be", around))
        first = subject_at(seen, number, actors)
        actor, place = actor_at(seen, first, actors)
        if actor is None and words[first] in SUBJECTS:
            actor, place = person_before(reading, clause, words[first], actors), first + 1
        if actor is None or place >= number:
            return None
        verb = words[place]
        start_with = verb_stem(verb) == "start" and words[place + 1] == "with"
        if number > place + 1 + start_with + (words[number - 1] == "$"):
            return None  # "gave her 9 apples": a word comes between verb and number
        around = self._things(words[rest:], seen.tokens[rest:], actors, phrase)
        if around is None:
            return None
        begins = self._begins_to_have(reading, clause, verb, phrase)
        state = verb in _HAVE or start_with or begins
        if state and _amount_told(reading, clause, actor, words[first] in SUBJECTS):
            return None  # this person already has an amount: another beginning would contradict it
        return Frame((phrase, "have" if state else verb_stem(verb), frozenset() if begins else around), actor, state)

    def _begins_to_have(self, reading: "Reading", clause: int, verb: str, phrase: tuple[str, ...]) -> bool:
        """ "Joan found 70 shells . She gave Sam 27 …": how she got them does not matter to the question.

        It does matter if the question asks about that event or its price, or if shells were mentioned before.
        """
        stem = verb_stem(verb)
        asked = {verb_stem(word) for word in reading.question.masked}
        if stem not in _GETTING or stem in asked or reading.asked_unit in _MONEY or not _FIRST.isdisjoint(asked):
            return False
        return not any(singular(word) in phrase for part in reading.clauses[:clause] for word in part.masked)

    def _things(
        self, words: Sequence[str], tokens: Sequence[object], actors: Actors, phrase: tuple[str, ...]
    ) -> frozenset[str] | None:
        """The content words other than unit and actor: places, companions. None if another person is among them."""
        if any(getattr(token, "text", "") in actors for token in tokens):
            return None
        return frozenset(singular(word) for word in words if self.is_content(word) and word not in _SUMMING)

    def told_by_events(self, reading: "Reading", frame: Frame) -> bool:
        """A sum of the same event: "found 3 … found 4 … how many did she find"."""
        stems = {verb_stem(word) for clause in reading.narrative for word in clause.masked if _is_word(word)}
        operator = getattr(reading.expression, "operator", "")
        return frame.key[1] in stems and operator in ("+", "*")

    def recast(
        self, reading: "Reading", old: str, new: str, other: "Reading", clause: int, actors: Actors
    ) -> str | None:
        return rename(_narrative_text(reading), reading, old, new, other, actors)

    # --- fragments ---

    def fragment_kind(self, tokens: Sequence[str], actors: Actors) -> str | None:
        if len(tokens) == 1 and (name := _as_named(tokens[0], actors)) is not None:
            return f"person {actors.gender[name]}" if actors.gender[name] else None
        kinds = []
        for token in tokens:
            if token in _ARITHMETIC or not token.isalpha() or _as_named(token, actors):
                return None
            kind = _TAGS.get(_tag(token))
            if kind is None or token.endswith("ing"):
                return None
            kinds.append("things" if kind == "thing" and singular(token) != token else kind)
        return " ".join(kinds) if kinds[-1] in ("thing", "things") else None

    def content_stems(self, tokens: Iterable[str]) -> frozenset[str]:
        return frozenset(singular(token) for token in tokens if self.is_content(token))

    def is_content(self, token: str) -> bool:
        return _is_word(token) and token not in _EMPTY and _tag(token).startswith(("NN", "JJ", "VB"))


def _in_cents(reading: "Reading") -> bool:
    """Whether a story's money is in coins that its expression does not convert to dollars."""
    converts = any(constant.value in (100, Fraction(1, 100)) for constant in reading.constants)
    return not converts and any(quantity.unit in _COINS for quantity in reading.quantities)


def _as_named(token: str, actors: Actors) -> str | None:
    """A lower-cased token as the corpus writes that name; None if it is not a name."""
    return next((form for form in (token.capitalize(), token) if form in actors), None)


def _can_be_told(reading: "Reading") -> bool:
    """Whether the condition before the question is a sentence without its "if": "If he sold 19 , how many …"."""
    condition = reading.narrative[-1]
    before = reading.problem.text[: condition.tokens[0].start].rstrip()
    return condition.masked[0] == "if" and before[-1:] in ("", *_SENTENCE_ENDS) and len(condition.tokens) > 2


def _narrative_text(reading: "Reading") -> str:
    """The narrative; a condition at its end becomes a sentence, because no question follows it any more."""
    text = reading.problem.text[: reading.question.start]
    condition = reading.narrative[-1]
    if condition.masked[0] not in _CONDITIONS:
        return text
    start, rest = condition.tokens[0].start, condition.tokens[1].start
    first = text[rest].upper() if text[start].isupper() else text[rest]
    return text[:start] + first + text[rest + 1 :]


def _is_participle(words: Sequence[str]) -> bool:
    return any(word not in _SUMMING and _tag(word) in ("VBN", "VBD") for word in words)


def _noun_group(words: Sequence[str], start: int, unit: str) -> tuple[tuple[str, ...], int] | None:
    """The words of the counted noun group, its head in the singular, and its end: "red apples" → (red, apple)."""
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


def _amount_told(reading: "Reading", clause: int, actor: str, by_pronoun: bool) -> bool:
    """Whether an earlier clause gives this person an amount of what the clause counts."""
    unit = reading.quantities[reading.clauses[clause].quantities[0]].unit
    name = actor.split()[-1]
    return any(
        reading.quantities[quantity].unit in (unit, None)
        for part in reading.clauses[:clause]
        if by_pronoun or any(token.text == name for token in part.tokens)
        for quantity in part.quantities
    )
