"""What a synthetic dataset's folder says about itself: counts for each rule, abandoned seeds, divergences, novelty."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comdiv.files import write_text

REPORT = "report.md"
PAPER_DIVERGENCES = {"compound": 0.82, "atom": 0.01}  # of the paper's SD, Table I
_SHOWN_REASONS = 3


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
        "its rule, seed and donor in its provenance.",
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
    """A line for each rule: id, template, products, problems, seeds, made, chosen, why abandoned."""
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
    lines = [RULE_COLUMNS, tuple("---" for _ in RULE_COLUMNS), *rule_rows(facts)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
