"""An accuracy as it stands in a table: with its interval, the paper's number, the paired test, or why it is missing."""

import hashlib
from collections.abc import Sequence

from comdiv.experiments.reporting.numbers import Number, Paired
from comdiv.experiments.reporting.paper import ROUNDS, PaperNumber, read_paper
from comdiv.experiments.reporting.tables import EMPTY, Entry, Tone
from comdiv.experiments.reporting.wording import interval_text, p_text, percent, signed, signed_percent

SIGNIFICANT = 0.05


def number_id(number: Number) -> str:
    """Where a number stands on the page: the same for the same plan, method, dataset and part."""
    told = (number.plan, number.method, repr(number.facts), number.part, number.subset)
    return f"number-{hashlib.sha256(repr(told).encode()).hexdigest()[:12]}"


def number_entry(number: Number, *, against: str | None = None) -> Entry:
    """An accuracy with what a reader wants to know beside it; what is missing says why.

    `against` is what it is tested against: the method without augmentation unless something else is named.
    """
    lacking = number.lacking
    reasons = why_missing(number)
    if number.accuracy is None:
        if any(cell.status == "failed" for cell in number.cells):
            return Entry("failed", None, tone="failed", hint=reasons, link=number_id(number))
        if lacking:
            return Entry("not run", None, tone="missing", hint=reasons, link=number_id(number))
        return EMPTY
    text = percent(number.accuracy)
    if number.half_width is not None:
        text += f" ± {percent(number.half_width)}"
    lines = [f"{len(number.shares)} of {len(number.cells)} seeds"] if lacking else []
    if (paper := paper_number(number)) is not None:
        lines.append(f"paper {paper.percent:.1f} · {signed(100 * number.accuracy - paper.percent)}")
    tested = [paired for paired in number.paired if paired.against == (against or number.facts.plain)]
    for paired in tested:
        lines.append(
            f"{signed_percent(paired.difference)} on {paired.against}"
            if against is None
            else signed_percent(paired.difference)
        )
        lines.append(f"{interval_text(paired.interval)}, {p_text(paired.p)}")
        if against is None and len(paired.by_seed) > 1:
            lines.append(f"by seed {by_seed_text(paired)}")
    hint = f"n = {number.n:,}, {len(number.shares)} seed{'' if len(number.shares) == 1 else 's'}"
    if number.over_problems is not None:
        hint += f"; over problems {interval_text(number.over_problems)}"
    return Entry(
        text,
        100 * number.accuracy,
        tuple(lines),
        paired_tone(tested),
        f"{hint}. {reasons}".strip(),
        number_id(number),
    )


def by_seed_text(paired: Paired) -> str:
    """The difference with each seed, in points: what the interval over problems does not tell."""
    return ", ".join(signed_percent(difference) for difference in paired.by_seed)


def paper_number(number: Number) -> PaperNumber | None:
    """What the paper prints for the same method, corpus, split, part and number of rounds."""
    same = number.facts.cover in (None, "none") and number.facts.rounds in (None, ROUNDS)
    return read_paper().accuracy(number.method, number.place) if same else None


def why_missing(number: Number) -> str:
    """The cells that a number lacks, with their reasons."""
    return "; ".join(
        f"{cell.label}: {cell.status}{f' ({cell.reason})' if cell.reason else ''}" for cell in number.lacking
    )


def paired_tone(found: Sequence[Paired]) -> Tone:
    """Better or worse than what it is compared with, if the test decides it."""
    decided = [paired for paired in found if paired.p < SIGNIFICANT]
    if not decided:
        return ""
    return "better" if decided[0].difference > 0 else "worse"
