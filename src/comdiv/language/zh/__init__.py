"""Chinese: words by rjieba, clauses at every comma, measure words after numbers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from comdiv.language.base import SHARE, ContentWords, Language, Token, as_measure
from comdiv.language.numbers import NumberSpan, number_spans
from comdiv.language.zh.numbers import NUMERAL, numeral_value, share_value
from comdiv.problem import Quantity

if TYPE_CHECKING:
    from comdiv.language.coherence import Coherence
    from comdiv.language.sequels import Sequels

_CLAUSE_END = re.compile(r"[。．？！；，：?!;,]+[”’」』）)]*")
_ASKED_SHARE = re.compile(r"(?:几|多少|百)分之(?:几|多少)")
_ASKED = re.compile(r"多少|几")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_LOOK_AHEAD = 8  # characters after a number that are segmented to find its unit
_APPROXIMATE = "多余来"  # 30多个, 100余人
_MULTIPLIER = re.compile(r"[百千万亿]+(?=[\u4e00-\u9fff])")
_AMBIGUOUS = frozenset("分下面点对打方部门道边角号行里时成折级场年周日月组")
_AFTER_UNIT = "后前共有来的内中去到时长重宽高"
_RATIOS = frozenset(["倍", "成", "折"])
# Next to these, a number without a unit is a bare number: a term of a calculation, a label, a ratio.
_BARE_AFTER = re.compile(
    r"\s*(?:$|[-+×÷*/=＝－＋<>：:、，。．？！；,.?!;）)】\]”的与和跟同加减乘除去比是为等除以至到~～—或…小大]|月份|年级|届)"
)
_BARE_BEFORE = re.compile(r"(?:^|[-+×÷*/=：:（(比])\s*$")
_LOOK_BEHIND = 3  # characters before a number that may mark it as bare
_NO_NUMERAL_AFTER = ("第", "几")  # 第三本, 几十个
_NOT_VERBS = frozenset(["是", "有", "等于", "为"])


@cache
def _segmenter() -> Any:
    """rjieba loads its dictionary on first use; a private instance is not affected by user words added elsewhere."""
    import rjieba

    return rjieba.Jieba()


@lru_cache(maxsize=65_536)
def tag_words(text: str) -> tuple[tuple[str, str], ...]:
    """The words of a text with jieba's part-of-speech tags: n…, v…, a…"""
    return tuple((str(word), str(tag)) for word, tag in _segmenter().tag(text))


class Chinese(Language):
    """Mandarin in simplified characters, as in Math23K and Ape210K."""

    code = "zh"
    name = "Chinese"
    spaced = False

    def recognises(self, text: str) -> bool:
        return bool(_HAN.search(text))

    @property
    def coherence(self) -> "Coherence":
        from comdiv.language.zh.coherence import ChineseCoherence

        return ChineseCoherence()

    @property
    def sequels(self) -> "Sequels":
        from comdiv.language.zh.sequels import ChineseSequels

        return ChineseSequels()

    def words(self, text: str, start: int, end: int) -> list[Token]:
        tokens: list[Token] = []
        position = start
        for word in _segmenter().cut(text[start:end]) if start < end else ():
            if not word.isspace():
                tokens.append(Token(word, position, position + len(word)))
            position += len(word)
        return tokens

    def clause_ends(self, text: str) -> Iterator[re.Match[str]]:
        return (match for match in _CLAUSE_END.finditer(text) if not _is_ratio(text, match))

    def number_word_spans(self, text: str) -> Iterator[NumberSpan]:
        """Numerals before a measure word (三本, not 一共 or 第三) and shares (三分之二)."""
        for match in NUMERAL.finditer(text):
            before = text[max(0, match.start() - 1) : match.start()]
            end = match.end()
            if text[end - 1] == "千" and text[end : end + 1] in ("克", "米", "瓦"):  # 两千克 is two kilograms
                end -= 1
            if end == match.start() or (before.isdigit() and match[0][0] in "百千万亿"):  # 3千米, 2万元
                continue
            if match["denominator"]:
                share = share_value(match["numerator"], match["denominator"])
                if share is not None:
                    yield NumberSpan(match.start(), match.end(), share, "word")
            elif match[0] == "一半" or (before not in _NO_NUMERAL_AFTER and self._unit_at(text, end)):
                value = numeral_value(text[match.start() : end])
                if value is not None:
                    yield NumberSpan(match.start(), end, value, "word")

    def unit_of(self, text: str, quantity: Quantity) -> Quantity:
        if quantity.form == "percent":
            return replace(quantity, kind="share")
        if text.startswith("第", max(0, quantity.start - 1)):  # 第3天: which day, not how many
            return replace(quantity, kind="bare")
        unit = self._unit_at(text, quantity.end)
        if unit in _RATIOS:
            return replace(quantity, unit=unit, kind="share")
        if unit:
            return as_measure(quantity, unit)
        if quantity.form in ("fraction", "word") and quantity.value < 1:
            return replace(quantity, kind="share")
        if _BARE_AFTER.match(text, quantity.end) or _BARE_BEFORE.search(
            text, max(0, quantity.start - _LOOK_BEHIND), quantity.start
        ):
            return replace(quantity, kind="bare")
        return replace(quantity, kind="share") if 0 < quantity.value < 1 else quantity  # 打0.8出售

    def asked_unit(self, text: str) -> str | None:
        question = self.clauses(text)[-1].text if text else ""
        if _ASKED_SHARE.search(question):
            return SHARE
        for match in reversed(list(_ASKED.finditer(question))):
            if question.startswith("钱", match.end()):
                return "元"
            if unit := self._unit_at(question, match.end()):
                return unit
        return None

    def content_words(self, text: str) -> ContentWords:
        nouns: list[str] = []
        verbs: list[str] = []
        for word, tag in _segmenter().tag(text):
            if not _HAN.fullmatch(word) or word in _NOT_VERBS:
                continue
            if tag.startswith("n"):
                nouns.append(word)
            elif tag.startswith("v"):
                verbs.append(word)
        return ContentWords(tuple(nouns), tuple(verbs))

    def counted_words(self, text: str) -> Iterable[str]:
        ends = [span.end for span in number_spans(text)] + [match.end() for match in _ASKED.finditer(text)]
        for end in ends:
            words = _segmenter().tag(text[end : end + _LOOK_AHEAD])
            if not words or not words[0][1].startswith(("q", "n")) or not _HAN.fullmatch(words[0][0]):
                continue
            word = words[0][0]
            if not any(word[:length] in self.lexicon.words for length in range(1, len(word))):  # 个桃 is 个 and 桃
                yield word

    def _unit_at(self, text: str, position: int) -> str | None:
        """The longest unit that begins here, including a multiplier (万吨)."""
        following = text[position : position + _LOOK_AHEAD].lstrip()
        if following[:1] and following[0] in _APPROXIMATE:
            following = following[1:]
        multiplier = _MULTIPLIER.match(following)
        unit = self._longest_unit(following)
        if unit is None and multiplier:
            unit = self._longest_unit(following[multiplier.end() :])
            return multiplier[0] + unit if unit else None
        return unit

    def _longest_unit(self, following: str) -> str | None:
        for length in range(min(self.lexicon.longest, len(following)), 0, -1):
            unit = following[:length]
            if unit in self.lexicon.words and (length > 1 or _stands_alone(unit, following)):
                return unit
        return None


def _stands_alone(unit: str, following: str) -> bool:
    """Whether a one-character unit is a whole word here, not the beginning of another (分给, 下午, 面积)."""
    if unit not in _AMBIGUOUS:
        return True
    if following.startswith("分之"):
        return False
    first = str(_segmenter().cut(following, hmm=False)[0])  # dictionary words only: 时先 is not one
    return first == unit or (len(first) == 2 and first[1] in _AFTER_UNIT)


def _is_ratio(text: str, match: re.Match[str]) -> bool:
    """Whether a colon is between two numbers: 3：5 does not end a clause."""
    if match[0] != "：":
        return False
    before = text[max(0, match.start() - 2) : match.start()].rstrip()[-1:]
    after = text[match.end() : match.end() + 2].lstrip()[:1]
    return before.isdigit() and after.isdigit()
