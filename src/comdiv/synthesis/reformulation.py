"""Reformulation (§III-B): another question for the same story. The seed goes to train, the product to test."""

from dataclasses import dataclass

from comdiv.synthesis.filling import Product, Workshop, fill
from comdiv.synthesis.seeds import Seed
from comdiv.synthesis.units import UnitOfX


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
    if any(reader.words.change.search(clause.text) for clause in story):
        return "states a comparison or a change"  # "A has n1, B has 3 more" does not carry the other question
    if any(sign.per or sign.kind == "share" for sign in seed.reading.signs):
        return "states a rate or a share"  # 每箱12个 can be multiplied, but divides nothing
    learnt = workshop.asked_units.majority(rule.template, seed.reading.used, seed.reading.signs)
    units = {reader.unit_name(quantity.unit) for quantity in seed.reading.used}
    unit = learnt or (units.pop() if len(units) == 1 else None)
    if unit is None and any(quantity.unit for quantity in seed.reading.used):
        return "the new question has no unit"
    product = fill(seed, 0, workshop, None if unit is None else UnitOfX(unit, per=False))
    if not isinstance(product, Product):
        return product
    reading = reader.read(product.problem)
    return "numbers misread" if reading is None else Reformulation(seed, product, reading.words)
