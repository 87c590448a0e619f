"""An operation for `comdiv augment`: two neighbouring clauses of a story change places."""

import random
from collections.abc import Iterator, Sequence

from comdiv.augmentation.operations import CurrentSet, Draft, ProblemOperation, Refusal, draft_of
from comdiv.expression import renumber
from comdiv.reading import Reading

PRONOUNS = ("He ", "She ", "It ", "They ")


class Reorder(ProblemOperation):
    """The same story with two of its clauses in the other order, and the expression renumbered."""

    title = "order"
    per_problem = 1
    readings: Sequence[Reading]

    def index(self, current: CurrentSet) -> None:
        self.readings = current.readings

    def drafts(self, place: int, source: random.Random, wanted: int) -> Iterator[Draft | Refusal]:
        reading, text = self.readings[place], self.readings[place].text
        assert reading.expression is not None  # as all problems of the current set have one
        pairs = list(zip(reading.narrative, reading.narrative[1:], strict=False))
        for first, second in source.sample(pairs, len(pairs)):
            if not (first.quantities and second.quantities):
                yield Refusal("a clause without a number", (reading.problem.id,))
                continue
            one, other = first.text.strip(), second.text.strip()
            swapped = first.text.replace(one, other) + second.text.replace(other, one)  # with the spaces of both
            last = range(second.quantities[-1] + 1, len(reading.values))
            order = [*range(first.quantities[0]), *second.quantities, *first.quantities, *last]
            expression = renumber(reading.expression, order.index)
            yield draft_of([reading], text[: first.start] + swapped + text[second.end :], expression)

    def check(self, draft: Draft) -> str | None:
        if draft.text.startswith(PRONOUNS):
            return "the story begins with a pronoun"
        return super().check(draft)
