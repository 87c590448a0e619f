"""Every view that some stage derives from a problem's text, as plain values: one function per view, in one place.

A rebuilt reader repoints these functions and keeps the recorded hashes. What a function returns must not change: lists
and dictionaries of texts, numbers and None, whatever the classes behind them are called.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from comdiv import Problem
from comdiv.augmentation.operations.structural import Component
from comdiv.augmentation.soundness import positive_value
from comdiv.language import get_language, learn_units
from comdiv.language.base import NUMBER_MASK
from comdiv.reading import read, read_text
from comdiv.solvers.inputs import input_words
from comdiv.synthesis.seeds import tell

WINDOW = 3


def _with_plain_mask(words: Sequence[str]) -> list[str]:
    """The words with numbers as `#`, as they were masked here when the hashes were recorded."""
    return ["#" if word == NUMBER_MASK else word for word in words]


def _quantity(quantity: Any) -> list[Any]:
    found = quantity
    return [found.index, str(found.value), found.text, found.start, found.end, found.form, found.unit, found.kind]


def quantities(problem: Problem) -> list[Any]:
    """The quantities with units and kinds, by the units that come with the package."""
    return [_quantity(quantity) for quantity in read(problem).quantities]


def number_words(problem: Problem) -> list[Any]:
    """The quantities, numbers written as words included, whatever the problem says of them."""
    reading = read_text(problem.text, problem.language, number_words=True)
    return [_quantity(quantity) for quantity in reading.quantities]


def tokens(problem: Problem) -> list[Any]:
    """The tokens with their places, and which of them are quantities."""
    return [list(token) for token in read(problem).tokens]


def clauses(problem: Problem) -> list[Any]:
    """The clauses with their places; the last one is the question."""
    return [[clause.text, clause.start, clause.end] for clause in read(problem).clauses]


def clauses_by_digits(problem: Problem) -> list[Any]:
    """The clauses where only numbers in digits are known, as synthesis and statistics see them."""
    return [[clause.text, clause.start, clause.end] for clause in read_text(problem.text, problem.language).clauses]


def mask(problem: Problem) -> list[Any]:
    """The number-masked text and its hash: the key of twins."""
    reading = read(problem)
    return [reading.mask, reading.mask_hash]


def contexts(problem: Problem) -> list[Any]:
    """The tokens around every quantity, and how many tokens there are."""
    reading = read(problem)
    return [len(reading.tokens), [list(context) for context in reading.contexts(WINDOW)]]


def asked_unit(problem: Problem) -> str | None:
    """The unit that the text asks for."""
    return read(problem).asked_unit


def content_words(problem: Problem) -> list[Any]:
    """The nouns and verbs of the whole text."""
    words = read(problem).content_words
    return [list(words.nouns), list(words.verbs)]


def expression(problem: Problem) -> list[Any] | None:
    """The template, the quantities that are used, and the value; None without an expression that fits the text."""
    reading = read(problem)
    if not reading.is_grounded:
        return None
    return [reading.template, sorted(reading.used), None if reading.value is None else str(reading.value)]


def solver_words(problem: Problem) -> list[Any]:
    """What solvers read: words with quantities masked, or numbered, and the quantities' places among them."""
    return [list(input_words(read(problem), "masked")), list(input_words(read(problem), "indexed"))]


def augmentation(problem: Problem) -> list[Any] | None:
    """What the operations see: clauses with masked tokens and quantities, bare clauses, the asked unit, the values."""
    view = read(problem)
    if not view.is_grounded:
        return None
    component = Component(view)
    positive = positive_value(component.expression, view.values)
    cut = [
        [
            clause.start,
            clause.end,
            [list(token) for token in clause.tokens],
            _with_plain_mask(clause.masked),
            clause.quantities,
        ]
        for clause in view.clauses
    ]
    return [
        cut,
        list(component.bare_clauses),
        [_quantity(quantity) for quantity in view.quantities],
        view.asked_unit,
        [str(value) for value in view.values],
        str(component.amount),
        None if positive is None else str(positive),
        sorted(view.used),
        len(view.tokens),
        view.mask,
    ]


def learnt_units(problems: Sequence[Problem]) -> Iterator[Any]:
    """The quantities with units and the asked unit, by the units that the corpus itself shows."""
    language = get_language(problems[0].language)
    learnt = language.with_lexicon(learn_units(language, [problem.text for problem in problems]))
    for problem in problems:
        reading = read(problem, learnt)
        yield [[_quantity(quantity) for quantity in reading.quantities], reading.asked_unit]


def synthesis(problems: Sequence[Problem]) -> Iterator[Any]:
    """What rules see: the template, the quantities that the expression uses, and the words that similarity counts."""
    for problem in problems:
        tale = tell(problem, get_language(problem.language))
        yield tale and [tale.template, [_quantity(quantity) for quantity in tale.operands], sorted(tale.words)]


View = Callable[[Sequence[Problem]], Iterator[Any]]


def _each(view: Callable[[Problem], Any]) -> View:
    return lambda problems: map(view, problems)


VIEWS: dict[str, View] = {
    "quantities": _each(quantities),
    "number words": _each(number_words),
    "tokens": _each(tokens),
    "clauses": _each(clauses),
    "clauses by digits": _each(clauses_by_digits),
    "mask": _each(mask),
    "contexts": _each(contexts),
    "asked unit": _each(asked_unit),
    "content words": _each(content_words),
    "expression": _each(expression),
    "solver words": _each(solver_words),
    "augmentation": _each(augmentation),
    "learnt units": learnt_units,
    "synthesis": synthesis,
}
