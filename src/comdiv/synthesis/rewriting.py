"""Making a donor's clause speak of the seed's people and things, or refusing it.

A name of the donor's (its actor, the object it counts, the two sides of its comparison) becomes the seed's name with
the same role, and the unit it asks for that of x. What is still foreign then names something that the product does not
have, and the donor is refused: that is the difference between "运来苹果多少千克" in a story about cabbages and a
question that can be answered. Verbs may be foreign, at a price: 修 or 铺, a road is a road.
"""

from collections.abc import Collection, Iterable, Mapping

from comdiv.language.story import StoryWords
from comdiv.synthesis.reading import ReadClause, Reader


def strip_connective(text: str, words: StoryWords) -> str:
    """The clause without "那么" or "then" at its beginning: what it joined to stays behind with the donor."""
    text = text.lstrip()
    for connective in words.connectives:
        rest = text[len(connective) :]
        begins = text[: len(connective)].lower() == connective and (not words.spaced or not rest[:1].isalnum())
        if begins and any(character.isalnum() for character in rest):
            return rest.lstrip(" ，,")
    return text


def rewrite(text: str, renamed: Mapping[str, str]) -> str:
    """The clause with the donor's names replaced by the seed's; longest first, each place of the text once."""
    pieces = [(text, True)]  # and whether a piece may still be rewritten
    for name in sorted(renamed, key=lambda name: (-len(name), name)):
        if name != renamed[name]:
            pieces = [part for piece in pieces for part in _replaced(piece, name, renamed[name])]
    return "".join(piece for piece, _ in pieces)


def _replaced(piece: tuple[str, bool], name: str, new: str) -> list[tuple[str, bool]]:
    text, open_to_change = piece
    if not open_to_change or name not in text:
        return [piece]
    parts: list[tuple[str, bool]] = []
    for number, part in enumerate(text.split(name)):
        parts += [(new, False)] if number else []
        parts.append((part, True))
    return parts


def names_in(text: str, reader: Reader) -> list[str]:
    """The words of a clause that name something: neither generic nor numbers. Units are among them."""
    words = reader.words
    names = []
    for token in reader.language.tokens(text):
        word = token.text.lower()
        if token.quantity is None and (word not in words.generic or word in words.bound):
            names.append(word)
    return names + [each.lower() for each in words.per_word.findall(text)]


class Context:
    """The part of a seed that a new clause may take its names from."""

    def __init__(self, clauses: Iterable[ReadClause], unit: str | None = None) -> None:
        clauses = list(clauses)
        self.text = "\n".join(clause.text for clause in clauses).lower()
        self.tokens = frozenset[str]().union(*(clause.tokens for clause in clauses)) | ({unit} if unit else set())

    def has(self, name: str) -> bool:
        """Whether a name occurs: as a word, or inside one, but a single character only at the end (树 in 苹果树)."""
        if name in self.tokens:
            return True
        if len(name) > 1:
            return name in self.text
        return any(token.endswith(name) for token in self.tokens)

    def foreign(self, names: Collection[str]) -> list[str]:
        """Those of the names that do not occur here."""
        return [name for name in names if not self.has(name)]


def rewrite_unit(text: str, old: str | None, unit: str, context: Context, reader: Reader, *, first: bool) -> str | None:
    """The clause with another unit, 还剩多少页 for 还剩多少本; None where the old or the new one is not written out.

    After a number its unit comes first; in a question the unit that is asked for comes last.
    """
    if old is None:
        return None
    if not reader.words.spaced:
        place = text.find(old) if first else text.rfind(old)
        return None if place < 0 or (first and place > 0) else f"{text[:place]}{unit}{text[place + len(old) :]}"
    # Only as it is written there: "how many cup" asks for nothing.
    said = (token for token in context.tokens if token.startswith(unit) and token in context.text)
    new = max(said, key=lambda t: (len(t), t), default=None)
    places = [token for token in reader.language.tokens(text) if token.text.lower().startswith(old)]
    if new is None or not places:
        return None
    token = places[0] if first else places[-1]
    return f"{text[: token.start]}{new}{text[token.end :]}"
