"""Filling a placeholder: the best donor's clause for a product of a seed, or why there is none (§III-B)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple, get_args

from comdiv.expression import Operation, format_number, renumber
from comdiv.expression.tree import COMMUTATIVE
from comdiv.language import Language, get_language, learn_units
from comdiv.language.base import SHARE
from comdiv.problem import Problem, Provenance
from comdiv.reading import read_text
from comdiv.synthesis.donors import Donor, DonorIndex, Offer, Surroundings, find_names
from comdiv.synthesis.proofreading import Proofreader, story_features
from comdiv.synthesis.rules import DELTA, ProductRule
from comdiv.synthesis.sense import (
    AskedUnits,
    Referent,
    UnitOfX,
    is_sound,
    referent_of_x,
    speaks_of_x,
    whole_units,
)
from comdiv.synthesis.tale import Given, Seed, Sign, Tale
from comdiv.synthesis.wording import match_names, product_roles, rewrite, rewrite_unit

# The penalty for each word that the seed lacks: it leaves nothing of the score of a donor with another story.
FOREIGN_VERB, FOREIGN_NAME = 2, 5
MOST_TRIED = 400  # donors that are tried, the most similar first

# Why a donor is refused, in the order of the checks. A seed is reported with the furthest check any donor reached.
Reason = Literal[
    "similarity 0",
    "other kinds of quantities",
    "foreign words",
    "x cannot be written so",
    "another thing than x",
    "numbers misread",
    "not positive",
    "not whole",
    "implausible",
]
_STAGES: tuple[Reason, ...] = get_args(Reason)


class Workshop:
    """Everything that is computed once for a corpus in one language: its tales, donors, units and proofreader."""

    def __init__(self, tales: Iterable[Tale], language: Language, least_plausible: float) -> None:
        self.language = language  # with the corpus's units
        self.tales = tuple(tales)
        self.index = DonorIndex(self.tales)
        self.asked_units = AskedUnits(self.tales)
        self.whole_units = whole_units(self.tales)
        self.least_plausible = least_plausible
        self.proofreader = Proofreader(self.tales if least_plausible > 0 else (), language)


def learn_language(code: str, texts: Sequence[str]) -> tuple[Language, frozenset[str]]:
    """A language with the units learnt from a corpus, and the corpus's proper names."""
    language = get_language(code)
    return language.with_lexicon(learn_units(language, texts)), language.proper_names(texts)


@dataclass(frozen=True, slots=True)
class Product:
    """A synthetic problem. `fit` is the donor's score times the plausibility of the whole text."""

    tale: Tale
    seed: str
    donor: str
    similarity: int
    fit: float


@dataclass(frozen=True, slots=True)
class _Placeholder:
    """A product of a seed that still lacks its new clause, with everything that donors are checked against."""

    seed: Seed
    number: int
    product: ProductRule
    unit: UnitOfX | None
    x: Fraction | None
    around: Surroundings
    roles: dict[str, str]  # the seed's names, by the product's quantities
    referent: Referent | None  # the thing that x counts, if two things are compared

    @property
    def unit_name(self) -> str | None:
        return self.unit.unit if self.unit else None


class _Piece(NamedTuple):
    """A clause of a product, with the values of its numbers and whether the expression uses them."""

    text: str
    numbers: tuple[tuple[Fraction, bool], ...] = ()


def fill(
    seed: Seed, number: int, workshop: Workshop, unit: UnitOfX | None, x: Fraction | None = None
) -> Product | Reason:
    """The seed's product number `number` with the fittest donor's clause, or why no donor fits."""
    product = seed.rule.products[number]
    # A clause that opens the story may name anything in the seed, and so may one beside a single other clause.
    whole = product.clauses[0] == DELTA or len(product.clauses) == 2
    around = Surroundings(seed.tale, seed.clauses if whole else seed.clauses_for(product), unit.unit if unit else None)
    referent = referent_of_x(seed) if x is not None else None
    placeholder = _Placeholder(seed, number, product, unit, x, around, product_roles(seed, product), referent)
    best: Product | None = None
    furthest = 0
    for offer in _offers(placeholder, workshop)[:MOST_TRIED]:
        if best is not None and offer.score <= best.fit:
            break  # the fit never exceeds the score
        result = _try(placeholder, offer, workshop)
        if isinstance(result, Product):
            best = result if best is None or result.fit > best.fit else best
        else:
            furthest = max(furthest, _STAGES.index(result))
    return best or _STAGES[furthest]


def _offers(placeholder: _Placeholder, workshop: Workshop) -> list[Offer]:
    seed, product = placeholder.seed, placeholder.product
    neighbours = seed.tale.words_in(seed.clauses_for(product))
    offers = workshop.index.offers(product.template, product.rank, placeholder.unit_name, seed.tale.words, neighbours)
    return [offer for offer in offers if offer.donor.id != seed.id]


def _try(placeholder: _Placeholder, offer: Offer, workshop: Workshop) -> Product | Reason:
    seed, product, donor = placeholder.seed, placeholder.product, offer.donor
    language, number_words = workshop.language, seed.tale.problem.number_words
    if not _same_kinds(placeholder, donor) or donor.tale.problem.number_words != number_words:
        return "other kinds of quantities"
    names = match_names(donor.tale, seed, product, placeholder.roles, placeholder.referent)
    if not _may_fit(placeholder, offer, names):
        return "foreign words"
    delta = _delta(placeholder, donor, names, language)
    if delta is None:
        return "x cannot be written so"
    offer = replace(offer, score=offer.score - _price(delta.text, placeholder.around, language))
    if offer.score <= 0:
        return "foreign words"
    if not is_sound(seed, product, delta.text, names.values()) or not _is_meant(placeholder, delta.text):
        return "another thing than x"
    pieces = [delta if name == DELTA else _seed_piece(seed, name) for name in product.clauses]
    tale = _compose(placeholder, pieces)
    if tale is None or tale.value is None:
        return "numbers misread"
    if tale.value <= 0:
        return "not positive"
    asks = product.rank is None
    if asks and placeholder.unit_name in workshop.whole_units and tale.value.denominator != 1:
        return "not whole"
    plausibility = None
    if workshop.least_plausible > 0:
        texts = [piece.text.strip() for piece in pieces]
        asked = placeholder.unit_name if asks else seed.tale.asked_unit_name
        features = story_features(_givens(placeholder), placeholder.roles, asked, texts[-1], language.story)
        plausibility = workshop.proofreader.probability(texts, features, product.template)
        if plausibility < workshop.least_plausible:
            return "implausible"
    return _product(placeholder, offer, tale, plausibility)


def _same_kinds(placeholder: _Placeholder, donor: Donor) -> bool:
    """Whether the donor's problem is of the same kind: shares, rates and counts in the same places.

    If the order of the operands does not matter, a question fits whichever of them comes first.
    """
    seed, product, signs = placeholder.seed, placeholder.product, donor.tale.signs
    if product.rank is not None:
        return placeholder.unit is None or signs[product.rank].per == placeholder.unit.per
    wanted = [seed.tale.signs[rank] for rank in seed.rule.quantities_of(product) if rank is not None]
    if wanted == signs:
        return True
    commutes = isinstance(product.tree, Operation) and product.tree.operator in COMMUTATIVE
    return commutes and sorted(wanted, key=str) == sorted(signs, key=str)


def _may_fit(placeholder: _Placeholder, offer: Offer, names: Iterable[str]) -> bool:
    """Whether enough names of the donor's clause are known or can be rewritten: a cheap test that few donors pass."""
    donor = offer.donor
    rewritable = [name.lower() for name in names]
    foreign = sum(
        name not in donor.verbs
        and not placeholder.around.has(name)
        and not (donor.unit is not None and name.startswith(donor.unit))
        and not any(name in longer or longer in name for longer in rewritable)
        for name in donor.names
    )
    return FOREIGN_NAME * foreign < offer.score


def _delta(placeholder: _Placeholder, donor: Donor, names: dict[str, str], language: Language) -> _Piece | None:
    """The new clause, in the seed's names, with the value and unit of x; None if it cannot be written that way."""
    text, quantity, x = donor.clause.text, donor.quantity, placeholder.x
    before, number, after = text, "", ""
    if quantity is not None:
        value = None if x is None else language.write_number(x, quantity)
        if value is None:
            return None
        start, end = quantity.start - donor.clause.start, quantity.end - donor.clause.start
        before, number, after = text[:start], value, text[end:]
    before, after = (rewrite(part, names) for part in (before, after))
    unit = placeholder.unit_name
    if unit is not None and unit != SHARE and unit != language.story.unit_name(donor.unit):
        part = after if number else before
        new = rewrite_unit(part, donor.unit, unit, placeholder.around, language, first=bool(number))
        if new is None:
            return None
        before, after = (before, new) if number else (new, after)
    text = language.story.without_connective(before + number + after)
    return _Piece(text, ((x, True),)) if x is not None and quantity is not None else _Piece(text)


def _price(text: str, around: Surroundings, language: Language) -> int:
    """The penalty for the words of a new clause that the seed lacks."""
    reading = read_text(text, language)
    foreign = around.foreign(find_names(reading))
    verbs = reading.content_words.verbs if foreign else ()
    return sum(FOREIGN_VERB if word in verbs else FOREIGN_NAME for word in foreign)


def _is_meant(placeholder: _Placeholder, delta: str) -> bool:
    """Whether a decomposition's clause is about x; a reformulation's must not speak of what is left."""
    if placeholder.x is None:
        return not placeholder.seed.tale.story.negative.search(delta)
    return speaks_of_x(placeholder.seed, placeholder.product, delta)


def _seed_piece(seed: Seed, name: str) -> _Piece:
    """A clause taken unchanged from the seed."""
    tale, clause = seed.tale, seed.clauses[seed.rule.clauses.index(name)]
    return _Piece(clause.text, tuple((tale.values[index], index in tale.used) for index in clause.quantities))


def _compose(placeholder: _Placeholder, pieces: Sequence[_Piece]) -> Tale | None:
    """The problem made of the pieces; None if its numbers are not read as intended."""
    seed, part = placeholder.seed, "ab"[placeholder.number] if len(placeholder.seed.rule.products) > 1 else ""
    numbers = [number for piece in pieces for number in piece.numbers]
    places = [place for place, (_, is_used) in enumerate(numbers) if is_used]
    problem = Problem(
        id=f"{seed.id}-r{seed.rule.id}{part}",
        language=seed.tale.problem.language,
        text=seed.tale.story.join_clauses(piece.text for piece in pieces),
        expression=renumber(placeholder.product.tree, places.__getitem__),
        number_words=seed.tale.problem.number_words,
    )
    tale = Tale(problem, seed.tale.language)
    return tale if tale.values == tuple(value for value, _ in numbers) else None


def _givens(placeholder: _Placeholder) -> list[Given]:
    """The product's quantities: the seed's, and x."""
    unit, x = placeholder.unit, placeholder.x
    givens: list[Given] = []
    for rank in placeholder.seed.rule.quantities_of(placeholder.product):
        if rank is not None:
            givens.append(placeholder.seed.tale.givens[rank])
        elif x is not None and unit is not None:
            share = unit.unit == SHARE
            sign = Sign("share" if share else "measure", unit.per)
            givens.append(Given(x, None if share else unit.unit, sign))
    return givens


def _product(placeholder: _Placeholder, offer: Offer, tale: Tale, plausibility: float | None) -> Product:
    seed, donor = placeholder.seed, offer.donor
    details = {
        "product": "ab"[placeholder.number] if len(seed.rule.products) > 1 else None,
        "template": placeholder.product.template,
        "seed": seed.id,
        "donor": donor.id,
        "similarity": offer.similarity,
        "score": offer.score,
        "plausibility": plausibility,
        "x": None if placeholder.x is None else format_number(placeholder.x),
    }
    source = seed.tale.problem.provenance
    provenance = Provenance(
        corpus=source.corpus,
        version=source.version,
        operation=seed.rule.kind,
        rule=seed.rule.id,
        parents=(seed.id, donor.id),
        details={key: value for key, value in details.items() if value is not None},
    )
    problem = replace(tale.problem, answer=tale.value, provenance=provenance)
    fit = offer.score * (1.0 if plausibility is None else plausibility)
    return Product(Tale(problem, tale.language), seed.id, donor.id, offer.similarity, round(fit, 6))
