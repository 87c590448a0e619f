"""The two operations on one problem, or on two (§IV). Quantities are followed by occurrence, never by value."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from comdiv.augmentation.view import ClauseView, ProblemView
from comdiv.expression import Expression, Leaf, Reference, map_leaves, renumber
from comdiv.language import Token

_CLOSING = "。．？！；，：.?!;,: "


@dataclass(frozen=True, slots=True)
class Draft:
    """A new problem before its checks: text, expression, and the values that its quantities must have."""

    operation: int
    text: str
    expression: Expression
    values: tuple[Fraction, ...]
    parents: tuple[ProblemView, ProblemView]
    tokens: int
    clause: int  # of the second parent in operation 1, of the first in operation 2
    details: dict[str, object]

    def identity(self, round_number: int) -> str:
        """An id that depends on nothing but the draft itself: the same on every machine, in every order."""
        digest = hashlib.sha256(self.text.encode())
        for parent in self.parents:
            digest.update(b"\0" + parent.problem.id.encode())
        return f"r{round_number}-op{self.operation}-{digest.hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a pair gives no draft, and whose pair it was."""

    reason: str
    parents: tuple[str, ...]


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


def compose(asking: ProblemView, stating: ProblemView, clause: int, narrative: str | None = None) -> Draft:
    """Operation 1: the narrative of `asking` takes the place of a clause of `stating`, its expression that quantity's.

    `narrative` is the text where it was reworded; its quantities are the same.
    """
    replaced = stating.clauses[clause]
    quantity = replaced.quantities[0]
    story = asking.problem.text[: asking.question.start] if narrative is None else narrative
    inserted = sum(len(part.quantities) for part in asking.narrative)

    def outer(leaf: Leaf) -> Expression:
        if not isinstance(leaf, Reference):
            return leaf
        if leaf.index == quantity:
            return renumber(asking.expression, lambda index: index + quantity)
        return Reference(leaf.index if leaf.index < quantity else leaf.index - 1 + inserted)

    outside = [q.value for q in stating.plain_quantities]
    values = (*outside[:quantity], *(q.value for q in asking.plain_quantities[:inserted]), *outside[quantity + 1 :])
    return Draft(
        1,
        _joined_texts(stating.problem.text, replaced, story),
        map_leaves(stating.expression, outer),
        tuple(values),
        (asking, stating),
        asking.token_count - len(asking.question.tokens) + stating.token_count - len(replaced.tokens),
        clause,
        {"clause": clause},
    )


def _joined_texts(text: str, replaced: ClauseView, story: str) -> str:
    """The story between what comes before and after the clause; it closes with the sign that the clause closed with."""
    clause = text[replaced.start : replaced.end]
    body = clause.rstrip()
    sign = body[len(body.rstrip(_CLOSING)) :].strip()
    end = story.rstrip().rstrip(_CLOSING)
    gap = " " if body[-len(sign) - 1 : len(body) - len(sign)].isspace() and sign else ""
    before = text[: replaced.start] + clause[: len(clause) - len(clause.lstrip())]
    return before + end.lstrip() + gap + sign + clause[len(body) :] + text[replaced.end :]


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
) -> Draft:
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
    values = tuple(quantity.value for quantity in view.plain_quantities)
    details: dict[str, object] = {"clause": clause, "fragment": " ".join(fragment), "replacement": surface}
    if tokens is None:
        tokens = len(donor.language.tokens(surface))
    size = view.token_count + len(places) * (tokens - len(fragment))
    return Draft(2, "".join(pieces), view.expression, values, (view, donor), size, clause, details)


def _begins_sentence(text: str, start: int) -> bool:
    return text[:start].rstrip()[-1:] in ("", ".", "?", "!", '"', "“")
