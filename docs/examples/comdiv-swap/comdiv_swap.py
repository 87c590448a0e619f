"""A third operation for comdiv: two neighbouring sentences of a story change places."""

import random
from collections.abc import Iterator, Sequence

from comdiv.augmentation.operations import CurrentSet, Draft, ProblemOperation, Refusal, draft_of
from comdiv.expression import renumber
from comdiv.reading import Reading


class Swap(ProblemOperation):
    """What a solver must not rely on: that quantities come in the order in which they are used."""

    title = "order"
    per_problem = 1
    _readings: Sequence[Reading]

    def index(self, current: CurrentSet) -> None:
        self._readings = current.readings

    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        reading = self._readings[place]
        pairs = list(range(len(reading.narrative) - 1))
        for first in source.sample(pairs, len(pairs)):
            before, after = reading.clauses[first], reading.clauses[first + 1]
            if not (before.quantities and after.quantities and before.text.rstrip().endswith((".", "。"))):
                yield Refusal("a sentence without a quantity", (reading.problem.id,))
                continue
            yield self._swapped(reading, first)

    def _swapped(self, reading: Reading, first: int) -> Draft:
        clauses = [*reading.clauses]
        clauses[first], clauses[first + 1] = clauses[first + 1], clauses[first]
        order = [index for clause in clauses for index in clause.quantities]  # where each quantity was
        blank = " " if reading.language.spaced else ""
        text = blank.join(clause.text.strip() for clause in clauses)
        assert reading.expression is not None  # the current set has expressions only
        return draft_of([reading], text, renumber(reading.expression, order.index), clause=first)
