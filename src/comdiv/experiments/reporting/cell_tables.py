"""Tables about a plan's cells: its datasets as in Table I, the rounds of its augmentations, its trainings, and how to
reproduce its numbers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.paper import PaperDataset, read_paper
from comdiv.experiments.reporting.tables import EMPTY, Column, Entry, Table, Tone, duration, percent, signed


def dataset_table(plan: PlanResults) -> Table | None:
    """One row per dataset and k it was measured at; None if the plan makes no dataset."""
    measured = plan.of_kind("measurement")
    sources = {source.key for cell in measured if (source := plan.ancestor(cell, "dataset")) is not None}
    cells = [*measured, *(cell for cell in plan.of_kind("dataset") if cell.key not in sources)]
    rows = tuple(_dataset_row(plan, cell) for cell in cells)
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
    """A dataset's divergences: from a measurement's report, or from what the split recorded."""
    if cell.status != "done":
        return {}
    if cell.kind == "measurement":
        return cell.summary
    return {} if cell.details is None else cell.details.dataset()


def compound_divergence(plan: PlanResults, cell: Cell) -> float | None:
    """The divergence of a cell's dataset at the paper's α: as measured, or else as the split recorded it."""
    source = plan.ancestor(cell, "dataset")
    measured = next((c for c in plan.of_kind("measurement") if source is not None and source.key in c.needs), source)
    return None if measured is None else _paper_alpha(measurement_of(plan, measured).get("compound_divergence"))


def _dataset_row(plan: PlanResults, cell: Cell) -> tuple[Entry, ...]:
    facts = cell.facts
    name = Entry(facts.dataset or cell.label, facts.dataset or cell.label)
    if cell.status != "done":
        tone: Tone = "failed" if cell.status == "failed" else "missing"
        return (name, Entry(cell.status, None, tone=tone, hint=cell.reason), *[EMPTY] * 9)
    known = measurement_of(plan, cell)
    paper = None if facts.target is not None else read_paper().dataset(facts.corpus, facts.split)
    train, test = _dataset_sizes(plan, cell, known)
    return (
        name,
        _count_entry(train, None if paper is None else paper.train),
        _count_entry(test, None if paper is None else paper.test),
        _number_text(known.get("k", facts.k), 0),
        _ratio_entry(known.get("length_ratio"), paper, "length_ratio"),
        _ratio_entry(_paper_alpha(known.get("atom_divergence")), paper, "atom_divergence"),
        _ratio_entry(_paper_alpha(known.get("compound_divergence")), paper, "compound_divergence"),
        _number_text(known.get("compound_divergence_other_clusterings"), 2),
        _number_text(known.get("iid_compound_divergence"), 2),
        _share_entry(known.get("unseen_template_share")),
        _share_entry(known.get("twin_share")),
    )


def _dataset_sizes(plan: PlanResults, cell: Cell, known: Mapping[str, Any]) -> tuple[int | None, int | None]:
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


def _count_entry(value: int | None, paper: int | None) -> Entry:
    if value is None:
        return EMPTY
    return Entry(f"{value:,}", value, () if paper is None else (f"paper {paper:,}",))


def _ratio_entry(value: float | None, paper: PaperDataset | None, name: str) -> Entry:
    if value is None:
        return EMPTY
    printed = None if paper is None else float(getattr(paper, name))
    return Entry(
        f"{value:.2f}", value, () if printed is None else (f"paper {printed:.2f} · {signed(value - printed, 2)}",)
    )


def _number_text(value: float | None, digits: int) -> Entry:
    return EMPTY if value is None else Entry(f"{value:.{digits}f}", value)


def _share_entry(value: float | None) -> Entry:
    return EMPTY if value is None else Entry(percent(value), 100 * value)


_ROUNDS_CAPTION = (
    "New problems that passed the checks, and those that stayed: all, or the share that the ranker was surest of. "
    "Templates that the training set did not have before the round."
)
_SCORES_CAPTION = (
    " Scores: the median of each operation's problems, and the least that was kept; the logarithm of the probability "
    "of the ranker's own best expression, unless the augmentation ranks otherwise."
)
_ROUNDS_COLUMNS = (
    Column("Augmentation", number=False), Column("Dataset", number=False), Column("Ranker", number=False),
    Column("Round"), Column("passed", group="Operation 1"), Column("kept", group="Operation 1"),
    Column("new templates", group="Operation 1"), Column("passed", group="Operation 2"),
    Column("kept", group="Operation 2"),
)  # fmt: skip
_SCORE_COLUMNS = (
    Column("operation 1", group="Median score"), Column("operation 2", group="Median score"),
    Column("Least score kept"),
)  # fmt: skip


def augmentation_table(plan: PlanResults) -> Table | None:
    """One row per round of each finished augmentation."""
    rounds = [
        (cell, found)
        for cell in plan.of_kind("augmentation")
        if cell.status == "done"
        for found in cell.summary["report"]["rounds"]
    ]
    if not rounds:
        return None
    name, title = f"{plan.name}-augmentations", "Rounds of the augmentation"
    rows = [(*_augmentation_names(cell), *_round_counts(found)) for cell, found in rounds]
    if not any("least_score_kept" in found for _, found in rounds):
        return Table(name, title, _ROUNDS_COLUMNS, tuple(rows), _ROUNDS_CAPTION)
    rows = [(*row, *_round_scores(found)) for row, (_, found) in zip(rows, rounds, strict=True)]
    return Table(name, title, (*_ROUNDS_COLUMNS, *_SCORE_COLUMNS), tuple(rows), _ROUNDS_CAPTION + _SCORES_CAPTION)


def _augmentation_names(cell: Cell) -> list[Entry]:
    seed = f", seed {cell.facts.augmentation_seed}" if cell.facts.augmentation_seed else ""
    ranker = str(cell.summary["report"]["options"]["ranker"])
    names = (f"{cell.facts.augmentation}{seed}", cell.facts.dataset or "", ranker)
    return [Entry(name, name) for name in names]


def _round_counts(found: Mapping[str, Any]) -> list[Entry]:
    first, second = found.get("operation 1", {}), found.get("operation 2", {})
    counts = (
        found["round"], first.get("candidates", 0), first.get("kept", 0), first.get("new_templates", 0),
        second.get("candidates", 0), second.get("kept", 0),
    )  # fmt: skip
    return [Entry(f"{count:,}", count) for count in counts]


def _round_scores(found: Mapping[str, Any]) -> list[Entry]:
    medians = (found.get(operation, {}).get("median_score") for operation in ("operation 1", "operation 2"))
    return [
        EMPTY if score is None else Entry(f"{score:.3g}".replace("-", "−"), score)
        for score in (*medians, found.get("least_score_kept"))
    ]


_TRAININGS_CAPTION = (
    "Means over seeds. Seconds are processor time: they depend on the machine, but not on what else runs on it."
)
_TRAININGS_COLUMNS = (
    Column("Method", number=False), Column("Dataset", number=False), Column("Seeds"), Column("Training problems"),
    Column("Epochs"), Column("Best epoch"), Column("Seconds per epoch"),
)  # fmt: skip


def training_table(plan: PlanResults) -> Table | None:
    """One row per method and dataset; trainings with other rounds or settings have rows of their own."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in plan.of_kind("training"):
        if cell.status == "done" and cell.summary.get("problems") is not None:
            facts = cell.facts
            changed = [f"{name}={value}" for name, value in facts.settings.items()] if plan.plan.get("tuning") else []
            rounds = [] if facts.rounds is None else [f"{facts.rounds} rounds"]
            named = ", ".join([facts.method or "", *rounds, *changed])
            groups.setdefault((named, facts.dataset or ""), []).append(cell)
    if not groups:
        return None
    rows = [
        (
            Entry(method, method), Entry(dataset, dataset), Entry(str(len(cells)), len(cells)),
            _mean(cells, "problems", ",.0f"), _mean(cells, "epochs", ".3g"), _mean(cells, "best_epoch", ".3g"),
            _mean(cells, "seconds_per_epoch", ".1f"),
        )
        for (method, dataset), cells in groups.items()
    ]  # fmt: skip
    return Table(f"{plan.name}-trainings", "Trainings", _TRAININGS_COLUMNS, tuple(rows), _TRAININGS_CAPTION)


def _mean(cells: Sequence[Cell], name: str, form: str) -> Entry:
    values = [float(cell.summary[name]) for cell in cells if cell.summary.get(name) is not None]
    return Entry(format(fmean(values), form), fmean(values)) if values else EMPTY


_TONES: Mapping[str, Tone] = {"done": "", "failed": "failed", "not run": "missing"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is needed to run a plan again, and its progress."""

    command: str
    plan: Mapping[str, Any]
    seeds: tuple[int, ...]
    versions: Mapping[str, str]
    hosts: tuple[str, ...]
    seconds: float
    states: Mapping[str, int]  # done, failed, not run → how many cells


def recipe(plan: PlanResults) -> Recipe:
    """How a plan was run."""
    name = plan.name.partition("@")[0]
    preset = f" --preset {plan.preset}" if plan.preset else ""
    versions: dict[str, set[str]] = {}
    for cell in plan.cells:
        for package, version in cell.origin.get("versions", {}).items():
            versions.setdefault(package, set()).add(str(version))
    out = "runs" if plan.published else plan.path.parent.parent.name
    return Recipe(
        command=f"comdiv run experiments/{name}.yaml{preset} --out {out}",
        plan=plan.plan,
        seeds=tuple(sorted({cell.facts.seed for cell in plan.cells if cell.facts.seed is not None})),
        versions={package: ", ".join(sorted(found)) for package, found in sorted(versions.items())},
        hosts=tuple(sorted({cell.origin["host"] for cell in plan.cells if cell.origin.get("host")})),
        seconds=sum(cell.seconds or 0 for cell in plan.cells),
        states=dict(Counter(cell.status for cell in plan.cells)),
    )


def cell_table(plan: PlanResults) -> Table:
    """Every cell of a plan: its state, where it ran, how long it took, and the hash of its result."""
    columns = (
        Column("Cell", number=False), Column("Kind", number=False), Column("State", number=False), Column("Time"),
        Column("Where", number=False), Column("Key", number=False, help="has the hash of all that determines the cell"),
        Column("Result's SHA-256", number=False),
    )  # fmt: skip
    rows = tuple(_cell_row(cell) for cell in plan.cells)
    ids = tuple(f"{plan.name}-{cell.key}" for cell in plan.cells)
    return Table(f"{plan.name}-cells", "Cells", columns, rows, row_ids=ids, long=True)


def _cell_row(cell: Cell) -> tuple[Entry, ...]:
    where = " ".join(part for part in (cell.origin.get("host"), cell.node) if part)
    name, digest = _result_hash(cell)
    state = Entry(cell.status, cell.status, (cell.reason,) if cell.reason else (), _TONES[cell.status])
    time = Entry("", None) if cell.seconds is None else Entry(duration(cell.seconds), cell.seconds)
    return (
        Entry(cell.label, cell.label),
        Entry(cell.kind, cell.kind),
        state,
        time,
        Entry(where, where, hint=cell.origin.get("finished") or ""),
        Entry(cell.key, cell.key),
        Entry(digest[:16], digest, (name,) if name else (), hint=digest),
    )


# The file that is a cell's result, by kind; the first one that exists.
_RESULTS = (
    "test/predictions.jsonl",
    "run/model.safetensors",
    "run/metrics.jsonl",
    "measurement/report.json",
    "dataset/train.jsonl",
)


def _result_hash(cell: Cell) -> tuple[str, str]:
    """The file that is a cell's result, with its hash."""
    origin = cell.origin
    hashes = {name: str(entry.get("sha256", "")) for name, entry in origin.get("files", {}).items()}
    hashes |= origin.get("originals", {})  # of published results: what they were made from
    name = next((name for name in _RESULTS if name in hashes), next(iter(hashes), ""))
    return name, hashes.get(name, "")
