"""Problems on the page: the paper's Figures 2 to 4 and 6 with problems from the user's own datasets.

They are chosen by rule, shortest first, never by hand. A quantity has the same colour in the text and in the tree; new
parts of a text are underlined.
"""

import difflib
import html
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from markupsafe import Markup

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.cell_tables import operation_labels
from comdiv.experiments.store import part_problems, read_part
from comdiv.expression import (
    ExpressionError,
    Leaf,
    Reference,
    draw_svg,
    format_number,
    operator_count,
    parse,
    template,
    to_infix,
)
from comdiv.expression.printing import leaf_text
from comdiv.loading import load_object, read_json_objects
from comdiv.problem import Problem, Quantity
from comdiv.reading import read
from comdiv.splitting.compounds import compounds_of
from comdiv.splitting.extraction import Extraction, extract

COLOURS = 10  # classes q0 … q9 of the page's style
_TOKEN = re.compile(r"\d+(?:[.,/]\d+)*%?|[A-Za-z]+(?:['’][A-Za-z]+)?|[\u3400-\u9fff]|\S")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text; `mark` has its CSS classes, empty for plain text."""

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
    """Quantities are coloured by index or, if `clusters` are given, by cluster.

    Anything that is not in the text `compared_with` is marked as new.
    """
    quantities = read(problem).plain_quantities
    colours = {q.index: (q.index if clusters is None else clusters[q.index]) % COLOURS for q in quantities}
    hints = {q.index: f"N{q.index}" if clusters is None else f"cluster {clusters[q.index]}" for q in quantities}
    new = [] if compared_with is None else new_parts(problem.text, compared_with)
    details = []
    if problem.expression is not None:
        details += [("expression", to_infix(problem.expression)), ("template", template(problem.expression))]
    if problem.answer is not None:
        details.append(("answer", format_number(problem.answer)))
    return ShownProblem(
        heading=heading,
        language=problem.language,
        spans=tuple(_spans(problem.text, quantities, colours, hints, new)),
        facts=(*details, *facts),
        tree=_tree(problem, quantities, colours, clusters),
        verdict=verdict,
    )


def new_parts(text: str, old: str) -> list[tuple[int, int]]:
    """The parts of a text (start, end) whose words an older text does not have in that order."""
    words, old_words = list(_TOKEN.finditer(text)), [match.group().lower() for match in _TOKEN.finditer(old)]
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
    words = html.escape(to_infix(problem.expression), quote=True)
    return Markup(drawing.replace('role="img"', f'role="img" aria-label="Tree of {words}"', 1))


LONGEST = 260  # characters of a text that is shown
MOST_PROBLEMS = 5_000  # of a dataset whose quantities are clustered for an example
SHOWN = 3  # problems of each kind in a case study


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """Several problems side by side, and what they show."""

    title: str
    text: str
    problems: tuple[ShownProblem, ...]


MakeExample = Callable[[PlanResults, Cell], WorkedExample | None]


def worked_examples(plans: Sequence[PlanResults]) -> list[WorkedExample]:
    """One example of each kind for which the results have problems; datasets without texts have none."""
    cells = [(plan, cell) for plan in plans for cell in plan.cells if cell.status == "done"]
    reports = (cell.summary.get("report", {}) for _, cell in cells)
    operations = operation_labels(record for report in reports for record in report.get("rounds", ()))
    kinds: list[MakeExample] = [_clusters, _decomposition, *(partial(_operation, name) for name in operations)]
    examples = (next(filter(None, (make(plan, cell) for plan, cell in cells)), None) for make in kinds)
    return [example for example in examples if example is not None]


def _clusters(plan: PlanResults, cell: Cell) -> WorkedExample | None:
    """Figure 2: what an atom is, and why the expression alone does not determine it."""
    if cell.kind != "dataset" or cell.facts.split not in ("dbca", "iid", "template", "length"):
        return None
    problems = [p for part in ("train", "validation", "test") for p in part_problems(plan, cell, part)]
    if not problems:
        return None
    k = cell.facts.k or 10
    extraction = extract(sorted(problems, key=lambda problem: problem.id)[:MOST_PROBLEMS])
    positions = three_problems(extraction, k)
    if positions is None:
        return None
    by_problem = extraction.clusters_by_problem(k)
    shown = []
    for letter, position in zip("abc", positions, strict=True):
        problem, clusters = extraction.problems[position], by_problem[position].tolist()
        assert problem.expression is not None  # only such problems have positions
        compound = max(compounds_of(problem.expression, clusters), key=len)
        shown.append(shown_problem(problem, f"({letter}) {problem.id}", [("compound", compound)], clusters=clusters))
    return WorkedExample(
        f"Quantities as clusters of their contexts ({cell.facts.dataset}, k = {k}; Figure 2)",
        "Three problems with the same template. (a) and (b) differ in what their quantities are about, so their "
        "compounds differ; (a) and (c) have other words and numbers, and the same compound.",
        tuple(shown),
    )


def three_problems(extraction: Extraction, k: int) -> tuple[int, int, int] | None:
    """Positions of three problems of one template: the first and third share their compound, the second does not."""
    roots: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    clusters = extraction.clusters_by_problem(k)
    for position, problem in enumerate(extraction.problems):
        if problem.expression is not None and operator_count(problem.expression) == 2 and len(problem.text) <= LONGEST:
            root = max(compounds_of(problem.expression, clusters[position].tolist()), key=len)
            roots[template(problem.expression)][root].append(position)

    def size(position: int) -> int:
        return len(extraction.problems[position].text)

    for compounds in sorted(roots.values(), key=lambda roots: -sum(map(len, roots.values()))):
        ranked = sorted(compounds.items(), key=lambda item: (-len(item[1]), item[0]))
        for root, positions in ranked:
            others = [p for other, places in ranked if other != root for p in places]
            if len(positions) > 1 and others:
                first = min(positions, key=lambda p: (size(p), p))
                # Twins and problems of the same scene show nothing: the third shares few words with the first.
                words = _words(extraction.problems[first])
                rest = [p for p in positions if p != first]
                third = min(rest, key=lambda p: (len(words & _words(extraction.problems[p])), size(p), p))
                return first, min(others, key=lambda p: (size(p), p)), third
    return None


def _words(problem: Problem) -> set[str]:
    return {token.text.lower() for token in read(problem).tokens}


def _decomposition(plan: PlanResults, cell: Cell) -> WorkedExample | None:
    """Figure 3: a seed in test, its two halves in train."""
    if cell.kind != "dataset" or cell.facts.split != "synthesis":
        return None
    halves: dict[str, dict[str, Problem]] = defaultdict(dict)
    for part in ("train", "validation"):
        for problem in part_problems(plan, cell, part):
            details = problem.provenance.details
            if problem.provenance.operation == "decomposition" and "seed" in details and "product" in details:
                halves[str(details["seed"])][str(details["product"])] = problem
    seeds = [p for p in part_problems(plan, cell, "test") if set(halves.get(p.id, ())) >= {"a", "b"}]
    if not seeds:
        return None
    seed = min(seeds, key=lambda problem: (len(problem.text), problem.id))
    shown = [shown_problem(seed, f"test: the seed {seed.id}", [("rule", seed.rule)])]
    for product in ("a", "b"):
        half = halves[seed.id][product]
        frame = str(half.provenance.details.get("frame", ""))
        facts = [("frame", frame)] if frame else []
        shown.append(shown_problem(half, f"train: product {product}", facts, compared_with=seed.text))
    return WorkedExample(
        f"A decomposition ({cell.facts.dataset}; Figure 3)",
        "The seed stays in test. Its two halves, completed by a clause in the seed's own words (underlined),"
        " go to train: the solver meets all parts of the seed, but never their combination.",
        tuple(shown),
    )


_OPERATION_TEXTS = {
    "operation 1": "A question and a statement that fit together: the first problem's story takes the place of the "
    "statement in the second (underlined), and its expression that of the quantity there. The template is new.",
    "operation 2": "A fragment is exchanged for another that occurs in the same surroundings (underlined). "
    "The expression stays; the combination of template and words is new.",
}


def _operation(operation: str, plan: PlanResults, cell: Cell) -> WorkedExample | None:
    """Figure 4: an augmented problem with its parents."""
    if cell.kind != "augmentation":
        return None
    train = _train_of(cell)
    by_id = {problem.id: problem for problem in (*train, *part_problems(plan, cell, "train"))}
    new = [p for p in train if p.provenance.operation == operation and len(p.text) <= LONGEST]
    for problem in sorted(new, key=lambda problem: (len(problem.text), problem.id)):
        parents = [by_id[name] for name in problem.provenance.parents if name in by_id]
        # The frame is the parent whose words the new text mostly keeps: operation 1 puts the other's story into it.
        if parents and len({parent.text for parent in parents} | {problem.text}) == len(parents) + 1:
            frame = parents[-1] if operation == "operation 1" else parents[0]
            shown = [shown_problem(parent, f"parent: {parent.id}") for parent in parents[:2]]
            shown.append(shown_problem(problem, f"new: {problem.id}", compared_with=frame.text, verdict="accepted"))
            text = _OPERATION_TEXTS.get(operation, "A problem that another package made (new words are underlined).")
            figure = "; Figure 4" if operation in _OPERATION_TEXTS else ""
            return WorkedExample(f"{operation.capitalize()} ({cell.facts.dataset}{figure})", text, tuple(shown))
    return None


def _train_of(cell: Cell) -> tuple[Problem, ...]:
    """The augmented training set, if its texts are available."""
    path = cell.file("dataset/train.jsonl")
    return () if path is None else read_part(path)


# --- case studies ---


def case_studies(plans: Sequence[PlanResults]) -> list[WorkedExample]:
    """For each augmented dataset, problems of the first round: kept, rejected by the ranker, rejected by a check."""
    studies: dict[str, WorkedExample] = {}
    for plan in plans:
        for cell in plan.of_kind("augmentation"):
            name = f"{cell.facts.augmentation} on {cell.facts.dataset}"
            if cell.status == "done" and name not in studies and (study := _study(cell, name)) is not None:
                studies[name] = study
    return list(studies.values())


def _study(cell: Cell, name: str) -> WorkedExample | None:
    path = cell.file("dataset/rounds/1/kept.jsonl")
    if path is None:
        return None
    folder, kept = path.parent, read_part(path)
    scores = dict(_read_scores(folder / "scores.jsonl"))
    problems = [*_kept_problems(kept, scores), *_ranked_away(folder, kept, scores), *_refused(folder, kept)]
    if not problems:
        return None
    ranked = "ranked by the solver's confidence" if scores else "taken as they passed the checks: there was no ranker"
    return WorkedExample(f"{name}, round 1", f"{_round_facts(cell)}Candidates were {ranked}.", tuple(problems))


def _kept_problems(kept: Sequence[Problem], scores: Mapping[str, float]) -> Iterator[ShownProblem]:
    """The most confident of each operation; without a ranker, the first by id."""
    for operation in operation_labels([dict.fromkeys(str(problem.provenance.operation) for problem in kept)]):
        mine = [p for p in kept if p.provenance.operation == operation and len(p.text) <= LONGEST]
        mine.sort(key=lambda problem: (-scores.get(problem.id, 0.0), problem.id))
        for problem in mine[: SHOWN - 1]:
            yield shown_problem(problem, f"accepted, {operation}", _confidence(problem, scores), verdict="accepted")


def _ranked_away(folder: Path, kept: Sequence[Problem], scores: Mapping[str, float]) -> Iterator[ShownProblem]:
    if not scores:
        return
    ids = {problem.id for problem in kept}
    others = [p for p in read_part(folder / "candidates.jsonl") if p.id not in ids and len(p.text) <= LONGEST]
    others.sort(key=lambda problem: (scores.get(problem.id, -math.inf), problem.id))
    for problem in others[:SHOWN]:
        heading = f"rejected by the ranker, {problem.provenance.operation}"
        yield shown_problem(problem, heading, _confidence(problem, scores), verdict="rejected")


def _refused(folder: Path, kept: Sequence[Problem]) -> Iterator[ShownProblem]:
    """One draft per reason, the shortest texts first."""
    path = folder / "rejected.jsonl"
    if not path.is_file() or not kept:
        return
    records: dict[str, dict[str, Any]] = {}
    drafts = [record for _, record in read_json_objects(path) if record.get("text") and len(record["text"]) <= LONGEST]
    for record in sorted(drafts, key=lambda record: (len(record["text"]), record["text"])):
        records.setdefault(record["reason"], record)
    for reason, record in list(records.items())[:SHOWN]:
        try:
            expression = parse(record["expression"]) if record.get("expression") else None
        except ExpressionError:
            expression = None
        draft = Problem("draft", kept[0].language, record["text"], expression)
        heading = f"rejected by a check, operation {record.get('operation', '?')}"
        yield shown_problem(draft, heading, [("why", reason)], verdict="rejected")


def _confidence(problem: Problem, scores: Mapping[str, float]) -> list[tuple[str, str]]:
    score = scores.get(problem.id)
    if score is None:
        return []
    shown = f"{math.exp(score):.3f} (log-probability {score:.2f})" if score > -math.inf else "0: cannot be spelled"
    return [("confidence", shown)]


def _read_scores(path: Path) -> Iterator[tuple[str, float]]:
    if path.is_file():
        for _, record in read_json_objects(path):
            yield str(record["id"]), -math.inf if record["score"] is None else float(record["score"])


def _round_facts(cell: Cell) -> str:
    """How many candidates there were and how many were kept, from the augmentation's report."""
    path = cell.file("dataset/report.json")
    rounds = [] if path is None else load_object(path).get("rounds", [])[:1]
    lines = [
        f"{operation}: {counts['drafts']:,} drafts, {counts['passed']:,} passed, {counts['kept']:,} kept"
        for record in rounds
        for operation in operation_labels(rounds)
        if (counts := record.get(operation))
    ]
    return "; ".join(lines).capitalize() + ". " if lines else ""
