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
MOST_SHARE_CLAUSES = 4
LEAST_COUNTED = 2  # clauses that count what a word names before its unit is known
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
        words["y"] = (
            next((f"{one}数" for one in "丙丁" if one not in self.story), "") if "甲" in self.story else "另一个数"
        )
        words["row"] = next((one for one in "排行列" if f"每{one}" in self.story), "排")
        words |= {"at": thing + words.get("a", ""), "ut": self.unit + thing, "ht": f"有{thing}"}
        return Topic(role, self.unit, thing, self.story, words, traits=frozenset(traits))


class ChineseSequels(Sequels):
    """Mandarin, as in Math23K."""

    unfamiliar_words = 2  # things that end alike, or that are compared, are of one kind

    def __init__(self) -> None:
        table = Chinese().data("sequels.yaml")
        super().__init__(table)
        self._siblings: dict[str, list[str]] = {}
        self._units: dict[str, Counter[str]] = {}
        self.wholes = [(re.compile(pattern), *words) for pattern, *words in table["wholes"]]

    def topics(self, readings: "Sequence[Reading]") -> list[Topic | None]:
        self._siblings = self._learn_siblings(readings)
        self._units = self._learn_units(readings)
        return [self._topic(reading) for reading in readings]

    def things(self, reading: "Reading", clause: int) -> Iterable[str]:
        text = reading.clauses[clause].text
        return [
            word for word, tag in tag_words(text)
            if self._is_noun(word, tag) and word not in self.words["no_things"]
        ]  # fmt: skip

    def kinds(self, thing: str) -> Sequence[str]:
        """电视机 is a 机, 绳子 a 绳: what ends alike is of one kind."""
        return (thing, thing.removesuffix("子")[-1:])

    def companions(self, topic: Topic, names: Sequence[str]) -> Sequence[str]:
        if "owner" in topic.slots:
            kind = _kind_of_name(topic.slots["owner"])
            story = topic.story.replace("小组", "组")
            return [name for name in names if name.replace("小组", "组") not in story and _kind_of_name(name) == kind]
        siblings = self._siblings.get(topic.thing, ())
        story = topic.story.replace("桔", "橘")
        return [
            one for one in siblings
            if one.removesuffix("子").replace("桔", "橘") not in story
            and topic.thing not in one
            and one not in topic.thing
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
        if question.unit and not question.after and (topic := self._sum_of_rates(question)):
            return topic
        if not question.unit or self.patterns["enumeration"].search(question.story):
            return None
        if not question.after:
            for role in (
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
                slots |= {"per": str(self.names["period"].get(slots["per"], slots["per"]))} if "per" in slots else {}
                if slots.get("m") and slots.get("t"):
                    slots["it"] = f"这{slots['m']}{slots['t']}" + "原来" * bool(
                        self.patterns["changed"].search(question.story)
                    )
                if form.role == "journey":
                    slots["per"] = "小时"
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
        if self.patterns["several_rates"].search(question.story):
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
        travels = match["v"] in self.words["travelling"] and self._meet(question.story)
        works = match["v"] in self.words["working"] and self.patterns["together"].search(question.story)
        traits = [trait for trait, holds in (("meets", travels), ("works", works)) if holds]
        places = self.patterns["two_places"].search(question.story)
        return question.topic("both", "", traits, per=period, v=match["v"], both=places[0] if places else "两地")

    def _meet(self, story: str) -> bool:
        """Whether two set out at the same time and go towards each other."""
        return "同时" in story and bool(self.patterns["meeting"].search(story))

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
        if verb not in self.words["doing"] or self.patterns["no_rest"].search(question.story):
            return None
        if verb in self.words["travelling"] or (not told and self.patterns["on_the_way"].search(question.story)):
            return None
        sold = ["sold"] if verb == "卖" else []
        return question.topic("rest", "", sold, v=verb)

    def _share(self, reading: "Reading") -> Topic | None:
        """还剩几分之几, or one thing as a share of another: with the whole's number, the share becomes an amount."""
        if to_infix(reading.expression) != "1-N0" or len(reading.clauses) > MOST_SHARE_CLAUSES:  # type: ignore[arg-type]
            return None
        question = reading.question.text.strip().strip(_ENDS)
        *before, last = [clause.text.strip().strip(_ENDS) for clause in reading.narrative]
        return (
            self._price_share(question, before, last)
            or self._part_of_whole(question, before, last)
            or self._half(question, before, last)
            or self._compared(question, before, last)
        )

    def _part_of_whole(self, question: str, before: Sequence[str], last: str) -> Topic | None:
        """Of a book, a rope or a way some is read, used or left: 一本故事书，小明看了(3/5)，还剩几分之几没有看？"""
        done, left = (self.patterns[name].match(question) for name in ("share_done", "share_left"))
        match = done or left
        if match is None or not before:
            return None
        told = self.patterns["share_told"].match(last)
        whole = self._whole("，".join([*before, last, question]))
        if told is None or whole is None:
            return None
        told_before = before if left else [*before[:1], *(one for one in before[1:] if not self._is_some(one))]
        slots = {"opening": "，".join(told_before), **whole, "did": told["did"]}
        slots |= {"undone": left["undone"] or ""} if left else {"v": done["v"]} if done else {}
        traits = ["undone"] if slots.get("undone") else []
        role = "left" if left else "done-share"
        thing = self._thing_at_end(slots["opening"]) or ""
        return Topic(role, SHARE, thing, told["share"], slots, traits=frozenset(traits))

    def _is_some(self, clause: str) -> bool:
        """已经看了一部分: what the number of the sequel says more exactly."""
        return bool(self.patterns["some"].search(clause))

    def _whole(self, told: str) -> dict[str, str] | None:
        """How that is counted of which the text tells a share: 全长 or 一共有, how it is asked for, its unit."""
        for pattern, whole, asked, unit, of in self.wholes:
            if pattern.search(told):
                return {"whole": whole, "asked": asked, "hu": unit, "of": of}
        return None

    def _half(self, question: str, before: Sequence[str], last: str) -> Topic | None:
        """五年级的学生中，男生占(3/5)，女生占几分之几？"""
        match = self.patterns["half_asked"].match(question)
        group = self.patterns["group_told"].match(before[0]) if len(before) == 1 else None
        half = self.patterns["half_told"].match(last)
        if match is None or group is None or half is None:
            return None
        slots = {"group": group["group"], "half": half["half"], "q": match["q"], "hu": "人"}
        return Topic("half-share", SHARE, "", half["share"], slots)

    def _compared(self, question: str, before: Sequence[str], last: str) -> Topic | None:
        """鸭的只数比鸡少(1/5)，鸭的只数是鸡的几分之几; 今年用水比去年节约20%，今年用水是去年的百分之几。"""
        match = self.patterns["share_less"].match(last)
        asked = self.patterns["share_of"].match(question)
        if match is None or asked is None or match["b"] != asked["b"] or not match["a"].endswith(asked["a"]):
            return None
        first, second = asked["a"], asked["b"]
        opening = "，".join([*before, match["a"].removesuffix(first)])
        amount = self.patterns["amount_name"].search(first)
        if amount:
            counted, other = amount["counted"], f"{second}的{amount['name']}"
            unit = self.names["counted"].get(counted, counted)
        else:
            period = self.patterns["period_name"].match(first)
            if period is None or not self.patterns["period_name"].fullmatch(second):
                return None
            other = second + first[period.end() :]
            counted = first[period.end() :]
            unit = self.names["counted"].get(counted) or self._unit_of(counted)
        if unit is None:
            return None
        slots = {
            "a": first, "first": opening + first, "other_one": other, "other_first": opening + other, "hu": unit
        }  # fmt: skip
        if amount and self._is_noun(*tag_words(thing := first[: amount.start()])[-1]):
            slots |= {"a_thing": thing, "thing_there": opening + thing}
            slots |= {"second": second, "second_there": opening + second}
        story = f"比{second}{match['less']}"
        return Topic("less" if amount else "less-in-time", SHARE, slots.get("a_thing", ""), story, slots)

    def _unit_of(self, word: str) -> str | None:
        """The unit in which the training set counts what a word names; None if it does not say so clearly."""
        units = self._units.get(word) or self._units.get(word[-1:])
        if not units:
            return None
        unit, count = units.most_common(1)[0]
        return unit if count >= LEAST_COUNTED and 2 * count > units.total() else None

    def _learn_units(self, readings: "Sequence[Reading]") -> dict[str, Counter[str]]:
        """The units of the numbers in whose clauses a word stands."""
        units: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for reading in readings:
            for clause in reading.clauses:
                quantities = [reading.quantities[index] for index in clause.quantities]
                if len(quantities) == 1 and quantities[0].kind == "measure" and quantities[0].unit:
                    for word in {word for word, _ in tag_words(clause.text)}:
                        units[word][quantities[0].unit] += 1
        return dict(units)

    def _price_share(self, question: str, before: Sequence[str], last: str) -> Topic | None:
        """现价是原价的百分之几, or how much cheaper: a share that the old price makes an amount."""
        role = next((role for role in ("price_now", "price_cut") if self.patterns[role].match(question)), None)
        match = self.patterns["price_told"].match(last) if role else None
        if role is None or match is None or bool(before) == bool(match["o"]):
            return None
        opening = match["o"] or "，".join(before) + "，"
        told = self.patterns[f"{role}_told"].match(match["s"])
        if told is None:
            return None
        slots = {"opening": opening, "told": told["told"], "hu": "元"}
        thing = self._thing_at_end(opening.rstrip("，")) or ""
        return Topic(role.replace("_", "-"), SHARE, thing, told["share"], slots)

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
        if self._siblings.get(thing) and not self.patterns["sold"].search(story):
            traits.add("sibling")
        if unit in self.words["boxes"]:
            traits.add("box")
        if unit not in self.words["people"] and is_whole(reading) and not self.patterns["part"].search(story):
            traits.add("whole")
        return traits


def _kind_of_name(name: str) -> str:
    """The kind of a name: grades, classes, groups and people are each compared among themselves."""
    return name[-1] if name[-1] in "级班队组" else ""
