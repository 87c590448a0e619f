"""The paper's Figures 2, 3 and 4 with problems of one's own datasets: chosen by rule, shortest first, never by hand."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.shown import ShownProblem, shown_problem
from comdiv.experiments.store import part_problems, read_part
from comdiv.expression import operator_count, template
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.splitting.extraction import Extraction, compounds_of, extract

MakeExample = Callable[[PlanResults, Cell], "Example | None"]
LONGEST = 260  # characters of a text that is shown
MOST_PROBLEMS = 5_000  # of a dataset whose quantities are clustered for an example


@dataclass(frozen=True, slots=True)
class Example:
    """Some problems side by side, and what they show."""

    title: str
    text: str
    problems: tuple[ShownProblem, ...]


def worked_examples(plans: Sequence[PlanResults]) -> list[Example]:
    """One example of each kind that the results have problems for; datasets without texts have none."""
    found = [_first(plans, _clusters), _first(plans, _decomposition)]
    found += [_first(plans, make) for make in (_operation_1, _operation_2)]
    return [example for example in found if example is not None]


def _first(plans: Sequence[PlanResults], make: MakeExample) -> Example | None:
    for plan in plans:
        for cell in plan.cells:
            if cell.status == "done" and (example := make(plan, cell)) is not None:
                return example
    return None


def _clusters(plan: PlanResults, cell: Cell) -> Example | None:
    """Figure 2: what an atom is, and why the expression alone does not tell."""
    if cell.kind != "dataset" or cell.facts.split not in ("dbca", "iid", "template", "length"):
        return None
    problems = [p for part in ("train", "validation", "test") for p in part_problems(plan, cell, part)]
    if not problems:
        return None
    k = cell.facts.k or 10
    extraction = extract(sorted(problems, key=lambda problem: problem.id)[:MOST_PROBLEMS])
    chosen = three_problems(extraction, k)
    if chosen is None:
        return None
    by_problem = extraction.clusters_by_problem(k)
    shown = []
    for letter, position in zip("abc", chosen, strict=True):
        problem, clusters = extraction.problems[position], by_problem[position].tolist()
        assert problem.expression is not None  # only such are chosen
        compound = max(compounds_of(problem.expression, clusters), key=len)
        shown.append(shown_problem(problem, f"({letter}) {problem.id}", [("compound", compound)], clusters=clusters))
    return Example(
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

    for compounds in sorted(roots.values(), key=lambda found: -sum(map(len, found.values()))):
        ranked = sorted(compounds.items(), key=lambda item: (-len(item[1]), item[0]))
        for root, positions in ranked:
            others = [p for other, found in ranked if other != root for p in found]
            if len(positions) > 1 and others:
                first = min(positions, key=lambda p: (size(p), p))
                # Twins and problems of one scene show nothing: the third has as few of the first's words as possible.
                words = _words(extraction.problems[first])
                rest = [p for p in positions if p != first]
                third = min(rest, key=lambda p: (len(words & _words(extraction.problems[p])), size(p), p))
                return first, min(others, key=lambda p: (size(p), p)), third
    return None


def _words(problem: Problem) -> set[str]:
    return {token.text.lower() for token in get_language(problem.language).tokens(problem.text)}


def _decomposition(plan: PlanResults, cell: Cell) -> Example | None:
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
        donor = str(half.provenance.details.get("donor", ""))
        shown.append(
            shown_problem(
                half, f"train: product {product}", [("Δ from", donor)] if donor else [], compared_with=seed.text
            )
        )
    return Example(
        f"A decomposition ({cell.facts.dataset}; Figure 3)",
        "The seed stays in test. Its two halves, completed by a clause of the most similar problem (underlined),"
        " go to train: the solver meets all parts of the seed, but never their combination.",
        tuple(shown),
    )


def _operation_1(plan: PlanResults, cell: Cell) -> Example | None:
    return _operation(
        plan, cell, 1, "A question and a statement that fit together: the first problem's story takes the place of the "
        "statement in the second (underlined), and its expression that of the quantity there. The template is new.",
    )  # fmt: skip


def _operation_2(plan: PlanResults, cell: Cell) -> Example | None:
    return _operation(
        plan, cell, 2, "A fragment is exchanged for another that occurs in the same surroundings (underlined). "
        "The expression stays; the combination of template and words is new.",
    )  # fmt: skip


def _operation(plan: PlanResults, cell: Cell, number: int, text: str) -> Example | None:
    """Figure 4: an augmented problem with its parents."""
    if cell.kind != "augmentation":
        return None
    known = {problem.id: problem for problem in _train_of(cell)}
    known |= {problem.id: problem for problem in part_problems(plan, cell, "train")}
    made = [p for p in _train_of(cell) if p.provenance.operation == f"operation {number}" and len(p.text) <= LONGEST]
    for problem in sorted(made, key=lambda problem: (len(problem.text), problem.id)):
        parents = [known[name] for name in problem.provenance.parents if name in known]
        # The frame is the parent whose words the new text mostly keeps: operation 1 puts the other's story into it.
        if parents and len({parent.text for parent in parents} | {problem.text}) == len(parents) + 1:
            frame = parents[-1] if number == 1 else parents[0]
            shown = [shown_problem(parent, f"parent: {parent.id}") for parent in parents[:2]]
            shown.append(shown_problem(problem, f"new: {problem.id}", compared_with=frame.text, verdict="accepted"))
            return Example(f"Operation {number} ({cell.facts.dataset}; Figure 4)", text, tuple(shown))
    return None


def _train_of(cell: Cell) -> tuple[Problem, ...]:
    """The augmented training set, if its texts are there."""
    path = cell.file("dataset/train.jsonl")
    return () if path is None else read_part(path)
