"""Does a new clause speak of x? Of the right one of two compared things, of what is left only where it is meant.

These are conditions on a product as a whole, after the donor's names have been rewritten: its label is right only if
the new clause names what the rule says it names.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from comdiv.expression import Expression, Operation, Reference, used_quantities
from comdiv.synthesis.reading import ReadClause, Reader, Reading, Sign
from comdiv.synthesis.rules import DELTA, ProductRule
from comdiv.synthesis.seeds import Seed


@dataclass(frozen=True, slots=True)
class Referent:
    """What x is the number of, where the seed compares two things: `wanted`, not `known`."""

    wanted: str
    known: str | None


def referent_of_x(seed: Seed) -> Referent | None:
    """The side of the seed's comparison that is not given: in "鸡12只，鸭是鸡的(3/4)" the ducks."""
    return unknown_side(seed.reading, seed.rule.x)


def unknown_side(reading: Reading, x: Expression) -> Referent | None:
    """Which of two compared things `x`, made of two quantities, is the number of; None where nothing is compared."""
    ranks = used_quantities(x)
    if len(ranks) != 2 or not isinstance(x, Operation):
        return None
    for rank, other in (ranks, reversed(ranks)):
        reference, compared = reading.roles.get(f"reference{rank}"), reading.roles.get(f"compared{rank}")
        if reference is None or (reading.signs[rank].kind != "share" and x.operator not in "+-"):
            continue
        given = reading.clauses[reading.clause_of(other)].text
        shares_out = x.operator == "*"  # a share of a whole that is given: what has the share is not
        if compared is not None and compared not in given and (shares_out or reference in given):
            return Referent(compared, reference)
        if reference not in given:
            return Referent(reference, compared)
    return None


def is_sound(seed: Seed, product: ProductRule, delta: str, names: Iterable[str], reader: Reader) -> bool:
    """Whether a new clause, in the seed's names, can be said at all: no name twice, no time or thing out of place.

    A question does not ask for what is given, and one for a sum does not name only one of the two.
    """
    if any(delta.count(name) > 1 for name in names):
        return False
    if product.rank is not None:
        return True
    story = seed.clauses_for(product)
    if reader.words.already.search(delta) and not any(reader.words.already.search(c.text) for c in story):
        return False
    head = reader.words.asked_head.match(delta)
    if head is not None and any(_states(clause, head["name"]) for clause in story):
        return False
    adds = isinstance(product.tree, Operation) and product.tree.operator == "+"
    return not (adds and _names_one_of_two(seed, product, delta))


def _states(clause: ReadClause, name: str) -> bool:
    """Whether a clause gives the number of a thing: 面积是 before a number."""
    return any(clause.text[: q.start - clause.start].endswith((f"{name}是", f"{name}为")) for q in clause.quantities)


def _names_one_of_two(seed: Seed, product: ProductRule, delta: str) -> bool:
    first, second = (rank for rank in seed.rule.quantities_of(product) if rank is not None)
    for role in ("actor", "object", "turn"):
        names = [seed.reading.roles.get(f"{role}{rank}") for rank in (first, second)]
        if None not in names and names[0] != names[1] and len({str(name) in delta for name in names}) > 1:
            return True
    return False


def is_neutral(story: Iterable[ReadClause], signs: Iterable[Sign], reader: Reader) -> bool:
    """Whether a story only says how much there is, so that it carries a sum as well as a difference.

    "A has n1, B has 3 more" does not, and neither do rates (每箱12个) and shares.
    """
    return not any(reader.words.change.search(clause.text) for clause in story) and not any(
        sign.per or sign.kind == "share" for sign in signs
    )


def speaks_of_x(seed: Seed, product: ProductRule, delta: str, reader: Reader) -> bool:
    """Whether the new clause of a decomposition's product asks for x, or states it, and nothing else."""
    if not _rest_is_meant(seed, product, delta, reader):
        return False
    ranks = used_quantities(seed.rule.x)
    if len(ranks) == 1:
        fits = _asks_for_other_share if product.rank is None else _replaces
        return fits(seed, ranks[0], delta, reader)
    referent = referent_of_x(seed)
    if referent is not None:
        known = referent.known
        named = known is not None and known not in referent.wanted and known in delta
        return referent.wanted in delta and not named
    return _speaks_of_part(seed, product, delta, reader)


def _rest_is_meant(seed: Seed, product: ProductRule, delta: str, reader: Reader) -> bool:
    """A question for what is left wants a difference; a clause that opens a story about the rest speaks of it."""
    rest = reader.words.speaks_of_rest(delta)
    if product.rank is None:
        return not rest or (isinstance(product.tree, Operation) and product.tree.operator == "-")
    if product.clauses[0] != DELTA:
        return True
    return rest == any(reader.words.rest_topic.search(clause.text) for clause in seed.clauses_for(product)[:-1])


def _replaces(seed: Seed, rank: int, delta: str, reader: Reader) -> bool:
    """Whether a share of what the question asks for is stated, in the place of the share of the other part.

    A comparison stays one between the same two things, but without "more" or "less"; else the clause has a word of the
    question that the replaced clause has not, and none of that clause's own.
    """
    roles = seed.reading.roles
    reference, compared = roles.get(f"reference{rank}"), roles.get(f"compared{rank}")
    replaced = _clause_with(seed, rank)
    if reference is not None and reader.words.comparison.search(replaced.text):
        named = delta.count(reference) == 1 and (compared is None or compared in delta)
        return named and not reader.words.comparison.search(delta)
    negative = reader.words.negative
    if reader.words.comparison.search(delta) or bool(negative.search(delta)) != bool(
        negative.search(seed.reading.question.text)
    ):
        return False
    said = _telling(reader.read_words(delta), reader)
    asked, before = (_telling(clause.tokens, reader) for clause in (seed.reading.question, replaced))
    return bool(said & (asked - before)) and not said & (before - asked)


def _asks_for_other_share(seed: Seed, rank: int, delta: str, reader: Reader) -> bool:
    """Whether a question asks for what a share leaves: of a comparison the other number, of a part the other part."""
    words, stated = reader.words, _clause_with(seed, rank)
    reference = seed.reading.roles.get(f"reference{rank}")
    if words.comparison.search(stated.text):
        return reference is not None and delta.count(reference) == 1 and not words.comparison.search(delta)
    if words.no_rest.search(stated.text):
        return not words.speaks_of_rest(delta)
    return bool(words.negative.search(delta)) != bool(words.negative.search(stated.text))


def _clause_with(seed: Seed, rank: int) -> ReadClause:
    index = seed.reading.used[rank].index
    return next(clause for clause in seed.clauses if any(q.index == index for q in clause.quantities))


def _speaks_of_part(seed: Seed, product: ProductRule, delta: str, reader: Reader) -> bool:
    """A part that is told by what happened to it (用去(1/4)) is asked for by the same word (用去多少)."""
    x = seed.rule.x
    if not isinstance(x, Operation) or x.operator != "*" or not isinstance(x.left, Reference):
        return True
    signs = seed.reading.signs
    shares = [rank for rank in used_quantities(x) if signs[rank].kind == "share"]
    if len(shares) != 1:
        return True
    other = next(rank for rank in used_quantities(x) if rank != shares[0])
    part, whole = (seed.reading.clauses[seed.reading.clause_of(rank)] for rank in (shares[0], other))
    own = _telling(part.tokens, reader) - _telling(whole.tokens, reader)
    return bool(_telling(reader.read_words(delta), reader) & own)


def _telling(tokens: frozenset[str], reader: Reader) -> frozenset[str]:
    """The words that tell one part from another, synonyms as one."""
    words = reader.words
    return frozenset(
        words.synonyms.get(token, token)
        for token in tokens
        if token not in words.empty and token not in reader.language.lexicon.words and not token[:1].isdigit()
    )
