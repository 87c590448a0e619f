"""The same problem with other numbers, to tell solving from remembering: a model that has read the test set knows only
the old answers.

New numbers keep what makes a problem sensible: how each number is written (whole, number of decimals, percent, below
one), the order of the text's numbers by size, and, at every step of the expression, the sign and whether the value is
whole or a terminating decimal. The answer needs no more decimals than before. Ones and numbers written as words stay;
equal numbers in the text stay equal. Nobody works 8 days a week, and nothing happens at 13 PM.

With `uneven`, divisions of whole numbers that come out even no longer do, to measure how much of a solver's accuracy is
knowledge of how problems are written. 12 apples among 3 children become 13 among 4: the arithmetic is meant, not the
world, and what follows from such a division may be a fraction, too.

The new answer is right only if the expression accounts for every number of the text. So a problem is refused if its
text has a number, in digits or words, that the expression leaves out (it may be hidden in a constant: 47 for 57), or if
the expression has a constant that no word of the text explains.
"""

import hashlib
import math
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
    Operation,
    answers_agree,
    format_number,
    subtrees,
    value_of,
)
from comdiv.expression.evaluation import decimal_places
from comdiv.language.base import word_stem
from comdiv.problem import Problem, Quantity
from comdiv.reading import Reading, read

_TRIES = 2_000
_RATE = re.compile(
    r"[\s-]*([a-z]+),?\s+(?:(?:out )?of (?:a|an|the|every|each)|an?|per|every|each)\s+([a-z]+)", re.IGNORECASE
)
_TIME_OF_DAY = re.compile(r"\s*(?:[ap]\.?\s?m\b|o'clock|:\d\d)", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")


def renumber_problem(problem: Problem, seed: int = 0, *, uneven: bool = False) -> Problem | str:
    """The problem with new numbers and a new answer, the same for the same seed; or the reason why there is none.

    With `uneven`, none of its divisions comes out even any more.
    """
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
    free = _follows_from_even(problem.expression, values) if uneven else {}
    if uneven and not free:
        return "it has no division that comes out even"
    ceilings = {value: min(_ceiling(reading, q) for q in group) for value, group in groups.items()}
    generator = Random(hashlib.sha256(f"{seed} {problem.id}".encode()).digest())
    for attempt in range(_TRIES):
        changes = {value: _draw(group, generator, attempt) for value, group in groups.items()}
        new_values = tuple(changes.get(value, value) for value in values)
        if not _same_order(values, new_values) or any(changes[value] > most for value, most in ceilings.items()):
            continue
        try:
            answer = value_of(problem.expression, new_values)
            fits = _same_nature(problem.expression, values, new_values, free)
        except ExpressionError:
            continue
        if not fits or answer == old_answer or (_decimals(answer) > _decimals(old_answer) and not uneven):
            continue
        details = {**problem.provenance.details, "renumbered": seed}
        text, provenance = _rewrite(problem.text, quantities, changes), replace(problem.provenance, details=details)
        candidate = replace(problem, text=text, answer=answer, provenance=provenance)
        if read(candidate).values == new_values:
            return candidate
    return f"no other numbers fit in {_TRIES:,} tries"


def _unexplained(reading: Reading) -> str:
    """Why the expression does not account for every number, or the text for every constant; empty if they do."""
    if any(q.index not in reading.used and q.value != 1 for q in reading.plain_quantities):
        return "its expression does not use every number of its text"
    constants = {constant.value for constant in reading.constants} - {1}
    words = _uncounted_words(reading)
    if any(word != 1 and constants.isdisjoint((word, 1 / word)) for word in words if word):
        return "its expression does not use every number that its text has in words"
    told = {*reading.language.amounts_told(reading.text), *words, *(1 / word for word in words if word)}
    return "" if constants <= told else "its expression has a constant that its text does not explain"


def _uncounted_words(reading: Reading) -> list[Fraction]:
    """The values of number words that are not quantities: they may explain a constant, as "half" explains a 2."""
    counted = {number.start for number in reading.numbers}
    numbers = read(replace(reading.problem, number_words=True)).numbers
    return [number.value for number in numbers if number.form == "word" and number.start not in counted]


def _can_change(quantity: Quantity) -> bool:
    """Whether a new number can be written in the same way: plain digits, not words, ½ or full-width digits."""
    return quantity.form not in ("word", "mixed") and quantity.value > 0 and quantity.text.isascii()


def _ceiling(reading: Reading, quantity: Quantity) -> float:
    """The most that a number can be: 7 for days a week, 12 for a time of day; infinity if nothing says so."""
    after = reading.text[quantity.end : quantity.end + 40]
    if _TIME_OF_DAY.match(after):
        return 12
    rate = _RATE.match(after)
    units = frozenset(map(word_stem, rate.groups())) if rate else None
    return min((float(value) for value, cues in reading.language.amounts.items() if units in cues), default=math.inf)


def _same_nature(
    expression: Expression, old: Sequence[Fraction], new: Sequence[Fraction], free: Mapping[Expression, bool]
) -> bool:
    """Whether every step keeps its sign, and whether it is whole, a terminating decimal, and less than one.

    Steps of `free` keep their sign only; those that came out even must not do so any more.
    """
    for step in subtrees(expression):
        before, after = value_of(step, old), value_of(step, new)
        if step in free:
            if (before > 0) != (after > 0) or (free[step] and after.denominator == 1):
                return False
        elif _nature(before) != _nature(after):
            return False
    return True


def _nature(value: Fraction) -> tuple[bool, bool, bool, bool]:
    return (value > 0, value.denominator == 1, decimal_places(value.denominator) is None, value < 1)


def _follows_from_even(expression: Expression, values: Sequence[Fraction]) -> dict[Expression, bool]:
    """The steps that are divisions of whole numbers that come out even (True), or have one within them."""
    even = {
        step
        for step in subtrees(expression)
        if isinstance(step, Operation)
        and step.operator == "/"
        and all(value_of(part, values).denominator == 1 for part in (step, step.left, step.right))
    }
    return {step: step in even for step in subtrees(expression) if not even.isdisjoint(subtrees(step))}


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
