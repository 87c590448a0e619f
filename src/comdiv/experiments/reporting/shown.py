"""A problem as the page shows it: quantities in colour, in the text and in the tree; what is new in it underlined."""

import difflib
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from comdiv.expression import Leaf, Reference, draw_svg, format_number, template, to_infix
from comdiv.expression.printing import leaf_text
from comdiv.language import get_language
from comdiv.problem import Problem, Quantity

COLOURS = 10  # classes q0 … q9 of the page's style
_TOKEN = re.compile(r"\d+(?:[.,/]\d+)*%?|[A-Za-z]+(?:['’][A-Za-z]+)?|[\u3400-\u9fff]|\S")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text; `mark` are its classes on the page, none for plain text."""

    text: str
    mark: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem ready for the page."""

    heading: str
    language: str
    spans: tuple[Span, ...]
    facts: tuple[tuple[str, str], ...]
    tree: Markup | None
    verdict: str = ""  # accepted or rejected


def shown_problem(
    problem: Problem,
    heading: str,
    facts: Iterable[tuple[str, str]] = (),
    *,
    clusters: Sequence[int] | None = None,
    compared_with: str | None = None,
    verdict: str = "",
) -> ShownProblem:
    """Quantities have the colour of their index or, if `clusters` are given, of their cluster.

    What is not in the text `compared_with` is marked as new.
    """
    quantities = get_language(problem.language).quantities(problem.text, number_words=problem.number_words)
    colours = {q.index: (q.index if clusters is None else clusters[q.index]) % COLOURS for q in quantities}
    hints = {q.index: f"N{q.index}" if clusters is None else f"cluster {clusters[q.index]}" for q in quantities}
    new = [] if compared_with is None else new_parts(problem.text, compared_with)
    known = [] if problem.expression is None else [("expression", to_infix(problem.expression))]
    if problem.expression is not None:
        known.append(("template", template(problem.expression)))
    if problem.answer is not None:
        known.append(("answer", format_number(problem.answer)))
    return ShownProblem(
        heading=heading,
        language=problem.language,
        spans=tuple(_spans(problem.text, quantities, colours, hints, new)),
        facts=(*known, *facts),
        tree=_tree(problem, quantities, colours, clusters),
        verdict=verdict,
    )


def new_parts(text: str, old: str) -> list[tuple[int, int]]:
    """The parts of a text, from and to which character, whose words an older text does not have in that order."""
    words, old_words = list(_TOKEN.finditer(text)), [found.group().lower() for found in _TOKEN.finditer(old)]
    matcher = difflib.SequenceMatcher(None, old_words, [word.group().lower() for word in words], autojunk=False)
    return [
        (words[start].start(), words[end - 1].end())
        for kind, _, _, start, end in matcher.get_opcodes()
        if kind in ("insert", "replace") and end > start
    ]


def _spans(
    text: str,
    quantities: Sequence[Quantity],
    colours: Mapping[int, int],
    hints: Mapping[int, str],
    new: Sequence[tuple[int, int]],
) -> Iterable[Span]:
    edges = {0, len(text)}
    edges |= {edge for quantity in quantities for edge in (quantity.start, quantity.end)}
    edges |= {edge for part in new for edge in part}
    ordered = sorted(edges)
    for start, end in pairwise(ordered):
        inside = next((q for q in quantities if q.start <= start and end <= q.end), None)
        marks = [] if inside is None else [f"q{colours[inside.index]}"]
        marks += ["new"] if any(first <= start and end <= last for first, last in new) else []
        yield Span(text[start:end], " ".join(marks), "" if inside is None else hints[inside.index])


def _tree(
    problem: Problem, quantities: Sequence[Quantity], colours: Mapping[int, int], clusters: Sequence[int] | None
) -> Markup | None:
    if problem.expression is None:
        return None

    def label(leaf: Leaf) -> str:
        if isinstance(leaf, Reference) and leaf.index < len(quantities):
            return quantities[leaf.index].text if clusters is None else f"c{clusters[leaf.index]}"
        return leaf_text(leaf)

    def colour(leaf: Leaf) -> str:
        if isinstance(leaf, Reference) and leaf.index in colours:
            return f"var(--q{colours[leaf.index]})"
        return "none"

    drawing = draw_svg(problem.expression, label, colour)  # escapes every text itself
    named = html.escape(to_infix(problem.expression), quote=True)
    return Markup(drawing.replace('role="img"', f'role="img" aria-label="Tree of {named}"', 1))
