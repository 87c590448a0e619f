"""Which leaf of a corpus's equation is which quantity of the text.

Corpora give equations over numbers, `x=(11-1)*2`; comdiv needs them over quantities, `(N1-1)*N0`. In infix order, each
leaf takes the first unused quantity of equal value, else the first used one; if there is neither, it is a constant
(§III-A, "leaf nodes are quantities").
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction

from comdiv.expression import Constant, Expression, Operation, Reference
from comdiv.expression.normalisation import Member, chain, join_chain
from comdiv.expression.tree import HUNDRED, INTRODUCED
from comdiv.language.base import Language
from comdiv.problem import Quantity

RELATIVE_TOLERANCE = Fraction(1, 1_000_000)
_ONE_PERCENT = Fraction(1, 100)
_WRITTEN_PARTS = re.compile(r"[0-9.]+")  # of `1/3`, `1(1/2)`, `20%`


@dataclass(frozen=True, slots=True)
class Alignment:
    """An expression over quantities: how many of its leaves are quantities, and the constants among the others."""

    expression: Expression
    aligned: int
    constants: tuple[Fraction, ...]


def align(equation: Expression, language: Language, text: str, quantities: Sequence[Quantity]) -> Alignment:
    """Replace the numbers of an equation by the matching quantities of the text.

    `equation` must be parsed with `fractions_are_leaves`, so that `(1/3)`, `1(1/2)` and `20%` are single leaves: they
    stay single if the text has that quantity, and otherwise become a division or a sum.
    """
    aligner = _Aligner(language, text, quantities)
    expression = aligner.visit(_fractions_joined(_percents_joined(equation, quantities), quantities))
    return Alignment(expression, aligner.aligned, tuple(aligner.constants))


@dataclass(slots=True)
class _Aligner:
    language: Language
    text: str
    quantities: Sequence[Quantity]
    used: set[int] = field(default_factory=set)
    aligned: int = 0
    constants: list[Fraction] = field(default_factory=list)

    def visit(self, node: Expression) -> Expression:
        if isinstance(node, Constant):
            return self._visit_constant(node)
        if isinstance(node, Reference):
            self.aligned += 1
            self.used.add(node.index)
            return node
        left = self.visit(node.left)
        return Operation(node.operator, left, self.visit(node.right))

    def _visit_constant(self, leaf: Constant) -> Expression:
        if leaf.written == INTRODUCED:
            self.constants.append(leaf.value)
            return Constant(leaf.value)
        match = self._one(leaf) if leaf.value == 1 else self._find(leaf.value)
        if leaf.written and leaf.value != 1 and (match is None or self._means_division(leaf)):
            return self._expanded(leaf)
        if match is None and leaf.value != 1:
            match = self._find_rounded(leaf.value)
        if match is not None:
            return self._take(match)
        self.constants.append(leaf.value)
        return Constant(leaf.value)

    def _take(self, quantity: Quantity) -> Reference:
        self.used.add(quantity.index)
        self.aligned += 1
        return Reference(quantity.index)

    def _find(self, value: Fraction) -> Quantity | None:
        """The first unused quantity of that value, else the first used one."""
        slack = RELATIVE_TOLERANCE * abs(value)
        equal = [q for q in self.quantities if q.value == value or abs(q.value - value) <= slack]
        return next((q for q in equal if q.index not in self.used), equal[0] if equal else None)

    def _one(self, leaf: Constant) -> Quantity | None:
        """A literal 1 is a constant, unless the text has an unused 1 with a unit or in a calculation or ratio."""
        if leaf.written:
            return self._find(leaf.value)
        ones = (q for q in self.quantities if q.value == 1 and q.index not in self.used)
        return next((q for q in ones if self._counts(q)), None)

    def _counts(self, quantity: Quantity) -> bool:
        """Whether a number says how much rather than which one: 1小时 and 1：4 do, 6（1）班 and 第1天 do not."""
        known = self.language.unit_of(self.text, quantity)
        before = self.text[max(0, quantity.start - 1) : quantity.start]
        after = self.text[quantity.end : quantity.end + 1]
        a_label = before == "第" or (before in "（(“" and after in "）)”")
        return bool(known.unit) or (known.kind == "bare" and not a_label)

    def _find_rounded(self, value: Fraction) -> Quantity | None:
        """A fraction in the text that the equation has in rounded form: 0.3333 for 1/3."""
        if value.denominator < 100:
            return None
        unit = Fraction(1, 10 ** (len(str(value.denominator)) - 1))
        near = [q for q in self.quantities if q.value.denominator > 1 and abs(q.value - value) <= unit]
        return next((q for q in near if q.form in ("fraction", "mixed", "word")), None)

    def _means_division(self, leaf: Constant) -> bool:
        """`(6/2)` in a text that has 6, 2 and by chance 3: the operands are quantities, so it is a division."""
        if leaf.value.denominator != 1 or "/" not in leaf.written:
            return False
        parts = [Fraction(part) for part in _WRITTEN_PARTS.findall(leaf.written)]
        return all(self._find(part) is not None for part in parts)

    def _expanded(self, leaf: Constant) -> Expression:
        """`(1/3)` as 1/3, `1(1/2)` as 1+1/2, and `20%` as 20/100 if the text has the 20."""
        parts = [Constant(Fraction(part)) for part in _WRITTEN_PARTS.findall(leaf.written)]
        if leaf.written.endswith("%"):
            if self._find(parts[0].value) is None:
                self.constants.append(leaf.value)
                return Constant(leaf.value)
            parts.append(HUNDRED)
        if len(parts) == 3:
            top, bottom = parts[1].value, parts[2].value
            return self.visit(Operation("+", parts[0], Constant(top / bottom, f"{top}/{bottom}")))
        return self.visit(Operation("/", parts[0], parts[1]))


def _fractions_joined(equation: Expression, quantities: Sequence[Quantity]) -> Expression:
    """`8*1/4` as `8*(1/4)` if the text has 1/4, and not both a 1 and a 4: ASDiv writes fractions without brackets."""
    values = {quantity.value for quantity in quantities}
    fractions = [quantity.text.split("/") for quantity in quantities if quantity.form == "fraction"]
    pairs = [
        (Fraction(a), Fraction(b)) for a, b in (f for f in fractions if len(f) == 2) if a.isdigit() and b.isdigit()
    ]
    pairs = [pair for pair in pairs if not values.issuperset(pair)]

    def joined(node: Expression) -> Expression:
        if not isinstance(node, Operation):
            return node
        members = chain(node) if node.operator in "*/" else []
        if node is equation and len(members) == 2:
            members = []  # a text that asks what 6/8 is
        before = len(members)
        for top, bottom in pairs:
            over, under = Member(False, Constant(top)), Member(True, Constant(bottom))
            if over in members and under in members:
                members[members.index(over)] = Member(False, Constant(top / bottom, f"{top}/{bottom}"))
                members.remove(under)
        if len(members) == before:
            return Operation(node.operator, joined(node.left), joined(node.right))
        return join_chain("*", [Member(member.inverse, joined(member.expression)) for member in members])

    return joined(equation) if pairs else equation


def _percents_joined(equation: Expression, quantities: Sequence[Quantity]) -> Expression:
    """`70*2.5*3*0.01` as `70*2.5*3%` if the text has 3 %: MAWPS writes percentages as factors of 0.01."""
    percents = {quantity.value for quantity in quantities if quantity.form == "percent"}
    if not percents:
        return equation

    def joined(node: Expression) -> Expression:
        if not isinstance(node, Operation):
            return node
        members = chain(node) if node.operator in "*/" else []
        if not _join_percents(members, percents):  # the tree stays as its corpus wrote it
            return Operation(node.operator, joined(node.left), joined(node.right))
        return join_chain("*", [Member(member.inverse, joined(member.expression)) for member in members])

    return joined(equation)


def _join_percents(factors: list[Member], percents: Set[Fraction]) -> bool:
    """Replace 3 and 0.01 by `3%` wherever the text has it; returns whether anything was replaced."""
    before = len(factors)
    for hundredth in [factor for factor in factors if factor.expression == Constant(_ONE_PERCENT)]:
        for position, other in enumerate(factors):
            value = other.expression.value / 100 if isinstance(other.expression, Constant) else None
            if other.inverse == hundredth.inverse and value is not None and value in percents:
                factors[position] = Member(other.inverse, Constant(value, str(value)))
                factors.remove(hundredth)
                break
    return len(factors) < before
