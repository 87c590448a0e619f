"""The datasets of a plan as Table I has them: sizes, length ratio and divergences, the paper's numbers beside ours."""

from collections.abc import Mapping
from typing import Any

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.paper import PaperDataset, read_paper
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table, Tone
from comdiv.experiments.reporting.wording import percent, signed


def dataset_table(plan: PlanResults) -> Table | None:
    """A row for each dataset and each k it was measured at; None where a plan makes no dataset."""
    measured = plan.of_kind("measurement")
    sources = {source.key for cell in measured if (source := plan.ancestor(cell, "dataset")) is not None}
    cells = [*measured, *(cell for cell in plan.of_kind("dataset") if cell.key not in sources)]
    rows = tuple(_row(plan, cell) for cell in cells)
    if not rows:
        return None
    columns = (
        Column("Dataset", number=False), Column("Train"), Column("Test"), Column("k"),
        Column("Length ratio", help="mean text length in train over test"),
        Column("Atoms", group="Divergence", help="paper's α = 0.1"),
        Column("Compounds", group="Divergence", help="paper's α = 0.5"),
        Column("other clusterings", group="Divergence", help="the same split, quantities clustered with other seeds"),
        Column("i.i.d.", group="Divergence", help="compounds of random splits of the same size and k"),
        Column("unseen template", group="Test problems (%)"), Column("with a twin in train", group="Test problems (%)"),
    )  # fmt: skip
    caption = (
        "Train and validation together against test. Divergences as the paper defines them: near 0 the two sides are "
        "distributed alike, near 1 they share next to nothing. Twins differ in their numbers only."
    )
    return Table(f"{plan.name}-datasets", "Datasets", columns, rows, caption)


def measurement_of(plan: PlanResults, cell: Cell) -> Mapping[str, Any]:
    """What is known of a dataset's divergence: a measurement's report, or what the split wrote down."""
    if cell.status != "done":
        return {}
    if cell.kind == "measurement":
        return cell.summary
    return {} if cell.details is None else cell.details.dataset()


def compound_divergence(plan: PlanResults, cell: Cell) -> float | None:
    """Of the dataset that a cell comes from, at the paper's α; as it was measured, else as the split wrote it down."""
    source = plan.ancestor(cell, "dataset")
    measured = next((c for c in plan.of_kind("measurement") if source is not None and source.key in c.needs), source)
    return None if measured is None else _paper_alpha(measurement_of(plan, measured).get("compound_divergence"))


def _row(plan: PlanResults, cell: Cell) -> tuple[Entry, ...]:
    facts = cell.facts
    name = Entry(facts.dataset or cell.label, facts.dataset or cell.label)
    if cell.status != "done":
        tone: Tone = "failed" if cell.status == "failed" else "missing"
        return (name, Entry(cell.status, None, tone=tone, hint=cell.reason), *[EMPTY] * 9)
    known = measurement_of(plan, cell)
    paper = None if facts.target is not None else read_paper().dataset(facts.corpus, facts.split)
    train, test = _sizes(plan, cell, known)
    return (
        name,
        _count(train, None if paper is None else paper.train),
        _count(test, None if paper is None else paper.test),
        _plain(known.get("k", facts.k), 0),
        _ratio(known.get("length_ratio"), paper, "length_ratio"),
        _ratio(_paper_alpha(known.get("atom_divergence")), paper, "atom_divergence"),
        _ratio(_paper_alpha(known.get("compound_divergence")), paper, "compound_divergence"),
        _plain(known.get("compound_divergence_other_clusterings"), 2),
        _plain(known.get("iid_compound_divergence"), 2),
        _share(known.get("unseen_template_share")),
        _share(known.get("twin_share")),
    )


def _sizes(plan: PlanResults, cell: Cell, known: Mapping[str, Any]) -> tuple[int | None, int | None]:
    if known.get("train_size") is not None:
        return known["train_size"], known["test_size"]
    source = cell if cell.kind == "dataset" else plan.ancestor(cell, "dataset")
    problems = (source.summary if source is not None else {}).get("problems")
    if not problems:
        return None, None
    return problems["train"] + problems["validation"], problems["test"]


def _paper_alpha(divergence: Any) -> float | None:
    """Divergences are recorded at both presets of α; tables show the paper's."""
    return divergence.get("paper") if isinstance(divergence, Mapping) else divergence


def _count(value: int | None, paper: int | None) -> Entry:
    if value is None:
        return EMPTY
    return Entry(f"{value:,}", value, () if paper is None else (f"paper {paper:,}",))


def _ratio(value: float | None, paper: PaperDataset | None, name: str) -> Entry:
    if value is None:
        return EMPTY
    printed = None if paper is None else float(getattr(paper, name))
    return Entry(
        f"{value:.2f}", value, () if printed is None else (f"paper {printed:.2f} · {signed(value - printed, 2)}",)
    )


def _plain(value: float | None, digits: int) -> Entry:
    return EMPTY if value is None else Entry(f"{value:.{digits}f}", value)


def _share(value: float | None) -> Entry:
    return EMPTY if value is None else Entry(percent(value), 100 * value)
