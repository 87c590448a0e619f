"""The same problem with other numbers, to tell solving from remembering: a model that has read the test set knows only
the old answers.

New numbers keep what makes a problem sensible: how each number is written (whole, number of decimals, percent, below
one), the order of the text's numbers by size, and, at every step of the expression, the sign and whether the value is
whole or a terminating decimal. The answer needs no more decimals than before. Ones and numbers written as words stay;
equal numbers in the text stay equal.

The new answer is right only if the expression says how every number of the text acts. So a problem is refused if its
text has a number, in digits or words, that the expression leaves out (it may be in the answer by way of a constant: 47
for 57), or if the expression has a constant that no word of the text explains.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

from comdiv.expression import (
    TOLERANCE,
    Expression,
    ExpressionError,
    answers_agree,
    format_number,
    subtrees,
    value_of,
)
from comdiv.expression.evaluation import decimal_places
from comdiv.problem import Problem, Quantity
from comdiv.reading import Reading, read

_TRIES = 2_000
_DIGITS = re.compile(r"[0-9]+")


def renumber_problem(problem: Problem, seed: int = 0) -> Problem | str:
    """The problem with new numbers and a new answer, the same for the same seed; or the reason why there is none."""
    if problem.expression is None:
        return "it has no expression"
    reading = read(problem)
    quantities, values = reading.plain_quantities, reading.values
    try:
        old_answer = value_of(problem.expression, values)
    except ExpressionError as error:
        return f"its expression has no value: {error}"
    if problem.answer is not None and not answers_agree(old_answer, problem.answer, TOLERANCE):
        return "its expression does not give its answer"
    if reason := _unexplained(reading):
        return reason
    changing = {values[index] for index in reading.used}
    groups = {value: [q for q in quantities if q.value == value] for value in sorted(changing) if value not in (0, 1)}
    groups = {value: group for value, group in groups.items() if all(_can_change(q) for q in group)}
    if not groups:
        return "it has no number that could change"
    nature = _nature(problem.expression, values)
    generator = Random(hashlib.sha256(f"{seed} {problem.id}".encode()).digest())
    for attempt in range(_TRIES):
        changes = {value: _draw(group, generator, attempt) for value, group in groups.items()}
        new_values = tuple(changes.get(value, value) for value in values)
        if not _same_order(values, new_values):
            continue
        try:
            answer = value_of(problem.expression, new_values)
            fits = _nature(problem.expression, new_values) == nature
        except ExpressionError:
            continue
        if not fits or answer == old_answer or _decimals(answer) > _decimals(old_answer):
            continue
        details = {**problem.provenance.details, "renumbered": seed}
        text, provenance = _rewrite(problem.text, quantities, changes), replace(problem.provenance, details=details)
        candidate = replace(problem, text=text, answer=answer, provenance=provenance)
        if read(candidate).values == new_values:
            return candidate
    return f"no other numbers fit in {_TRIES:,} tries"


def _unexplained(reading: Reading) -> str:
    """What of the text or the expression does not say how it acts; empty if everything does."""
    if any(q.index not in reading.used and q.value != 1 for q in reading.plain_quantities):
        return "its expression does not use every number of its text"
    constants = {constant.value for constant in reading.constants} - {1}
    words = _uncounted_words(reading)
    if any(word != 1 and constants.isdisjoint((word, 1 / word)) for word in words if word):
        return "its expression does not use every number that its text has in words"
    told = {*reading.language.amounts_told(reading.text), *words, *(1 / word for word in words if word)}
    return "" if constants <= told else "its expression has a constant that its text does not explain"


def _uncounted_words(reading: Reading) -> list[Fraction]:
    """The values of the number words that are not quantities: they may explain a constant, as half does a 2."""
    counted = {number.start for number in reading.numbers}
    numbers = read(replace(reading.problem, number_words=True)).numbers
    return [number.value for number in numbers if number.form == "word" and number.start not in counted]


def _can_change(quantity: Quantity) -> bool:
    """Whether a new number can be written in the same way: plain digits, not words, ½ or full-width digits."""
    return quantity.form not in ("word", "mixed") and quantity.value > 0 and quantity.text.isascii()


def _nature(expression: Expression, values: Sequence[Fraction]) -> list[tuple[bool, bool, bool, bool]]:
    """For each step: its sign, and whether it is whole, a terminating decimal, and less than one."""
    steps = [value_of(subtree, values) for subtree in subtrees(expression)]
    return [(v > 0, v.denominator == 1, decimal_places(v.denominator) is None, v < 1) for v in steps]


def _decimals(value: Fraction) -> int:
    return decimal_places(value.denominator) or 0


def _same_order(old: Sequence[Fraction], new: Sequence[Fraction]) -> bool:
    """Whether the numbers have the same order by size, with equal ones equal: a discount stays below its price."""
    order = sorted(range(len(old)), key=lambda index: old[index])
    return all((old[a] == old[b]) == (new[a] == new[b]) and new[a] <= new[b] for a, b in pairwise(order))


def _draw(group: Sequence[Quantity], generator: Random, attempt: int) -> Fraction:
    """A number of the same kind: between half and double at first, further away if that does not fit."""
    quantity = group[0]
    reach = 2 + attempt // 250
    if quantity.form == "fraction":
        top, bottom = (int(digits) for digits in _DIGITS.findall(quantity.text))
        bottom = generator.randint(2, max(9, 2 * bottom))
        proper = quantity.value < 1
        return Fraction(generator.randint(1, bottom - 1 if proper else max(9, reach * top)), bottom)
    unit = _grain(quantity)
    steps = quantity.value / unit  # a whole number: 350 is 35 tens, 2.50 is 250 hundredths
    least = 2 if quantity.form == "integer" else 1  # one apple is written differently from several
    low, high = max(least, int(steps / reach)), max(int(steps) + 3, int(steps * reach))
    if quantity.value < 1 and quantity.form in ("percent", "decimal"):
        high = min(high, int(1 / unit) - 1)
    return unit * generator.randint(low, max(low, high))


def _grain(quantity: Quantity) -> Fraction:
    """The unit in which a number is counted: its last decimal, or the tens or hundreds of a round number."""
    digits = quantity.text.rstrip("% ").replace(",", "")
    _, _, decimals = digits.partition(".")
    unit = Fraction(1, 10 ** len(decimals))
    if quantity.form == "percent":
        unit /= 100
    if quantity.form == "integer" and len(digits) > 2:
        zeros = len(digits) - len(digits.rstrip("0"))
        unit *= 10 ** min(zeros, len(digits) - 2)
    return unit


def _rewrite(text: str, quantities: Sequence[Quantity], changes: Mapping[Fraction, Fraction]) -> str:
    pieces, position = [], 0
    for quantity in quantities:
        if quantity.value in changes:
            pieces += [text[position : quantity.start], _write_like(changes[quantity.value], quantity)]
            position = quantity.end
    return "".join([*pieces, text[position:]])


def _write_like(value: Fraction, like: Quantity) -> str:
    """A value written like another number of the text: `1,250`, `2.50`, `35%`, `(3/4)`."""
    if like.form == "fraction":
        digits = iter((str(value.numerator), str(value.denominator)))
        return _DIGITS.sub(lambda _: next(digits), like.text)
    number = like.text.rstrip("% ")
    tail = like.text[len(number) :]
    shown = value * 100 if like.form == "percent" else value
    decimals = len(number.partition(".")[2])
    whole, _, rest = format_number(shown).partition(".")
    whole = f"{int(whole):,}" if "," in number else whole
    return f"{whole}.{rest.ljust(decimals, '0')}{tail}" if decimals else f"{whole}{tail}"
