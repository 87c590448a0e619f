"""A seed and what a rule makes of it (§III-B): two simple halves, or another question for the same story.

The seed of a decomposition goes to test and its products to train; with a reformulation it is the other way round.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from comdiv.expression import TOLERANCE, ExpressionError, Operation, answers_agree, value_of
from comdiv.language.base import SHARE
from comdiv.reading import Reading
from comdiv.review import Decision, apply_review
from comdiv.synthesis.filling import Product, Workshop, fill
from comdiv.synthesis.sense import UnitOfX, is_neutral, unit_of_x
from comdiv.synthesis.tale import Seed, Tale


@dataclass(frozen=True, slots=True)
class Family:
    """A seed with its products: one of a reformulation; two of a decomposition, or one if the other was rejected."""

    seed: Seed
    products: tuple[Product, ...]

    @property
    def fit(self) -> float:
        """The fit of the weaker product: a seed is only as good as its worse half."""
        return min(product.fit for product in self.products)

    @property
    def product(self) -> Product:
        """The first product; a reformulation has no other."""
        return self.products[0]


def make_family(seed: Seed, workshop: Workshop) -> Family | str:
    """The seed with its products, or why it is abandoned."""
    return (_decompose if seed.rule.kind == "decomposition" else _reformulate)(seed, workshop)


def _decompose(seed: Seed, workshop: Workshop) -> Family | str:
    """The seed with two products, or why it is abandoned; one failing product is enough for that."""
    values = [given.value for given in seed.tale.givens]
    try:
        x = value_of(seed.rule.x, values)
        answer = value_of(seed.rule.tree, values)
    except ExpressionError:
        return "no value"
    corpus_answer = seed.tale.problem.answer
    if corpus_answer is not None and not answers_agree(answer, corpus_answer, TOLERANCE):
        return "the corpus's answer is another one"
    if x <= 0 or answer <= 0:
        return "not positive"
    unit = unit_of_x(seed, workshop.asked_units)
    if unit is None:
        return "x has no unit"
    products: list[Product] = []
    for number in range(2):
        product = fill(seed, number, workshop, unit, x)
        if not isinstance(product, Product):
            return f"{'ab'[number]}: {product}"
        products.append(product)
    return Family(seed, tuple(products))


def _reformulate(seed: Seed, workshop: Workshop) -> Family | str:
    """The seed with its one product, or why it is abandoned."""
    tree = seed.rule.products[0].tree
    adds = isinstance(tree, Operation) and tree.operator in "+-"
    if not is_neutral(seed):
        return "states a comparison, a change, a rate or a share"
    if adds and len({given.unit for given in seed.tale.givens}) > 1:
        return "counts two kinds of things"
    reason = "the new question has no unit"
    for unit in _possible_units(seed, workshop, adds=adds):
        product = fill(seed, 0, workshop, None if unit is None else UnitOfX(unit, per=False))
        if isinstance(product, Product):
            return Family(seed, (product,))
        reason = product
    return reason


def _possible_units(seed: Seed, workshop: Workshop, *, adds: bool) -> list[str | None]:
    """Units that the new question may ask for: those of similar problems, else the quantities' own, or a share."""
    unit = seed.tale.givens[0].unit
    usual = workshop.asked_units.majority(seed.rule.products[0].template, seed.tale.givens)
    others = [unit] if adds or unit is None else [SHARE, *seed.tale.story.multiples]
    return list(dict.fromkeys([usual, *others] if usual else others))


def as_reviewed(family: Family, decisions: Mapping[str, Decision], *, only_accepted: bool) -> Family | str:
    """The family after review: rejected products are dropped; a seed rejected or left without products is abandoned."""

    def decided(reading: Reading) -> Tale | None:
        kept = apply_review([reading.problem], decisions, only_accepted=only_accepted)
        return Tale(kept[0], reading.language) if kept else None

    if not decisions and not only_accepted:
        return family
    entry = decided(family.seed.entry)
    tales = [(product, decided(product.tale)) for product in family.products]
    products = tuple(replace(product, tale=tale) for product, tale in tales if tale is not None)
    if entry is None or not products:
        return "not accepted in the review" if only_accepted else "rejected in the review"
    return Family(replace(family.seed, entry=entry), products)
