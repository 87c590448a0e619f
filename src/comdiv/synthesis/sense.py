"""What x is (its unit, and the thing it counts), and whether a new clause is about x.

The conditions apply to a product as a whole, after the donor's names have been rewritten: its label is right only if
the new clause names what the rule requires.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from comdiv.expression import Constant, Expression, Operation, Reference, template, used_quantities
from comdiv.language.base import SHARE
from comdiv.reading import Clause, read_text
from comdiv.synthesis.rules import DELTA, ProductRule
from comdiv.synthesis.tale import Given, Seed, Sign, Tale

SURE = 0.75  # share of a corpus's problems that must ask for the same unit
WHOLE = 0.97  # share of whole numbers for a unit to count as discrete
ENOUGH = 2  # fewest problems for a majority


# --- the unit: both new clauses of a decomposition must name it ---


@dataclass(frozen=True, slots=True)
class UnitOfX:
    """The unit of x, and whether x is a rate, given for each of several (每小时60千米)."""

    unit: str
    per: bool


_Kind = tuple[str | None, tuple[tuple[str | None, Sign], ...]]  # of problems: template, units and signs


class AskedUnits:
    """Which unit the corpus's problems ask for, given their template and the units of their quantities."""

    def __init__(self, tales: Iterable[Tale]) -> None:
        self._counts: dict[_Kind, Counter[str]] = defaultdict(Counter)
        for tale in tales:
            if (unit := tale.asked_unit_name) is not None:
                self._counts[_kind(tale.template, tale.givens)][unit] += 1

    def majority(self, template: str, givens: Iterable[Given]) -> str | None:
        """The unit that nearly all such problems ask for; None if they differ or are too few."""
        counts = self._counts.get(_kind(template, givens), Counter())
        unit, count = min(counts.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
        return unit if count >= ENOUGH and count >= SURE * counts.total() else None


def _kind(template: str | None, givens: Iterable[Given]) -> _Kind:
    return template, tuple((given.unit, given.sign) for given in givens)


def unit_of_x(seed: Seed, asked: AskedUnits) -> UnitOfX | None:
    """The unit of x, by the operator that yields it; if that does not decide, by what the corpus asks for."""
    x = seed.rule.x
    if not isinstance(x, Operation):
        return None
    left, right = (_operand(operand, seed.tale) for operand in (x.left, x.right))
    if left is None or right is None:
        return None
    if x.operator in "+-":
        same = left.unit == right.unit and left.unit is not None
        return UnitOfX(str(left.unit), left.sign.per and right.sign.per) if same else None
    unit, per = (_product_unit if x.operator == "*" else _quotient_unit)(left, right)
    if unit is None:
        operands = [operand for operand in (x.left, x.right) if isinstance(operand, Reference)]
        unit = asked.majority(template(x), [seed.tale.givens[operand.index] for operand in operands])
    return None if unit is None else UnitOfX(unit, per)


def _product_unit(left: Given, right: Given) -> tuple[str | None, bool]:
    """A share of something has its unit; a rate times a number has the rate's unit: 每箱12个 times 5箱 gives 个."""
    shares = [given.sign.kind == "share" for given in (left, right)]
    if shares[0] != shares[1]:
        whole = right if shares[0] else left
        return whole.unit, whole.sign.per
    if left.sign.per != right.sign.per:
        return (left if left.sign.per else right).unit, False
    return None, False


def _quotient_unit(left: Given, right: Given) -> tuple[str | None, bool]:
    """Divided by a share: the dividend's unit. Divided among several: the dividend's unit for each of them."""
    if right.sign.kind == "share":
        return left.unit, left.sign.per
    if left.unit and right.unit and left.unit != right.unit and not right.sign.per:
        return left.unit, True
    return None, False


def _operand(operand: Expression, tale: Tale) -> Given | None:
    if isinstance(operand, Constant):
        return Given(operand.value, SHARE, Sign("share", False))  # the whole: 1-n2
    if not isinstance(operand, Reference):
        return None
    given = tale.givens[operand.index]
    return given._replace(unit=SHARE) if given.sign.kind == "share" else given


def whole_units(tales: Iterable[Tale]) -> frozenset[str]:
    """The units of things that are counted, not measured: nearly all their numbers in the corpus are whole."""
    whole: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for tale in tales:
        for value, unit, _ in tale.givens:
            if unit:
                total[unit] += 1
                whole[unit] += value.denominator == 1
    return frozenset(unit for unit, count in total.items() if whole[unit] >= WHOLE * count)


# --- which of two compared things ---


@dataclass(frozen=True, slots=True)
class Referent:
    """If the seed compares two things, the one that x counts: `wanted`, not `known`."""

    wanted: str
    known: str | None


def referent_of_x(seed: Seed) -> Referent | None:
    """The side of the seed's comparison that is not given: the ducks in "鸡12只，鸭是鸡的(3/4)"."""
    return unknown_side(seed.tale, seed.rule.x)


def unknown_side(tale: Tale, x: Expression) -> Referent | None:
    """Which of two compared things `x`, made of two quantities, counts; None if nothing is compared."""
    ranks = used_quantities(x)
    if len(ranks) != 2 or not isinstance(x, Operation):
        return None
    for rank, other in (ranks, reversed(ranks)):
        reference, compared = tale.roles.get(f"reference{rank}"), tale.roles.get(f"compared{rank}")
        if reference is None or (tale.givens[rank].sign.kind != "share" and x.operator not in "+-"):
            continue
        given = tale.clause_at(other).text
        shares_out = x.operator == "*"  # a share of a given whole: the thing that has the share is not given
        if compared is not None and compared not in given and (shares_out or reference in given):
            return Referent(compared, reference)
        if reference not in given:
            return Referent(reference, compared)
    return None


# --- what a new clause says ---


def is_sound(seed: Seed, product: ProductRule, delta: str, names: Iterable[str]) -> bool:
    """Whether a new clause, in the seed's names, makes sense: no repeated name, no time or thing out of place.

    A question must not ask for what is given, and a question for a sum must not name only one of the two terms.
    """
    if any(delta.count(name) > 1 for name in names):
        return False
    if product.rank is not None:
        return True
    words, clauses = seed.tale.story, seed.clauses_for(product)
    if words.already.search(delta) and not any(words.already.search(clause.text) for clause in clauses):
        return False
    head = words.asked_head.match(delta)
    if head is not None and any(_states(clause, head["name"], seed.tale) for clause in clauses):
        return False
    adds = isinstance(product.tree, Operation) and product.tree.operator == "+"
    return not (adds and _names_one_of_two(seed, product, delta))


def _states(clause: Clause, name: str, tale: Tale) -> bool:
    """Whether a clause states the number of a thing: 面积是 before a number."""
    before = [tale.text[clause.start : tale.quantities[index].start] for index in clause.quantities]
    return any(text.endswith(tuple(name + copula for copula in tale.story.copulas)) for text in before)


def _names_one_of_two(seed: Seed, product: ProductRule, delta: str) -> bool:
    first, second = (rank for rank in seed.rule.quantities_of(product) if rank is not None)
    for role in ("actor", "object", "turn"):
        names = [seed.tale.roles.get(f"{role}{rank}") for rank in (first, second)]
        if None not in names and names[0] != names[1] and len({str(name) in delta for name in names}) > 1:
            return True
    return False


def is_neutral(seed: Seed) -> bool:
    """Whether a seed only states amounts, so that it supports a sum as well as a difference.

    "A has n1, B has 3 more" does not qualify, and neither do rates (每箱12个) and shares.
    """
    changes = any(seed.tale.story.change.search(clause.text) for clause in seed.clauses_for(seed.rule.products[0]))
    return not changes and not any(sign.per or sign.kind == "share" for sign in seed.tale.signs)


def speaks_of_x(seed: Seed, product: ProductRule, delta: str) -> bool:
    """Whether the new clause of a decomposition's product asks for x, or states it, and nothing else."""
    if not _rest_is_meant(seed, product, delta):
        return False
    ranks = used_quantities(seed.rule.x)
    if len(ranks) == 1:
        return (_asks_for_other_share if product.rank is None else _replaces)(seed, ranks[0], delta)
    referent = referent_of_x(seed)
    if referent is not None:
        known = referent.known
        names_known = known is not None and known not in referent.wanted and known in delta
        return referent.wanted in delta and not names_known
    return _speaks_of_part(seed, delta)


def _rest_is_meant(seed: Seed, product: ProductRule, delta: str) -> bool:
    """A question for what is left needs a difference; a clause that opens a story about the rest must mention it."""
    words = seed.tale.story
    rest = words.speaks_of_rest(delta)
    if product.rank is None:
        return not rest or (isinstance(product.tree, Operation) and product.tree.operator == "-")
    if product.clauses[0] != DELTA:
        return True
    return rest == any(words.rest_topic.search(clause.text) for clause in seed.clauses_for(product)[:-1])


def _replaces(seed: Seed, rank: int, delta: str) -> bool:
    """Whether the clause states the share that the question asks for, instead of the share of the other part.

    A comparison must be between the same two things, but without "more" or "less". Otherwise the clause must have a
    word of the question that the replaced clause lacks, and no word that only the replaced clause has.
    """
    roles, words = seed.tale.roles, seed.tale.story
    reference, compared = roles.get(f"reference{rank}"), roles.get(f"compared{rank}")
    replaced, question = seed.clause_with(rank), seed.tale.question
    if reference is not None and words.comparison.search(replaced.text):
        names_both = delta.count(reference) == 1 and (compared is None or compared in delta)
        return names_both and not words.comparison.search(delta)
    if words.comparison.search(delta) or bool(words.negative.search(delta)) != bool(
        words.negative.search(question.text)
    ):
        return False
    new = _telling_words(delta, seed.tale)
    asked, before = (_telling(seed.tale.tokens_in(clause), seed.tale) for clause in (question, replaced))
    return bool(new & (asked - before)) and not new & (before - asked)


def _asks_for_other_share(seed: Seed, rank: int, delta: str) -> bool:
    """Whether a question asks for the complement of a share: the other number of a comparison, or the other part."""
    words, clause = seed.tale.story, seed.clause_with(rank)
    reference = seed.tale.roles.get(f"reference{rank}")
    if words.comparison.search(clause.text):
        return reference is not None and delta.count(reference) == 1 and not words.comparison.search(delta)
    if words.no_rest.search(clause.text):
        return not words.speaks_of_rest(delta)
    return bool(words.negative.search(delta)) != bool(words.negative.search(clause.text))


def _speaks_of_part(seed: Seed, delta: str) -> bool:
    """A part described by what happened to it (用去(1/4)) is asked for with the same word (用去多少)."""
    x, tale = seed.rule.x, seed.tale
    if not isinstance(x, Operation) or x.operator != "*" or not isinstance(x.left, Reference):
        return True
    ranks = used_quantities(x)
    shares = [rank for rank in ranks if tale.givens[rank].sign.kind == "share"]
    if len(shares) != 1:
        return True
    whole = next(rank for rank in ranks if rank != shares[0])
    part, rest = (_telling(tale.tokens_in(tale.clause_at(rank)), tale) for rank in (shares[0], whole))
    return bool(_telling_words(delta, tale) & (part - rest))


def _telling_words(text: str, tale: Tale) -> frozenset[str]:
    return _telling((token.text.lower() for token in read_text(text, tale.language).tokens), tale)


def _telling(tokens: Iterable[str], tale: Tale) -> frozenset[str]:
    """The words that distinguish one part from another, with synonyms merged."""
    empty, units = tale.story.empty, tale.language.lexicon.words
    return tale.story.merge_synonyms(
        token for token in tokens if token not in empty and token not in units and not token[:1].isdigit()
    )
