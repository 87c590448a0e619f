"""Which problems a rule applies to: the right template, and the quantities in the clauses where the rule has them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from comdiv.synthesis.reading import ReadClause, Reading
from comdiv.synthesis.rules import ProductRule, Rule


@dataclass(frozen=True, slots=True)
class Seed:
    """A problem and a rule that applies to it; `clauses` are as many as the rule names."""

    rule: Rule
    reading: Reading
    clauses: tuple[ReadClause, ...]

    @property
    def id(self) -> str:
        """The problem's id."""
        return self.reading.problem.id

    def clauses_for(self, product: ProductRule) -> list[ReadClause]:
        """The seed's clauses that a product keeps."""
        return [self.clauses[self.rule.clauses.index(name)] for name in product.seed_clauses]


def find_seed(rule: Rule, reading: Reading) -> Seed | None:
    """The problem as a seed of the rule, if its template and the places of its quantities allow it."""
    if reading.template != rule.template:
        return None
    used = {quantity.index: rank for rank, quantity in enumerate(reading.used)}
    clauses = _joined(reading.clauses, used, len(rule.clauses))
    if len(clauses) != len(rule.clauses):
        return None
    found = [sorted(used[q.index] for q in clause.quantities if q.index in used) for clause in clauses]
    places = {name: number for number, place in enumerate(rule.places) for name in place.clauses}
    carried: list[list[int]] = [[] for _ in rule.places]
    for name, ranks in zip(rule.clauses, found, strict=True):
        if ranks and name not in places:
            return None
        if ranks:
            carried[places[name]] += ranks
    wanted = [sorted(int(name[1:]) - 1 for name in place.quantities) for place in rule.places]
    return Seed(rule, reading, clauses) if carried == wanted else None


def find_seeds(rule: Rule, readings: Iterable[Reading]) -> Iterator[Seed]:
    """All seeds of a rule."""
    return (seed for reading in readings if (seed := find_seed(rule, reading)) is not None)


def _joined(clauses: Sequence[ReadClause], used: dict[int, int], wanted: int) -> tuple[ReadClause, ...]:
    """As many clauses as a rule names: from the front, one without a used quantity joins the next narrative one."""
    result = list(clauses)
    position = 0
    while len(result) > wanted and position < len(result) - 2:
        if any(quantity.index in used for quantity in result[position].quantities):
            position += 1
            continue
        result[position : position + 2] = [result[position].followed_by(result[position + 1])]
    return tuple(result)
