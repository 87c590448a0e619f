"""The indexed corpus (§III-B): clauses that may fill a placeholder, by template, role and unit, and by their words."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from comdiv.language.base import SHARE
from comdiv.problem import Quantity
from comdiv.synthesis.reading import ReadClause, Reader, Reading
from comdiv.synthesis.rewriting import names_in

CLAUSE_WEIGHT = 2  # words that the new clause shares with its neighbours count twice, besides once as the problem's


@dataclass(frozen=True, slots=True)
class Donor:
    """A clause of a problem that may fill a placeholder; `quantity` is the number that x takes the place of."""

    reading: Reading
    clause: ReadClause
    names: tuple[str, ...]
    verbs: frozenset[str]
    unit: str | None  # as it is written in the clause
    quantity: Quantity | None = None

    @property
    def id(self) -> str:
        """The id of the problem that the clause comes from."""
        return self.reading.problem.id


@dataclass(frozen=True, slots=True)
class Scored:
    """A donor with the paper's similarity (words that both problems have) and ours: its neighbours' words on top."""

    donor: Donor
    similarity: int
    score: int


@dataclass(slots=True)
class _Bucket:
    """Donors of one kind, and for each word the donors that have it: in the problem, in the clause."""

    donors: list[Donor] = field(default_factory=list)
    of_problem: dict[str, list[int]] = field(default_factory=dict)
    of_clause: dict[str, list[int]] = field(default_factory=dict)

    def add(self, donor: Donor) -> None:
        number = len(self.donors)
        self.donors.append(donor)
        for word in donor.reading.words:
            self.of_problem.setdefault(word, []).append(number)
        for word in donor.clause.words:
            self.of_clause.setdefault(word, []).append(number)

    def ranked(self, words: Collection[str], neighbours: Collection[str]) -> list[Scored]:
        similarity: Counter[int] = Counter()
        for word in words:
            similarity.update(self.of_problem.get(word, ()))
        beside: Counter[int] = Counter()
        for word in neighbours:
            beside.update(self.of_clause.get(word, ()))
        scored = [
            Scored(self.donors[number], count, count + CLAUSE_WEIGHT * beside[number])
            for number, count in similarity.items()
        ]
        return sorted(scored, key=lambda entry: (-entry.score, entry.donor.id))


_Key = tuple[str, int | None, str]  # template, rank of the quantity stated (None: a question), share, measure or bare


class DonorIndex:
    """Every clause of the corpus that can fill a placeholder. Donors without a word in common are never looked at."""

    def __init__(self, readings: Iterable[Reading], reader: Reader) -> None:
        self._reader = reader
        self._buckets: dict[_Key, _Bucket] = {}
        for reading in sorted(readings, key=lambda reading: reading.problem.id):
            for key, donor in self._donors(reading):
                self._buckets.setdefault(key, _Bucket()).add(donor)

    def questions(
        self, template: str, unit: str | None, words: Collection[str], neighbours: Collection[str]
    ) -> list[Scored]:
        """Questions of problems with the template that ask for such a unit, most similar first, ties by id."""
        return self._ranked((template, None, _kind(unit)), words, neighbours)

    def narratives(
        self, template: str, rank: int, unit: str | None, words: Collection[str], neighbours: Collection[str]
    ) -> list[Scored]:
        """Clauses that state the quantity of that rank, and only it, in such a unit."""
        return self._ranked((template, rank, _kind(unit)), words, neighbours)

    def _ranked(self, key: _Key, words: Collection[str], neighbours: Collection[str]) -> list[Scored]:
        bucket = self._buckets.get(key)
        return bucket.ranked(words, neighbours) if bucket else []

    def _donors(self, reading: Reading) -> Iterator[tuple[_Key, Donor]]:
        question = reading.question
        if not question.quantities and len(reading.clauses) > 1:
            donor = Donor(reading, question, *self._names(question), reading.asked_word)
            yield (reading.template, None, _kind(reading.asked_unit)), donor
        for rank, (quantity, sign) in enumerate(zip(reading.used, reading.signs, strict=True)):
            clause = reading.clauses[reading.clause_of(rank)]
            if len(clause.quantities) == 1 and clause is not question:
                unit = SHARE if sign.kind == "share" else self._reader.unit_name(quantity.unit)
                yield (
                    (reading.template, rank, _kind(unit)),
                    Donor(reading, clause, *self._names(clause), quantity.unit, quantity),
                )

    def _names(self, clause: ReadClause) -> tuple[tuple[str, ...], frozenset[str]]:
        verbs = self._reader.language.content_words(clause.text).verbs
        return tuple(names_in(clause.text, self._reader)), frozenset(verbs)


def _kind(unit: str | None) -> str:
    return "bare" if unit is None else SHARE if unit == SHARE else "measure"
