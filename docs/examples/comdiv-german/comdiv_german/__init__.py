"""German for comdiv: words by pattern, nouns by their capitals, units as the counted noun."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from comdiv.language import Coherence, ContentWords, Language, Token
from comdiv.language.base import SHARE, as_measure
from comdiv.language.numbers import NumberSpan, number_spans
from comdiv.problem import Quantity
from comdiv_german.number_words import number_word_spans

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\S")
_CLAUSE_END = re.compile(r"[.?!;]+(?=\s|$)|,(?=\s*(?:wie|was|welche[nrs]?)\b)", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(?:ca|bzw|Nr|z\. ?B|Dr|Std|Min)$")
_NOUN = re.compile(r"\s*-?(?:[a-zäöüß]+\s+){0,2}([A-ZÄÖÜ][a-zäöüß]+)")  # at most two adjectives before it
_SIGNS = {"€": "Euro", "%": "Prozent"}
_ASKED = re.compile(r"\bwie ?viele?\b", re.IGNORECASE)
_ASKED_SHARE = re.compile(r"\b(?:welche[rn]? (?:Anteil|Bruchteil|Teil)|wie ?viel Prozent)\b", re.IGNORECASE)
_GERMAN = re.compile(r"[äöüß]|\b(?:wie viele?|und|ist|sind)\b", re.IGNORECASE)
_SWAPPED = str.maketrans(",.", ".,")


class German(Language):
    """German as it is taught: nouns begin with a capital, decimals have a comma."""

    code = "de"
    name = "German"

    def recognises(self, text: str) -> bool:
        return bool(_GERMAN.search(text))

    def words(self, text: str, start: int, end: int) -> list[Token]:
        return [Token(match[0], match.start(), match.end()) for match in _WORD.finditer(text, start, end)]

    def clause_ends(self, text: str) -> Iterator[re.Match[str]]:
        return (m for m in _CLAUSE_END.finditer(text) if not _ABBREVIATION.search(text[: m.start()]))

    def digit_spans(self, text: str) -> Iterable[NumberSpan]:
        """1.200 is twelve hundred and 3,5 is three and a half: the other way round than in English."""
        return number_spans(re.sub(r"(?<=\d)[.,](?=\d)", lambda sign: sign[0].translate(_SWAPPED), text))

    def number_word_spans(self, text: str) -> Iterator[NumberSpan]:
        return number_word_spans(text)

    def unit_of(self, text: str, quantity: Quantity) -> Quantity:
        if quantity.form == "percent" or text[quantity.end :].lstrip().startswith(("Prozent", "der ", "des ")):
            return replace(quantity, kind="share")
        if sign := _SIGNS.get(text[quantity.end : quantity.end + 2].strip()[:1]):
            return as_measure(quantity, sign)
        if re.match(r"\s*-?mal\b", text[quantity.end :]):
            return replace(quantity, unit="mal", kind="share")
        noun = self._noun_at(text, quantity.end)
        return as_measure(quantity, noun) if noun else replace(quantity, kind="bare")

    def asked_unit(self, text: str) -> str | None:
        question = self.clauses(text)[-1].text if text else ""
        if _ASKED_SHARE.search(question):
            return SHARE
        for match in reversed(list(_ASKED.finditer(question))):
            if noun := self._noun_at(question, match.end()):
                return "Euro" if noun == "Geld" else noun
        return None

    def content_words(self, text: str) -> ContentWords:
        generic = self.data("words.yaml")["generic"].split()
        words = [token.text for token in self.tokens(text) if token.text.lower() not in generic]
        nouns = tuple(self._singular_of(word).lower() for word in words if word[:1].isupper())
        verbs = tuple(word for word in words if re.fullmatch(r"[a-zäöüß]{2,}(?:t|en|te)", word))
        return ContentWords(nouns, verbs)

    def counted_words(self, text: str) -> Iterator[str]:
        ends = [span.end for span in self.digit_spans(text)] + [match.end() for match in _ASKED.finditer(text)]
        return (noun for end in ends if (noun := self._noun_at(text, end)))

    @property
    def coherence(self) -> Coherence:
        from comdiv_german.coherence import GermanCoherence

        return GermanCoherence(self)

    def _noun_at(self, text: str, position: int) -> str | None:
        match = _NOUN.match(text, position)
        return self._singular_of(match[1]) if match else None

    def _singular_of(self, noun: str) -> str:
        """The form of `units.txt`: Äpfeln and Äpfel are one unit. A noun that is not there stays as it is."""
        return self.data("words.yaml").get("forms", {}).get(noun, noun)
