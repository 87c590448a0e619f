"""Filling a placeholder: the best donor's clause for a product of a seed, or why there is none (§III-B)."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from comdiv.expression import Operation, format_number
from comdiv.expression.tree import COMMUTATIVE
from comdiv.language.base import SHARE
from comdiv.problem import Problem, Provenance
from comdiv.synthesis.composition import Composed, Piece, compose
from comdiv.synthesis.donors import Donor, Scored
from comdiv.synthesis.naming import product_roles, renamed
from comdiv.synthesis.reading import Reader, Sign
from comdiv.synthesis.rewriting import Context, names_in, rewrite, rewrite_unit, strip_connective
from comdiv.synthesis.rules import DELTA, ProductRule
from comdiv.synthesis.seeds import Seed
from comdiv.synthesis.sense import Referent, is_sound, referent_of_x, speaks_of_x
from comdiv.synthesis.story import Story
from comdiv.synthesis.units import UnitOfX
from comdiv.synthesis.workshop import Workshop
from comdiv.synthesis.writing import write_like

# What a word that the seed has not takes from a donor's score: nothing is left of a donor who tells another story.
FOREIGN_VERB, FOREIGN_NAME = 2, 5
MOST_TRIED = 400  # donors that are looked at, the most similar first

# Why a donor is refused, in the order of its examination: of a seed, the furthest stage that any donor reached counts.
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


@dataclass(frozen=True, slots=True)
class Product:
    """A synthetic problem. `fit` is the donor's score times how plausible the whole is."""

    problem: Problem
    template: str
    seed: str
    donor: str
    similarity: int
    fit: float


@dataclass(frozen=True, slots=True)
class _Placeholder:
    """A product of a seed that waits for its new clause, with what every donor is measured against."""

    seed: Seed
    number: int
    product: ProductRule
    unit: UnitOfX | None
    x: Fraction | None
    context: Context
    roles: dict[str, str]  # the seed's names, by the product's quantities
    referent: Referent | None  # what x is the number of, where two things are compared


def fill(
    seed: Seed, number: int, workshop: Workshop, unit: UnitOfX | None, x: Fraction | None = None
) -> Product | Reason:
    """The seed's product of that number with the fittest donor's clause in it, or why no donor fits."""
    product = seed.rule.products[number]
    # A clause that opens the story may name all that the seed has, and so may one beside a single other.
    whole = product.clauses[0] == DELTA or len(product.clauses) == 2
    context = Context(seed.clauses if whole else seed.clauses_for(product), unit.unit if unit else None)
    referent = referent_of_x(seed) if x is not None else None
    placeholder = _Placeholder(seed, number, product, unit, x, context, product_roles(seed, product), referent)
    best: Product | None = None
    furthest = 0
    for scored in _candidates(placeholder, workshop)[:MOST_TRIED]:
        if best is not None and scored.score <= best.fit:
            break  # the fit is never above the score
        made = _try(placeholder, scored, workshop)
        if isinstance(made, Product):
            best = made if best is None or made.fit > best.fit else best
        else:
            furthest = max(furthest, _STAGES.index(made))
    return best or _STAGES[furthest]


def _candidates(placeholder: _Placeholder, workshop: Workshop) -> list[Scored]:
    seed, product = placeholder.seed, placeholder.product
    words = seed.reading.words
    neighbours = frozenset[str]().union(*(clause.words for clause in seed.clauses_for(product)))
    unit = placeholder.unit.unit if placeholder.unit else None
    if product.rank is None:
        found = workshop.index.questions(product.template, unit, words, neighbours)
    else:
        found = workshop.index.narratives(product.template, product.rank, unit, words, neighbours)
    return [scored for scored in found if scored.donor.id != seed.id]


def _try(placeholder: _Placeholder, scored: Scored, workshop: Workshop) -> Product | Reason:
    seed, product, donor = placeholder.seed, placeholder.product, scored.donor
    reader, number_words = workshop.reader, seed.reading.problem.number_words
    if not _same_kinds(placeholder, donor) or donor.reading.problem.number_words != number_words:
        return "other kinds of quantities"
    if not _may_fit(placeholder, scored):
        return "foreign words"
    delta = _delta(placeholder, donor, reader)
    if delta is None:
        return "x cannot be written so"
    foreign = placeholder.context.foreign(names_in(delta.text, reader))
    verbs = set(reader.language.content_words(delta.text).verbs) if foreign else set()
    score = scored.score - sum(FOREIGN_VERB if word in verbs else FOREIGN_NAME for word in foreign)
    if score <= 0:
        return "foreign words"
    if not is_sound(seed, product, delta.text, _names(placeholder, donor).values(), reader):
        return "another thing than x"
    if placeholder.x is not None and not speaks_of_x(seed, product, delta.text, reader):
        return "another thing than x"
    if placeholder.x is None and reader.words.negative.search(delta.text):
        return "another thing than x"  # nothing was taken away: nothing is left
    pieces = _pieces(seed, product, delta)
    composed = compose(pieces, product.tree, reader, number_words=number_words)
    if composed is None:
        return "numbers misread"
    if composed.answer <= 0:
        return "not positive"
    asked = placeholder.unit.unit if placeholder.unit and product.rank is None else None
    if asked in workshop.whole and composed.answer.denominator != 1:
        return "not whole"
    plausibility = None
    if workshop.least_plausible > 0:
        texts = [piece.text.strip() for piece in pieces]
        plausibility = workshop.proofreader.probability(texts, _story(placeholder, texts[-1], reader), product.template)
        if plausibility < workshop.least_plausible:
            return "implausible"
    return _product(placeholder, replace(scored, score=score), composed, plausibility)


def _story(placeholder: _Placeholder, question: str, reader: Reader) -> Story:
    """The product's story: its quantities are the seed's, and x."""
    reading, unit = placeholder.seed.reading, placeholder.unit
    values: list[Fraction] = []
    signs: list[Sign] = []
    units: list[str | None] = []
    for rank in placeholder.seed.rule.quantities_of(placeholder.product):
        if rank is not None:
            values.append(reading.used[rank].value)
            signs.append(reading.signs[rank])
            units.append(reader.unit_name(reading.used[rank].unit))
        elif placeholder.x is not None and unit is not None:
            values.append(placeholder.x)
            signs.append(Sign("share" if unit.unit == SHARE else "measure", unit.per))
            units.append(None if unit.unit == SHARE else unit.unit)
    asks = placeholder.product.rank is None
    asked = (unit.unit if unit else None) if asks else reading.asked_unit
    return Story(tuple(values), tuple(signs), tuple(units), placeholder.roles, asked, question)


def _product(placeholder: _Placeholder, scored: Scored, composed: Composed, plausibility: float | None) -> Product:
    seed, product, donor = placeholder.seed, placeholder.product, scored.donor
    original = seed.reading.problem
    part = "ab"[placeholder.number] if len(seed.rule.products) > 1 else ""
    details = {
        "product": part or None,
        "template": product.template,
        "seed": seed.id,
        "donor": donor.id,
        "similarity": scored.similarity,
        "score": scored.score,
        "plausibility": plausibility,
        "x": None if placeholder.x is None else format_number(placeholder.x),
    }
    problem = Problem(
        id=f"{seed.id}-r{seed.rule.id}{part}",
        language=original.language,
        text=composed.text,
        expression=composed.expression,
        answer=composed.answer,
        number_words=original.number_words,
        provenance=Provenance(
            corpus=original.provenance.corpus,
            version=original.provenance.version,
            operation=seed.rule.kind,
            rule=seed.rule.id,
            parents=(seed.id, donor.id),
            details={key: value for key, value in details.items() if value is not None},
        ),
    )
    fit = scored.score * (1.0 if plausibility is None else plausibility)
    return Product(problem, product.template, seed.id, donor.id, scored.similarity, round(fit, 6))


def _same_kinds(placeholder: _Placeholder, donor: Donor) -> bool:
    """Whether the donor's problem is of the same kind: its quantities are shares, rates and counts where ours are.

    Where the order of the operands means nothing, a question fits whichever of them comes first.
    """
    seed, product, signs = placeholder.seed, placeholder.product, donor.reading.signs
    if product.rank is not None:
        return placeholder.unit is None or signs[product.rank].per == placeholder.unit.per
    wanted = [seed.reading.signs[rank] for rank in seed.rule.quantities_of(product) if rank is not None]
    if wanted == list(signs):
        return True
    commutes = isinstance(product.tree, Operation) and product.tree.operator in COMMUTATIVE
    return commutes and sorted(wanted, key=str) == sorted(signs, key=str)


def _may_fit(placeholder: _Placeholder, scored: Scored) -> bool:
    """Whether enough names of the donor's clause are known or can be rewritten: cheap, and true of few donors."""
    donor = scored.donor
    rewritable = [name.lower() for name in _names(placeholder, donor)]
    foreign = sum(
        name not in donor.verbs
        and not placeholder.context.has(name)
        and not (donor.unit is not None and name.startswith(donor.unit))
        and not any(name in longer or longer in name for longer in rewritable)
        for name in donor.names
    )
    return FOREIGN_NAME * foreign < scored.score


def _names(placeholder: _Placeholder, donor: Donor) -> dict[str, str]:
    return renamed(donor.reading, placeholder.seed, placeholder.product, placeholder.roles, placeholder.referent)


def _delta(placeholder: _Placeholder, donor: Donor, reader: Reader) -> Piece | None:
    """The new clause, in the seed's names, with the value and the unit of x; None where they cannot be written so."""
    text, quantity, x = donor.clause.text, donor.quantity, placeholder.x
    names = _names(placeholder, donor)
    before, written, after = text, "", ""
    if quantity is not None:
        number = None if x is None else write_like(x, quantity)
        if number is None:
            return None
        start, end = quantity.start - donor.clause.start, quantity.end - donor.clause.start
        before, written, after = text[:start], number, text[end:]
    before, after = (rewrite(part, names) for part in (before, after))
    unit = placeholder.unit.unit if placeholder.unit else None
    if unit is not None and unit != SHARE and unit != reader.unit_name(donor.unit):
        part = after if written else before
        converted = rewrite_unit(part, donor.unit, unit, placeholder.context, reader, first=bool(written))
        if converted is None:
            return None
        before, after = (before, converted) if written else (converted, after)
    text = strip_connective(before + written + after, reader.words)
    return Piece(text, (x,), (True,)) if x is not None and quantity is not None else Piece(text)


def _pieces(seed: Seed, product: ProductRule, delta: Piece) -> list[Piece]:
    by_name = dict(zip(seed.rule.clauses, seed.clauses, strict=True))
    return [delta if name == DELTA else Piece.of_seed(by_name[name], seed.reading.used) for name in product.clauses]
