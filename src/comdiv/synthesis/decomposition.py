"""Decomposition (§III-B): a seed with a composed template goes to test, its two simple halves go to train."""

from dataclasses import dataclass

from comdiv.expression import ExpressionError, answers_agree, value_of
from comdiv.synthesis.filling import Product, fill
from comdiv.synthesis.seeds import Seed
from comdiv.synthesis.units import unit_of_x
from comdiv.synthesis.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A seed with its two products; with one, where people rejected the other."""

    seed: Seed
    products: tuple[Product, ...]

    @property
    def fit(self) -> float:
        """That of the weaker product: a seed is as good as its worse half."""
        return min(product.fit for product in self.products)


def decompose(seed: Seed, workshop: Workshop) -> Decomposition | str:
    """The seed's two products, or why it is abandoned: whole, even if only one of them fails."""
    problem, values = seed.reading.problem, seed.reading.values
    used = [quantity.value for quantity in seed.reading.used]
    try:
        x = value_of(seed.rule.x, used)
        answer = value_of(seed.rule.tree, used)
    except ExpressionError:
        return "no value"
    if problem.answer is not None and not answers_agree(answer, problem.answer):
        return "the corpus's answer is another one"
    if x <= 0 or answer <= 0 or not values:
        return "not positive"
    unit = unit_of_x(seed, workshop.asked_units, workshop.reader)
    if unit is None:
        return "x has no unit"
    made: list[Product] = []
    for number in range(2):
        product = fill(seed, number, workshop, unit, x)
        if not isinstance(product, Product):
            return f"{'ab'[number]}: {product}"
        made.append(product)
    return Decomposition(seed, tuple(made))
