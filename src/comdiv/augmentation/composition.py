"""The two operations on one problem, or on two (§IV). Quantities are followed by occurrence, never by value."""

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from comdiv.augmentation.view import ProblemView
from comdiv.expression import Expression, Leaf, Reference, map_leaves
from comdiv.language import Token
from comdiv.reading import Clause

_CLOSING = "。．？！；，：.?!;,: "


class Refused(NamedTuple):
    """Why a pair gives no draft, and whose pair it was; the first of so many that failed in the same way."""

    reason: str
    parents: tuple[str, ...]
    times: int = 1


def can_ask(view: ProblemView) -> bool:
    """Whether a problem's narrative can stand for its answer: it has one, and the question adds no quantity to it."""
    return len(view.clauses) > 1 and view.used.isdisjoint(view.question.quantities) and bool(view.used)


def replaceable_clauses(view: ProblemView) -> list[int]:
    """The narrative clauses that carry exactly one quantity, one that the expression uses."""
    return [
        index
        for index, clause in enumerate(view.narrative)
        if len(clause.quantities) == 1 and clause.quantities[0] in view.used
    ]


class Composition:
    """Operation 1: a new problem before its checks. `clause` is the second parent's.

    Text and expression are made when they are asked for, each time: most drafts fail by their sizes and values.
    """

    operation = 1

    def __init__(self, asking: ProblemView, stating: ProblemView, clause: int, narrative: str | None = None) -> None:
        """The narrative of `asking` takes the place of a clause of `stating`, its expression that quantity's.

        `narrative` is the text where it was reworded; its quantities are the same.
        """
        self.parents = (asking, stating)
        self.clause = clause
        self._narrative = narrative
        self.replaced = stating.clauses[clause]
        self.quantity = self.replaced.quantities[0]
        outside, inside = stating.values, asking.values[: asking.narrative_quantities]
        # that the quantities of the text must have
        self.values: tuple[Fraction, ...] = (*outside[: self.quantity], *inside, *outside[self.quantity + 1 :])
        self.tokens = asking.narrative_tokens + stating.token_count - len(self.replaced.tokens)

    @property
    def text(self) -> str:
        asking, stating = self.parents
        story = asking.problem.text[: asking.question.start] if self._narrative is None else self._narrative
        return _joined_texts(stating.problem.text, self.replaced, story)

    @property
    def expression(self) -> Expression:
        asking, stating = self.parents
        quantity, added = self.quantity, asking.narrative_quantities - 1
        inner = asking.shifted_expression(quantity)

        def outer(leaf: Leaf) -> Expression:
            if not isinstance(leaf, Reference) or leaf.index < quantity:
                return leaf
            return inner if leaf.index == quantity else Reference(leaf.index + added)

        return map_leaves(stating.expression, outer)

    @property
    def details(self) -> dict[str, object]:
        return {"clause": self.clause}


def _joined_texts(text: str, replaced: Clause, story: str) -> str:
    """The story between what comes before and after the clause; it closes with the sign that the clause closed with."""
    clause = text[replaced.start : replaced.end]
    body = clause.rstrip()
    sign = body[len(body.rstrip(_CLOSING)) :].strip()
    end = story.rstrip().rstrip(_CLOSING)
    gap = " " if body[-len(sign) - 1 : len(body) - len(sign)].isspace() and sign else ""
    before = text[: replaced.start] + clause[: len(clause) - len(clause.lstrip())]
    return before + end.lstrip() + gap + sign + clause[len(body) :] + text[replaced.end :]


class Exchange:
    """Operation 2: the first parent with another text, before its checks. `clause` is the first parent's."""

    operation = 2

    def __init__(
        self, view: ProblemView, donor: ProblemView, clause: int, text: str, tokens: int, words: tuple[str, str]
    ) -> None:
        self.parents = (view, donor)
        self.clause = clause
        self.tokens = tokens
        self.values = view.values
        self.text = text
        self.expression = view.expression
        self._words = words

    @property
    def details(self) -> dict[str, object]:
        return {"clause": self.clause, "fragment": self._words[0], "replacement": self._words[1]}


Draft = Composition | Exchange


def identity(draft: Draft, text: str, round_number: int) -> str:
    """An id that depends on nothing but the draft itself: the same on every machine, in every order."""
    parents = "".join(f"\0{parent.problem.id}" for parent in draft.parents)
    digest = hashlib.sha256((text + parents).encode()).hexdigest()
    return f"r{round_number}-op{draft.operation}-{digest[:16]}"


def find_fragment(view: ProblemView, fragment: Sequence[str]) -> list[tuple[Token, ...]]:
    """Where a fragment occurs in a problem, from left to right, without overlaps; never across clauses."""
    found = []
    wanted, size = tuple(fragment), len(fragment)
    for clause in view.clauses:
        if wanted[0] not in clause.masked:
            continue
        place = 0
        while place + size <= len(clause.masked):
            if clause.masked[place : place + size] == wanted:
                found.append(clause.tokens[place : place + size])
                place += size
            else:
                place += 1
    return found


def exchange(
    view: ProblemView, clause: int, fragment: Sequence[str], surface: str, donor: ProblemView, tokens: int | None = None
) -> Exchange:
    """Operation 2: every occurrence of a fragment becomes `surface`; the expression stays.

    `tokens` is how many tokens the surface has, where that is known.
    """
    pieces: list[str] = []
    position = 0
    text = view.problem.text
    places = find_fragment(view, fragment)
    for found in places:
        start, end = found[0].start, found[-1].end
        old = text[start:end]
        written = surface[:1].upper() + surface[1:] if _begins_sentence(text, start) and old[:1].isupper() else surface
        pieces += [text[position:start], written]
        position = end
    pieces.append(text[position:])
    if tokens is None:
        tokens = len(donor.language.tokens(surface))
    size = view.token_count + len(places) * (tokens - len(fragment))
    return Exchange(view, donor, clause, "".join(pieces), size, (" ".join(fragment), surface))


def _begins_sentence(text: str, start: int) -> bool:
    return text[:start].rstrip()[-1:] in ("", ".", "?", "!", '"', "“")
