"""Reformulation (§III-B): another question for the same story. The seed goes to train, the product to test."""

from dataclasses import dataclass

from comdiv.expression import Operation
from comdiv.language.base import SHARE
from comdiv.synthesis.filling import Product, fill
from comdiv.synthesis.seeds import Seed
from comdiv.synthesis.sense import is_neutral
from comdiv.synthesis.units import UnitOfX
from comdiv.synthesis.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Reformulation:
    """A seed with its one product; `words` are the product's, for its similarity to training problems."""

    seed: Seed
    product: Product
    words: frozenset[str]


def reformulate(seed: Seed, workshop: Workshop) -> Reformulation | str:
    """The seed's product, or why it is abandoned."""
    reader = workshop.reader
    rule = seed.rule.products[0]
    story = seed.clauses_for(rule)
    units = [reader.unit_name(quantity.unit) for quantity in seed.reading.used]
    adds = isinstance(rule.tree, Operation) and rule.tree.operator in "+-"
    if not is_neutral(story, seed.reading.signs, reader):
        return "states a comparison, a change, a rate or a share"
    if adds and len(set(units)) > 1:
        return "counts two kinds of things"
    product: Product | str = "the new question has no unit"
    for unit in _possible_units(seed, units[0], workshop):
        product = fill(seed, 0, workshop, None if unit is None else UnitOfX(unit, per=False))
        if isinstance(product, Product):
            break
    if not isinstance(product, Product):
        return product
    reading = reader.read(product.problem)
    return "numbers misread" if reading is None else Reformulation(seed, product, reading.words)


def _possible_units(seed: Seed, unit: str | None, workshop: Workshop) -> list[str | None]:
    """What the new question may ask for: what such problems do, else the quantities' own unit, or a share."""
    rule = seed.rule.products[0]
    learnt = workshop.asked_units.majority(rule.template, seed.reading.used, seed.reading.signs)
    adds = isinstance(rule.tree, Operation) and rule.tree.operator in "+-"
    others = [unit] if adds or unit is None else [SHARE, *workshop.reader.words.multiples]
    return list(dict.fromkeys([learnt, *others] if learnt else others))
