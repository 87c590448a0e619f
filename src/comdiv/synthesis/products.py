"""Products: a seed's new problems, written by a frame and checked by reading them again (§III-B)."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from comdiv.expression import (
    TOLERANCE,
    ExpressionError,
    answers_agree,
    format_number,
    renumber,
    template,
    used_quantities,
    value_of,
)
from comdiv.expression.evaluation import decimal_places
from comdiv.problem import Problem, Provenance, Quantity
from comdiv.reading import Reading
from comdiv.review import Decision, apply_review
from comdiv.synthesis.frames import X_MARK, FrameTable, Match, fill, match_frames
from comdiv.synthesis.rules import ProductRule
from comdiv.synthesis.seeds import MARKS, Seed, Tale

MOST_DECIMALS = 4
SEED_OPEN, PRODUCTS_OPEN = "the seed is not accepted", "no product is accepted"
_NUMBER = re.compile(f"([{MARKS}{X_MARK}])(%?)")

# Why a seed is abandoned although a frame fits, in the order of the checks.
Reason = Literal[
    "no frame fits",
    "x cannot be written",
    "numbers misread",
    "another template",
    "not positive",
    "not whole",
    "odd answer",
]


@dataclass(frozen=True, slots=True)
class Product:
    """A synthetic problem of a seed."""

    tale: Tale
    seed: str

    @property
    def id(self) -> str:
        """The problem's id."""
        return self.tale.problem.id


@dataclass(frozen=True, slots=True)
class Family:
    """A seed with its products: one of a reformulation; two of a decomposition, or one if the other was rejected.

    The seed of a decomposition goes to test and its products to train; with a reformulation it is the other way round.
    """

    seed: Seed
    products: tuple[Product, ...]

    @property
    def product(self) -> Product:
        """The first product; a reformulation has no other."""
        return self.products[0]

    @property
    def draw(self) -> str:
        """Its place in the pseudo-random order in which seeds are taken; the same on every machine."""
        return draw_of(f"{self.seed.rule.id} {self.seed.id}")


def draw_of(name: str) -> str:
    """A place in a pseudo-random order that is the same on every machine."""
    return hashlib.sha256(name.encode()).hexdigest()


def make_family(seed: Seed, table: FrameTable, *, unread: bool = False) -> Family | str:
    """The seed with its products, or why it is abandoned: one failing product is enough."""
    answer = seed.tale.problem.answer
    if seed.tale.value is None or (answer is not None and not answers_agree(seed.tale.value, answer, TOLERANCE)):
        return "the corpus's answer is another one"
    reason: str = "no frame fits"
    for match in match_frames(seed, table, unread=unread):
        products: list[Product] = []
        for number in range(len(seed.rule.products)):
            product = write(seed, number, match, table)
            if not isinstance(product, Product):
                reason = product
                break
            products.append(product)
        else:
            return Family(seed, tuple(products))
    return reason


def write(seed: Seed, number: int, match: Match, table: FrameTable) -> Product | Reason:
    """A product of a seed as a frame says it, or why it cannot be used."""
    rule = seed.rule.products[number]
    values = [operand.value for operand in seed.tale.operands]
    x: Fraction | None = None
    try:
        if seed.rule.kind == "decomposition":
            x = value_of(seed.rule.x, values)
        owners = _owners(seed, rule, match)
        answer = value_of(rule.tree, [x if rank is None and x is not None else values[rank or 0] for rank in owners])
    except ExpressionError:
        return "not positive"
    if answer <= 0 or (x is not None and x <= 0):
        return "not positive"
    facts = {
        "forms": _forms(seed.tale.operands),
        "size": "more" if answer > 1 else "less",
    }
    marked = fill(match.frame.products[number], {**match.slots, **facts}, table)
    written = _with_numbers(marked, seed, x)
    if written is None:
        return "x cannot be written"
    text, places = written
    return _read_again(seed, number, text, places, answer, x, match, table)


def _owners(seed: Seed, rule: ProductRule, match: Match) -> list[int | None]:
    """The seed's quantities behind n1, n2… of the product; None is x."""
    owners = seed.rule.quantities_of(rule)
    return owners[::-1] if match.frame.swapped else owners


def _with_numbers(marked: str, seed: Seed, x: Fraction | None) -> tuple[str, dict[str, tuple[int, Fraction]]] | None:
    """The text with its numbers in place of the marks, and where each mark stood."""
    pieces: list[str] = []
    places: dict[str, tuple[int, Fraction]] = {}
    position = length = 0
    for match in _NUMBER.finditer(marked):
        mark, percent = match.groups()
        quantity = None if mark == X_MARK else seed.tale.operands[MARKS.index(mark)]
        value = x if quantity is None else quantity.value
        if value is None:
            return None
        number = quantity.text if quantity is not None and not percent else _written(value, seed, percent=bool(percent))
        if number is None:
            return None
        before = marked[position : match.start()]
        places[mark] = (length + len(before), value)
        pieces += [before, number]
        length += len(before) + len(number)
        position = match.end()
    return "".join([*pieces, marked[position:]]), places


def _written(value: Fraction, seed: Seed, *, percent: bool) -> str | None:
    """A number in the seed's own form: a share like its share, an amount as whole number, decimal or fraction."""
    operands = seed.tale.operands
    of_x = used_quantities(seed.rule.x) if seed.rule.kind == "decomposition" else []
    if percent or len(of_x) == 1:  # 1-n2 is a share like n2
        model = Quantity(0, value, "1%", 0, 2, "percent") if percent else operands[of_x[0]]
        return seed.tale.language.write_number(value, model)
    if value.denominator == 1:
        return format_number(value)
    fraction = next((operand.text for operand in operands if operand.form in ("fraction", "mixed")), None)
    places = decimal_places(value.denominator)
    if places is not None and places <= MOST_DECIMALS and (fraction is None or "decimal" in _forms(operands)):
        return format_number(value)
    written = f"{value.numerator}/{value.denominator}"
    return None if fraction is None else f"({written})" if "(" in fraction else written


def _forms(operands: Sequence[Quantity]) -> str:
    return " ".join(operand.form for operand in operands)


def _read_again(
    seed: Seed,
    number: int,
    text: str,
    places: Mapping[str, tuple[int, Fraction]],
    answer: Fraction,
    x: Fraction | None,
    match: Match,
    table: FrameTable,
) -> Product | Reason:
    """The product, if its text reads back as intended: every number in its place, nothing uncountable halved."""
    rule = seed.rule.products[number]
    source = seed.tale.problem
    draft = Tale(Problem("", source.language, text, number_words=source.number_words), seed.tale.language)
    index_at = {quantity.start: quantity.index for quantity in draft.plain_quantities}
    if any(start not in index_at or draft.values[index_at[start]] != value for start, value in places.values()):
        return "numbers misread"
    owners = [X_MARK if rank is None else MARKS[rank] for rank in _owners(seed, rule, match)]
    if any(mark not in places for mark in owners):
        return "numbers misread"
    expression = renumber(rule.tree, [index_at[places[mark][0]] for mark in owners].__getitem__)
    if template(expression) != rule.template:
        return "another template"
    stated = draft.quantities[index_at[places[X_MARK][0]]] if X_MARK in places else None
    halved = stated is not None and stated.unit in table.counted and stated.value.denominator != 1
    if halved or (draft.asked_unit in table.counted and answer.denominator != 1):
        return "not whole"
    most = match.frame.decimals
    if most is not None and ((places_needed := decimal_places(answer.denominator)) is None or places_needed > most):
        return "odd answer"
    part = "ab"[number] if len(seed.rule.products) > 1 else ""
    problem = replace(
        draft.problem,
        id=product_id(seed.id, seed.rule.id, part, text),
        expression=expression,
        answer=answer,
        provenance=_provenance(seed, rule, part, match, x),
    )
    return Product(Tale(problem, seed.tale.language), seed.id)


def product_id(seed: str, rule: str, part: str, text: str) -> str:
    """An id that follows from the seed, the rule, the role and the text, so that a verdict never meets another text."""
    return f"{seed}-r{rule}{part}-{draw_of(text)[:6]}"


def _provenance(seed: Seed, rule: ProductRule, part: str, match: Match, x: Fraction | None) -> Provenance:
    details = {
        "product": part or None,
        "template": rule.template,
        "seed": seed.id,
        "frame": match.frame.name,
        "x": None if x is None else format_number(x),
    }
    source = seed.tale.problem.provenance
    return Provenance(
        corpus=source.corpus,
        version=source.version,
        operation=seed.rule.kind,
        rule=seed.rule.id,
        parents=(seed.id,),
        details={key: value for key, value in details.items() if value is not None},
    )


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
        return (SEED_OPEN if entry is None else PRODUCTS_OPEN) if only_accepted else "rejected in the review"
    return Family(replace(family.seed, entry=entry), products)
