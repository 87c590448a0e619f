"""From a corpus to the folder of a synthetic dataset (SD, §III-B), with a report on the fate of every seed."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from comdiv.corpora import Corpus, ReadReport
from comdiv.dataset import Dataset, read_dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.expression import template
from comdiv.files import refuse_to_overwrite, write_text
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.review import REVIEW, Decision, latest, read_review
from comdiv.solver import Progress
from comdiv.splitting.extraction import ExtractionSettings, extract
from comdiv.splitting.measurement import measure
from comdiv.splitting.outputs import corpus_facts, cut_parts, library_versions
from comdiv.synthesis.assembly import Assembly, SynthesisOptions, assemble, candidates
from comdiv.synthesis.frames import FrameTable, frame_table
from comdiv.synthesis.products import PRODUCTS_OPEN, SEED_OPEN, Family, as_reviewed, make_family
from comdiv.synthesis.readers import (
    READING_COLUMNS,
    Verdict,
    decide,
    keys_of,
    read_verdicts,
    reading_facts,
    reading_rows,
    write_queue,
)
from comdiv.synthesis.release import Release, find_release, standing
from comdiv.synthesis.rules import Rule, RuleTable, load_rules
from comdiv.synthesis.seeds import Seed, Tale, find_seed, tell

REPORT = "report.md"
PAPER_DIVERGENCES = {"compound": 0.82, "atom": 0.01}  # of the paper's SD, Table I
_SHOWN_REASONS = 3
_OF_A_CUT = ("validation", "seed")  # options that change neither the training side nor the test


@dataclass(frozen=True, slots=True)
class RuleYield:
    """The fate of a rule's seeds: `problems` have its template; seeds also have the quantities in the right places."""

    rule: Rule
    problems: int
    families: tuple[Family, ...]
    abandoned: Counter[str]

    @property
    def seeds(self) -> int:
        """How many problems the rule applies to."""
        return len(self.families) + self.abandoned.total()

    def to_json(self, chosen: int) -> dict[str, Any]:
        """The entry of `dataset.json`."""
        return {
            "kind": self.rule.kind,
            "template": self.rule.template,
            "products": [product.template for product in self.rule.products],
            "problems": self.problems,
            "seeds": self.seeds,
            "made": len(self.families),
            "chosen": chosen,
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
    queue: Path | None = None,
) -> dict[str, Any]:
    """Build the synthetic dataset of a corpus in a folder and return its facts; `corpus` is the name of the corpus.

    `queue` gets the products for readers: of the chosen seeds, and all reformulations, those that nobody has read.
    """
    for path in (folder, *(() if queue is None else (queue, keys_of(queue)))):
        refuse_to_overwrite(path, force=force)
    show = progress or (lambda stage, done, total, note: None)
    options = in_force(options, corpus)
    release = None if options.release is None else find_release(options.release)
    table = load_rules(options.rules)
    decisions = _decisions(folder, options)
    verdicts = release.said if release is not None else _verdicts(options)
    excluded = None if options.exclude is None else read_dataset(options.exclude)
    tales = _tales(problems, table, show)
    review = partial(as_reviewed, decisions=decisions, only_accepted=options.only is not None)
    make = partial(make_family, unread=release is not None and release.unread)
    yields = [_apply(rule, tales, make, _Exclusion(excluded), review, show) for rule in table.rules]
    families = [family for result in yields for family in result.families]
    if not families:
        raise ComdivError(_nothing_applies(corpus, len(problems), yields, options))
    decided = decide(verdicts)
    if release is not None:
        families = release.select(families)
    elif options.verdicts is not None:
        families = _standing(families, decided, unread=True)
    if queue is not None:
        write_queue(queue, (product for product in candidates(families, options) if product.id not in decided))
    if release is None and options.verdicts is not None:
        families = _standing(families, decided, unread=False)
        if not families:
            raise ComdivError(f"{options.verdicts}: no product of {corpus} is good to most of at least two readers")
    assembly = assemble(families, options)
    facts = _facts(corpus, problems, options, yields, assembly)
    if verdicts:
        facts["reading"] = reading_facts(verdicts)
    return _write(assembly, folder, options, facts, force, release)


def in_force(options: SynthesisOptions, corpus: str) -> SynthesisOptions:
    """The options by which the dataset is made: a published set comes from one corpus and has its own."""
    if options.release is None:
        return options
    release = find_release(options.release)
    changed = options.model_fields_set & options.model_dump(exclude_defaults=True).keys()
    if more := sorted(changed - {"release", *_OF_A_CUT}):
        raise ComdivError(f"{release.name} {release.version} has its own options: leave out {', '.join(more)}")
    if corpus != release.corpus:
        raise ComdivError(f"{release.name} {release.version} is made from {release.corpus}, not from {corpus}")
    return release.options.model_copy(update={name: getattr(options, name) for name in ("release", *_OF_A_CUT)})


def _tales(problems: Sequence[Problem], table: RuleTable, show: Progress) -> list[Tale]:
    """The problems with a rule's template, in the order of their ids."""
    templates = {rule.template for rule in table.rules}
    useful = [p for p in problems if p.expression is not None and template(p.expression) in templates]
    tales: list[Tale] = []
    for number, problem in enumerate(sorted(useful, key=lambda problem: problem.id)):
        if number % 200 == 0:
            show("reading problems", number, len(useful), "")
        tale = tell(problem, get_language(problem.language))
        tales += [] if tale is None else [tale]
    return tales


def _apply(
    rule: Rule,
    tales: Sequence[Tale],
    make: Callable[[Seed, FrameTable], Family | str],
    exclusion: "_Exclusion",
    review: Callable[[Family], Family | str],
    show: Progress,
) -> RuleYield:
    """Everything that a rule makes and reviewers did not reject, without excluded problems and their twins."""
    families: list[Family] = []
    abandoned: Counter[str] = Counter()
    seeds = [seed for tale in tales if (seed := find_seed(rule, tale)) is not None]
    for number, seed in enumerate(seeds):
        if number % 20 == 0:
            show(f"rule {rule.id}", number, len(seeds), "")
        result = "excluded" if exclusion.has(seed) else make(seed, frame_table(seed.tale.language))
        if isinstance(result, Family):
            result = review(result)
        if isinstance(result, Family):
            families.append(result)
        else:
            abandoned[result] += 1
    return RuleYield(rule, sum(tale.template == rule.template for tale in tales), tuple(families), abandoned)


class _Exclusion:
    """The problems of another dataset, by the ids of their seeds and by their number-masked texts."""

    def __init__(self, dataset: Dataset | None) -> None:
        problems = () if dataset is None else dataset.training_side + dataset.test
        self._ids = {str(problem.provenance.details.get("seed", problem.id)) for problem in problems}
        self._texts = {read(problem).mask for problem in problems}

    def has(self, seed: Seed) -> bool:
        return seed.id in self._ids or seed.tale.mask in self._texts


def _decisions(folder: Path, options: SynthesisOptions) -> dict[str, Decision]:
    if options.review is not None and not options.review.is_file():
        raise ComdivError(f"{options.review}: there is no such review")
    path = options.review or folder / REVIEW
    if options.only is not None and not path.is_file():
        raise ComdivError(f"--only {options.only} needs a review: name one with --review FILE")
    return latest(read_review(path))


def _verdicts(options: SynthesisOptions) -> tuple[Verdict, ...]:
    return () if options.verdicts is None else read_verdicts(options.verdicts)


def _standing(families: Iterable[Family], decided: Mapping[str, bool], *, unread: bool) -> list[Family]:
    return [kept for family in families if (kept := standing(family, decided, unread=unread)) is not None]


def _nothing_applies(corpus: str, problems: int, yields: Iterable[RuleYield], options: SynthesisOptions) -> str:
    reasons: Counter[str] = Counter()
    for result in yields:
        reasons.update(result.abandoned)
    if options.only is not None and (made := reasons[SEED_OPEN] + reasons[PRODUCTS_OPEN]):
        return (
            f"{corpus}: nothing is left by --only {options.only}: of {made:,} seeds that have products, "
            f"{reasons[SEED_OPEN]:,} are not accepted themselves, and {reasons[PRODUCTS_OPEN]:,} are, but none of "
            "their products. Accept both in `comdiv studio`, which shows the seeds first"
        )
    why = f"; all were abandoned, most often: {reasons.most_common(1)[0][0]}" if reasons else ""
    return f"{corpus}: no rule gives a product: {problems} problems, {reasons.total()} of them seeds of a rule{why}"


def _facts(
    corpus: str,
    problems: Sequence[Problem],
    options: SynthesisOptions,
    yields: Sequence[RuleYield],
    assembly: Assembly,
) -> dict[str, Any]:
    version = next((problem.provenance.version for problem in problems), "")
    counts = Counter(problem.rule for problem in assembly.test)
    histogram = Counter(assembly.novelty.values())
    return {
        "made_by": "comdiv synthesize",
        "source": corpus_facts(Corpus(corpus, version, tuple(problems), ReadReport())),
        "settings": options.facts(),
        "composition": {"structural": len(assembly.structural), "lexical": len(assembly.lexical)},
        "rules": {result.rule.id: result.to_json(counts[result.rule.id]) for result in yields},
        "seeds": {
            kind: sum(result.seeds for result in yields if result.rule.kind == kind)
            for kind in ("decomposition", "reformulation")
        },
        "novelty": {str(value): histogram[value] for value in sorted(histogram)},
    }


def _write(
    assembly: Assembly,
    folder: Path,
    options: SynthesisOptions,
    facts: dict[str, Any],
    force: bool,
    release: Release | None,
) -> dict[str, Any]:
    if not assembly.training or not assembly.test:
        raise ComdivError("the rules leave one side empty: there is nothing to train or nothing to test on")
    _check_apart(assembly)
    in_test = {problem.id for problem in assembly.test}
    extraction = extract((*assembly.training, *assembly.test))
    test = np.array([problem.id in in_test for problem in extraction.problems])
    contexts = len({context for own in extraction.contexts for context in own if context})
    settings = ExtractionSettings(k=max(1, min(ExtractionSettings().k, contexts)))  # small sets allow fewer clusters
    measurement = measure(extraction, test, settings)
    if release is not None:
        release.check_parts(cut_parts(extraction, test, release.options.validation, seed=release.options.seed))
    parts = cut_parts(extraction, test, options.validation, seed=options.seed)
    facts = {**facts, **measurement.to_json(), "versions": library_versions()}
    facts["settings"] = {**facts["settings"], "extraction": settings.model_dump()}

    named = "" if release is None else f": {release.name} {release.version}"
    return write_dataset(
        folder,
        Dataset(**parts, facts=facts),
        title=f"{facts['source']['corpus']}, synthetic dataset (SD){named}",
        paragraphs=card_paragraphs(facts),
        more=partial(write_report, facts=facts),
        force=force,
    )


def _check_apart(assembly: Assembly) -> None:
    """Refuse a structural test template in train: the set would not measure generalization."""
    structural = {template(problem.expression) for problem in assembly.structural if problem.expression}
    for problem in assembly.training:
        if problem.expression is not None and template(problem.expression) in structural:
            raise ComdivError(
                f"problem '{problem.id}' in train has the template {template(problem.expression)} of a structural test "
                "problem: the rule table decomposes what it also makes"
            )


# --- what the folder says about itself ---


def write_report(folder: Path, facts: Mapping[str, Any]) -> None:
    """`report.md` in the folder."""
    write_text(folder / REPORT, "\n\n".join(["# How this dataset came about", *report_paragraphs(facts)]) + "\n")


def card_paragraphs(facts: Mapping[str, Any]) -> list[str]:
    """What the card says."""
    source, composition = facts["source"], facts["composition"]
    return [
        f"Synthetic dataset from {source['corpus']} by the rule table of the paper's appendix (§III-B): seeds with "
        f"composed templates in test ({composition['structural']} structural), their simple halves in train; for "
        f"{composition['lexical']} lexical test problems, another question for a story in train. Every product names "
        "its rule, seed and frame in its provenance.",
        divergence_table(facts),
        f"`{REPORT}` has the counts of every rule and why seeds were abandoned.",
    ]


def report_paragraphs(facts: Mapping[str, Any]) -> list[str]:
    """The whole report as Markdown."""
    novelty = ", ".join(f"{value}: {count}" for value, count in facts["novelty"].items()) or "none"
    return [
        divergence_table(facts),
        f"Seeds with the quantities in place: {facts['seeds']['decomposition']:,} for decomposition, "
        f"{facts['seeds']['reformulation']:,} for reformulation.",
        rule_table(facts),
        *reading_paragraphs(facts),
        "Novelty of the lexical test problems (the greatest similarity to a training problem with the same template) "
        f"and their number: {novelty}.",
    ]


def divergence_table(facts: Mapping[str, Any]) -> str:
    """The divergences beside the paper's."""
    rows = ["| divergence (α as in the paper) | here | paper's SD |", "| --- | --- | --- |"]
    for name, published in PAPER_DIVERGENCES.items():
        rows.append(f"| {name} | {facts[f'{name}_divergence']['paper']:.3f} | {published} |")
    return "\n".join(rows)


def rule_rows(facts: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """One row per rule: id, template, products, problems, seeds, made, chosen, why abandoned."""
    rows = []
    for rule, entry in facts["rules"].items():
        reasons = [f"{reason} {count}" for reason, count in list(entry["abandoned"].items())[:_SHOWN_REASONS]]
        others = sum(list(entry["abandoned"].values())[_SHOWN_REASONS:])
        reasons += [f"others {others}"] if others else []
        counts = (f"{entry[name]:,}" for name in ("problems", "seeds", "made", "chosen"))
        rows.append((rule, entry["template"], ", ".join(entry["products"]), *counts, "; ".join(reasons)))
    return rows


RULE_COLUMNS = ("rule", "seed", "products", "problems", "seeds", "made", "chosen", "abandoned")


def rule_table(facts: Mapping[str, Any]) -> str:
    """The counts of every rule as a Markdown table."""
    return _table(RULE_COLUMNS, rule_rows(facts))


def reading_paragraphs(facts: Mapping[str, Any]) -> list[str]:
    """What readers said of the products, if anybody read them."""
    if "reading" not in facts:
        return []
    readers = ", ".join(f"{reader}: {count:,}" for reader, count in facts["reading"]["readers"].items())
    said = (
        f"Products read, also those that are not in this set ({readers}): the share that most readers find valid, "
        "qualified and rightly labelled, and Cohen's κ of the two who read most."
    )
    return [said, _table(READING_COLUMNS, reading_rows(facts["reading"]))]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
