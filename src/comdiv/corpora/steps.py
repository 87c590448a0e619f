"""GSM8K's calculator steps as one expression over the quantities of the problem's text.

A number of a step is the result of an earlier step, a quantity of the text, or a constant (the 2 of "half", the 7 days
of a week), and its value alone does not say which. Each reading of a number is weighed by what the solution calls it
(`16 eggs`, `$5`), by the words that its line shares with the text around a quantity, and by words such as "half" or
"week". The best reading of all numbers together is taken if no other expression comes near it. Otherwise, and wherever
a number or a step stays unexplained, the problem is `NotExpressible` with the reason: nothing is guessed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import prod

from comdiv.corpora.quantity_words import QuantityWords, name_after, signs_in, stems_in
from comdiv.expression import (
    TOLERANCE,
    Constant,
    Expression,
    ExpressionError,
    NotExpressible,
    Operation,
    Reference,
    answers_agree,
    canonical,
    format_number,
    leaves,
    map_leaves,
    parse,
    parse_answer,
    to_infix,
    value_of,
)
from comdiv.expression.normalisation import Member, chain, join_chain
from comdiv.expression.tree import HUNDRED, ONE
from comdiv.language import Alignment
from comdiv.problem import Quantity
from comdiv.reading import Reading

_STEP = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
_FINAL = re.compile(r"####\s*(.+?)\s*$")
_SIGNS = r"[\d$.,%()\s+*/x×÷·-]*"
_WRITTEN_STEP = re.compile(rf"([$\d]{_SIGNS}[+*/x×÷·-]{_SIGNS})=\s*\$?\s*([\d][\d,]*(?:\.\d+)?)")
_UNKNOWN = re.compile(
    r"\blet\b.{0,40}\b(?:be|represent|equal|stand)\b|(?<![\w.])\d*[a-zA-Z]\s*=\s*[\d$(]|\d[xyzXYZ](?![\w ]*\d)"
    r"|[=+*/(]\s*\d*[xyzXYZ]\s*[=+*/)-]",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"(?<![\d./)])(\d{1,30})/(\d{1,30})(?![\d./])")
_NUMBER = re.compile(r"\d[\d,]{0,99}(?:\.\d{1,99})?|\.\d{1,99}")
_ONE_PERCENT = Fraction(1, 100)
_CLOSE = Fraction(1, 100_000)  # relative: steps round what they compute
_MARGIN = 0.7  # between the best expression and the next
_MOST_READINGS = 20_000
_SHARES = ("percent", "fraction", "word", "mixed", "decimal")
_DIGIT_SHARES = ("percent", "fraction", "decimal")


@dataclass(frozen=True, slots=True)
class _Slot:
    """A number of a step: its value, what the line calls it, its operator, and whether it is divided by."""

    value: Fraction
    step: int
    operator: str
    divides: bool
    named: frozenset[str]
    dollars: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """One calculation: a tree whose leaf `N3` is the fourth number of all steps; its result; the words around it."""

    tree: Expression
    result: Fraction
    words: frozenset[str]
    line: str
    named: frozenset[str]  # what the result is called


@dataclass(frozen=True, slots=True)
class _Meaning:
    """One reading of a number: an earlier step (its result, perhaps in percent), or an expression over one quantity
    or none. `weight` says how well it fits."""

    weight: float
    expression: Expression
    step: int | None = None
    quantity: int | None = None
    cue: frozenset[str] = frozenset()  # words that explain a constant
    riddle: bool = False  # a constant that nothing explains


def final_answer(solution: str) -> str | None:
    """The text after GSM8K's `####`."""
    match = _FINAL.search(solution)
    return match[1].replace("$", "").replace(",", "") if match else None


def align_steps(solution: str, reading: Reading) -> Alignment:
    """The steps of a solution as one expression over the quantities of a text; `NotExpressible` says why not."""
    answer = final_answer(solution)
    if answer is None:
        raise NotExpressible("no final answer")
    gold = parse_answer(answer)
    body = solution[: solution.rindex("####")]
    if _UNKNOWN.search(_STEP.sub(" ", body)):
        raise NotExpressible("the solution solves for an unknown")
    reader = _SolutionReader(reading, body)
    if not reader.steps:
        raise NotExpressible("no calculator steps")
    if not answers_agree(reader.steps[-1].result, gold, TOLERANCE):
        raise NotExpressible("the last step is not the answer")
    expression = reader.expression()
    if not answers_agree(value_of(expression, reading.values), gold, TOLERANCE):
        raise NotExpressible("the steps round on the way to the answer")
    constants: list[Fraction] = []
    aligned = 0

    def count(leaf: Expression) -> Expression:
        nonlocal aligned
        if isinstance(leaf, Constant):
            constants.append(leaf.value)
        else:
            aligned += 1
        return leaf

    map_leaves(expression, count)
    return Alignment(expression, aligned, tuple(constants))


class _SolutionReader:
    """The steps of one solution, and what their numbers may mean in one text."""

    def __init__(self, reading: Reading, body: str) -> None:
        self.reading = reading
        self.slots: list[_Slot] = []
        self.steps: list[_Step] = []
        self._amounts, self._parts = reading.language.amounts, reading.language.parts
        self._word_counts = Counter(stems_in(reading.text))
        self.around = QuantityWords(reading)
        for line in body.splitlines():
            self._read_line(line)

    # --- reading the solution ---

    def _read_line(self, line: str) -> None:
        """The steps of a line: those of the calculator, and those that are only written out, `60/15 = 4`."""
        end = 0
        calculated = list(_STEP.finditer(line))
        written = [
            match
            for match in _WRITTEN_STEP.finditer(line)
            if not any(step.start() <= match.end() and match.start() < step.end() for step in calculated)
            and not line.startswith("<<", match.end())
        ]
        matches = sorted((*calculated, *written), key=lambda match: match.start())
        for number, match in enumerate(matches, start=1):
            until = matches[number].start() if number < len(matches) else len(line)
            before = line[end : match.start()] if match in calculated else match[1]
            self._add(match[1], match[2], before, line[end:until], line[match.end() : until], match in calculated)
            end = match.end()

    def _add(self, left: str, right: str, before: str, around: str, after: str, calculated: bool) -> None:
        try:
            tree = self._parsed(left.replace("$", "").replace("x", "*"))
            result = parse_answer(right.replace("$", "").strip())
            value = value_of(tree)
        except ExpressionError:
            if calculated:
                raise
            return  # prose with signs in it
        if not answers_agree(value, result, TOLERANCE):
            if calculated:
                raise NotExpressible(f"the step {left}={right} is wrong")
            return
        prose = _STEP.sub(" ", around)
        self.steps.append(
            _Step(
                self._over_slots(tree, before),
                result,
                frozenset(stems_in(prose)) - self.around.generic,
                prose.lower(),
                name_after(after, right if calculated else ""),
            )
        )

    def _parsed(self, left: str) -> Expression:
        """The tree of a step; a percentage, a fraction or a number of dozens in the text is one leaf."""
        shares = self.around.shares | {1 - share for share in self.around.shares}

        def bracketed(match: re.Match[str]) -> str:
            whole = int(match[2]) not in (0, 100) and Fraction(int(match[1]), int(match[2])) in shares
            return f"0({match[0]})" if whole else match[0]  # a mixed number is one leaf

        tree = parse(_FRACTION.sub(bracketed, left))
        percents = {quantity.value for quantity in self.reading.plain_quantities if quantity.form == "percent"}
        percents |= {1 - percent for percent in percents} | {1 + percent for percent in percents}
        dozens = {q.value for q in self.reading.plain_quantities if q.form == "word" and "dozen" in q.text.lower()}
        return _joined(tree, percents, dozens)

    def _over_slots(self, tree: Expression, before: str) -> Expression:
        """The tree with its numbers as slots; `before` is the calculation as written, with names of things."""
        numbers = list(_NUMBER.finditer(before))
        values = [leaf.value for leaf in leaves(tree) if isinstance(leaf, Constant)]

        def visit(node: Expression, operator: str = "", divides: bool = False) -> Expression:
            if isinstance(node, Operation):
                left = visit(node.left, node.operator)
                return Operation(node.operator, left, visit(node.right, node.operator, node.operator == "/"))
            if not isinstance(node, Constant):
                raise NotExpressible("a step with a name in it")
            mentions = [m for m in numbers if _number(m[0]) in (node.value, node.value * 100)]
            if values.count(node.value) > 1 and mentions:  # two equal numbers: each has a place of its own
                numbers.remove(mentions[-1])
                mentions = mentions[-1:]
            named = frozenset().union(*(name_after(before[match.end() :]) for match in mentions)) - self.around.generic
            dollars = any(before[: match.start()].rstrip().endswith("$") for match in mentions)
            self.slots.append(_Slot(node.value, len(self.steps), operator, divides, named, dollars))
            return Reference(len(self.slots) - 1)

        return visit(tree)

    # --- what a number may mean ---

    def _meanings(self, slot: _Slot) -> list[_Meaning]:
        meanings = [*self._earlier(slot), *self._quantities(slot), *self._constants(slot)]
        if not meanings:
            raise NotExpressible(f"nothing explains the {format_number(slot.value)} of step {slot.step + 1}")
        best = max(meaning.weight for meaning in meanings)
        return [meaning for meaning in meanings if meaning.weight > best - 4]

    def _earlier(self, slot: _Slot) -> Iterator[_Meaning]:
        """Results of earlier steps; the result of the step before is the most likely one."""
        for number, step in enumerate(self.steps[: slot.step]):
            near = abs(step.result - slot.value) <= _CLOSE * abs(slot.value)
            percent = step.result == slot.value * 100 and "%" in self.steps[slot.step].line + step.line
            if near or percent:
                weight = 1.0 + (number == slot.step - 1) * 0.5
                if slot.named and step.named:
                    weight += 1.5 if slot.named & step.named else -0.5
                weight += 0.3 * min(2, len(step.words & self.steps[slot.step].words))
                scale = Operation("/", ONE, HUNDRED) if percent and not near else ONE
                yield _Meaning(weight, scale, step=number)

    def _quantities(self, slot: _Slot) -> Iterator[_Meaning]:
        """Quantities of the text: their value, what a share leaves or adds, a percentage's bare number."""
        for quantity in self.reading.plain_quantities:
            if quantity.index in self.around.repeated:
                continue
            here = Reference(quantity.index)
            weight = 1.0 + self._evidence(slot, quantity)
            if quantity.value == slot.value:
                yield _Meaning(weight, here, quantity=quantity.index)
            elif quantity.form in _SHARES and quantity.value < 1 and slot.value.denominator > 1:
                if 1 - quantity.value == slot.value:
                    yield _Meaning(weight - 2, Operation("-", ONE, here), quantity=quantity.index)
                elif 1 + quantity.value == slot.value and quantity.form != "word":
                    yield _Meaning(weight - 2, Operation("+", ONE, here), quantity=quantity.index)
            elif slot.divides and quantity.form in _DIGIT_SHARES and quantity.value * slot.value == 1:
                yield _Meaning(weight + 1.5, Operation("/", ONE, here), quantity=quantity.index)  # 64/4 of "1/4 of 64"
            elif quantity.form == "percent" and quantity.value * 100 == slot.value:
                yield _Meaning(weight - 2, Operation("*", here, HUNDRED), quantity=quantity.index)

    def _evidence(self, slot: _Slot, quantity: Quantity) -> float:
        """Evidence for a quantity: the name of the thing counted, a dollar sign, and words that occur only near it."""
        weight = 0.0
        after, dollars = self.around.after[quantity.index]
        if slot.named:
            weight += 2.5 if slot.named & after else -0.7
        if slot.dollars != dollars:
            weight -= 1.5 if slot.dollars else 0.3
        elif slot.dollars:
            weight += 1.0
        if quantity.index in self.around.multiples:  # three times as many: a factor, never a term
            weight += 0.8 if slot.operator in "*/" else -1.5
        if quantity.form == "word" and quantity.index in self.reading.question.quantities:
            weight -= 0.5  # "in the three months": a repetition
        if quantity.form == "word" and any(
            other.value == quantity.value and other.form != "word" for other in self.reading.plain_quantities
        ):
            weight -= 0.6  # a solution writes digits where its text does
        explaining = self.around.all - self.around.number_words
        if quantity.form == "word" and any(
            len(cue) == 1 and cue <= explaining for cue in self._amounts.get(slot.value, ())
        ):
            weight -= 1.0  # the two of "doubles it in each of two weeks"
        near_quantity = self.around.near
        equals = [
            near_quantity[other.index] for other in self.reading.plain_quantities if other.value == quantity.value
        ]
        shared = near_quantity[quantity.index] & self.steps[slot.step].words
        return weight + min(2.0, sum(1 / sum(word in near for near in equals) for word in shared))

    def _constants(self, slot: _Slot) -> Iterator[_Meaning]:
        """Numbers that the text does not state: a half, the days of a week. A small one that no word explains is never
        taken, but it keeps a quantity from being taken for its value alone."""
        here = self._line_words[slot.step]
        factor = slot.operator in ("*", "/") or (slot.value == 100 and "%" in here)  # 100%-30%
        equals = [q for q in self.reading.plain_quantities if q.value == slot.value]
        names = (name_after(self.reading.text[q.end :], words=1) for q in equals)  # 2 pairs
        counted = self.around.number_words.union(*names)
        cues = [cue for cue in self._amounts.get(slot.value, ()) if not cue <= counted]
        amounts = [cue for cue in cues if factor]
        parts = self._parts.get(slot.value, ()) if slot.divides else ()
        weighed = [(1.6 if slot.named else 4.0, cue) for cue in parts if cue <= here]  # "2 trains" does not mean a half
        weighed += [(3.0, cue) for cue in amounts if cue <= here]
        said = self.around.all.union(*self._line_words)
        weighed += [(1.2 if equals else 2.5, cue) for cue in amounts if cue & here and cue <= said]
        weighed += [(1.6, cue) for cue in (*parts, *amounts) if len(cue) == 1 and cue <= self.around.all]
        if not factor:  # 60+30 for an hour and a half, 7-1 for the days that are left of a week
            weighed += [(2.2, cue) for cue in cues if len(cue) > 1 and cue <= here]
            weighed += [(0.9 if equals else 1.6, cue) for cue in cues if len(cue) > 1 and cue <= here | self.around.all]
        if weighed:
            weight, cue = max(weighed, key=lambda pair: pair[0])
            yield _Meaning(weight, Constant(slot.value), cue=cue)
        elif format_number(slot.value) in self.around.ordinals:  # from the 3rd to the 8th
            yield _Meaning(2.5, Constant(slot.value))
        elif slot.value in (0, 1):
            yield _Meaning(0.4 if any(q.form != "word" for q in equals) else 1.2, Constant(slot.value))
        elif slot.value in _SMALL or (slot.value in _ROUND and any(cue & here | cue & self.around.all for cue in cues)):
            yield _Meaning(_RIDDLE, Constant(slot.value), riddle=True)

    @cached_property
    def _line_words(self) -> list[frozenset[str]]:
        return [frozenset(stems_in(step.line)) | signs_in(step.line) for step in self.steps]

    # --- the best reading of all numbers together ---

    def expression(self) -> Expression:
        """The expression of the last step, by the best reading; `NotExpressible` if another one comes near it."""
        choices = [self._meanings(slot) for slot in self.slots]
        if prod(map(len, choices)) > _MOST_READINGS:
            raise NotExpressible("the numbers can be read in too many ways")
        best: dict[Expression, tuple[float, tuple[_Meaning, ...]]] = {}
        for chosen in product(*choices):
            if len({meaning.step for meaning in chosen} - {None}) < len(self.steps) - 1:
                continue  # a step whose result is never used
            weight = self._weight(chosen)
            if all(weight > other - 3 for other, _ in best.values()):
                expression = self._composed(chosen)
                weight -= 5.0 * _cancels(expression)
                key = canonical(expression)
                if key not in best or best[key][0] < weight:
                    best[key] = (weight, chosen)
        if not best:
            raise NotExpressible("the steps do not chain")
        (weight, chosen), *others = sorted(best.values(), key=lambda found: -found[0])
        for slot, meaning in zip(self.slots, chosen, strict=True):
            if meaning.riddle:
                raise NotExpressible(f"nothing explains the {format_number(slot.value)} of step {slot.step + 1}")
        if others and others[0][0] > weight - _MARGIN:
            raise NotExpressible(self._doubt(chosen, others[0][1]))
        if all(meaning.quantity is None for meaning in chosen):
            raise NotExpressible("the steps use no number of the text")
        return _without_hundreds(self._composed(chosen))

    def _weight(self, chosen: Sequence[_Meaning]) -> float:
        """How well the numbers' readings fit, alone and together."""
        weight = sum(meaning.weight for meaning in chosen)
        quantities = [meaning.quantity for meaning in chosen if meaning.quantity is not None]
        weight += 0.7 * len(set(quantities)) - 0.3 * len(quantities)
        weight += 1.0 * len({meaning.cue for meaning in chosen if meaning.cue})
        divisors = [pair for pair in zip(self.slots, chosen, strict=True) if pair[0].divides]
        halves = Counter(m.cue for slot, m in divisors if m.cue and not m.cue <= self._line_words[slot.step])
        for cue, times in halves.items():  # one "half" of the text is not two of the solution's
            weight -= 2.0 * max(0, times - sum(self._word_counts[word] for word in cue))
        for slot, meaning in divisors:  # 40/2 where 2 clerks sell half of the 40 cakes
            parts = self._parts.get(slot.value, ())
            if meaning.quantity is not None and not slot.named & self.around.after[meaning.quantity][0]:
                told = any(m.cue in parts for m in chosen if m.cue)
                weight -= 3.5 * (not told and any(cue <= self.around.all for cue in parts))
        taken = [
            (slot, m) for slot, m in zip(self.slots, chosen, strict=True) if slot.operator == "*" and m.step is None
        ]
        steps_told = {slot.value: slot.step for slot, m in taken if m.cue}
        for slot, meaning in taken:  # doubled for one step, and for another by a number that may be of other things
            word = meaning.quantity is not None and self.reading.plain_quantities[meaning.quantity].form == "word"
            weight -= word and steps_told.get(slot.value, slot.step) != slot.step
        values = self.reading.values
        for quantity in set(quantities):  # a number is hardly used again while an equal one waits
            equals = {q for q, value in enumerate(values) if value == values[quantity]}
            waiting = equals - self.around.repeated - {*quantities}
            weight -= 0.6 * len(waiting) * (quantities.count(quantity) > 1)
        multiples = [quantity for quantity in quantities if quantity in self.around.multiples]
        weight -= 2.0 * (len(multiples) - len(set(multiples)))  # "twice" can be used only once
        for number, step in enumerate(self.steps):
            own = [m for m, slot in zip(chosen, self.slots, strict=True) if slot.step == number]
            sources = [(m.step, m.quantity) for m in own if m.step is not None or m.quantity is not None]
            if again := len(sources) - len(set(sources)):  # a number is rarely combined with itself
                weight -= again * (5 if getattr(step.tree, "operator", "") in "-/" else 1.5)
            named = {m.quantity for m in own if m.quantity is not None}
            clauses = [self.reading.clause_of(quantity) for quantity in named]
            weight += 0.5 * (len(clauses) - len(set(clauses)))
            weight += sum(self.around.kinship(*pair) for pair in combinations(sorted(named), 2))
            for cue in [m.cue for m in own if m.cue]:  # 2 feet times 12 are inches, 2 dozen are 24
                for quantity in named:
                    unit = cue & self.around.after[quantity][0]
                    weight += 1.5 * bool(unit - step.named) - 1.5 * bool(unit & step.named)
        return weight

    def _composed(self, chosen: Sequence[_Meaning]) -> Expression:
        results: list[Expression] = []

        def meant(leaf: Expression) -> Expression:
            meaning = chosen[leaf.index] if isinstance(leaf, Reference) else None
            if meaning is None:
                return leaf
            if meaning.step is None:
                return meaning.expression
            result = results[meaning.step]
            return result if meaning.expression == ONE else Operation("/", result, HUNDRED)

        for step in self.steps:
            results.append(map_leaves(step.tree, meant))
        return results[-1]

    def _doubt(self, chosen: Sequence[_Meaning], other: Sequence[_Meaning]) -> str:
        """The first number on which the two best readings differ."""
        differences = [pair for pair in zip(self.slots, chosen, other, strict=True) if pair[1] is not pair[2]]
        slot, *meanings = differences[0]
        names = " or ".join(
            to_infix(meaning.expression) if meaning.step is None else f"the result of step {meaning.step + 1}"
            for meaning in meanings
        )
        return f"ambiguous: the {format_number(slot.value)} of step {slot.step + 1} may be {names}"


_SMALL = frozenset(Fraction(hundredths, 100) for hundredths in (1, 10, 50, *range(200, 1301, 100)))
_ROUND = frozenset(map(Fraction, (24, 60, 100)))  # riddles only beside what they could be: hours, minutes, percent
_RIDDLE = -0.5  # the weight of what nothing explains


def _number(written: str) -> Fraction:
    return Fraction(written.replace(",", ""))


def _joined(tree: Expression, percents: set[Fraction], dozens: set[Fraction]) -> Expression:
    """`30/100*180` as `30%*180`, and `3*12` as 36 where the text says three dozen."""
    if not isinstance(tree, Operation):
        return tree
    members = chain(tree) if tree.operator in "*/" else []
    changed = False
    for hundredth in [m for m in members if _is(m, Fraction(100), inverse=True) or _is(m, _ONE_PERCENT, inverse=False)]:
        for place, other in enumerate(members):
            value = other.expression.value / 100 if isinstance(other.expression, Constant) else None
            if value in percents and not other.inverse and other is not hundredth:
                members[place] = Member(False, Constant(value, f"{format_number(value * 100)}%"))
                members.remove(hundredth)
                changed = True
                break
    for twelve in [m for m in members if _is(m, Fraction(12), inverse=False)]:
        for place, other in enumerate(members):
            value = other.expression.value * 12 if isinstance(other.expression, Constant) else None
            if value in dozens and not other.inverse and other is not twelve:
                members[place] = Member(False, Constant(value))
                members.remove(twelve)
                changed = True
                break
    if changed:
        return join_chain("*", [Member(m.inverse, _joined(m.expression, percents, dozens)) for m in members])
    return Operation(tree.operator, _joined(tree.left, percents, dozens), _joined(tree.right, percents, dozens))


def _cancels(tree: Expression) -> bool:
    """Whether a quantity is multiplied by and divided by again, as by 60 minutes an hour and by 60 cookies a box."""
    if not isinstance(tree, Operation):
        return False
    members = chain(tree) if tree.operator in "*/" else []
    sides = [{m.expression for m in members if m.inverse is side} for side in (False, True)]
    return (
        any(isinstance(both, Reference) for both in sides[0] & sides[1]) or _cancels(tree.left) or _cancels(tree.right)
    )


def _is(member: Member, value: Fraction, *, inverse: bool) -> bool:
    return member.inverse is inverse and member.expression == Constant(value)


def _without_hundreds(tree: Expression) -> Expression:
    """`(100-N1*100)/100` as `1-N1`: the solution calculates with percentages where the text's quantity is a share."""
    if not isinstance(tree, Operation):
        return tree
    tree = Operation(tree.operator, _without_hundreds(tree.left), _without_hundreds(tree.right))
    if (
        tree.operator == "/"
        and isinstance(tree.right, Operation)
        and tree.right.operator == "/"
        and tree.right.left == ONE
    ):
        return Operation("*", tree.left, tree.right.right)  # a quarter of it, not it by one over a quarter
    members = chain(tree) if tree.operator in "*/" else []
    for hundredth in [m for m in members if _is(m, Fraction(100), inverse=True) or _is(m, _ONE_PERCENT, inverse=False)]:
        for place, other in enumerate(members):
            share = _hundredth(other.expression) if not other.inverse and other is not hundredth else None
            if share is not None:
                members[place] = Member(False, share)
                members.remove(hundredth)
                return join_chain("*", members)
    return tree


def _hundredth(tree: Expression) -> Expression | None:
    """A hundredth of a sum of percentages; None for any other expression."""
    if isinstance(tree, Operation) and tree.operator == "*" and HUNDRED in (tree.left, tree.right):
        return tree.left if tree.right == HUNDRED else tree.right
    if tree == HUNDRED:
        return Constant(Fraction(1))
    if isinstance(tree, Operation) and tree.operator in "+-":
        left, right = _hundredth(tree.left), _hundredth(tree.right)
        return Operation(tree.operator, left, right) if left is not None and right is not None else None
    return None
