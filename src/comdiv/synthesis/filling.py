"""Filling a placeholder: the best donor's clause for a product of a seed, or why there is none (§III-B)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from comdiv.expression import Operation, format_number, used_quantities
from comdiv.expression.tree import COMMUTATIVE
from comdiv.language.base import SHARE
from comdiv.problem import Problem, Provenance
from comdiv.synthesis.composition import Composed, Piece, compose
from comdiv.synthesis.donors import Donor, DonorIndex, Scored
from comdiv.synthesis.proofreading import Proofreader
from comdiv.synthesis.reading import Reader, Reading
from comdiv.synthesis.rewriting import Context, names_in, rewrite, rewrite_unit, strip_connective
from comdiv.synthesis.rules import DELTA, ProductRule
from comdiv.synthesis.seeds import Seed
from comdiv.synthesis.sense import speaks_of_x
from comdiv.synthesis.units import AskedUnits, UnitOfX, whole_units
from comdiv.synthesis.writing import write_like

FOREIGN_VERB = 2  # what a verb that the seed has not takes from a donor's score
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
class Workshop:
    """Everything that is found once for a corpus in one language: reader, indexed corpus, units, proofreader."""

    reader: Reader
    readings: tuple[Reading, ...]
    index: DonorIndex
    asked_units: AskedUnits
    whole: frozenset[str]
    proofreader: Proofreader
    least_plausible: float

    @classmethod
    def over(cls, readings: Sequence[Reading], reader: Reader, least_plausible: float) -> "Workshop":
        """The workshop of a corpus that has been read."""
        return cls(
            reader,
            tuple(readings),
            DonorIndex(readings, reader),
            AskedUnits(readings, reader),
            whole_units(readings, reader),
            Proofreader(readings if least_plausible > 0 else (), reader),
            least_plausible,
        )


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


def fill(
    seed: Seed, number: int, workshop: Workshop, unit: UnitOfX | None, x: Fraction | None = None
) -> Product | Reason:
    """The seed's product of that number with the fittest donor's clause in it, or why no donor fits."""
    product = seed.rule.products[number]
    opening = product.clauses[0] == DELTA  # a clause that opens the story may name all that the seed has
    context = Context(seed.clauses if opening else seed.clauses_for(product), unit.unit if unit else None)
    placeholder = _Placeholder(seed, number, product, unit, x, context, _roles(seed, product))
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
    if not _may_fit(placeholder, donor):
        return "foreign words"
    delta = _delta(placeholder, donor, reader)
    if delta is None:
        return "x cannot be written so"
    foreign = placeholder.context.foreign(names_in(delta.text, reader))
    verbs = set(reader.language.content_words(delta.text).verbs) if foreign else set()
    score = scored.score - FOREIGN_VERB * len(foreign)
    if score <= 0 or not verbs.issuperset(foreign):
        return "foreign words"
    if placeholder.x is not None and not speaks_of_x(seed, product, delta.text, reader):
        return "another thing than x"
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
        plausibility = workshop.proofreader.probability([piece.text.strip() for piece in pieces], product.template)
        if plausibility < workshop.least_plausible:
            return "implausible"
    return _product(placeholder, replace(scored, score=score), composed, plausibility)


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


def _may_fit(placeholder: _Placeholder, donor: Donor) -> bool:
    """Whether every name of the donor's clause is known or can be rewritten: cheap, and true of few donors."""
    rewritable = [name.lower() for role, name in donor.reading.roles.items() if role in placeholder.roles]
    return all(
        name in donor.verbs
        or placeholder.context.has(name)
        or (donor.unit is not None and name.startswith(donor.unit))
        or any(name in longer or longer in name for longer in rewritable)
        for name in donor.names
    )


def _roles(seed: Seed, product: ProductRule) -> dict[str, str]:
    """The seed's names by the product's quantities; a clause that states x takes the roles of the one it replaces."""
    roles = {role: name for role, name in seed.reading.roles.items() if not role[-1].isdigit()}
    ranks_of_x = used_quantities(seed.rule.x) if seed.rule.kind == "decomposition" else []
    for rank, of_seed in enumerate(seed.rule.quantities_of(product)):
        source = of_seed if of_seed is not None else ranks_of_x[0] if len(ranks_of_x) == 1 else None
        for role, name in seed.reading.roles.items():
            if source is not None and role.endswith(str(source)):
                roles[role.removesuffix(str(source)) + str(rank)] = name
    return roles


def _delta(placeholder: _Placeholder, donor: Donor, reader: Reader) -> Piece | None:
    """The new clause, in the seed's names, with the value and the unit of x; None where they cannot be written so."""
    text, quantity, x = donor.clause.text, donor.quantity, placeholder.x
    before, written, after = text, "", ""
    if quantity is not None:
        number = None if x is None else write_like(x, quantity)
        if number is None:
            return None
        start, end = quantity.start - donor.clause.start, quantity.end - donor.clause.start
        before, written, after = text[:start], number, text[end:]
    before, after = (rewrite(part, donor.reading.roles, placeholder.roles) for part in (before, after))
    unit = placeholder.unit.unit if placeholder.unit else None
    if unit is not None and unit != SHARE and unit != reader.unit_name(donor.unit):
        renamed = rewrite_unit(
            after if written else before, donor.unit, unit, placeholder.context, reader, first=bool(written)
        )
        if renamed is None:
            return None
        before, after = (before, renamed) if written else (renamed, after)
    text = strip_connective(before + written + after, reader.words)
    return Piece(text, (x,), (True,)) if x is not None and quantity is not None else Piece(text)


def _pieces(seed: Seed, product: ProductRule, delta: Piece) -> list[Piece]:
    by_name = dict(zip(seed.rule.clauses, seed.clauses, strict=True))
    return [delta if name == DELTA else Piece.of_seed(by_name[name], seed.reading.used) for name in product.clauses]
