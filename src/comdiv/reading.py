"""A problem, read once: everything that a stage needs to know about its text, computed on first use and cached.

Stages take readings and return problems. What only one stage needs is a function over a `Reading`. No other module
calls a language's scanners, so a text has the same tokens, clauses, quantities and mask everywhere.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from comdiv.expression import (
    TOLERANCE,
    Constant,
    Expression,
    ExpressionError,
    Reference,
    agrees_as_printed,
    answers_agree,
    leaves,
    operator_count,
    template,
    value_of,
)
from comdiv.language import ContentWords, Language, Token, get_language
from comdiv.language.base import NUMBER_MASK, mask_numbers
from comdiv.language.numbers import NumberSpan
from comdiv.problem import Problem, Quantity

Context = tuple[str, ...]
_CONTRADICTION = Fraction(1, 100)  # relative: what corpora round differs by less


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a text; offsets are into the text. `masked` has its words in lower case, every number as `NUM`."""

    text: str
    start: int
    end: int
    tokens: tuple[Token, ...]
    masked: Context
    quantities: tuple[int, ...]  # indices of the quantities in it


class Reading:
    """What a problem says. Immutable; every property is computed on first use.

    The language may be a variant of the one that the problem names, with units learnt from a corpus.
    """

    def __init__(self, problem: Problem, language: Language | None = None) -> None:
        self.problem = problem
        self._language = language

    @property
    def language(self) -> Language:
        """The language of the text; looked up by code unless given, so that readings can be sent to other machines."""
        return self._language or get_language(self.problem.language)

    @property
    def text(self) -> str:
        """The text as it is written."""
        return self.problem.text

    # --- numbers ---

    @cached_property
    def numbers(self) -> tuple[NumberSpan, ...]:
        """Where the numbers are, and their values: the cheapest information about them."""
        return tuple(self.language.numbers(self.text, number_words=self.problem.number_words))

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The exact values of the quantities."""
        return tuple([number.value for number in self.numbers])

    @cached_property
    def plain_quantities(self) -> tuple[Quantity, ...]:
        """The quantities `N0`, `N1`… without units: cheaper than `quantities`."""
        text = self.text
        return tuple(
            [
                Quantity(index, number.value, text[number.start : number.end], number.start, number.end, number.form)
                for index, number in enumerate(self.numbers)
            ]
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities with their units and kinds, as far as the text shows them."""
        unit_of = self.language.unit_of
        return tuple([unit_of(self.text, quantity) for quantity in self.plain_quantities])

    @cached_property
    def mask(self) -> str:
        """The text with every number masked: the one key of twins."""
        return mask_numbers(self.text, self.numbers)

    @property
    def mask_hash(self) -> str:
        """The hash of the mask, for lists of bans that must not reveal the text."""
        return hashlib.sha256(self.mask.encode()).hexdigest()

    # --- words ---

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Words, signs and numbers."""
        return tuple(self.language.tokens(self.text, self.plain_quantities))

    @cached_property
    def masked_words(self) -> Context:
        """The tokens in lower case, every number as `NUM`."""
        return tuple([NUMBER_MASK if token.quantity is not None else token.text.lower() for token in self.tokens])

    def contexts(self, window: int) -> tuple[Context, ...]:
        """For every quantity the masked words around it, `window` on each side, without the quantity (§III-A)."""
        words = self.masked_words
        return tuple(
            words[max(0, place - window) : place] + words[place + 1 : place + 1 + window]
            for place, token in enumerate(self.tokens)
            if token.quantity is not None
        )

    @cached_property
    def content_words(self) -> ContentWords:
        """The nouns and verbs of the text (§III-B)."""
        return self.language.content_words(self.text)

    # --- clauses ---

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses, which together cover the text."""
        return tuple(self._clauses())

    def _clauses(self) -> Iterator[Clause]:
        tokens = self.tokens
        place = 0
        for text, start, end in self.language.clauses(self.text, self.plain_quantities):
            first = place
            while place < len(tokens) and tokens[place].start < end:
                place += 1
            inside = tokens[first:place]
            masked = tuple([word.lower() if number is None else NUMBER_MASK for word, _, _, number in inside])
            numbers = tuple([number for _, _, _, number in inside if number is not None])
            yield Clause(text, start, end, inside, masked, numbers)

    @property
    def question(self) -> Clause:
        """The last clause."""
        return self.clauses[-1]

    @property
    def narrative(self) -> tuple[Clause, ...]:
        """All clauses but the question."""
        return self.clauses[:-1]

    def clause_of(self, quantity: int) -> int:
        """The position of the clause that carries a quantity."""
        return next(place for place, clause in enumerate(self.clauses) if quantity in clause.quantities)

    @cached_property
    def asked_unit(self) -> str | None:
        """The unit that the question asks for, if it names one."""
        return self.language.asked_unit(self.question.text) if self.text else None

    # --- the expression ---

    @property
    def expression(self) -> Expression | None:
        """The problem's expression."""
        return self.problem.expression

    @cached_property
    def template(self) -> str | None:
        """The expression with its used quantities renumbered; None where there is no expression."""
        return None if self.expression is None else template(self.expression)

    @cached_property
    def uses(self) -> Counter[int]:
        """How often the expression uses each quantity."""
        tree = self.expression
        return Counter([] if tree is None else [leaf.index for leaf in leaves(tree) if isinstance(leaf, Reference)])

    @cached_property
    def used(self) -> frozenset[int]:
        """The quantities that the expression uses."""
        return frozenset(self.uses)

    @cached_property
    def constants(self) -> frozenset[Constant]:
        """The numbers that occur only in the expression."""
        tree = self.expression
        return frozenset(() if tree is None else [leaf for leaf in leaves(tree) if isinstance(leaf, Constant)])

    @cached_property
    def operators(self) -> int:
        """How many operators the expression has; 0 without an expression."""
        return 0 if self.expression is None else operator_count(self.expression)

    @property
    def is_grounded(self) -> bool:
        """Whether there is an expression and the text has every quantity that it uses."""
        return self.expression is not None and all(index < len(self.numbers) for index in self.used)

    @cached_property
    def value(self) -> Fraction | None:
        """The value of the expression on the text's own numbers; None if it is undefined."""
        if self.expression is None:
            return None
        try:
            return value_of(self.expression, self.values)
        except ExpressionError:
            return None

    @property
    def gold(self) -> Fraction | None:
        """The answer of the corpus, or else the value of the expression; None if there is neither."""
        return self.value if self.problem.answer is None else self.problem.answer

    @property
    def contradicts(self) -> bool:
        """Whether the expression does not give the corpus's answer: it has no value, or one more than 1 % away.

        An answer with decimals may be rounded more roughly, 3.3 for 10/3; a whole one is scored exactly. A problem that
        contradicts itself cannot be solved as it is labelled; one without expression or answer contradicts nothing.
        """
        answer = self.problem.answer
        if self.expression is None or answer is None:
            return False
        if self.value is None:
            return True
        rounded = answer.denominator > 1 and agrees_as_printed(self.value, answer)
        return not rounded and not answers_agree(self.value, answer, _CONTRADICTION)

    def accepts(self, answer: Fraction) -> bool:
        """Whether an answer is right: the gold one as `answers_agree` compares, or the value that it was rounded from.

        Without the second, the gold expression itself would be wrong where a corpus prints 24 for 23.998.
        """
        gold, value = self.gold, self.value
        if gold is None:
            return False
        rounded = value is not None and answers_agree(value, gold, TOLERANCE)
        return answers_agree(answer, gold) or (rounded and answer == value)


def read(problem: Problem, language: Language | None = None) -> Reading:
    """The reading of a problem. Creating one costs nothing; its properties are cached, so keep it for reuse."""
    return Reading(problem, language)


def read_all(problems: Iterable[Problem]) -> list[Reading]:
    """The readings of problems, in the same order."""
    return [Reading(problem) for problem in problems]


def read_text(text: str, language: str | Language, *, number_words: bool = False) -> Reading:
    """The reading of a text that is not yet a problem."""
    known = get_language(language) if isinstance(language, str) else language
    return Reading(Problem("", known.code, text, number_words=number_words), known)
