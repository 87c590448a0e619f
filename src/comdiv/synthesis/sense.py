"""Does a new clause speak of x? Of the right one of two compared things, of what is left only where it is meant.

These are conditions on a product as a whole, after the donor's names have been rewritten: its label is right only if
the new clause names what the rule says it names.
"""

from dataclasses import dataclass

from comdiv.expression import Operation, Reference, used_quantities
from comdiv.synthesis.reading import Reader
from comdiv.synthesis.rules import DELTA, ProductRule
from comdiv.synthesis.seeds import Seed


@dataclass(frozen=True, slots=True)
class Referent:
    """What x is the number of, where the seed compares two things: `wanted`, not `known`."""

    wanted: str
    known: str | None


def referent_of_x(seed: Seed) -> Referent | None:
    """The side of the seed's comparison that is not given: in "鸡12只，鸭是鸡的(3/4)" the ducks."""
    roles, x = seed.reading.roles, seed.rule.x
    ranks = used_quantities(x)
    if len(ranks) != 2 or not isinstance(x, Operation):
        return None
    for rank, other in (ranks, reversed(ranks)):
        reference, compared = roles.get(f"reference{rank}"), roles.get(f"compared{rank}")
        if reference is None or (seed.reading.signs[rank].kind != "share" and x.operator not in "+-"):
            continue
        given = seed.reading.clauses[seed.reading.clause_of(other)].text
        if compared is not None and compared not in given and reference in given:
            return Referent(compared, reference)
        if reference not in given:
            return Referent(reference, compared)
    return None


def speaks_of_x(seed: Seed, product: ProductRule, delta: str, reader: Reader) -> bool:
    """Whether the new clause of a decomposition's product asks for x, or states it, and nothing else."""
    if not _rest_is_meant(seed, product, delta, reader):
        return False
    ranks = used_quantities(seed.rule.x)
    if len(ranks) == 1:
        return product.rank is None or _replaces(seed, ranks[0], delta, reader)
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
    replaced = next(c for c in seed.clauses if any(q.index == seed.reading.used[rank].index for q in c.quantities))
    if reference is not None and reader.words.comparison.search(replaced.text):
        named = reference in delta and (compared is None or compared in delta)
        return named and not reader.words.comparison.search(delta)
    if reader.words.comparison.search(delta):
        return False
    said = _telling(reader.read_words(delta), reader)
    asked, before = (_telling(clause.tokens, reader) for clause in (seed.reading.question, replaced))
    return bool(said & (asked - before)) and not said & (before - asked)


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
