"""Tables of numbers: methods against test sets as the paper prints them, curves, overlaps, and everything in full."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

from comdiv.evaluation import relative_gap
from comdiv.evaluation.significance import Interval
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.accuracies import (
    COMPOSITIONS,
    UNCOVERED,
    Line,
    Number,
    Pair,
    Paired,
    any_of,
    arrange,
    by_method,
    composition_numbers,
    has_curve,
    main_numbers,
    pairs,
    single_numbers,
    trainings_of,
)
from comdiv.experiments.reporting.cell_tables import compound_divergence
from comdiv.experiments.reporting.paper import read_paper
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
    tabulate,
)
from comdiv.experiments.work import IN_TRAIN, NOT_IN_TRAIN

Show = Callable[[Number], Entry]  # how a table shows an accuracy


def accuracy_entry(number: Number, *, against: str | None = None) -> Entry:
    """An accuracy with its context; a missing one says why.

    `against` is what it is tested against: by default the method without augmentation.
    """
    if number.accuracy is None:
        if any(cell.status == "failed" for cell in number.cells):
            return Entry("failed", None, tone="failed", hint=number.why_lacking, link=number.id)
        return Entry("not run", None, (), "missing", number.why_lacking, number.id) if number.lacking else EMPTY
    text, seeds, lines = percent(number.accuracy), len(number.shares), []
    if number.half_width is not None:
        text += f" ± {percent(number.half_width)}"
    if number.lacking:
        lines.append(f"{seeds} of {len(number.cells)} seeds")
    if (paper := number.paper) is not None:
        lines.append(f"paper {paper.percent:.1f} · {signed(100 * number.accuracy - paper.percent)}")
    if (paired := number.paired_with(against or number.facts.plain)) is not None:
        lines.append(signed_percent(paired.difference) + (f" on {paired.against}" if against is None else ""))
        lines.append(f"{interval_text(paired.interval)}, {p_text(paired.p)}")
        if against is None and len(paired.by_seed) > 1:
            lines.append(f"by seed {', '.join(map(signed_percent, paired.by_seed))}")
    hint = f"n = {number.n:,}, {seeds} seed{'' if seeds == 1 else 's'}"
    if number.over_problems is not None:
        hint += f"; over problems {interval_text(number.over_problems)}"
    tone = "" if paired is None else paired.verdict
    return Entry(text, 100 * number.accuracy, tuple(lines), tone, f"{hint}. {number.why_lacking}".strip(), number.id)


def _dataset(number: Number, *, target: bool = True) -> str:
    """The dataset's name with what distinguishes points of a curve on it."""
    aim = f" (target {number.facts.target:g})" if target and number.facts.target is not None else ""
    rounds = "" if number.facts.rounds is None else f", {number.facts.rounds} rounds"
    return f"{number.dataset}{aim}{rounds}"


def _column(title: str, key: object, show: Show, group: str) -> Column:
    """A column of a table whose rows are lines: the number that belongs in it."""
    return Column(title, group, show=lambda line: show(line[key]) if key in line else EMPTY)


_METHOD = Column.words("Method", lambda number: number.method)
_DATASET = Column.words("Dataset", lambda number: number.dataset)
_WHOLE_DATASET = Column.words("Dataset", _dataset)
_COVERAGE = Column("Coverage", number=False, show=lambda number: Entry(number.facts.cover or "none"))
_N = Column.numbers("n", lambda number: number.n or None)
_METHOD_OF_LINE = Column.words("Method", lambda line: any_of(line).method)


# --- as the paper prints them ---


def accuracy_table(plan: PlanResults, numbers: Sequence[Number], show: Show = accuracy_entry) -> Table | None:
    """Methods × test sets, with the relative gap where there is something to compare (Tables II and IV)."""
    records = single_numbers(numbers)
    compared = pairs(records)
    validated = {pair.easy for pair in compared if pair.easy[1] == "validation"}
    columns = [_METHOD_OF_LINE]
    for name in dict.fromkeys(number.dataset for number in records):
        parts = ("validation", "test") if (name, "validation") in validated else ("test",)
        columns += [_column(part, (name, part), show, name) for part in parts]
    columns += [Column(pair.title, "Relative gap", show=partial(_gap_entry, pair)) for pair in compared]
    caption = (
        "Answer accuracy in percent: mean over seeds ± half of its 95 % interval. "
        "Below it the paper's number with ours minus the paper's, and the paired difference from the method without "
        "augmentation on the same problems. Relative gap: accuracy without over accuracy with new compositions, less 1."
    )
    return tabulate(f"{plan.name}-accuracy", "Answer accuracy", columns, by_method(records).values(), caption)


def _gap_entry(pair: Pair, line: Line) -> Entry:
    both = pair.of(line)
    if both is None:
        return EMPTY
    gap = relative_gap(both.easy_accuracy, both.hard_accuracy)
    if gap is None:
        return Entry("∞", None, hint="no new composition is solved")
    lines: tuple[str, ...] = ()
    # Compared with the paper's gap only if the paper has both accuracies.
    if both.easy.paper is not None and both.hard.paper is not None and both.hard.facts.split != "length":
        printed = read_paper().gap(both.hard.method, pair.corpus)
        lines = () if printed is None else (f"paper {printed:g} · {signed(gap - printed, 2)}",)
    return Entry(signed(gap, 2).removeprefix("+"), gap, lines)


def composition_table(plan: PlanResults, numbers: Sequence[Number], show: Show = accuracy_entry) -> Table | None:
    """Accuracy on new structures and on known structures in new surroundings, separately (Table III)."""
    records = composition_numbers(numbers)
    lines = arrange(records, lambda number: number.method, lambda number: (number.dataset, number.subset))
    datasets = dict.fromkeys(number.dataset for number in records)
    columns = [_column(subset, (name, subset), show, name) for name in datasets for subset in COMPOSITIONS]
    caption = (
        "Structural: a new expression template. Lexical: a known template in surroundings in which it was not seen."
    )
    name, title = f"{plan.name}-compositions", "By what is new: structure or surroundings"
    return tabulate(name, title, [_METHOD_OF_LINE, *columns], lines, caption)


def coverage_table(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """The same trained solvers, decoded with and without the constraint that every quantity is used."""
    records = [n for n in numbers if n.part == "test" and n.subset is None and n.facts.rounds is None]
    titles = {"none": "without", "soft": "soft", "hard": "hard"}
    covers = [cover for cover in titles if any(n.facts.cover == cover for n in records)]
    if len(covers) < 2:
        return None
    lines = arrange(records, lambda n: (n.method, n.dataset, n.facts.target), lambda n: n.facts.cover)
    show = partial(accuracy_entry, against=UNCOVERED)
    columns = [_METHOD_OF_LINE, Column.words("Dataset", lambda line: any_of(line).dataset)]
    columns += [_column(titles[cover], cover, show, "Coverage constraint") for cover in covers]
    caption = "Answer accuracy on test when decoding must use every quantity of the text (hard), or is rewarded for it."
    return tabulate(f"{plan.name}-coverage", "With and without the coverage constraint", columns, lines, caption)


# --- curves ---

_CURVE_CAPTION = "Answer accuracy in percent on test: mean over seeds ± half of its 95 % interval."


def divergence_table(plan: PlanResults, numbers: Sequence[Number], show: Show = accuracy_entry) -> Table | None:
    """One row per split, by increasing target divergence (Figure 5a)."""
    records = [number for number in main_numbers(numbers) if number.part == "test"]
    if not has_curve(records):
        return None
    records.sort(key=lambda number: (number.facts.corpus or "", number.method, number.facts.target or 0.0))
    columns = [
        Column("Corpus", number=False, show=lambda number: Entry(number.facts.corpus or "", number.facts.corpus)),
        _METHOD,
        Column("asked for", "Compound divergence", show=_target_entry),
        Column.numbers(
            "reached", lambda number: compound_divergence(plan, number.cells[0]), ".2f", group="Compound divergence"
        ),
        Column("Accuracy", show=show),
        _N,
    ]
    return tabulate(f"{plan.name}-curve", "Accuracy against compound divergence", columns, records, _CURVE_CAPTION)


def _target_entry(number: Number) -> Entry:
    return Entry("i.i.d.", 0.0) if number.facts.target is None else Entry.number(number.facts.target, "g")


def rounds_table(plan: PlanResults, numbers: Sequence[Number], show: Show = accuracy_entry) -> Table | None:
    """One row per number of rounds (Figure 5b)."""
    records = [n for n in main_numbers(numbers) if n.part == "test" and n.facts.rounds is not None]

    def problems(number: Number) -> int | None:
        return next((int(count) for count in trainings_of(plan, number, "problems")), None)

    def seconds(number: Number) -> float | None:
        return fmean(times) if (times := trainings_of(plan, number, "seconds_per_epoch")) else None

    columns = [
        _METHOD,
        _DATASET,
        Column.numbers("Rounds", lambda number: number.facts.rounds),
        Column.numbers("Training problems", problems),
        Column("Accuracy", show=show),
        _N,
        Column.numbers("Seconds per epoch", seconds, ".1f"),
    ]
    title, caption = "Accuracy and time against rounds", f"{_CURVE_CAPTION} Times depend on the machine."
    return tabulate(f"{plan.name}-curve", title, columns, records, caption)


# --- test texts in the training set: augmentation can rejoin what a synthesis took apart ---


def overlap_table(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """One row per method with augmentation, and for others if training and test share a text."""
    parts = {None: "all", NOT_IN_TRAIN: "without them", IN_TRAIN: "on them"}
    records = [n for n in numbers if n.part == "test" and n.subset in parts and n.unconstrained]
    lines = arrange(
        records, lambda n: (n.method, n.dataset, n.facts.target, n.facts.rounds), lambda number: number.subset
    )
    lines = [line for line in lines if _has_overlap(line)]
    columns = [
        _METHOD_OF_LINE,
        Column.words("Dataset", lambda line: _dataset(line[IN_TRAIN], target=False)),
        Column.numbers("Test texts in train", lambda line: line[IN_TRAIN].n),
        Column.numbers("of", lambda line: line[IN_TRAIN].n + line[NOT_IN_TRAIN].n),
        *(_column(title, part, _bare_entry, "Accuracy") for part, title in parts.items()),
    ]
    caption = "Texts without their numbers; the training set is the augmented one. Answer accuracy in percent on test."
    return tabulate(f"{plan.name}-overlap", "Test texts in the training set", columns, lines, caption)


def _has_overlap(line: Line) -> bool:
    both = IN_TRAIN in line and NOT_IN_TRAIN in line
    return both and (line[IN_TRAIN].n > 0 or line[IN_TRAIN].facts.augmentation is not None)


def _bare_entry(number: Number) -> Entry:
    """Only the accuracy: comparisons are in the other tables."""
    whole = accuracy_entry(number)
    return EMPTY if number.accuracy is None else Entry(whole.text, whole.value, (), "", whole.hint, whole.link)


# --- everything in full, for looking things up ---


def breakdown_table(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """Accuracy by operators, templates and subsets: each part pooled over seeds, with Wilson's interval."""
    records = [number for number in numbers if number.part == "test" and number.subset is None and number.known]
    names = {name for number in records for name, share in number.breakdown.items() if share.n}
    parts = [Column(name, show=partial(_part_entry, name)) for name in sorted(names, key=_part_order)]
    columns = [_METHOD, _WHOLE_DATASET, _COVERAGE, *parts]
    caption = (
        "Answer accuracy in percent on parts of the test set, over all seeds together; n counts each problem once."
    )
    name, title = f"{plan.name}-breakdown", "By operators, templates and composition"
    return tabulate(name, title, columns, records, caption, long=True, detail=True) if parts else None


def _part_entry(name: str, number: Number) -> Entry:
    share = number.breakdown.get(name)
    if share is None or share.interval is None:
        return EMPTY
    n = share.n // max(1, len(number.shares))
    return Entry.share(share.accuracy, interval_text(share.interval), f"n = {n:,}")


def _part_order(name: str) -> tuple[int, int, str]:
    first, _, rest = name.partition(" ")
    if rest.startswith("operator"):
        return (0, int(first) if first.isdigit() else 99, name)
    return (1 if first == "template" else 2 if name in COMPOSITIONS else 3, 0, name)


def numbers_table(plan: PlanResults, numbers: Sequence[Number]) -> Table | None:
    """One row per number: what it is based on, with the paper's number beside it."""
    caption = (
        "Percent. Over seeds: Student's 95 % interval of the mean. Over problems: Wilson's for the mean. "
        "Paired test: bootstrap over problems (10,000 draws, seed 0), each problem with its mean over common seeds; "
        "the differences by seed are beside it."
    )
    ids = tuple(number.id for number in numbers)
    return tabulate(
        f"{plan.name}-numbers", "All numbers", _NUMBER_COLUMNS, numbers, caption, row_ids=ids, long=True, detail=True
    )


def _bounds(group: str, interval: Callable[[Number], Interval | None]) -> list[Column]:
    """The two ends of an interval."""
    return [
        Column.shares("low", lambda number: (interval(number) or (None, None))[0], group=group),
        Column.shares("high", lambda number: (interval(number) or (None, None))[1], group=group),
    ]


def _paired_column(title: str, show: Callable[[Paired], Entry], *, number: bool = True) -> Column:
    """Something of the first paired test, if there is one."""
    return Column(title, "Paired test", number, show=lambda one: show(one.paired[0]) if one.paired else EMPTY)


def _each_seed(values: Sequence[float], write: Callable[[float], str]) -> Entry:
    """Values of seeds, if there are several."""
    return Entry.words(", ".join(map(write, values))) if len(values) > 1 else EMPTY


def _paper_entry(number: Number) -> Entry:
    paper = number.paper
    if paper is None:
        return EMPTY
    return Entry(f"{paper.percent:.1f}", paper.percent, hint=f"over problems {interval_text(paper.interval)}")


def _paper_difference(number: Number) -> Entry:
    if number.paper is None or number.accuracy is None:
        return EMPTY
    difference = 100 * number.accuracy - number.paper.percent
    return Entry(signed(difference), difference)


def _difference_entry(paired: Paired) -> Entry:
    return Entry(signed_percent(paired.difference), 100 * paired.difference, tone=paired.verdict)


def _seeds_entry(number: Number) -> Entry:
    return Entry(str(len(number.shares)), len(number.shares), hint=", ".join(number.shares))


def _lacking_entry(number: Number) -> Entry:
    return Entry(number.why_lacking, number.why_lacking, tone="failed" if number.lacking else "")


_NUMBER_COLUMNS = (
    _METHOD,
    _WHOLE_DATASET,
    Column.words("Part", lambda number: ", ".join(filter(None, (number.part, number.subset)))),
    _COVERAGE,
    Column("Accuracy", show=lambda one: Entry.share(one.accuracy) if one.known else accuracy_entry(one)),
    Column.numbers("n", lambda number: number.n),
    Column("seeds", show=_seeds_entry),
    Column("each", "Over seeds", number=False, show=lambda number: _each_seed(number.accuracies, percent)),
    *_bounds("Over seeds", lambda number: number.over_seeds),
    *_bounds("Over problems", lambda number: number.over_problems),
    Column("accuracy", "Paper", show=_paper_entry),
    Column("ours − paper", "Paper", show=_paper_difference),
    _paired_column("against", lambda paired: Entry.words(paired.against), number=False),
    _paired_column("difference", _difference_entry),
    *_bounds("Paired test", lambda number: number.paired[0].interval if number.paired else None),
    _paired_column("p", lambda paired: Entry(p_text(paired.p), paired.p)),
    _paired_column("by seed", lambda paired: _each_seed(paired.by_seed, signed_percent), number=False),
    Column("Missing", number=False, show=_lacking_entry),
)
