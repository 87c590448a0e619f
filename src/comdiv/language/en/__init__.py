"""English: words by pattern, tags by textblob's bundled lexicon, units as the counted noun."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from comdiv.language.base import SHARE, ContentWords, Language, Token, as_measure
from comdiv.language.en.numbers import number_word_spans
from comdiv.language.en.tagging import tag_words
from comdiv.language.numbers import NumberSpan, number_spans
from comdiv.problem import Quantity

if TYPE_CHECKING:
    from comdiv.language.coherence import Coherence
    from comdiv.language.sequels import Sequels

_WORD = re.compile(r"['’]s\b|[^\W\d_]+(?:-[^\W\d_]+)*(?:['’](?!s\b)[^\W\d_]+)?|\S")
_QUESTION_WORDS = "how|what|find|calculate|determine|compute"
_CLAUSE_END = re.compile(
    r"[.?!;]+[\"'”’)]*(?=\s|$)|[?!]+[\"'”’)]*"
    r"|(?<=(?-i:[a-z0-9)]))\.(?=(?-i:[A-Z]))"  # a missing space: "left.How many"
    rf"|,(?=\s*(?:then\s+|and\s+|by\s+)?(?:{_QUESTION_WORDS})\b)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\b(?:mr|mrs|ms|dr|st|prof|vs|jr|sr|mt)$", re.IGNORECASE)
_ABBREVIATION = re.compile(
    r"(?:\b(?:a\.m|p\.m|u\.s|etc|lb|lbs|oz|ft|in|yd|mi|hr|hrs|min|sec|sq|approx|ave|inc|no)|\b[A-Z])$", re.IGNORECASE
)
_ASKED_SHARE = re.compile(r"\bwhat\s+(?:fraction|percent|percentage|part|share|proportion)\b", re.IGNORECASE)
_ASKED = re.compile(r"\bhow\s+(?:many|much)\b(?:\s+(?:more|fewer|less|total))?", re.IGNORECASE)
_SIGNS = {"$": "dollar", "¢": "cent", "€": "euro", "£": "pound", "°": "degree"}
_MULTIPLES = frozenset(["twice", "double", "triple"])
_OF = re.compile(r"\s*(?:of|as)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\s*(?:[ap]\.?\s?m\b|o['’]clock\b)", re.IGNORECASE)
_LOOK_BEHIND = 3  # characters before a number that may hold a currency sign
_ARTICLE_OF = re.compile(r"\s*of\s+(?:the|his|her|their|its|my|our|these|those)\b", re.IGNORECASE)
_WHEN = frozenset(["today", "yesterday", "tomorrow"])  # nouns to a tagger, but never counted
_LOOK_AHEAD = 5  # words between a number and the noun that it counts
_BETWEEN = ("JJ", "VBN", "VBG", "RBR", "NN", "PRP$", "POS")  # tags that may stand there
_BARE_AFTER = re.compile(
    r"\s*(?:$|[-+×÷*/=.,;:?!)]|(?:and|or|to|by|from|is|was|times|plus|minus|divided)\b)", re.IGNORECASE
)
_AUXILIARIES = frozenset(
    ["is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "do", "does", "did", "will", "would"]
)
_IRREGULAR = {
    "people": "person", "children": "child", "feet": "foot", "geese": "goose", "men": "man", "women": "woman",
    "mice": "mouse", "teeth": "tooth", "shelves": "shelf", "bookshelves": "bookshelf", "loaves": "loaf",
    "leaves": "leaf", "knives": "knife", "wolves": "wolf", "wives": "wife", "calves": "calf", "halves": "half",
    "scarves": "scarf", "cookies": "cookie", "movies": "movie", "pies": "pie", "ties": "tie", "brownies": "brownie",
    "calories": "calorie", "smoothies": "smoothie", "shoes": "shoe", "toes": "toe", "canoes": "canoe",
    "buses": "bus", "quizzes": "quiz", "lbs": "lb", "series": "series", "lens": "lens",
}  # fmt: skip
# Units that end the look-ahead: in "5 pounds apples cost" the unit is the pound.
MEASURES = frozenset([
    "inch", "foot", "yard", "mile", "meter", "kilometer", "centimeter", "km", "cm", "mm", "acre", "cup", "pint",
    "quart", "gallon", "liter", "teaspoon", "tablespoon", "ounce", "pound", "ton", "gram", "kilogram", "kg", "hour",
    "minute", "second", "day", "week", "month", "year", "dollar", "cent", "time", "percent",
])  # fmt: skip


class English(Language):
    """English, as in MAWPS, SVAMP, ASDiv and GSM8K."""

    code = "en"
    name = "English"

    @property
    def coherence(self) -> "Coherence":
        from comdiv.language.en.coherence import EnglishCoherence

        return EnglishCoherence()

    @property
    def sequels(self) -> "Sequels":
        from comdiv.language.en.sequels import EnglishSequels

        return EnglishSequels()

    def words(self, text: str, start: int, end: int) -> list[Token]:
        return [Token(match[0], match.start(), match.end()) for match in _WORD.finditer(text, start, end)]

    def clause_ends(self, text: str) -> Iterator[re.Match[str]]:
        return (match for match in _CLAUSE_END.finditer(text) if not _is_abbreviation(text, match))

    def number_word_spans(self, text: str) -> Iterator[NumberSpan]:
        yield from number_word_spans(text)

    def unit_of(self, text: str, quantity: Quantity) -> Quantity:
        before = text[max(0, quantity.start - _LOOK_BEHIND) : quantity.start].rstrip()[-1:]
        sign = _SIGNS.get(before) or _SIGNS.get(text[quantity.end : quantity.end + 1])
        if sign:
            return as_measure(quantity, sign)
        if quantity.form == "percent" or quantity.text.lower() in _MULTIPLES:
            return replace(quantity, kind="share")
        if (quantity.form == "fraction" or quantity.value < 1) and _OF.match(text, quantity.end):
            return replace(quantity, kind="share")
        if _CLOCK.match(text, quantity.end):
            return replace(quantity, kind="bare")
        noun = self._counted_noun(text, quantity.end)
        if noun == "time":  # "3 times as many"
            return replace(quantity, unit=noun, kind="share")
        if noun == "percent":
            return replace(quantity, kind="share")
        if noun:
            return as_measure(quantity, noun)
        if quantity.form in ("fraction", "word") and 0 < quantity.value < 1:
            return replace(quantity, kind="share")
        return replace(quantity, kind="bare") if _BARE_AFTER.match(text, quantity.end) else quantity

    def asked_unit(self, text: str) -> str | None:
        question = self.clauses(text)[-1].text if text else ""
        if _ASKED_SHARE.search(question):
            return SHARE
        for match in reversed(list(_ASKED.finditer(question))):
            if noun := self._counted_noun(question, match.end()):
                return "dollar" if noun == "money" else noun
        return None

    def content_words(self, text: str) -> ContentWords:
        tagged = tag_words(tuple(token.text for token in self.tokens(text)))
        nouns = tuple(singular(word) for word, tag in tagged if tag.startswith("NN") and word[:1].isalpha())
        verbs = tuple(word.lower() for word, tag in tagged if tag.startswith("VB") and word.lower() not in _AUXILIARIES)
        return ContentWords(nouns, verbs)

    def counted_words(self, text: str) -> Iterable[str]:
        ends = [span.end for span in number_spans(text)] + [match.end() for match in _ASKED.finditer(text)]
        for end in ends:
            if noun := self._counted_noun(text, end):
                yield noun

    def _counted_noun(self, text: str, position: int) -> str | None:
        """The noun that a number before `position` counts: "41 short trees" → tree; None before a verb or a sign."""
        if article := _ARTICLE_OF.match(text, position):
            position = article.end()
        words = [token.text for token in self.words(text, position, min(len(text), position + 80))]
        if words[:1] == ["-"]:  # a 5-inch nail
            words = words[1:]
        words = words[:_LOOK_AHEAD]
        noun = None
        for word, tag in tag_words(tuple(words)):
            known = word.lower() in self.lexicon.words or singular(word) in self.lexicon.words
            if word.lower() in _WHEN:
                break
            if word[:1].isalpha() and (known or tag.startswith("NN")):
                noun = word
                if singular(word) != word.lower() or singular(word) in MEASURES:
                    break  # a plural ends the noun group: "5 men work", "3 trees today"
            elif noun is not None or not word[:1].isalpha() or not tag.startswith(_BETWEEN):
                break
        return singular(noun) if noun else None


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation: always after a title, otherwise unless a new sentence begins."""
    if match[0] != ".":
        return False
    before = text[max(0, match.start() - 12) : match.start()]
    if _TITLE.search(before):
        return True
    following = text[match.end() : match.end() + 8].lstrip()[:1]
    return bool(_ABBREVIATION.search(before)) and not (following.isupper() or not following)


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The lower-cased singular of a noun, so that "apples" and "apple" are one unit."""
    word = word.lower()
    if word in _IRREGULAR or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us")):
        return _IRREGULAR.get(word, word)
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "oes", "tzes", "zzes")):
        return word[:-2]
    return word[:-1]
