"""Chinese stories as textbooks tell them: clauses chained by commas, a subject named once and then understood."""

import re
from collections.abc import Collection, Mapping

from comdiv.corpora.demo.scenarios import Forms, default_form

CHAIN = 4  # clauses between two full stops; longer chains are hard to read
_OPENER = re.compile(r"[^，\d]{1,9}，|[^，\d]{0,4}(?:后来|现在|这时|这样|最后|一局|游戏中|昨天|今天)|")
_LONGER_NAME = re.compile("[和与跟里家]|同(?!时)|中(?!午)")  # after a name: part of a longer subject
_OF = "的"
_SLOTS = re.compile(
    "who|friend|shop|team|ship|park|school|village|place|where|lib|hall|[abcdt]"
)  # that fill with actors
_PLACES = (
    *("玩具厂", "饮料店", "合唱团", "养殖场", "水果店", "邻居家"),
    *("印刷厂", "缝纫店", "图书角", "摩托车", "果园", "书店"),
)


def actors(slots: Mapping[str, Forms]) -> dict[str, str]:
    """Everybody who may act in a story, with their pronouns: those drawn for it, and those common to many stories."""
    people = {default_form(forms): forms.get("ta", "") for slot, forms in slots.items() if _SLOTS.fullmatch(slot)}
    return {**dict.fromkeys(_PLACES, ""), **people}


def chain(text: str, pronouns: Mapping[str, str]) -> str:
    """The text with its sentences chained; the last one is the question. `pronouns` are by name, of all who may act.

    A subject is left out where nobody else can be meant: nobody else is in the text, or in the chain so far. The
    question keeps it, and so does the second of two plain clauses.
    """
    sentences = [sentence.rstrip("。") for sentence in re.split("(?<=。)", text.rstrip("？"))]
    acting = {name for _, name, _ in (_subject(sentence, pronouns) for sentence in sentences) if name}
    plain = len(sentences) <= 3 and "，" not in "".join(sentences[:-1])
    chains: list[str] = []
    topic = ""
    for sentence in sentences:
        is_joined = bool(chains) and (chains[-1] + sentence).count("，") + 2 <= CHAIN
        before, name, rest = _subject(sentence, pronouns)
        others = acting - {name}
        clear = not others or (is_joined and not any(other in chains[-1] for other in others))
        clauses = sentence
        if name and name == topic and clear and not plain and sentence is not sentences[-1]:
            clauses = before.rstrip("，") + rest.removeprefix(_OF)
        else:
            if name and not others and pronouns[name] and name in "".join(chains):
                clauses = before + pronouns[name] + rest
            topic = "" if rest.startswith(_OF) else name
        if is_joined:
            chains[-1] += "，" + clauses
        else:
            chains.append(clauses)
    return "。".join(chains) + "？"


def _subject(sentence: str, names: Collection[str]) -> tuple[str, str, str]:
    """The words before the subject, the subject if it is one of the names, and the rest of the sentence."""
    match = _OPENER.match(sentence)
    for opener in (match[0] if match else "", ""):
        for name in sorted(names, key=len, reverse=True):
            rest = sentence.removeprefix(opener + name)
            if rest != sentence and not _LONGER_NAME.match(rest):
                return opener, name, rest
    return "", "", sentence
