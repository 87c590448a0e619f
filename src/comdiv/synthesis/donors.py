"""The indexed corpus (§III-B): clauses that may fill a placeholder, by template, role and unit, and by their words."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from comdiv.language.base import SHARE
from comdiv.problem import Quantity
from comdiv.reading import Clause, Reading
from comdiv.synthesis.tale import Tale

CLAUSE_WEIGHT = 2  # extra weight of words that the new clause shares with its neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Donor:
    """A clause of a problem that may fill a placeholder; `quantity` is the number that x replaces."""

    tale: Tale
    clause: Clause
    names: tuple[str, ...]
    verbs: frozenset[str]
    unit: str | None  # as written in the clause
    quantity: Quantity | None = None

    @property
    def id(self) -> str:
        """The id of the problem that the clause comes from."""
        return self.tale.problem.id


@dataclass(frozen=True, slots=True)
class Offer:
    """A donor with the paper's similarity (words that both problems have) and ours, which adds neighbours' words."""

    donor: Donor
    similarity: int
    score: int


# Template, rank of the stated quantity (None: a question), and kind: share, measure or bare.
_Key = tuple[str | None, int | None, str]


class DonorIndex:
    """Every clause of the corpus that can fill a placeholder. Donors without a common word are never looked at."""

    def __init__(self, tales: Iterable[Tale]) -> None:
        self._by_problem: dict[tuple[_Key, str], list[Donor]] = defaultdict(list)  # for each word of the problem
        self._by_clause: dict[tuple[_Key, str], list[Donor]] = defaultdict(list)  # for each word of the clause
        for tale in tales:
            for key, donor in _donors(tale):
                for word in tale.words:
                    self._by_problem[key, word].append(donor)
                for word in tale.words_in([donor.clause]):
                    self._by_clause[key, word].append(donor)

    def offers(
        self, template: str, rank: int | None, unit: str | None, words: Collection[str], neighbours: Collection[str]
    ) -> list[Offer]:
        """Clauses with that unit from problems with that template, most similar first, ties by id.

        They state the quantity of that rank and no other; without a rank, they are questions that ask for the unit.
        """
        key = template, rank, _kind(unit)
        similarity = Counter(donor for word in words for donor in self._by_problem.get((key, word), ()))
        beside = Counter(donor for word in neighbours for donor in self._by_clause.get((key, word), ()))
        offers = [Offer(donor, n, n + CLAUSE_WEIGHT * beside[donor]) for donor, n in similarity.items()]
        return sorted(offers, key=lambda offer: (-offer.score, offer.donor.id))


def _donors(tale: Tale) -> Iterator[tuple[_Key, Donor]]:
    if not tale.question.quantities and len(tale.clauses) > 1:
        donor = Donor(tale, tale.question, *_names(tale.parts[-1]), tale.asked_unit)
        yield (tale.template, None, _kind(tale.asked_unit_name)), donor
    for rank, (quantity, given) in enumerate(zip(tale.operands, tale.givens, strict=True)):
        place = tale.clause_of(quantity.index)
        clause = tale.clauses[place]
        if len(clause.quantities) == 1 and clause is not tale.question:
            unit = SHARE if given.sign.kind == "share" else given.unit
            donor = Donor(tale, clause, *_names(tale.parts[place]), quantity.unit, quantity)
            yield (tale.template, rank, _kind(unit)), donor


def _names(clause: Reading) -> tuple[tuple[str, ...], frozenset[str]]:
    return tuple(find_names(clause)), frozenset(clause.content_words.verbs)


def _kind(unit: str | None) -> str:
    return "bare" if unit is None else SHARE if unit == SHARE else "measure"


def find_names(clause: Reading) -> list[str]:
    """The words of a clause that name something: neither generic words nor numbers. Units are included."""
    story = clause.language.story
    words = [token.text.lower() for token in clause.tokens if token.quantity is None]
    names = [word for word in words if word not in story.generic or word in story.bound]
    return names + [each.lower() for each in story.per_word.findall(clause.text)]


class Surroundings:
    """The part of a seed that a new clause may take its names from."""

    def __init__(self, tale: Tale, clauses: Sequence[Clause], unit: str | None = None) -> None:
        self.text = "\n".join(clause.text for clause in clauses).lower()
        self.tokens = tale.tokens_in(*clauses) | ({unit} if unit else set())

    def has(self, name: str) -> bool:
        """Whether a name occurs as a word or inside one; a single character only at the end (树 in 苹果树)."""
        if name in self.tokens:
            return True
        if len(name) > 1:
            return name in self.text
        return any(token.endswith(name) for token in self.tokens)

    def foreign(self, names: Collection[str]) -> list[str]:
        """The names that do not occur here."""
        return [name for name in names if not self.has(name)]
