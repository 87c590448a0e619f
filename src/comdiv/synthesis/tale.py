"""A problem as rules and donors see it: the kinds of its quantities, its words, its roles; and where a rule applies.

A `Tale` is a `Reading` with the units and names learnt from its corpus.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from comdiv.language import Language
from comdiv.language.base import NUMBER_MASK
from comdiv.language.story import StoryWords
from comdiv.problem import Problem, Quantity
from comdiv.reading import Clause, Reading, read_text
from comdiv.synthesis.rules import ProductRule, Rule


class Sign(NamedTuple):
    """The kind of a quantity: two problems whose quantities have the same signs tell the same kind of story."""

    kind: str | None
    per: bool  # a rate, given for each of several: 每箱12个, 12 in each box


class Given(NamedTuple):
    """A quantity that the expression uses; its unit has the name shared by all synonyms."""

    value: Fraction
    unit: str | None
    sign: Sign


class Tale(Reading):
    """A reading with the properties that only synthesis needs. The text has every quantity of the expression."""

    def __init__(self, problem: Problem, language: Language, names: frozenset[str] = frozenset()) -> None:
        super().__init__(problem, language)
        self.names = names  # the corpus's proper names

    @property
    def story(self) -> StoryWords:
        """The language's closed classes of words."""
        return self.language.story

    @cached_property
    def operands(self) -> tuple[Quantity, ...]:
        """The quantities that the expression uses, in text order: the first is n1 of the template."""
        return tuple(self.quantities[index] for index in sorted(self.used))

    @cached_property
    def givens(self) -> tuple[Given, ...]:
        """The operands, reduced to their numbers, units and signs."""
        return tuple(
            Given(quantity.value, self.story.unit_name(quantity.unit), self._sign(rank))
            for rank, quantity in enumerate(self.operands)
        )

    @cached_property
    def signs(self) -> list[Sign]:
        """The signs of the operands."""
        return [given.sign for given in self.givens]

    @property
    def asked_unit_name(self) -> str | None:
        """The unit that the question asks for, under the name shared by its synonyms."""
        return self.story.unit_name(self.asked_unit)

    @cached_property
    def parts(self) -> tuple[Reading, ...]:
        """Each clause read by itself, like a new clause: its words do not depend on its neighbours."""
        return tuple(read_text(clause.text, self.language) for clause in self.clauses)

    @cached_property
    def clause_words(self) -> tuple[frozenset[str], ...]:
        """The words that similarity counts, clause by clause: nouns, verbs and units, with synonyms merged (§III-B)."""
        words = []
        for clause, part in zip(self.clauses, self.parts, strict=True):
            content = part.content_words
            units = [unit for index in clause.quantities if (unit := self.quantities[index].unit)]
            asked = self.asked_unit if clause is self.question else None
            units += [asked] if asked else []
            words.append(self.story.merge_synonyms([*content.nouns, *content.verbs, *units]))
        return tuple(words)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the whole problem that similarity counts."""
        return frozenset[str]().union(*self.clause_words)

    def words_in(self, clauses: Iterable[Clause]) -> frozenset[str]:
        """The words of some clauses that similarity counts; clauses may be joined ones."""
        return frozenset[str]().union(*(self.clause_words[place] for place in self._places(clauses)))

    def tokens_in(self, *clauses: Clause) -> frozenset[str]:
        """Every word of some clauses, lower case; numbers as they are written."""
        return frozenset(token.text.lower() for place in self._places(clauses) for token in self.parts[place].tokens)

    def _places(self, clauses: Iterable[Clause]) -> list[int]:
        own = list(enumerate(self.clauses))
        return [place for joined in clauses for place, clause in own if joined.start <= clause.start < joined.end]

    def clause_at(self, rank: int) -> Clause:
        """The clause that contains n1 (rank 0), n2…"""
        return self.clauses[self.clause_of(self.operands[rank].index)]

    def _sign(self, rank: int) -> Sign:
        quantity, clause = self.operands[rank], self.clause_at(rank)
        others = [self.quantities[index] for index in clause.quantities]
        start = max((other.end for other in others if other.end <= quantity.start), default=clause.start)
        end = quantity.start
        if self.language.spaced:  # "12 in each box": the sign may follow
            end = min((other.start for other in others if other.start >= quantity.end), default=clause.end)
        return Sign(quantity.kind, bool(self.story.per.search(self.text[start:end])))

    @cached_property
    def roles(self) -> dict[str, str]:
        """The people and things in the clauses, by role: `compared1` is what is compared in the clause of n2."""
        roles: dict[str, str] = {}
        for rank, quantity in enumerate(self.operands):
            clause, text = self.clause_at(rank), self.text
            masked = f"{text[clause.start : quantity.start]}{NUMBER_MASK}{text[quantity.end : clause.end]}".strip()
            for role, name in self.story.names_in(masked):
                if self._may_name(name):
                    roles.setdefault(f"{role}{rank}", name)
                    if role == "actor":
                        roles.setdefault(role, name)
        return roles | self._asked_pair() | dict(self.language.named_roles(self.text, self.names))

    def _may_name(self, name: str) -> bool:
        """Not every capital marks a name: a sentence's first word is capitalised too, and "By noon" names nobody."""
        return not self.names or all(word in self.names for word in name.split())

    def _asked_pair(self) -> dict[str, str]:
        """For a question about two things, which one belongs to n1 and which to n2: `pair0` and `pair1`."""
        match = self.story.asked_pair.search(self.question.text.strip())
        if match is None or len(self.operands) != 2:
            return {}
        names = [match["first"].strip(), match["second"].strip()]
        owners = [self.story.owner(name) for name in names]
        for ranks in ((0, 1), (1, 0)):
            matches = all(owner in self.clause_at(rank).text for owner, rank in zip(owners, ranks, strict=True))
            if matches and owners[0] != owners[1]:
                return {f"pair{rank}": name for name, rank in zip(names, ranks, strict=True)}
        return {}


def tell(problem: Problem, language: Language, names: frozenset[str] = frozenset()) -> Tale | None:
    """The tale of a problem; None if it has no expression over quantities, or its text lacks one of them."""
    tale = Tale(problem, language, names)
    return tale if tale.used and tale.is_grounded else None


@dataclass(frozen=True, slots=True)
class Seed:
    """A problem and a rule that applies to it; `clauses` has as many clauses as the rule names."""

    rule: Rule
    tale: Tale
    clauses: tuple[Clause, ...]
    entry: Reading  # what enters the dataset: the problem, or its edited version

    @property
    def id(self) -> str:
        """The problem's id."""
        return self.tale.problem.id

    def clauses_for(self, product: ProductRule) -> list[Clause]:
        """The seed's clauses that a product keeps."""
        return [self.clauses[self.rule.clauses.index(name)] for name in product.seed_clauses]

    def clause_with(self, rank: int) -> Clause:
        """The clause of the rule that contains n1 (rank 0), n2…"""
        index = self.tale.operands[rank].index
        return next(clause for clause in self.clauses if index in clause.quantities)


def find_seed(rule: Rule, tale: Tale) -> Seed | None:
    """The problem as a seed of the rule, if its template and the places of its quantities allow it."""
    if tale.template != rule.template:
        return None
    ranks = {quantity.index: rank for rank, quantity in enumerate(tale.operands)}
    clauses = _join_clauses(tale.clauses, ranks, len(rule.clauses))
    if len(clauses) != len(rule.clauses):
        return None
    places = {name: number for number, place in enumerate(rule.places) for name in place.clauses}
    ranks_at: list[list[int]] = [[] for _ in rule.places]
    for name, clause in zip(rule.clauses, clauses, strict=True):
        inside = [ranks[index] for index in clause.quantities if index in ranks]
        if inside and name not in places:
            return None
        if inside:
            ranks_at[places[name]] += inside
    return Seed(rule, tale, clauses, tale) if ranks_at == [place.ranks for place in rule.places] else None


def _join_clauses(clauses: Sequence[Clause], ranks: dict[int, int], wanted: int) -> tuple[Clause, ...]:
    """As many clauses as a rule names: from the front, one without a used quantity joins the next narrative clause."""
    result = list(clauses)
    position = 0
    while len(result) > wanted and position < len(result) - 2:
        if any(index in ranks for index in result[position].quantities):
            position += 1
            continue
        result[position : position + 2] = [_as_one(*result[position : position + 2])]
    return tuple(result)


def _as_one(first: Clause, second: Clause) -> Clause:
    text, tokens, masked = first.text + second.text, first.tokens + second.tokens, first.masked + second.masked
    return Clause(text, first.start, second.end, tokens, masked, first.quantities + second.quantities)
