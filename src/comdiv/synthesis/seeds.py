"""Seeds: the problems that a rule applies to, with their clauses as the rule names them (§III-B)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from comdiv.language import Language
from comdiv.problem import Problem, Quantity
from comdiv.reading import Clause, Reading
from comdiv.synthesis.rules import Rule

MARKS = "①②③④⑤"  # n1, n2… of a seed's template, where its clauses are matched and written
CLAUSE_MARK = "|"
_CLOSING = "。．？！；，：?!;,.: "


class Tale(Reading):
    """A reading with the properties that only synthesis needs. The text has every quantity of the expression."""

    @cached_property
    def operands(self) -> tuple[Quantity, ...]:
        """The quantities that the expression uses, in text order: the first is n1 of the template."""
        return tuple(self.quantities[index] for index in sorted(self.used))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that similarity counts: nouns, verbs and units, with synonyms merged (§III-B)."""
        content = self.content_words
        units = [unit for unit in (*(quantity.unit for quantity in self.quantities), self.asked_unit) if unit]
        synonyms = self.language.data("words.yaml").get("synonyms", {})
        return frozenset(synonyms.get(word, word) for word in (*content.nouns, *content.verbs, *units))


def tell(problem: Problem, language: Language) -> Tale | None:
    """The tale of a problem; None if it has no expression over quantities, or its text lacks one of them."""
    tale = Tale(problem, language)
    return tale if tale.used and tale.is_grounded else None


@dataclass(frozen=True, slots=True)
class Seed:
    """A problem and a rule that applies to it; `clauses` has as many clauses as the rule names."""

    rule: Rule
    tale: Tale
    clauses: tuple[Clause, ...]
    entry: Reading  # for the dataset: the problem, or its edited version

    @property
    def id(self) -> str:
        """The problem's id."""
        return self.tale.problem.id

    @property
    def marked(self) -> str:
        """The clauses without their closing signs, joined by bars, their used numbers as ①②③."""
        return CLAUSE_MARK.join(map(self._marked_clause, self.clauses))

    def _marked_clause(self, clause: Clause) -> str:
        pieces: list[str] = []
        position = clause.start
        for mark, quantity in zip(MARKS, self.tale.operands, strict=False):
            if clause.start <= quantity.start < clause.end:
                pieces += [self.tale.text[position : quantity.start], mark]
                position = quantity.end
        return "".join([*pieces, self.tale.text[position : clause.end]]).strip().rstrip(_CLOSING)


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
    """As many clauses as the rule names: from the front, one without a used quantity joins the next narrative one."""
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
