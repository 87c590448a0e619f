"""The report on an augmentation: new problems and templates by operation and round, refusals by check, samples."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median_low
from typing import Any

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.proposals import PASSED, operation_label
from comdiv.augmentation.source import AugmentationSource
from comdiv.expression import format_number, shape, template, to_infix
from comdiv.problem import Problem
from comdiv.registry import OPERATIONS

REPORT = "report.json"
SAMPLES = 12  # per operation


def round_facts(
    number: int,
    checks: Mapping[str, Any],
    candidates: Sequence[Problem],
    additions: Sequence[Problem],
    current: Sequence[Problem],
    scores: Mapping[str, float] | None,
) -> dict[str, Any]:
    """The numbers of one round; `current` is the training set at its start, `scores` are the ranker's."""
    templates, shapes = _names(current, template), _names(current, shape)
    facts: dict[str, Any] = {"round": number, "drawn": checks["drawn"]}
    if scores is not None:
        facts["least_score_kept"] = _one_of([scores[problem.id] for problem in additions], min)
    for operation in (label for label in checks if label != "drawn"):
        mine = [problem for problem in additions if problem.provenance.operation == operation]
        counts = Counter(checks[operation])
        facts[operation] = {
            "drafts": counts.total(),
            "passed": counts[PASSED],
            "candidates": sum(problem.provenance.operation == operation for problem in candidates),
            "kept": len(mine),
            "new_templates": len(_names(mine, template) - templates),
            "new_shapes": len(_names(mine, shape) - shapes),
            "repaired": dict(sorted(Counter(repair for new in mine for repair in repairs_of(new)).items())),
            "refused": {name: count for name, count in sorted(counts.items()) if name != PASSED},
        }
        if scores is not None:
            ranked = [scores[new.id] for new in candidates if new.provenance.operation == operation]
            facts[operation]["median_score"] = _one_of(ranked, median_low)
    return facts


def repairs_of(problem: Problem) -> list[str]:
    """What was changed in the parents' texts so that a new problem makes sense, according to its provenance."""
    details = problem.provenance.details
    told = {
        "the host's step told again about the story": "sequel" in details,
        "numbers drawn anew": details.get("numbers") == "drawn",
        "people or things exchanged throughout": "exchanged" in details,
    }
    return [repair for repair, there in told.items() if there]


def _one_of(scores: Sequence[float], of: Callable[[Sequence[float]], float]) -> float | None:
    """One of the scores; None if there are none, or if the ranker cannot spell the expression."""
    score = of(scores) if scores else -math.inf
    return score if math.isfinite(score) else None


def _names(problems: Iterable[Problem], name: Any) -> set[str]:
    return {name(problem.expression) for problem in problems if problem.expression is not None}


def make_report(
    data: AugmentationSource,
    options: AugmentationOptions,
    rounds: Sequence[dict[str, Any]],
    new: Sequence[Problem],
    size: int,
    compounds: Sequence[Problem] = (),
) -> dict[str, Any]:
    """The whole report, as written to `report.json`. The same data, options and seed give the same report."""
    return {
        "source": data.facts,
        "options": options.facts(),
        "originals": len(data.train),
        "new": len(new),
        "train": size,
        "templates": _known_and_new(data.train, new, template),
        "shapes": _known_and_new(data.train, new, shape),
        "validation": {"given": len(data.validation), "new": len(compounds)},
        "rounds": list(rounds),
        "samples": {
            label: _samples(new, label, options.seed) for label in map(operation_label, options.operation_names)
        },
    }


def operations_of(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and label of every operation in a report: `1`, `operation 1`."""
    return [(label.removeprefix(operation_label("")), label) for label in report["samples"]]


def _known_and_new(train: Iterable[Problem], new: Iterable[Problem], name: Any) -> dict[str, int]:
    before = _names(train, name)
    return {"before": len(before), "new": len(_names(new, name) - before)}


def _samples(new: Sequence[Problem], operation: str, seed: int) -> list[dict[str, Any]]:
    mine = [problem for problem in new if problem.provenance.operation == operation]
    return [
        {
            "id": problem.id,
            "text": problem.text,
            "expression": "" if problem.expression is None else to_infix(problem.expression),
            "answer": None if problem.answer is None else format_number(problem.answer),
        }
        for problem in random.Random(seed).sample(mine, min(SAMPLES, len(mine)))
    ]


def report_markdown(report: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    lines = ["# Augmentation", "", *card_paragraphs(report), "", *_rounds_table(report), "", *_checks_table(report)]
    for operation, samples in report["samples"].items():
        lines += ["", f"## Samples of {operation}", ""]
        lines += [f"- {s['text']} — `{s['expression']}` = {s['answer']}" for s in samples] or ["None."]
    return "\n".join(lines) + "\n"


def card_paragraphs(report: Mapping[str, Any]) -> list[str]:
    """What the dataset's card says about the augmentation."""
    options = report["options"]
    new: list[str] = []
    for name, label in operations_of(report):
        title = OPERATIONS.get(name).title
        kept = sum(entry[label]["kept"] for entry in report["rounds"])
        new.append(f"{kept:,}{'' if new else ' new ones'} by {label}" + (f" ({title})" if title else ""))
    ranker = options["scorer"] if options["rank"] == "coherence" else options["ranker"]
    ranked = "no ranker" if ranker == "none" else f"ranked by {ranker} ({options['rank']})"
    rounds = f"{len(report['rounds'])} round{'s' if len(report['rounds']) > 1 else ''}"
    return [
        f"{report['originals']:,} problems became {report['train']:,} in {rounds}: {', '.join(new)}. "
        f"New to the training set are {report['templates']['new']:,} templates and {report['shapes']['new']:,} shapes.",
        *_validation_paragraph(report["validation"]),
        f"{_composition(options)}, checks {options['checks']}, {ranked}, seed {options['seed']}.",
    ]


def _composition(options: Mapping[str, Any]) -> str:
    """How operation 1 joined two problems; what it matched matters only where it pasted."""
    match = f"match by {options['match']}"
    told = {"unify": "Compounds of one story", "both": f"Half of the compounds of one story, half pasted ({match})"}
    return told.get(options.get("compose", "paste"), match.capitalize())


def _validation_paragraph(counts: Mapping[str, int]) -> list[str]:
    if not counts["new"]:
        return []
    return [
        f"Validation has {counts['new']:,} more, by operation 1 from its own {counts['given']:,} problems alone: "
        "compounds for early stopping. Measure accuracy on the given ones."
    ]


def _rounds_table(report: Mapping[str, Any]) -> list[str]:
    rows = ["| round | operation | drafts | passed | candidates | kept | new templates | new shapes | median score |"]
    rows.append("| --- " * 9 + "|")
    keys = ("drafts", "passed", "candidates", "kept", "new_templates", "new_shapes")
    for entry in report["rounds"]:
        for name, label in operations_of(report):
            values = " | ".join(f"{entry[label][key]:,}" for key in keys)
            score = entry[label].get("median_score")
            rows.append(f"| {entry['round']} | {name} | {values} | {'–' if score is None else f'{score:.4f}'} |")
    return rows


def _checks_table(report: Mapping[str, Any]) -> list[str]:
    """The share of drafts that each check refused; what else was left out; of those kept, how many were repaired, and
    how.
    """
    rows = ["| operation | fate | drafts | share |", "| --- | --- | --- | --- |"]
    for name, label in operations_of(report):
        counts: Counter[str] = Counter()
        for entry in report["rounds"]:
            counts.update(entry[label]["refused"])
            counts[PASSED] += entry[label]["passed"]
        drafts = counts.total()
        candidates, kept = (sum(entry[label][key] for entry in report["rounds"]) for key in ("candidates", "kept"))
        left_out = {
            "left out: text of another draft, or beyond a quota or the growth of a round": counts[PASSED] - candidates,
            "left out: ranked lower, or beyond the greatest size": candidates - kept,
        }
        others = Counter({**{fate: count for fate, count in left_out.items() if count}, "kept": kept})
        for entry in report["rounds"]:
            others.update({f"kept, repaired: {repair}": n for repair, n in entry[label].get("repaired", {}).items()})
        refused = [(fate if fate == PASSED else f"refused: {fate}", count) for fate, count in counts.most_common()]
        for fate, count in (*refused, *others.items()):
            rows.append(f"| {name} | {fate} | {count:,} | {count / max(1, drafts):.1%} |")
    return rows
