"""The unit of x: what both new clauses of a decomposition must name. No unit, no product."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from comdiv.expression import Constant, Expression, Operation, Reference, template
from comdiv.language.base import SHARE
from comdiv.problem import Quantity
from comdiv.synthesis.reading import Reader, Reading, Sign
from comdiv.synthesis.seeds import Seed

SURE = 0.75  # the share of a corpus's problems that must ask for the same unit
WHOLE = 0.97  # the share of whole numbers among those of a unit that only counts
ENOUGH = 2  # problems on which a majority may rest


@dataclass(frozen=True, slots=True)
class UnitOfX:
    """What x is counted in, and whether it is said of each of several (每小时60千米)."""

    unit: str
    per: bool


_Key = tuple[str, tuple[tuple[str | None, str | None, bool], ...]]


class AskedUnits:
    """Which unit the corpus's problems ask for, given their template and the units of their quantities."""

    def __init__(self, readings: Iterable[Reading], reader: Reader) -> None:
        self._reader = reader
        self._counts: dict[_Key, Counter[str]] = {}
        for reading in readings:
            if reading.asked_unit is not None:
                key = self._key(reading.template, reading.used, reading.signs)
                self._counts.setdefault(key, Counter())[reading.asked_unit] += 1

    def majority(self, asked: str, used: Iterable[Quantity], signs: Iterable[Sign]) -> str | None:
        """The unit that nearly all such problems ask for; None where they differ or are too few."""
        counts = self._counts.get(self._key(asked, used, signs))
        if not counts:
            return None
        unit, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        return unit if count >= ENOUGH and count >= SURE * counts.total() else None

    def _key(self, asked: str, used: Iterable[Quantity], signs: Iterable[Sign]) -> _Key:
        pairs = zip(used, signs, strict=True)
        return asked, tuple((self._reader.unit_name(q.unit), sign.kind, sign.per) for q, sign in pairs)


def unit_of_x(seed: Seed, asked: AskedUnits, reader: Reader) -> UnitOfX | None:
    """The unit of x, by the operator that makes it; where that does not decide, by what the corpus asks for."""
    x = seed.rule.x
    if not isinstance(x, Operation):
        return None
    operands = [_operand(operand, seed, reader) for operand in (x.left, x.right)]
    if any(operand is None for operand in operands):
        return None
    (left_unit, left), (right_unit, right) = (operand for operand in operands if operand is not None)
    if x.operator in "+-":
        if left_unit != right_unit or left_unit is None:
            return None
        return UnitOfX(left_unit, left.per and right.per)
    learnt = asked.majority(template(x), _used(seed, x), (left, right))
    if x.operator == "*":
        unit, per = _product_unit((left_unit, left), (right_unit, right))
    else:
        unit, per = _quotient_unit((left_unit, left), (right_unit, right))
    unit = unit or learnt
    return None if unit is None else UnitOfX(unit, per)


def _product_unit(left: tuple[str | None, Sign], right: tuple[str | None, Sign]) -> tuple[str | None, bool]:
    """A share of something is counted as that is; so is what each of several has: 每箱12个 times 5箱 are 个."""
    shares = [sign.kind == "share" for _, sign in (left, right)]
    if shares[0] != shares[1]:
        unit, sign = right if shares[0] else left
        return unit, sign.per
    if left[1].per != right[1].per:
        return (left if left[1].per else right)[0], False
    return None, False


def _quotient_unit(left: tuple[str | None, Sign], right: tuple[str | None, Sign]) -> tuple[str | None, bool]:
    """Divided by a share: as the dividend. Divided among others: the dividend's unit for each of them."""
    if right[1].kind == "share":
        return left[0], left[1].per
    if left[0] and right[0] and left[0] != right[0] and not right[1].per:
        return left[0], True
    return None, False


def _operand(operand: Expression, seed: Seed, reader: Reader) -> tuple[str | None, Sign] | None:
    if isinstance(operand, Constant):
        return SHARE, Sign("share", False)  # the whole: 1-n2
    if not isinstance(operand, Reference):
        return None
    quantity, sign = seed.reading.used[operand.index], seed.reading.signs[operand.index]
    unit = SHARE if sign.kind == "share" else reader.unit_name(quantity.unit)
    return unit, sign


def _used(seed: Seed, x: Operation) -> list[Quantity]:
    return [seed.reading.used[operand.index] for operand in (x.left, x.right) if isinstance(operand, Reference)]


def whole_units(readings: Iterable[Reading], reader: Reader) -> frozenset[str]:
    """The units of things that are counted, never measured: the corpus (almost) always gives them whole numbers."""
    whole: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for reading in readings:
        for quantity in reading.used:
            if unit := reader.unit_name(quantity.unit):
                total[unit] += 1
                whole[unit] += quantity.value.denominator == 1
    return frozenset(unit for unit, count in total.items() if whole[unit] >= WHOLE * count)
