"""How a problem looks: its text in pieces, quantities and their contexts by cluster, its trees, where it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from comdiv.errors import ComdivError
from comdiv.expression import Constant, Expression, Leaf, Reference, draw_svg, evaluate, format_number, to_infix
from comdiv.expression.drawing import sign
from comdiv.expression.printing import leaf_text
from comdiv.language import get_language
from comdiv.problem import Problem, Quantity
from comdiv.studio.library import Entry, Library

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
    """One line of a problem's provenance; a value that is the id of a problem here is a link to it."""

    key: str
    values: tuple[tuple[str, Entry | None], ...]


def quantities_of(problem: Problem) -> list[Quantity]:
    """The quantities of a problem's text."""
    return get_language(problem.language).quantities(problem.text, number_words=problem.number_words)


def pieces(problem: Problem, clusters: Sequence[int] | None, window: int = 0) -> list[Piece]:
    """The text in pieces: every quantity, and the `window` tokens on each side in the colour of the nearest one."""
    if not window:  # the words between do not matter: no need to find them
        return _quantity_pieces(problem, clusters)
    tokens = get_language(problem.language).tokens(problem.text, number_words=problem.number_words)
    places = [(place, token.quantity) for place, token in enumerate(tokens) if token.quantity is not None]
    found: list[Piece] = []
    position = 0
    for place, token in enumerate(tokens):
        if token.start > position:
            found.append(Piece(problem.text[position : token.start]))
        near = min(places, key=lambda item: abs(item[0] - place), default=None)
        cluster = None
        if near is not None and clusters is not None and abs(near[0] - place) <= window:
            cluster = clusters[near[1]]
        found.append(Piece(token.text, token.quantity, cluster))
        position = token.end
    found.append(Piece(problem.text[position:]))
    return [piece for piece in found if piece.text]


def _quantity_pieces(problem: Problem, clusters: Sequence[int] | None) -> list[Piece]:
    found: list[Piece] = []
    position = 0
    for quantity in quantities_of(problem):
        cluster = None if clusters is None else clusters[quantity.index]
        found += [Piece(problem.text[position : quantity.start]), Piece(quantity.text, quantity.index, cluster)]
        position = quantity.end
    found.append(Piece(problem.text[position:]))
    return [piece for piece in found if piece.text]


def tree(problem: Problem, expression: Expression, clusters: Sequence[int] | None = None) -> Markup:
    """The expression's tree in the numbers of the text, coloured by cluster or, without clusters, by quantity."""
    quantities = quantities_of(problem)

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


def in_numbers(problem: Problem, expression: Expression | None) -> str:
    """The expression with the numbers of the text in the places of `N0`, `N1`…: 4×40−54."""
    if expression is None:
        return ""
    quantities = quantities_of(problem)
    pieces_of = _split_references(to_infix(expression))
    shown = [
        _operand(quantities[int(piece[1:])].text) if piece[0] == "N" and int(piece[1:]) < len(quantities) else piece
        for piece in pieces_of
    ]
    return "".join(sign(piece) for piece in shown)


def _operand(written: str) -> str:
    """A number as it stands in the text; one with a bar or a space in it is held together by brackets."""
    is_plain = all(character.isdigit() or character in ".,%" for character in written)
    return written if is_plain or written.startswith("(") else f"({written})"


def _split_references(infix: str) -> list[str]:
    found: list[str] = []
    for character in infix:
        if character.isdigit() and found and found[-1][0] == "N":
            found[-1] += character
        else:
            found.append(character)
    return found


def value_of(problem: Problem, expression: Expression | None) -> str:
    """The expression's value for people; empty where it has none."""
    if expression is None:
        return ""
    try:
        return number(evaluate(expression, [quantity.value for quantity in quantities_of(problem)]))
    except ComdivError:
        return ""


def number(value: Fraction | None) -> str:
    """A number as people write it; empty for none."""
    return "" if value is None else format_number(value)


def lineage(entry: Entry, library: Library) -> list[Lineage]:
    """The provenance, line by line; names of problems in the library become links."""
    lines = []
    for key, value in entry.problem.provenance.to_json().items():
        values = value if isinstance(value, list) else [value]
        lines.append(Lineage(key, tuple((_plain(one), _linked(one, entry, library)) for one in values)))
    return lines


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return str(value)


def _linked(value: Any, entry: Entry, library: Library) -> Entry | None:
    found = library.find(value) if isinstance(value, str) else None
    return None if found is entry else found
