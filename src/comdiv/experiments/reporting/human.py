"""Human evaluation (§V-D): what people think of augmented problems, how far they agree, and the paper's numbers beside.

Marks come from files: those named to the report, else whatever lies in the folder `judgements` of the results, where
`comdiv judge --out RUNS/judgements` leaves them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from comdiv.evaluation.judgements import read_judgement_files
from comdiv.evaluation.kappa import Agreement, Kappa, PairAgreement, agreement
from comdiv.evaluation.significance import wilson_interval
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.paper import read_paper
from comdiv.experiments.reporting.sections import Section
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table
from comdiv.experiments.reporting.wording import percent
from comdiv.experiments.store import JUDGEMENTS, judgement_files

_TEXT = Column("Judge", number=False)


def human_section(runs: Path, plans: Sequence[PlanResults], files: Sequence[Path] = ()) -> Section | None:
    """Shares, κ and the tables behind it; without marks, how to get them. None where nothing was augmented either."""
    chosen = list(files) or judgement_files(runs)
    augmented = [cell for plan in plans for cell in plan.of_kind("augmentation") if cell.status == "done"]
    if not chosen and not augmented:
        return None
    printed = read_paper().human_evaluation
    shares = " and ".join(map(str, printed["judged_good"]))
    paper = (
        f"In the paper, two people marked {printed['problems']} augmented problems: {shares} were judged good, "
        f"κ = {printed['kappa']:g} (§V-D)."
    )
    if not chosen:
        there = next((cell for cell in augmented if cell.file("dataset/train.jsonl") is not None), None)
        data = "AUGMENTED" if there is None else f"{runs.name}/cells/{there.key}/dataset"
        command = f"comdiv judge {data} --judge Ann --judge Ben --sample 100 --out {runs.name}/{JUDGEMENTS}"
        told = "Nobody has judged problems of these results yet"
        return _section(f"{paper} {told}: {command}, then make the report again.")
    found = agreement(read_judgement_files(chosen))
    told = f"{len(found.problems):,} problems, {len(found.judges)} judges. {paper}"
    return _section(told, (_shares_table(found), _kappa_table(found), *map(_pair_table, found.good.pairs)))


def _section(kicker: str, tables: tuple[Table, ...] = ()) -> Section:
    return Section("human-evaluation", "Human evaluation", kicker, tables, (), (), ())


def _shares_table(found: Agreement) -> Table:
    printed = read_paper().human_evaluation
    rows = [_share_row(share.judge, share.good, share.n) for share in found.good.shares]
    rows += [
        _share_row(f"the paper's judge {place}", good, printed["problems"])
        for place, good in enumerate(printed["judged_good"], start=1)
    ]
    columns = (_TEXT, Column("Good"), Column("of"), Column("Share"), Column("low"), Column("high"))
    caption = "Problems judged good, in percent with Wilson's 95 % interval: grammar, fluency and logic are all right."
    return Table("human-shares", "Problems judged good", columns, tuple(rows), caption)


def _share_row(judge: str, good: int, n: int) -> tuple[Entry, ...]:
    bounds = (_percent(bound) for bound in wilson_interval(good, n))
    return (Entry(judge, judge), Entry(f"{good:,}", good), Entry(f"{n:,}", n), _percent(good / n), *bounds)


def _kappa_table(found: Agreement) -> Table:
    printed = read_paper().human_evaluation
    rows = [(Entry(one.criterion, one.criterion), *_kappa_entries(one.kappa)) for one in found.criteria]
    paper = Entry(f"{printed['kappa']:g}", printed["kappa"])
    unknown = (EMPTY, EMPTY, EMPTY, EMPTY)
    rows.append((Entry("good, in the paper"), paper, *unknown, _count(printed["problems"])))
    columns = (
        Column("Criterion", number=False), Column("κ"), Column("low"), Column("high"),
        Column("Agreement", number=False), Column("same mark (%)"), Column("n"),
    )  # fmt: skip
    kind = "Cohen's" if len(found.judges) == 2 else "Fleiss'"
    caption = f"{kind} κ with its 95 % interval; the words are those of Landis and Koch."
    notes = ("No table with 83 and 84 good of 100 gives the paper's 0.71: the nearest are 0.67 and 0.75.",)
    return Table("human-agreement", "How far the judges agree", columns, tuple(rows), caption, notes)


def _kappa_entries(kappa: Kappa) -> Iterator[Entry]:
    yield EMPTY if kappa.value is None else Entry(f"{kappa.value:.2f}".replace("-", "−"), kappa.value)
    for bound in kappa.interval or (None, None):
        yield EMPTY if bound is None else Entry(f"{bound:.2f}".replace("-", "−"), bound)
    yield from (Entry(kappa.band, kappa.band), _percent(kappa.observed), _count(kappa.n))


def _pair_table(pair: PairAgreement) -> Table:
    first, second = pair.judges
    columns = (_TEXT, Column("good", group=second), Column("not good", group=second))
    rows = tuple(
        (Entry(f"{first}: {word}"), *(_count(count) for count in counts))
        for word, counts in zip(("good", "not good"), pair.table, strict=True)
    )
    return Table(f"human-table-{first}-{second}", f"{first} against {second}", columns, rows)


def _percent(share: float) -> Entry:
    return Entry(percent(share), 100 * share)


def _count(count: int) -> Entry:
    return Entry(f"{count:,}", count)
