"""How a problem is shown: its text in pieces, quantities and their contexts by cluster, its trees, its provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from comdiv.errors import ComdivError
from comdiv.expression import (
    Constant,
    Expression,
    Leaf,
    Reference,
    bracketed,
    draw_svg,
    format_number,
    to_infix,
    value_of,
)
from comdiv.expression.drawing import sign
from comdiv.expression.printing import leaf_text
from comdiv.language import Token
from comdiv.reading import Reading
from comdiv.studio.library import Library, LibraryEntry

COLOURS = 12  # in the style sheet


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text: a quantity, a word of a quantity's context, or anything else."""

    text: str
    quantity: int | None = None
    cluster: int | None = None

    @property
    def colour(self) -> int | None:
        """The number of its colour in the style sheet."""
        return None if self.cluster is None else self.cluster % COLOURS


@dataclass(frozen=True, slots=True)
class Lineage:
    """One line of a problem's provenance; a value that is the id of a known problem is a link to it."""

    key: str
    values: tuple[tuple[str, LibraryEntry | None], ...]


def pieces(reading: Reading, clusters: Sequence[int] | None, window: int = 0) -> list[Piece]:
    """The text in pieces: every quantity, and the `window` tokens on each side in the colour of the nearest one."""
    spans: list[tuple[int, int, int | None, int | None]]
    if not window:  # words are not coloured, so they need not be found
        spans = [(q.start, q.end, q.index, q.index) for q in reading.plain_quantities]
    else:
        nearest = _nearest_quantities(reading.tokens, window)
        spans = [
            (token.start, token.end, token.quantity, near) for token, near in zip(reading.tokens, nearest, strict=True)
        ]
    parts: list[Piece] = []
    position = 0
    for start, end, quantity, near in spans:
        cluster = None if clusters is None or near is None else clusters[near]
        parts += [Piece(reading.text[position:start]), Piece(reading.text[start:end], quantity, cluster)]
        position = end
    parts.append(Piece(reading.text[position:]))
    return [piece for piece in parts if piece.text]


def _nearest_quantities(tokens: Sequence[Token], window: int) -> list[int | None]:
    """For each token, the nearest quantity at most `window` tokens away; on a tie, the one before it."""
    nearest: list[int | None] = [None] * len(tokens)
    places = [(place, token.quantity) for place, token in enumerate(tokens) if token.quantity is not None]
    for distance in range(window, -1, -1):  # nearer quantities overwrite those further away
        for side in (-1, 1):  # a quantity before a token writes last
            for place, quantity in places:
                if 0 <= place + side * distance < len(tokens):
                    nearest[place + side * distance] = quantity
    return nearest


def tree(reading: Reading, expression: Expression, clusters: Sequence[int] | None = None) -> Markup:
    """The expression's tree in the numbers of the text, coloured by cluster or, without clusters, by quantity."""
    quantities = reading.plain_quantities

    def label(leaf: Leaf) -> str:
        if isinstance(leaf, Reference) and leaf.index < len(quantities):
            return quantities[leaf.index].text
        return leaf_text(leaf)

    return _drawn(expression, label, clusters, f"Expression tree of {spoken(expression)}")


def cluster_tree(expression: Expression, clusters: Sequence[int]) -> Markup:
    """The tree as the divergence sees it: clusters instead of numbers (the right column of the paper's Figure 2)."""

    def label(leaf: Leaf) -> str:
        return "C" if isinstance(leaf, Constant) else f"c{clusters[leaf.index]}"

    return _drawn(expression, label, clusters, f"Tree of clusters of {spoken(expression)}")


def _drawn(expression: Expression, label: Any, clusters: Sequence[int] | None, title: str) -> Markup:
    def colour(leaf: Leaf) -> str:
        if not isinstance(leaf, Reference):
            return "var(--sheet)"
        group = leaf.index if clusters is None else clusters[leaf.index]
        return f"var(--colour-{group % COLOURS})"

    return Markup(draw_svg(expression, label, colour, title))


def spoken(expression: Expression) -> str:
    """An expression as people write it: × and ÷."""
    return signs(to_infix(expression))


def signs(infix: str) -> str:
    """The operators of an expression or template as people write them."""
    return "".join(sign(character) for character in infix)


def in_numbers(reading: Reading, expression: Expression | None) -> str:
    """The expression with the text's numbers instead of `N0`, `N1`…: 4×40−54."""
    if expression is None:
        return ""
    quantities = reading.plain_quantities
    pieces_of = _split_references(to_infix(expression))
    shown = [
        bracketed(quantities[int(piece[1:])].text) if piece[0] == "N" and int(piece[1:]) < len(quantities) else piece
        for piece in pieces_of
    ]
    return "".join(sign(piece) for piece in shown)


def _split_references(infix: str) -> list[str]:
    pieces: list[str] = []
    for character in infix:
        if character.isdigit() and pieces and pieces[-1][0] == "N":
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def written_value(reading: Reading, expression: Expression | None) -> str:
    """The expression's value for display; empty if it has none."""
    if expression is None:
        return ""
    try:
        return number(value_of(expression, reading.values))
    except ComdivError:
        return ""


def number(value: Fraction | None) -> str:
    """A number as people write it; empty for none."""
    return "" if value is None else format_number(value)


def lineage(entry: LibraryEntry, library: Library) -> list[Lineage]:
    """The provenance, line by line; ids of problems in the library become links."""
    lines = []
    for key, value in entry.problem.provenance.to_json().items():
        values = value if isinstance(value, list) else [value]
        lines.append(Lineage(key, tuple((_plain(one), _linked(one, entry, library)) for one in values)))
    return lines


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return str(value)


def _linked(value: Any, entry: LibraryEntry, library: Library) -> LibraryEntry | None:
    found = library.find(value) if isinstance(value, str) else None
    return None if found is entry else found
