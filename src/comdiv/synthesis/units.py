"""The unit of x: what both new clauses of a decomposition must name. No unit, no product."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from comdiv.expression import Constant, Expression, Operation, Reference, template
from comdiv.language.base import SHARE
from comdiv.synthesis.tale import Given, Seed, Sign, Tale

SURE = 0.75  # the share of a corpus's problems that must ask for the same unit
WHOLE = 0.97  # the share of whole numbers among those of a unit that only counts
ENOUGH = 2  # problems on which a majority may rest


@dataclass(frozen=True, slots=True)
class UnitOfX:
    """What x is counted in, and whether it is said of each of several (每小时60千米)."""

    unit: str
    per: bool


_Key = tuple[str, tuple[tuple[str | None, Sign], ...]]


class AskedUnits:
    """Which unit the corpus's problems ask for, given their template and the units of their quantities."""

    def __init__(self, tales: Iterable[Tale]) -> None:
        self._counts: dict[_Key, Counter[str]] = {}
        for tale in tales:
            if tale.asked_unit is not None:
                key = _key(tale.template, tale.givens)
                self._counts.setdefault(key, Counter())[tale.asked_unit] += 1

    def majority(self, template: str, givens: Iterable[Given]) -> str | None:
        """The unit that nearly all such problems ask for; None where they differ or are too few."""
        counts = self._counts.get(_key(template, givens))
        if not counts:
            return None
        unit, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        return unit if count >= ENOUGH and count >= SURE * counts.total() else None


def _key(template: str, givens: Iterable[Given]) -> _Key:
    return template, tuple((given.unit, given.sign) for given in givens)


def unit_of_x(seed: Seed, asked: AskedUnits) -> UnitOfX | None:
    """The unit of x, by the operator that makes it; where that does not decide, by what the corpus asks for."""
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
    """A share of something is counted as that is; so is what each of several has: 每箱12个 times 5箱 are 个."""
    shares = [given.sign.kind == "share" for given in (left, right)]
    if shares[0] != shares[1]:
        whole = right if shares[0] else left
        return whole.unit, whole.sign.per
    if left.sign.per != right.sign.per:
        return (left if left.sign.per else right).unit, False
    return None, False


def _quotient_unit(left: Given, right: Given) -> tuple[str | None, bool]:
    """Divided by a share: as the dividend. Divided among others: the dividend's unit for each of them."""
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
    """The units of things that are counted, never measured: the corpus (almost) always gives them whole numbers."""
    whole: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for tale in tales:
        for value, unit, _ in tale.givens:
            if unit:
                total[unit] += 1
                whole[unit] += value.denominator == 1
    return frozenset(unit for unit, count in total.items() if whole[unit] >= WHOLE * count)
