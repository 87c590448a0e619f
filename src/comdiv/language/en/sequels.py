"""English topics: the question asks how many of a thing somebody has, got, needs or used, or how many there are."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from comdiv.expression import Operation
from comdiv.language.base import NUMBER_MASK
from comdiv.language.en import MEASURES, English, singular
from comdiv.language.en.coherence import verb_stem
from comdiv.language.en.people import find_people, gender_of_given_name, may_mean, people_in
from comdiv.language.en.tagging import tag_words
from comdiv.language.sequels import Sequels, Topic, is_whole

if TYPE_CHECKING:
    from comdiv.language.coherence import Actors
    from comdiv.reading import Clause, Reading

# Questions in lower case, without their question mark. Each role has a form; what they share comes first.
_ALL = r"in all|altogether|in total|total|all together|together|combined|overall|all"
_WHEN = r"now|left|left over|over|remaining|still|then|in the end|at the end|by the end|today"
_TAIL = rf"(?: (?:{_ALL}|{_WHEN}))*$"
_OPENING = r"^(?:(?:in (?:all|total)|altogether|now|so) ,? ?)?"
_WHAT = r"how (?:many(?: (?P<things>[a-z][a-z' -]*?))?|much (?P<money>money))(?: total| in (?:all|total))? "
_WHO = r"(?P<owner>(?:(?:mrs|mr|ms|miss|dr)\.? )?[a-z]+)"
_HAS = rf"(?:does|do|will|would|did) {_WHO} (?:now |still |then )?(?:have|own|end up with|end with)"
_DID = (
    rf"(?:did|does|will|would|has|have) {_WHO} (?P<verb>[a-z]+)"
    r"(?P<where> (?:in|on|at|from|for|to|with|up|during) ?[a-z ]*?)?"
)
_THERE = (
    r"(?:are|were|will be|would be|will there be|would there be)(?: now)?(?: there)?"
    r"(?: (?:in|on|at) (?:the|his|her|their|this) [a-z ]+?)?"
)
_ROLES = {
    role: re.compile(_OPENING + _WHAT + form + _TAIL)
    for role, form in (("has", _HAS), ("did", _DID), ("there", _THERE))
}
_PAID = re.compile(rf"{_OPENING}how much (?:money )?(?:did|does|will|would) {_WHO} (?P<verb>spend|pay){_TAIL}")
_HAD_BEFORE = re.compile(r"^.*\bdid [a-z. ]+ have(?! left| now| in| altogether| total| over| remaining| still)")
_PRONOUNS = {"he": "him", "she": "her", "they": "them"}
_PAST_AS_PRESENT = frozenset(["put", "cut", "hit", "read", "set", "cost"])
_RELATIVE = frozenset(["that", "which", "who"])
# Before participles: "has bought" tells what is so now, "are added" happens now.
_AUXILIARIES = frozenset(["has", "have", "had", "is", "are", "be", "been", "being", "was", "were", "get", "gets"])
_DOLLAR_SIGN = re.compile(r"\$ ?")
_DOLLARS = re.compile(r"(\d[\d.,]*)( more)? dollars")  # written as the story does: $5
_SPACED_STOP = re.compile(r"\s[.?](?:\s|$)")


class EnglishSequels(Sequels):
    """English, as in MAWPS."""

    def __init__(self) -> None:
        super().__init__(English().data("sequels.yaml"))

    def topics(self, readings: "Sequence[Reading]") -> list[Topic | None]:
        actors = find_people(readings)
        return [self._topic(reading, actors) for reading in readings]

    def things(self, reading: "Reading", clause: int) -> Iterable[str]:
        return [unit for number in reading.clauses[clause].quantities if (unit := reading.quantities[number].unit)]

    def mentions(self, reading: "Reading", clause: int) -> Iterable[tuple[str, str]]:
        """Each counted thing, with the clause in which `@` replaces its number and name: "she bought @ ."."""
        part = reading.clauses[clause]
        for place, token in enumerate(part.tokens):
            unit = None if token.quantity is None else reading.quantities[token.quantity].unit
            if unit is None or unit in self.words["people"]:
                continue
            ends = range(place + 1, min(place + 5, len(part.masked)))
            if end := next((end for end in ends if singular(part.masked[end]) == unit), None):
                yield unit, self.clause_text([*part.masked[:place], "@", *part.masked[end + 1 :]])

    def companions(self, topic: Topic, names: Sequence[str]) -> Sequence[str]:
        there = set(re.findall(r"\w+", topic.story.lower()))
        return [name for name in names if " " not in name and name.lower() not in there]

    def introduce(self, other: str, topic: Topic) -> str:
        return f"{topic.slots['owner']}'s friend {other}" if "named" in topic.traits else other

    def cast(self, readings: "Sequence[Reading]") -> list[dict[str, str]]:
        actors = find_people(readings)
        return [_given_names(reading, actors) for reading in readings]

    def stem(self, word: str) -> str:
        return singular(word)

    def is_sound(self, reading: "Reading") -> bool:
        half = self.patterns["half_sentence"].search(reading.text)
        return not half and not self.patterns["unsound"].search(reading.text.lower())

    def exchangeable(self, reading: "Reading") -> frozenset[str]:
        units = {one.unit for one in reading.quantities if one.unit and one.kind == "measure"}
        return frozenset(unit for unit in units if unit not in MEASURES and unit not in self.words["fixed"])

    def join(self, story: str, sentences: str, donor: "Reading") -> str:
        sentences = sentences[:1].upper() + sentences[1:]
        if sign := _DOLLAR_SIGN.search(story):
            sentences = _DOLLARS.sub(lambda match: f"{sign[0]}{match[1]}{match[2] or ''}", sentences)
        if _SPACED_STOP.search(donor.text):
            sentences = re.sub(r"(?<!\bMrs)(?<!\bM[rs])(?<!\bDr)([.,?])(?=\s|$)", r" \1", sentences)
        text = f"{story} {sentences}"
        return text.lower() if donor.text.islower() else text

    def clause_text(self, words: Iterable[str]) -> str:
        return " ".join(words)

    # --- topics ---

    def _topic(self, reading: "Reading", actors: "Actors") -> Topic | None:
        if len(reading.clauses) < 2 or not reading.used.isdisjoint(reading.question.quantities):
            return None
        asked, story = _plain(reading.question), self._story(reading)
        if story is None or _HAD_BEFORE.match(asked) or self.patterns["unsound"].search(story.lower()):
            return None
        if match := _PAID.match(asked):
            return self._owned(reading, "paid", match, "dollar", "", story, actors)
        for role, pattern in _ROLES.items():
            if match := pattern.match(asked):
                return self._asked(reading, role, match, story, actors)
        return None

    def _asked(
        self, reading: "Reading", role: str, match: re.Match[str], story: str, actors: "Actors"
    ) -> Topic | None:  # fmt: skip
        """The topic of a question that has the form of a role."""
        things = match["things"] or ("" if match["money"] else _counted_things(reading))
        if things is None or self.patterns["no_things"].search(f"{things} ".lower()):
            return None
        things = _as_written(things, reading.question.text)
        unit = "dollar" if match["money"] or things.lower() == "dollars" else singular(_head(things))
        if unit == "dollar":
            other_coins = any(one.unit in self.words["coins"] for one in reading.quantities)
            if role != "has" or other_coins:
                return None
            return self._owned(reading, "money", match, unit, "", story, actors)
        if reading.asked_unit not in (None, unit) or not _tells_of(reading, unit):
            return None
        if role == "there":
            traits = self._traits(reading, unit)
            return Topic(role, unit, unit, story, _forms(things), plural=True, past=_is_past(reading), traits=traits)
        if role == "did":
            stem = verb_stem(match["verb"])
            role = next((kind for kind in ("got", "need") if stem in self.words[kind]), "did")
        return self._owned(reading, role, match, unit, things, story, actors)

    def _owned(
        self, reading: "Reading", role: str, match: re.Match[str], unit: str, things: str, story: str, actors: "Actors"
    ) -> Topic | None:  # fmt: skip
        """A topic with an owner: a person named in the story, or a pronoun that can mean only one."""
        owner = self._person(reading, match["owner"], actors)
        if owner is None:
            return None
        groups = match.groupdict()
        verb, pronoun = groups.get("verb") or "", _PRONOUNS.get(owner.lower())
        past = "" if groups.get("where") else _past_form(reading, verb)
        traits = self._traits(reading, unit) | {"verb" if past else "", "" if pronoun else "named"}
        all_of = "all of the remaining" if role in ("has", "money") and _has_lost(reading) else "all of the"
        slots = {"owner": owner, "whom": pronoun or owner, "verb": verb, "past": past, "all": all_of, **_forms(things)}
        slots["has"] = "now has" if _is_past(reading) or _has_changed(reading) else "has"
        return Topic(role, unit, unit, story, slots, plural=owner == "they", past=_is_past(reading), traits=traits)

    def _traits(self, reading: "Reading", unit: str) -> frozenset[str]:
        story = " ".join(word for clause in reading.narrative for word in clause.masked)
        past = _is_sum(reading) and self.patterns["rest"].search(story)
        whole = is_whole(reading) and not past and not self.patterns["events"].search(story)
        unpacked = not self.patterns["packed"].search(story)
        holds = {"whole": whole, "unpacked": unpacked, "measure": unit in MEASURES, "count": unit not in MEASURES}
        return frozenset(trait for trait, there in holds.items() if there)

    def _person(self, reading: "Reading", owner: str, actors: "Actors") -> str | None:
        if owner in self.words["nobody"]:
            return None
        names = [name for clause in reading.clauses for name in people_in(clause, actors)]
        if owner in _PRONOUNS:  # the question's pronoun means the first person, if it can
            return names[0] if names and may_mean(owner, names[0], actors) else owner
        return next((name for name in sorted(names) if name.lower().replace(" .", ".") == owner), None)

    def _story(self, reading: "Reading") -> str | None:
        """The narrative as whole sentences: "If she gives 3 away, how many…" becomes "She gives 3 away."."""
        last = reading.narrative[-1]
        end = last.text.strip()
        if self.patterns["loose"].match(end.lower()):
            return None
        if end.endswith(","):
            if NUMBER_MASK not in last.masked:
                return None
            body = re.sub(self.patterns["condition"], "", end.rstrip(", "))
            end = body[:1].upper() + body[1:] + (" ." if _SPACED_STOP.search(reading.text) else ".")
        elif not end.endswith((".", "!", ".”", '."')):
            return None
        return self._whole_sentences(f"{reading.text[: last.start].strip()} {end}".strip())

    def _whole_sentences(self, text: str) -> str:
        """ "If she drank 15 bottles. Then…" becomes "She drank 15 bottles. Then…"."""
        return self.patterns["half_sentence"].sub(lambda match: match[1].upper() + match[2], text)


def _given_names(reading: "Reading", actors: "Actors") -> dict[str, str]:
    """The people whom a text calls by a known given name alone, with their gender; places are not people."""
    names = [name for clause in reading.clauses for name in people_in(clause, actors)]
    return {name: gender for name in names if (gender := gender_of_given_name(name))}


def _plain(question: "Clause") -> str:
    """The words of a question in lower case, without the question mark."""
    return re.sub(r" ?\. ", ". ", " ".join(question.masked)).strip(" ?.,!")


def _tells_of(reading: "Reading", unit: str) -> bool:
    """Whether the narrative names the thing: a story of dimes says nothing about cents."""
    return any(singular(word) == unit for clause in reading.narrative for word in clause.masked)


def _is_past(reading: "Reading") -> bool:
    """Whether the narrative is told in the past: any of its main verbs is."""
    return any(_has_past_verb(tuple(token.text for token in clause.tokens)) for clause in reading.narrative)


def _has_past_verb(words: tuple[str, ...]) -> bool:
    """Whether a clause has a past main verb; the tagger takes many for adjectives ("Joan baked pies")."""
    tagged = [(word, tag) for word, tag in tag_words(words) if tag != "RB"]
    in_relative = False  # until its verb: "who bought" is about somebody
    for (before, tag_before), (word, tag), (after, tag_after) in zip(
        [("", ""), *tagged], tagged, [*tagged[1:], ("", "")], strict=False
    ):
        in_relative |= word.lower() in _RELATIVE
        is_participle = before.lower() in _AUXILIARIES or (word.endswith("ed") and tag_before in ("CD", "DT", "JJ"))
        if is_participle or not _is_past_form((before, tag_before), (word, tag), (after, tag_after)):
            continue
        if not in_relative:
            return True
        in_relative = False
    return False


def _is_past_form(before: tuple[str, str], verb: tuple[str, str], after: tuple[str, str]) -> bool:
    """Whether a tagged word can be a finite past form between its neighbours."""
    word, tag = verb
    if word in _PAST_AS_PRESENT:
        return before[1] == "NNP" or before[0].lower() in ("he", "she")
    if tag == "VBN" or (tag == "JJ" and word.endswith("ed")):
        has_object = before[1] in ("NN", "NNS") and after[1] in ("CD", "DT", "PRP$", "$")
        return has_object or (before[1] in ("NNP", "PRP") and after[0].lower() != "by")
    return tag == "VBD"


def _has_lost(reading: "Reading") -> bool:
    """Whether the story ends with a loss, so that what somebody has is what remains."""
    tree = reading.expression
    compared = any("than" in clause.masked for clause in reading.narrative)
    return isinstance(tree, Operation) and tree.operator == "-" and is_whole(reading) and not compared


def _has_changed(reading: "Reading") -> bool:
    """Whether something was added or taken away, so that a comparison must say that it is with what is there now."""
    tree = reading.expression
    compared = any("than" in clause.masked for clause in reading.narrative)
    return isinstance(tree, Operation) and tree.operator in "+-" and not compared and len(reading.narrative) > 1


def _is_sum(reading: "Reading") -> bool:
    return isinstance(reading.expression, Operation) and reading.expression.operator == "+"


def _counted_things(reading: "Reading") -> str | None:
    """What the numbers of the expression count, as written, if all of them count the same."""
    units = {reading.quantities[index].unit for index in reading.used} - {None}
    for clause in reading.narrative if len(units) == 1 else ():
        for place, token in enumerate(clause.tokens):
            if token.quantity is None:
                continue
            for end in range(place + 1, min(place + 4, len(clause.tokens))):
                word = clause.masked[end]
                if {singular(word)} == units and singular(word) != word:
                    return " ".join(clause.masked[place + 1 : end + 1])
                if not word.isalpha():
                    break
    return None


def _as_written(things: str, question: str) -> str:
    """The words with the capitals that the question gives them: Pokemon cards."""
    words = r"\s+".join(map(re.escape, things.split()))
    match = re.search(words, question, re.IGNORECASE)
    return match[0] if match else things


def _head(things: str) -> str:
    """The counted noun: "pieces" of "pieces of candy"."""
    return things.split(" of ")[0].split()[-1]


def _forms(things: str) -> dict[str, str]:
    """The plural as it is written, and the singular."""
    head, of, rest = things.partition(" of ")
    *before, noun = head.split() or [""]
    return {"things": things, "thing": " ".join([*before, singular(noun)]) + of + rest}


def _past_form(reading: "Reading", verb: str) -> str:
    """The form of the verb that the narrative uses in the past; empty if it does not."""
    stem = verb_stem(verb)
    words = (word for clause in reading.narrative for word in clause.masked if not word.endswith(("s", "ing")))
    forms = Counter(word for word in words if word != verb and verb_stem(word) == stem)
    return forms.most_common(1)[0][0] if verb and forms else ""
