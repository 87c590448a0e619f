"""From clauses to a problem: one text, quantities numbered as they come, an expression that evaluates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from comdiv.expression import Expression, ExpressionError, renumber, value_of
from comdiv.problem import Quantity
from comdiv.synthesis.reading import ReadClause, Reader

_ENDS_SENTENCE = '.?!"”'


@dataclass(frozen=True, slots=True)
class Piece:
    """A clause of a product, with the values of its numbers and which of them are used."""

    text: str
    values: tuple[Fraction, ...] = ()
    used: tuple[bool, ...] = ()

    @classmethod
    def of_seed(cls, clause: ReadClause, used: Iterable[Quantity]) -> "Piece":
        """A clause that stays as it is in the seed."""
        indices = {quantity.index for quantity in used}
        return cls(
            clause.text,
            tuple(quantity.value for quantity in clause.quantities),
            tuple(quantity.index in indices for quantity in clause.quantities),
        )


@dataclass(frozen=True, slots=True)
class Composed:
    """A text with its expression over the text's quantities, and its value."""

    text: str
    expression: Expression
    answer: Fraction


def compose(pieces: Sequence[Piece], tree: Expression, reader: Reader, *, number_words: bool) -> Composed | None:
    """The problem that the pieces make; None where its numbers are not read as they were meant, or it has no value."""
    text = join_clauses([piece.text for piece in pieces], spaced=reader.words.spaced)
    quantities = reader.language.quantities(text, number_words=number_words)
    if [quantity.value for quantity in quantities] != [value for piece in pieces for value in piece.values]:
        return None
    flags = [flag for piece in pieces for flag in piece.used]
    positions = [index for index, flag in enumerate(flags) if flag]
    expression = renumber(tree, positions.__getitem__)
    try:
        answer = value_of(expression, [quantity.value for quantity in quantities])
    except ExpressionError:
        return None
    return Composed(text, expression, answer)


def join_clauses(clauses: Iterable[str], *, spaced: bool) -> str:
    """Clauses one after the other; where words are spaced, with a space and a capital after a full stop."""
    if not spaced:
        return "".join(clause.strip() for clause in clauses)
    text = ""
    for clause in map(str.strip, clauses):
        sentence = not text or text[-1] in _ENDS_SENTENCE
        first = clause[:1].upper() if sentence else clause[:1]
        if not sentence and clause.split(" ", 1)[0] in ("How", "What", "Find", "The", "There", "If", "A", "An"):
            first = clause[:1].lower()
        text += f"{' ' if text else ''}{first}{clause[1:]}"
    return text
