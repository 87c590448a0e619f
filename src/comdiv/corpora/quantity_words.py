"""What the words of a text say about each of its quantities: what it counts, what stands near it, what it repeats.

The steps of a solution are read with their help (`steps`).
"""

import re
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from comdiv.language.base import word_stem
from comdiv.problem import Quantity
from comdiv.reading import Reading

_NAMED = re.compile(r"\s*%?\s*(?:-\s*)?((?:[A-Za-z][A-Za-z'’-]*\s*(?:/\s*(?=[A-Za-z]))?){1,4})")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_SENTENCE_END = re.compile(r"[.?!](?=\s|$)")
_POINTING = re.compile(r"\b(?:the|those|these|this|all|his|her|their)\s+$", re.IGNORECASE)
_MULTIPLES = frozenset(["twice", "double", "triple", "thrice"])
_JOINTS = frozenset([",", "and", "while", "but", "or", ";"])
_OWN_SUBJECT = 2  # words before a number that name who or what it belongs to


def stems_in(text: str) -> list[str]:
    """The stems of the words of a text, in order."""
    return [word_stem(word) for word in re.findall(r"[A-Za-z]+(?:['’](?!s\b)[A-Za-z]+)?|[^\W\d_A-Za-z]", text)]


def signs_in(text: str) -> frozenset[str]:
    """Words for which the text has a sign."""
    return frozenset(word for sign, word in (("%", "%"), ("$", "dolla")) if sign in text)


def name_after(text: str, result: str = "", words: int | None = None) -> frozenset[str]:
    """The first words of the name of the thing after a number, `16 eggs`; after a step, the result comes first."""
    if result:
        text = re.sub(rf"^\s*\$?{re.escape(result.strip())}(?:\.0+)?", "", text.replace(",", ""))
    match = _NAMED.match(text)
    return frozenset(stems_in(match[1])[:words]) - {"x"} if match else frozenset()


class QuantityWords:
    """The words around the quantities of one text, as stems without those that occur with everything."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        table = reading.language.data("words.yaml")
        self.generic = frozenset(map(word_stem, f"{table.get('generic', '')} {table.get('fillers', '')}".split()))
        spelled = table.get("ordinals", "").split()
        self._spelled_ordinals = {word_stem(word): str(place) for place, word in enumerate(spelled, start=2)}

    @cached_property
    def all(self) -> frozenset[str]:
        """All words of the text, and those that its signs stand for."""
        return frozenset(stems_in(self.reading.text)) | signs_in(self.reading.text)

    @cached_property
    def ordinals(self) -> frozenset[str]:
        """The numbers that the text has as ordinals: the 3rd, the fifth."""
        words = stems_in(self.reading.text)
        parts = {word for word, following in pairwise(words) if following == "of"}  # a third of the books
        written = (self._spelled_ordinals.get(word) for word in words if word not in parts)
        return frozenset([*_ORDINAL.findall(self.reading.text), *filter(None, written)])

    @cached_property
    def number_words(self) -> frozenset[str]:
        """Words that are quantities of the text, and so explain no constant."""
        return frozenset(stem for quantity in self.reading.plain_quantities for stem in stems_in(quantity.text))

    @cached_property
    def shares(self) -> frozenset[Fraction]:
        """The values of the text's fractions, percentages and decimals."""
        return frozenset(q.value for q in self.reading.plain_quantities if q.value.denominator > 1)

    @cached_property
    def multiples(self) -> frozenset[int]:
        """Quantities that multiply: twice, 3 times."""
        quantities = self.reading.plain_quantities
        return frozenset(
            q.index for q in quantities if q.text.lower() in _MULTIPLES or "time" in self.after[q.index][0]
        )

    @cached_property
    def repeated(self) -> frozenset[int]:
        """Quantities that repeat an earlier one: 5 pies, later "the five pies"."""
        quantities = self.reading.plain_quantities

        def again(quantity: Quantity) -> bool:
            pointing = _POINTING.search(self.reading.text[: quantity.start]) or quantity.form == "word"
            return bool(pointing) and any(
                earlier.value == quantity.value and self.after[earlier.index][0] & self.after[quantity.index][0]
                for earlier in quantities[: quantity.index]
            )

        return frozenset(quantity.index for quantity in quantities if again(quantity))

    @cached_property
    def after(self) -> list[tuple[frozenset[str], bool]]:
        """For every quantity, the words after it in its sentence, and whether it is an amount of dollars."""
        text = self.reading.text
        after = []
        for quantity in self.reading.plain_quantities:
            rest = _SENTENCE_END.split(text[quantity.end : quantity.end + 60])[0]
            dollars = text[: quantity.start].rstrip().endswith("$") or rest.lstrip().startswith("dollar")
            words = frozenset(stems_in(rest)[:4]) - self.generic
            after.append((words | signs_in("$") if dollars else words, dollars))
        return after

    @cached_property
    def near(self) -> list[frozenset[str]]:
        """For every quantity, the words of its clause up to the next quantity, and those that begin the clause."""
        near = []
        for clause in self.reading.clauses:
            places = [place for place, token in enumerate(clause.tokens) if token.quantity is not None]
            joints = [place for place, word in enumerate(clause.masked) if word in _JOINTS]
            stops = [place for place in places if clause.tokens[place].text.lower() != "one"]  # "2 rolls in one bag"
            for place in places:
                following = next((stop for stop in stops if stop > place), None)
                end = next((joint for joint in joints if joint > place), following) if following else None
                end = min(end, following) if end is not None and following is not None else len(clause.tokens)
                before = next((stop for stop in reversed(stops) if stop < place), None)
                joint = next((joint for joint in reversed(joints) if joint < place), -1)
                begin = max(joint + 1, 0 if before is None else before + 1)
                words = [*clause.masked[begin:place], *clause.masked[place + 1 : end]]
                if before is not None and place - begin < _OWN_SUBJECT:  # Tom has 3 cats and 4 dogs
                    words += clause.masked[: places[0]]
                near.append(frozenset(map(word_stem, words)) - self.generic)
        return near

    @cached_property
    def phrases(self) -> list[tuple[int, int]]:
        """For every quantity, its clause and how many joints are before it there."""
        return [
            (number, sum(word in _JOINTS for word in clause.masked[:place]))
            for number, clause in enumerate(self.reading.clauses)
            for place, token in enumerate(clause.tokens)
            if token.quantity is not None
        ]

    def kinship(self, first: int, second: int) -> float:
        """What speaks for two quantities of one step: 4 boxes with 12 pencils stand together, and so do 3 cups for a
        cake and 2 cakes, by the word that few other quantities have."""
        shared = self.near[first] & self.near[second]
        rare = sum(1 / (sum(word in near for near in self.near) - 1) for word in shared)
        return 0.7 * (self.phrases[first] == self.phrases[second]) + min(2.0, rare)
