"""Every number with everything it is based on, and its parts: tables for looking things up."""

from collections.abc import Iterator, Sequence

from comdiv.experiments.reporting.numbers import (
    COMPOSITIONS,
    Breakdown,
    Number,
    Paired,
    by_seed_text,
    number_entry,
    number_id,
    paired_tone,
    paper_number,
    why_missing,
)
from comdiv.experiments.reporting.tables import (
    EMPTY,
    Column,
    Entry,
    Table,
    interval_text,
    p_text,
    percent,
    signed,
    signed_percent,
)


def breakdown_table(plan: str, found: Sequence[Breakdown]) -> Table | None:
    """Accuracy by operators, templates and subsets: each part pooled over seeds, with Wilson's interval."""
    names = sorted({name for one in found for name, share in one.parts.items() if share.n}, key=_part_order)
    if not names:
        return None
    columns = (
        Column("Method", number=False), Column("Dataset", number=False), Column("Coverage", number=False),
        *(Column(name) for name in names),
    )  # fmt: skip
    rows = tuple(
        (
            Entry(one.number.method, one.number.method), Entry(_dataset(one.number), _dataset(one.number)),
            Entry(one.number.facts.cover or "none"), *(_part_entry(one, name) for name in names),
        )
        for one in found
    )  # fmt: skip
    caption = (
        "Answer accuracy in percent on parts of the test set, over all seeds together; n counts each problem once."
    )
    return Table(f"{plan}-breakdown", "By operators, templates and composition", columns, rows, caption, long=True)


def numbers_table(plan: str, numbers: Sequence[Number]) -> Table:
    """One row per number: what it is based on, with the paper's number beside it."""
    columns = (
        Column("Method", number=False), Column("Dataset", number=False), Column("Part", number=False),
        Column("Coverage", number=False), Column("Accuracy"), Column("n"), Column("seeds"),
        Column("each", group="Over seeds", number=False), Column("low", group="Over seeds"),
        Column("high", group="Over seeds"),
        Column("low", group="Over problems"), Column("high", group="Over problems"),
        Column("accuracy", group="Paper"), Column("ours − paper", group="Paper"),
        Column("against", group="Paired test", number=False), Column("difference", group="Paired test"),
        Column("low", group="Paired test"), Column("high", group="Paired test"), Column("p", group="Paired test"),
        Column("by seed", group="Paired test", number=False), Column("Missing", number=False),
    )  # fmt: skip
    rows = tuple(_number_row(number) for number in numbers)
    caption = (
        "Percent. Over seeds: Student's 95 % interval of the mean. Over problems: Wilson's for the mean. "
        "Paired test: bootstrap over problems (10,000 draws, seed 0), each problem with its mean over common seeds; "
        "the differences by seed are beside it."
    )
    ids = tuple(number_id(number) for number in numbers)
    return Table(f"{plan}-numbers", "All numbers", columns, rows, caption, row_ids=ids, long=True)


def _part_entry(one: Breakdown, name: str) -> Entry:
    share = one.parts.get(name)
    if share is None or share.accuracy is None or share.interval is None:
        return EMPTY
    seeds = max(1, len(one.number.shares))
    return Entry(
        percent(share.accuracy), 100 * share.accuracy, (interval_text(share.interval), f"n = {share.n // seeds:,}")
    )


def _part_order(name: str) -> tuple[int, int, str]:
    first, _, rest = name.partition(" ")
    if rest.startswith("operator"):
        return (0, int(first) if first.isdigit() else 99, name)
    return (1 if first == "template" else 2 if name in COMPOSITIONS else 3, 0, name)


def _dataset(number: Number) -> str:
    rounds = "" if number.facts.rounds is None else f", {number.facts.rounds} rounds"
    target = "" if number.facts.target is None else f" (target {number.facts.target:g})"
    return f"{number.facts.dataset}{target}{rounds}"


def _number_row(number: Number) -> tuple[Entry, ...]:
    accuracy, name = number.accuracy, _dataset(number)
    part = number.part if number.subset is None else f"{number.part}, {number.subset}"
    seeds, missing = len(number.shares), why_missing(number)
    return (
        Entry(number.method, number.method),
        Entry(name, name),
        Entry(part, part),
        Entry(number.facts.cover or "none"),
        number_entry(number) if accuracy is None else _percent(accuracy),
        Entry(f"{number.n:,}", number.n),
        Entry(str(seeds), seeds, hint=", ".join(number.shares)),
        _each_seed(number),
        *_bounds(number.over_seeds),
        *_bounds(number.over_problems),
        *_paper_entries(number),
        *_paired_entries(number.paired[0] if number.paired else None),
        Entry(missing, missing, tone="failed") if missing else Entry("", ""),
    )


def _each_seed(number: Number) -> Entry:
    each = ", ".join(map(percent, number.accuracies))
    return Entry(each, each) if len(number.accuracies) > 1 else EMPTY


def _paper_entries(number: Number) -> tuple[Entry, Entry]:
    paper = paper_number(number)
    if paper is None:
        return EMPTY, EMPTY
    printed = Entry(f"{paper.percent:.1f}", paper.percent, hint=f"over problems {interval_text(paper.interval)}")
    if number.accuracy is None:
        return printed, EMPTY
    difference = 100 * number.accuracy - paper.percent
    return printed, Entry(signed(difference), difference)


def _paired_entries(paired: Paired | None) -> tuple[Entry, ...]:
    if paired is None:
        return (EMPTY,) * 6
    difference = Entry(signed_percent(paired.difference), 100 * paired.difference, tone=paired_tone((paired,)))
    against = Entry(paired.against, paired.against)
    each = by_seed_text(paired)
    by_seed = Entry(each, each) if len(paired.by_seed) > 1 else EMPTY
    return (against, difference, *_bounds(paired.interval), Entry(p_text(paired.p), paired.p), by_seed)


def _bounds(interval: tuple[float, float] | None) -> Iterator[Entry]:
    for bound in interval or (None, None):
        yield EMPTY if bound is None else _percent(bound)


def _percent(share: float) -> Entry:
    return Entry(percent(share).replace("-", "−"), 100 * share)
