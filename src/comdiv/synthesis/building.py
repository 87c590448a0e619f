"""From a corpus to the folder of a synthetic dataset (SD, §III-B), with a report of what became of every seed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from comdiv.corpora import Corpus, ReadReport
from comdiv.dataset import Dataset, read_dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.expression import template, used_quantities
from comdiv.files import refuse_to_overwrite
from comdiv.problem import Problem
from comdiv.review import REVIEW, Decision, latest, read_review, reviewed
from comdiv.solver import Progress
from comdiv.splitting.extraction import ExtractionSettings, extract
from comdiv.splitting.measurement import measure
from comdiv.splitting.outputs import corpus_facts, draw_validation, library_versions
from comdiv.synthesis.decomposition import Decomposition, decompose
from comdiv.synthesis.options import SynthesisOptions
from comdiv.synthesis.reading import Reader, Reading
from comdiv.synthesis.reformulation import Reformulation, reformulate
from comdiv.synthesis.report import card_paragraphs, write_report
from comdiv.synthesis.rules import Rule, RuleTable, load_rules
from comdiv.synthesis.seeds import find_seeds
from comdiv.synthesis.selection import Selection, select
from comdiv.synthesis.workshop import Workshop


@dataclass(slots=True)
class Tally:
    """What became of a rule's seeds."""

    rule: Rule
    problems: int = 0  # with the rule's template
    seeds: int = 0  # with the quantities in place
    made: int = 0  # with all products
    chosen: int = 0  # in the dataset
    abandoned: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """The entry of `dataset.json`."""
        return {
            "kind": self.rule.kind,
            "template": self.rule.template,
            "products": [product.template for product in self.rule.products],
            "problems": self.problems,
            "seeds": self.seeds,
            "made": self.made,
            "chosen": self.chosen,
            "abandoned": dict(sorted(self.abandoned.items(), key=lambda item: (-item[1], item[0]))),
        }


def synthesize_dataset(
    problems: Sequence[Problem],
    folder: Path,
    options: SynthesisOptions,
    *,
    corpus: str,
    progress: Progress | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Build the synthetic dataset of a corpus in a folder and return its facts; `corpus` is the corpus's name."""
    refuse_to_overwrite(folder, force=force)
    show = progress or (lambda stage, done, total, note: None)
    table = load_rules(options.rules)
    decisions = _decisions(folder, options)
    excluded = _excluded(options.exclude)
    makers = [_Maker(code, problems, table, options, show) for code in sorted({p.language for p in problems})]
    tallies = {rule.id: Tally(rule) for rule in table.rules}
    decompositions: list[Decomposition] = []
    reformulations: list[Reformulation] = []
    for maker in makers:
        made = maker.make(table, tallies, excluded, decisions, options.only is not None)
        decompositions += made[0]
        reformulations += made[1]
    if not decompositions and not reformulations:
        raise ComdivError(_nothing_applies(corpus, len(problems), tallies))
    by_language = {maker.code: maker for maker in makers}
    selection = select(
        decompositions,
        reformulations,
        options,
        masked=lambda problem: by_language[problem.language].masked(problem),
        read=lambda problem: by_language[problem.language].reader.read(problem),
    )
    return _write(selection, folder, options, _facts(corpus, problems, options, tallies, selection), force)


class _Maker:
    """Makes the candidates of a corpus's problems in one language."""

    def __init__(
        self, code: str, problems: Sequence[Problem], table: RuleTable, options: SynthesisOptions, show: Progress
    ) -> None:
        self.code, self._show = code, show
        show("learning units", 0, 1, "")
        self.reader = Reader.for_corpus(problems, code)
        mine = [problem for problem in problems if problem.language == code and _useful(problem, table)]
        readings: list[Reading] = []
        for number, problem in enumerate(sorted(mine, key=lambda problem: problem.id)):
            if number % 200 == 0:
                show("reading problems", number, len(mine), "")
            reading = self.reader.read(problem)
            readings += [] if reading is None else [reading]
        show("indexing", 0, 1, "")
        self.workshop = Workshop.over(readings, self.reader, options.least_plausible)
        self._masked: dict[str, str] = {}

    def masked(self, problem: Problem) -> str:
        """The text with its numbers masked: equal for twins."""
        text = problem.text
        if text not in self._masked:
            self._masked[text] = self.reader.language.masked_text(text, number_words=problem.number_words)
        return self._masked[text]

    def make(
        self,
        table: RuleTable,
        tallies: Mapping[str, Tally],
        excluded: Sequence[Problem],
        decisions: Mapping[str, Decision],
        only_accepted: bool,
    ) -> tuple[list[Decomposition], list[Reformulation]]:
        """All decompositions and reformulations that people did not reject; twins of excluded problems are left out."""
        taken_texts = {self.masked(problem) for problem in excluded if problem.language == self.code}
        taken_ids = {_seed_id(problem) for problem in excluded}
        decompositions: list[Decomposition] = []
        reformulations: list[Reformulation] = []
        for rule in table.rules:
            tally = tallies[rule.id]
            tally.problems += sum(reading.template == rule.template for reading in self.workshop.readings)
            seeds = list(find_seeds(rule, self.workshop.readings))
            tally.seeds += len(seeds)
            for number, seed in enumerate(seeds):
                if number % 20 == 0:
                    self._show(f"rule {rule.id}", number, len(seeds), "")
                if seed.id in taken_ids or self.masked(seed.reading.problem) in taken_texts:
                    tally.abandoned["excluded"] += 1
                    continue
                made = (decompose if rule.kind == "decomposition" else reformulate)(seed, self.workshop)
                if not isinstance(made, str):
                    made = _as_reviewed(made, decisions, only_accepted)
                if isinstance(made, str):
                    tally.abandoned[made] += 1
                    continue
                tally.made += 1
                if isinstance(made, Decomposition):
                    decompositions.append(made)
                else:
                    reformulations.append(made)
        return decompositions, reformulations


def _useful(problem: Problem, table: RuleTable) -> bool:
    """Whether a problem may be a seed or a donor, or teach the proofreader: simple, or with a rule's template."""
    if problem.expression is None:
        return False
    return len(used_quantities(problem.expression)) <= 2 or template(problem.expression) in table.templates


def _as_reviewed(
    made: Decomposition | Reformulation, decisions: Mapping[str, Decision], only_accepted: bool
) -> Decomposition | Reformulation | str:
    """What people left of it: a rejected product leaves; without a product, or rejected itself, a seed is abandoned."""
    if not decisions and not only_accepted:
        return made
    seed = reviewed([made.seed.reading.problem], decisions, only_accepted=only_accepted)
    products = made.products if isinstance(made, Decomposition) else (made.product,)
    kept = [
        replace(product, problem=problem, template=template(problem.expression))
        for product in products
        for problem in reviewed([product.problem], decisions, only_accepted=only_accepted)
        if problem.expression is not None
    ]
    if not seed or not kept:
        return "rejected in the review" if not only_accepted else "not accepted in the review"
    edited = replace(made.seed, reading=replace(made.seed.reading, problem=seed[0]))
    if isinstance(made, Decomposition):
        return Decomposition(edited, tuple(kept))
    return replace(made, seed=edited, product=kept[0])


def _decisions(folder: Path, options: SynthesisOptions) -> dict[str, Decision]:
    if options.review is not None and not options.review.is_file():
        raise ComdivError(f"{options.review}: there is no such review")
    path = options.review or folder / REVIEW
    if options.only is not None and not path.is_file():
        raise ComdivError(f"--only {options.only} needs a review: name one with --review FILE")
    return latest(read_review(path))


def _excluded(folder: Path | None) -> list[Problem]:
    """The seeds of another dataset, and whatever else it holds."""
    if folder is None:
        return []
    dataset = read_dataset(folder)
    return [*dataset.training_side, *dataset.test]


def _seed_id(problem: Problem) -> str:
    seed = problem.provenance.details.get("seed")
    return seed if isinstance(seed, str) else problem.id


def _nothing_applies(corpus: str, problems: int, tallies: Mapping[str, Tally]) -> str:
    seeds = sum(tally.seeds for tally in tallies.values())
    reasons: Counter[str] = Counter()
    for tally in tallies.values():
        reasons.update(tally.abandoned)
    why = f"; all were abandoned, most often: {reasons.most_common(1)[0][0]}" if reasons else ""
    return f"{corpus}: no rule gives a product: {problems} problems, {seeds} of them seeds of a rule{why}"


def _facts(
    corpus: str,
    problems: Sequence[Problem],
    options: SynthesisOptions,
    tallies: Mapping[str, Tally],
    selection: Selection,
) -> dict[str, Any]:
    for problem in (*selection.structural, *selection.lexical):
        tallies[problem.rule].chosen += 1
    version = next((p.provenance.version for p in problems), "")
    histogram = Counter(selection.novelty.values())
    settings = options.model_dump(mode="json")
    if options.exclude is not None:
        settings["exclude"] = options.exclude.name
    for name in ("rules", "review"):
        path: Path | None = getattr(options, name)
        settings[name] = None if path is None else path.name
    return {
        "made_by": "comdiv synthesize",
        "source": corpus_facts(Corpus(corpus, version, tuple(problems), ReadReport())),
        "settings": settings,
        "composition": {"structural": len(selection.structural), "lexical": len(selection.lexical)},
        "rules": {rule: tally.to_json() for rule, tally in tallies.items()},
        "seeds": {
            kind: sum(tally.seeds for tally in tallies.values() if tally.rule.kind == kind)
            for kind in ("decomposition", "reformulation")
        },
        "novelty": {str(value): histogram[value] for value in sorted(histogram)},
    }


def _write(
    selection: Selection, folder: Path, options: SynthesisOptions, facts: dict[str, Any], force: bool
) -> dict[str, Any]:
    test_problems = (*selection.structural, *selection.lexical)
    if not selection.training or not test_problems:
        raise ComdivError("the rules leave one side empty: there is nothing to train or nothing to test on")
    in_test = {problem.id for problem in test_problems}
    _check_apart(selection.training, test_problems)
    extraction = extract((*selection.training, *test_problems))
    test = np.array([problem.id in in_test for problem in extraction.problems])
    contexts = len({context for own in extraction.contexts for context in own if context})
    settings = ExtractionSettings(k=max(1, min(ExtractionSettings().k, contexts)))  # a few problems have few clusters
    measurement = measure(extraction, test, settings)
    validation = draw_validation(extraction, test, options.validation, seed=options.seed)
    parts = {
        name: tuple(problem for problem, chosen in zip(extraction.problems, mask, strict=True) if chosen)
        for name, mask in (("train", ~test & ~validation), ("validation", validation), ("test", test))
    }
    facts = {**facts, **measurement.to_json(), "versions": library_versions()}
    facts["settings"] = {**facts["settings"], "extraction": settings.model_dump()}
    return write_dataset(
        folder,
        Dataset(**parts, facts=facts),
        title=f"{facts['source']['corpus']}, synthetic dataset (SD)",
        paragraphs=card_paragraphs(facts),
        more=lambda staging: write_report(staging, facts),
        force=force,
    )


def _check_apart(training: Iterable[Problem], test: Iterable[Problem]) -> None:
    """A structural test template in train, or a test id there, would make the set measure something else."""
    structural = {template(p.expression) for p in test if p.expression and p.composition == "structural"}
    for problem in training:
        if problem.expression is not None and template(problem.expression) in structural:
            raise ComdivError(
                f"problem '{problem.id}' in train has the template {template(problem.expression)} of a structural test "
                "problem: the rule table decomposes what it also makes"
            )
