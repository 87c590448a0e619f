"""Chinese topics: what the question counts (苹果有多少千克), a price, a cost, a rate, a task, a distance.

The words are in `sequels.yaml`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from comdiv.expression import to_infix
from comdiv.language.base import SHARE
from comdiv.language.sequels import STORY_SLOT, Sequels, Topic, is_whole
from comdiv.language.zh import Chinese, tag_words

if TYPE_CHECKING:
    from comdiv.reading import Reading

_ENDS = "。．？！；，：?!;,= ＝"
_OPENINGS = ("那么", "请问", "问", "则", "求")
_MONEY = ("元钱", "块钱", "钱")
KINDS_OF_NAMES = ("given_name", "craftsman", "teacher", "uncle", "aunt", "school", "grade")
LEAST_COMPARISONS = 2  # comparisons of two things before they count as one kind; a single one may be chance
MOST_SHARE_CLAUSES = 3
LONG_STORY = 30  # characters; a shorter story goes on after a comma


@dataclass(frozen=True, slots=True)
class _Question:
    """A question around its 多少 and unit: 果园里有苹果树 | 多少棵 | 苹果树."""

    before: str
    unit: str
    after: str
    story: str

    @property
    def text(self) -> str:
        """The question in one spelling: the number asked for is 多少."""
        return f"{self.before}多少{self.unit}{self.after}"

    def topic(self, role: str, thing: str = "", traits: Iterable[str] = (), **slots: str) -> Topic:
        """A topic of this question; `at` is the thing with the name of its amount, `ut` the unit with the thing."""
        words = {"u": self.unit, "t": thing, **slots}
        words |= {"at": thing + words.get("a", ""), "ut": self.unit + thing, "ht": f"有{thing}"}
        return Topic(role, self.unit, thing, self.story, words, traits=frozenset(traits))


class ChineseSequels(Sequels):
    """Mandarin, as in Math23K."""

    unfamiliar_words = 2  # things that end alike, or that are compared, are of one kind

    def __init__(self) -> None:
        super().__init__(Chinese().data("sequels.yaml"))
        self._siblings: dict[str, list[str]] = {}

    def topics(self, readings: "Sequence[Reading]") -> list[Topic | None]:
        self._siblings = self._learn_siblings(readings)
        return [self._topic(reading) for reading in readings]

    def things(self, reading: "Reading", clause: int) -> Iterable[str]:
        text = reading.clauses[clause].text
        words = tag_words(text)
        yield from self.patterns["one_of"].findall(text)  # what is sold by the same measure word has similar prices
        yield from [word for word, tag in words if self._is_noun(word, tag) and word not in self.words["no_things"]]

    def companions(self, topic: Topic, names: Sequence[str]) -> Sequence[str]:
        if "owner" in topic.slots:
            kind = _kind_of_name(topic.slots["owner"])
            story = topic.story.replace("小组", "组")
            return [name for name in names if name.replace("小组", "组") not in story and _kind_of_name(name) == kind]
        siblings = self._siblings.get(topic.thing, ())
        story = topic.story
        return [
            one for one in siblings
            if one.removesuffix("子") not in story and topic.thing not in one and one not in topic.thing
        ]  # fmt: skip

    def cast(self, readings: "Sequence[Reading]") -> list[dict[str, str]]:
        self._siblings = self._learn_siblings(readings)
        return [
            {name: kind for kind, pattern in self._kinds_of_names() for name in pattern.findall(reading.text)}
            for reading in readings
        ]

    def _kinds_of_names(self) -> list[tuple[str, re.Pattern[str]]]:
        return [(kind, self.patterns[kind]) for kind in KINDS_OF_NAMES]

    def stem(self, word: str) -> str:
        return word

    def exchangeable(self, reading: "Reading") -> frozenset[str]:
        nouns = {word for word, tag in tag_words(reading.text) if self._is_noun(word, tag)}
        units = {one.unit for one in reading.quantities} | {reading.asked_unit}
        return frozenset(
            word for word in nouns - units if self._kind_name(word) == word and not self.patterns["fixed"].search(word)
        )

    def suits(self, topic: Topic, unit: str | None) -> bool:
        """一本书 has pages, not 本; nothing has 倍."""
        return unit not in (None, "倍") and f"一{unit}" not in topic.slots.get("opening", "")

    def are_alike(self, first: str, second: str) -> bool:
        return first[-1] == second[-1] or second in self._siblings.get(first, ())

    def join(self, story: str, sentences: str, donor: "Reading") -> str:
        stop = "。" if "。" in donor.text else "．"
        end = donor.text.rstrip()[-1:]
        sentences = sentences.rstrip("？") + (end if end in "？?．。" else "？")
        if STORY_SLOT in sentences:
            return sentences.replace(STORY_SLOT, story)
        return f"{story}{stop if len(story) > LONG_STORY else '，'}{sentences}"

    def clause_text(self, words: Iterable[str]) -> str:
        return "".join(words)

    # --- what is learnt ---

    def _learn_siblings(self, readings: "Sequence[Reading]") -> dict[str, list[str]]:
        """Things compared in the training set are of one kind: 苹果树是梨树的3倍. Names that end alike need fewer.

        So are two things that are both compared with a third.
        """
        counts: Counter[frozenset[str]] = Counter()
        for reading in readings:
            for clause in reading.clauses:
                if match := self.patterns["comparison"].search("".join(clause.masked)):
                    pair = frozenset(filter(None, [self._kind_name(match["a"]), self._kind_name(match["b"])]))
                    counts.update([pair] if len(pair) == 2 else [])
        near: defaultdict[str, set[str]] = defaultdict(set)
        for pair, count in counts.items():
            first, second = sorted(pair)
            if count >= LEAST_COMPARISONS or (first[-1] == second[-1] and min(len(first), len(second)) > 1):
                near[first].add(second)
                near[second].add(first)
        return {thing: sorted(those.union(*(near[one] for one in those)) - {thing}) for thing, those in near.items()}

    def _kind_name(self, phrase: str) -> str | None:
        """The thing of a phrase, if it can stand for a kind: not a person, a whole or a pronoun."""
        thing = self._thing_at_end(self.patterns["opener"].sub("", phrase))
        if thing is None or thing in self.words["general"]:
            return None
        if self.patterns["no_kind"].search(thing) or self.patterns["person"].search(thing):
            return None
        return thing

    def _thing_at_end(self, text: str) -> str | None:
        """The noun at the end of a phrase with the words that belong to it: 买来的红气球 → 红气球."""
        taken: list[str] = []
        for word, tag in reversed(tag_words(text)):
            named = tag.startswith("nr") and not self.patterns["no_name"].search(word)
            noun = self._is_noun(word, tag) and not named and word not in ("里", "中")
            if not noun and not (taken and tag in ("a", "b") and len(word) == 1):
                break
            taken.insert(0, word)
        name = "".join(taken[-2:])
        return name if name and name not in self.words["no_things"] else None

    def _is_noun(self, word: str, tag: str) -> bool:
        """Whether a word is a noun; the tagger takes some, such as 大米, for numbers or verbs."""
        return tag.startswith("n") or bool(self.patterns["no_name"].search(word))

    # --- topics ---

    def _topic(self, reading: "Reading") -> Topic | None:
        if reading.asked_unit == SHARE:
            return self._share(reading)
        question = self._question(reading)
        if question is None:
            return None
        if topic := self._formed(question):
            return topic
        if not question.unit or self.patterns["enumeration"].search(question.story):
            return None
        if not question.after:
            for role in (
                self._sum_of_rates,
                self._rate,
                self._price,
                self._task,
            ):
                if topic := role(question):
                    return topic
        return self._rest(reading, question) or self._stock(reading, question)

    def _formed(self, question: _Question) -> Topic | None:
        """The topic of a question that has one of the forms in `sequels.yaml`."""
        if self.patterns["listing"].search(question.story):
            return None
        for form in self.forms:
            slots = form.slots(question.text, question.unit, question.story)
            if slots is None or slots.get("owner", "") not in question.story:
                continue
            if self._is_told(slots.get("t", ""), question.story):
                traits = form.traits | ({"named"} if "owner" in slots else set())
                slots["car"] = self.names["car"]["another" if self.patterns["car"].search(question.story) else "first"]
                return question.topic(form.role, slots.pop("t", ""), traits, **self._unit_words(question.unit), **slots)
        return None

    def _unit_words(self, unit: str) -> dict[str, str]:
        """The words for an amount in this unit: its name, its comparative and its verb, as in 长度, 长, 长."""
        more = str(self.names["more"].get(unit, "多"))
        return {
            "a": str(self.names["amount"].get(unit, f"{unit}数")),
            "more": more,
            "has": more if more != "多" else "有",
        }

    def _is_told(self, thing: str, story: str) -> bool:
        """Whether the story names the thing, and it is one; true if the question names none."""
        return not thing or (thing in story and self._is_noun(*tag_words(thing)[-1]))

    def _question(self, reading: "Reading") -> _Question | None:
        if len(reading.clauses) < 2 or not reading.used.isdisjoint(reading.question.quantities):
            return None
        if not reading.narrative[-1].quantities and reading.text[: reading.question.start].rstrip()[-1:] in "，,":
            return None  # the last clause belongs to the question: 去掉成本，还剩多少元
        text = reading.question.text.strip().strip(_ENDS)
        for opening in _OPENINGS:
            text = text.removeprefix(opening)
        story = reading.text[: reading.question.start].strip().rstrip(_ENDS)
        if re.search("[?？]", story):
            return None  # it has asked something before
        if reading.asked_unit is None:  # 这个数=多少
            return _Question(self.patterns["bare_asking"].sub("", text), "", "", story)
        before, asking, rest = text.rpartition("多少" if "多少" in text else "几")
        unit = next((one for one in (*_MONEY, reading.asked_unit) if rest.startswith(one)), None)
        if not asking or unit is None:
            return None
        return _Question(before.rstrip("=＝"), "元" if unit in _MONEY else unit, rest[len(unit) :].lstrip("的"), story)

    def _rate(self, question: _Question) -> Topic | None:
        match = self.patterns["rate"].search(question.before)
        if not match:
            return None
        subject = question.before[: match.start()].removesuffix("的速度是")
        if self.patterns["rate_of_other"].search(subject) or (
            not subject and self.patterns["pair"].search(question.story)
        ):
            return None
        period = str(self.names["period"].get(match["per"], match["per"]))
        return question.topic(
            "rate", "", ["subject" if subject else "alone"], per=period, v=match["v"], subject=subject
        )

    def _sum_of_rates(self, question: _Question) -> Topic | None:
        """甲车和乙车每小时一共行多少千米: they meet, or they finish together."""
        match = self.patterns["sum_of_rates"].match(question.before)
        if not match:
            return None
        period = str(self.names["period"].get(match["per"], match["per"]))
        travels = match["v"] in self.words["travelling"] and self.patterns["meeting"].search(question.story)
        works = match["v"] in self.words["working"] and self.patterns["together"].search(question.story)
        traits = [trait for trait, holds in (("meets", travels), ("works", works)) if holds]
        return question.topic("both", "", traits, per=period, v=match["v"])

    def _rest(self, reading: "Reading", question: _Question) -> Topic | None:
        """还剩多少米没有修: what is still to be done, used or sold."""
        match = self.patterns["rest"].match(question.before)
        if not match:
            return None
        told = self.patterns["undone"].match(question.after)
        verb = told["v"] if told else next(iter(self.patterns["used_up"].findall(question.story)), "")
        verb = str(self.names["used_up"].get(verb, verb))
        if question.after and not told and self._thing_at_end(question.after) != question.after:
            return None
        if not verb or not is_whole(reading) or question.unit == "元":
            return None
        if verb in self.words["travelling"] or (not told and self.patterns["on_the_way"].search(question.story)):
            return None
        sold = ["sold"] if verb == "卖" else []
        return question.topic("rest", "", sold, v=verb)

    def _share(self, reading: "Reading") -> Topic | None:
        """还剩几分之几, or one thing as a share of another: with a host's whole, the share becomes an amount."""
        if to_infix(reading.expression) != "1-N0" or len(reading.clauses) > MOST_SHARE_CLAUSES:  # type: ignore[arg-type]
            return None
        question = reading.question.text.strip().strip(_ENDS)
        *before, last = [clause.text.strip().strip(_ENDS) for clause in reading.narrative]
        if topic := self._price_share(question, before, last):
            return topic
        if before and (match := self.patterns["share_done"].match(question)):
            thing = self._thing_at_end(before[0])
            slots = {"opening": before[0], "v": match["v"], "t": thing or ""}
            return Topic("done-share", SHARE, thing, "，".join([*before[1:], last]), slots) if thing else None
        if match := self.patterns["share_left"].match(question):
            opening = "，".join(before)
            thing = self._thing_at_end(opening)
            slots = {"opening": opening, "undone": match["undone"] or ""}
            return Topic("left", SHARE, thing, last, {**slots, "t": thing}) if thing else None
        match = self.patterns["share_less"].match(last)
        if before or not match:
            return None
        first, second = (self._kind_name(match[name]) for name in ("a", "b"))
        if first is None or second is None or first != match["a"]:
            return None
        share = reading.plain_quantities[0].text
        slots = {"t": first, "b": second}
        return Topic("less", SHARE, first, f"{second}{match['less']}{share}", slots)

    def _price_share(self, question: str, before: Sequence[str], last: str) -> Topic | None:
        """现价是原价的百分之几, or how much cheaper: a share that the old price makes an amount."""
        role = next((role for role in ("price_now", "price_cut") if self.patterns[role].match(question)), None)
        match = self.patterns["price_told"].match(last) if role else None
        if role is None or match is None or bool(before) == bool(match["o"]):
            return None
        opening = match["o"] or "，".join(before) + "，"
        like = self.patterns["one_of"].search(opening)
        thing = like[0] if like else self._thing_at_end(opening.rstrip("，"))
        told = match["s"].removeprefix("现价").removeprefix("现在")
        if thing is None or (role == "price_now" and not told.startswith("比")):
            return None
        story = told if role == "price_now" else f"现在{told}"
        return Topic(role.replace("_", "-"), SHARE, thing, story, {"opening": opening})

    def _price(self, question: _Question) -> Topic | None:
        match = self.patterns["price"].search(question.before) if question.unit == "元" else None
        if not match:
            return None
        thing = match["t"] or self._thing_at_end(question.story)
        told = thing and thing in question.story and not self.patterns["no_price"].search(question.story)
        return question.topic("goods", thing, m=match["u"]) if thing and told else None

    def _task(self, question: _Question) -> Topic | None:
        match = self.patterns["task"].match(question.before)
        verb = self.names["task"].get(match["name"]) if match else None
        if match is None or verb is None or verb not in question.story or self.patterns["begun"].search(question.story):
            return None
        return question.topic("task", match["name"], v=verb)

    def _stock(self, reading: "Reading", question: _Question) -> Topic | None:
        """An amount of one thing: all of the question but place and verb is the thing's name."""
        patterns, story, unit = self.patterns, question.story, question.unit
        name = question.before
        while (shorter := patterns["closer"].sub("", name)) != name:
            name = shorter
        name = patterns["opener"].sub("", name)
        thing = self._thing_at_end(question.after or name)
        if thing is None or thing not in story or (question.after or name) != thing or unit in self.words["no_stock"]:
            return None
        if question.after and name not in ("", thing):
            return None
        if patterns["other_role"].search(reading.question.text) or patterns["other_time"].search(story):
            return None
        if any(one.kind == "bare" or one.index not in reading.used for one in reading.quantities):
            return None
        if len(set(patterns["person"].findall(story))) > 1 or patterns["person"].search(thing):
            return None  # whose?
        if thing in self.words["general"] and len(set(patterns["group"].findall(story))) > 1:
            return None  # which of them?
        amount = self.names["amount"].get(unit, f"{unit}数")
        return question.topic("stock", thing, self._traits(reading, thing, unit, story), a=amount)

    def _traits(self, reading: "Reading", thing: str, unit: str, story: str) -> set[str]:
        traits = {scene for scene, pattern in self.names["scene"].items() if re.search(pattern, story)}
        if unit in self.words["creatures"]:
            traits.discard("kitchen")  # who is fed there is not eaten
        traits.add("measure" if unit in self.names["amount"] else "count")
        if self._siblings.get(thing):
            traits.add("sibling")
        if unit in self.words["boxes"]:
            traits.add("box")
        if unit not in self.words["people"] and is_whole(reading) and not self.patterns["part"].search(story):
            traits.add("whole")
        return traits


def _kind_of_name(name: str) -> str:
    """The kind of a name: grades, classes, groups and people are each compared among themselves."""
    return name[-1] if name[-1] in "级班队组" else ""
