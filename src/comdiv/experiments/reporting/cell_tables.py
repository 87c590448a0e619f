"""Tables about a plan's cells: its datasets as in Table I, the rounds of its augmentations, its trainings, and how to
reproduce its numbers.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean, mean
from typing import Any

from comdiv.augmentation.augmentation_options import PAPER_OPERATIONS
from comdiv.experiments.cell import Cell, PlanResults, Record
from comdiv.experiments.reporting.paper import PaperDataset, read_paper
from comdiv.experiments.reporting.tables import Column, Entry, Table, Tone, duration, signed, tabulate

_TONES: Mapping[str, Tone] = {"done": "", "failed": "failed", "not run": "missing"}


# --- datasets ---


@dataclass(frozen=True, slots=True)
class _Divergences:
    """The known divergences of a cell's dataset, and the paper's row for it."""

    cell: Cell
    known: Record
    sizes: tuple[int | None, int | None]  # train and validation together, test
    paper: PaperDataset | None


def dataset_table(plan: PlanResults, numbers: Sequence[Any] = ()) -> Table | None:
    """One row per dataset and k it was measured at; None if the plan makes no dataset (Table I)."""
    measurements = plan.of_kind("measurement")
    sources = {source.key for cell in measurements if (source := plan.ancestor(cell, "dataset")) is not None}
    cells = [*measurements, *(cell for cell in plan.of_kind("dataset") if cell.key not in sources)]
    caption = (
        "Train and validation together against test. Divergences as the paper defines them: near 0 the two sides are "
        "distributed alike, near 1 they share next to nothing. Twins differ in their numbers only."
    )
    rows = [_divergences(plan, cell) for cell in cells]
    return tabulate(f"{plan.name}-datasets", "Datasets", _DATASET_COLUMNS, rows, caption)


def measurement_of(cell: Cell) -> Record:
    """A dataset's divergences: from a measurement's report, or from what the split recorded."""
    if cell.status != "done":
        return {}
    if cell.kind == "measurement":
        return cell.summary
    return {} if cell.details is None else cell.details.dataset()


def compound_divergence(plan: PlanResults, cell: Cell) -> float | None:
    """The divergence of a cell's dataset at the paper's α: as measured, or else as the split recorded it."""
    source = plan.ancestor(cell, "dataset")
    measurement = next((c for c in plan.of_kind("measurement") if source is not None and source.key in c.needs), source)
    return None if measurement is None else _paper_alpha(measurement_of(measurement).get("compound_divergence"))


def split_families(plan: PlanResults) -> dict[str, str]:
    """Dataset → the name of the splits that differ from it in nothing but the seed, if there are any."""
    alike: dict[str, list[str]] = defaultdict(list)
    for cell in plan.of_kind("dataset"):
        options = cell.recipe.get("split")
        if cell.status == "done" and isinstance(options, Mapping) and cell.facts.target is None:
            split = {name: value for name, value in options.items() if name != "seed"}
            alike[json.dumps({**cell.recipe, "split": split}, sort_keys=True)].append(cell.facts.dataset or "")
    return {
        name: _beginning(names).rstrip("-. ") or names[0]
        for names in alike.values()
        if len(names) > 1
        for name in names
    }


def _beginning(names: Sequence[str]) -> str:
    """The common beginning of several names."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in same)


def _divergences(plan: PlanResults, cell: Cell) -> _Divergences:
    facts, known = cell.facts, measurement_of(cell)
    paper = None if facts.target is not None else read_paper().dataset(facts.corpus, facts.split)
    source = cell if cell.kind == "dataset" else plan.ancestor(cell, "dataset")
    problems = (source.summary if source is not None else {}).get("problems")
    if known.get("train_size") is not None:
        sizes = known["train_size"], known["test_size"]
    elif problems:
        sizes = problems["train"] + problems["validation"], problems["test"]
    else:
        sizes = None, None
    return _Divergences(cell, known, sizes, paper)


def _paper_alpha(divergence: Any) -> float | None:
    """Divergences are recorded at both presets of α; tables show the paper's."""
    return divergence.get("paper") if isinstance(divergence, Mapping) else divergence


def _train_entry(row: _Divergences) -> Entry:
    """The size, or why there is none."""
    cell = row.cell
    return (
        _size_entry(row, 0) if cell.status == "done" else Entry(cell.status, None, (), _TONES[cell.status], cell.reason)
    )


def _size_entry(row: _Divergences, side: int) -> Entry:
    if row.cell.status != "done" or row.paper is None:
        return Entry.number(row.sizes[side] if row.cell.status == "done" else None)
    return Entry.number(row.sizes[side], ",", f"paper {(row.paper.train, row.paper.test)[side]:,}")


def _paper_column(title: str, name: str, group: str = "", help: str = "") -> Column:
    """A measure that the paper's Table I has, too."""

    def show(row: _Divergences) -> Entry:
        value = _paper_alpha(row.known.get(name))
        if value is None or row.paper is None:
            return Entry.number(value, ".2f")
        printed = float(getattr(row.paper, name))
        return Entry.number(value, ".2f", f"paper {printed:.2f} · {signed(value - printed, 2)}")

    return Column(title, group, help=help, show=show)


def _without_operator(side: str) -> Column:
    """The share of a side's problems that have no compound."""
    return Column.shares(
        side, lambda row: (row.known.get("without_operator_share") or {}).get(side), group="Without operator (%)"
    )


_DATASET_COLUMNS = (
    Column.words("Dataset", lambda row: row.cell.facts.dataset or row.cell.label),
    Column("Train", show=_train_entry),
    Column("Test", show=lambda row: _size_entry(row, 1)),
    Column.numbers("k", lambda row: row.known.get("k", row.cell.facts.k) if row.cell.status == "done" else None, ".0f"),
    _paper_column("Length ratio", "length_ratio", help="mean text length in train over test"),
    _paper_column("Atoms", "atom_divergence", "Divergence", "paper's α = 0.1"),
    _paper_column("Compounds", "compound_divergence", "Divergence", "paper's α = 0.5, clusterings of the search"),
    Column.numbers(
        "held-out", lambda row: row.known.get("compound_divergence_other_clusterings"), ".2f",
        group="Divergence", help="compounds under clusterings that the search has not seen",
    ),
    Column.numbers(
        "i.i.d.", lambda row: row.known.get("iid_compound_divergence"), ".2f",
        group="Divergence", help="compounds of random splits of the same size and k",
    ),
    Column.numbers(
        "operators", lambda row: row.known.get("operator_divergence"), ".3f", group="Divergence", help="α = 0.5",
    ),
    Column.numbers(
        "their number", lambda row: row.known.get("operator_count_divergence"), ".3f",
        group="Divergence", help="numbers of operators of the problems, α = 0.5",
    ),
    _without_operator("train"),
    _without_operator("test"),
    Column.shares("unseen template", lambda row: row.known.get("unseen_template_share"), group="Test problems (%)"),
    Column.shares("with a twin in train", lambda row: row.known.get("twin_share"), group="Test problems (%)"),
)  # fmt: skip


# --- augmentations ---

Round = tuple[Cell, Record]  # an augmentation, and its report on one round


def augmentation_table(plan: PlanResults, numbers: Sequence[Any] = ()) -> Table | None:
    """One row per round of each finished augmentation; columns for the paper's operations and for all others used."""
    rounds = [
        (cell, record)
        for cell in plan.of_kind("augmentation")
        if cell.status == "done"
        for record in cell.summary["report"]["rounds"]
    ]
    if not rounds:
        return None
    operations = operation_labels(record for _, record in rounds)
    columns = [*_ROUND_COLUMNS, *(column for operation in operations for column in _count_columns(operation))]
    caption = (
        "New problems that passed the checks, and those that stayed: all, or the share that the ranker was surest of. "
        "Templates that the training set did not have before the round."
    )
    if any("least_score_kept" in record for _, record in rounds):
        columns += [_score_column(operation) for operation in operations]
        columns.append(Column.numbers("Least score kept", lambda row: row[1].get("least_score_kept"), ".3g"))
        caption += (
            " Scores: the median of each operation's problems, and the least that was kept; the logarithm of the "
            "probability of the ranker's own best expression, unless the augmentation ranks otherwise."
        )
    return tabulate(f"{plan.name}-augmentations", "Rounds of the augmentation", columns, rounds, caption, detail=True)


def operation_labels(rounds: Iterable[Record]) -> list[str]:
    """The operations in reports on rounds: the paper's two, used or not, then those that packages add."""
    paper = [f"operation {name}" for name in PAPER_OPERATIONS]
    return list(
        dict.fromkeys([*paper, *(name for record in rounds for name in record if name.startswith("operation "))])
    )


def _augmentation_name(row: Round) -> str:
    facts = row[0].facts
    return f"{facts.augmentation}{f', seed {facts.augmentation_seed}' if facts.augmentation_seed else ''}"


_ROUND_COLUMNS = (
    Column.words("Augmentation", _augmentation_name),
    Column.words("Dataset", lambda row: row[0].facts.dataset or ""),
    Column.words("Ranker", lambda row: str(row[0].summary["report"]["options"]["ranker"])),
    Column.numbers("Round", lambda row: row[1]["round"]),
)


def _count_columns(operation: str) -> list[Column]:
    """Operation 2 keeps the template, so it has no new ones to count."""
    counts = {"passed": "candidates", "kept": "kept", "new templates": "new_templates"}
    if operation == "operation 2":
        del counts["new templates"]

    def column(title: str, key: str) -> Column:
        return Column.numbers(title, lambda row: row[1].get(operation, {}).get(key, 0), group=operation.capitalize())

    return [column(title, key) for title, key in counts.items()]


def _score_column(operation: str) -> Column:
    return Column.numbers(
        operation, lambda row: row[1].get(operation, {}).get("median_score"), ".3g", group="Median score"
    )


# --- trainings ---


@dataclass(frozen=True, slots=True)
class _Trainings:
    """Trainings that differ in their seeds only."""

    method: str
    dataset: str
    cells: Sequence[Cell]

    def mean(self, name: str) -> float | None:
        """The mean of something that their summaries have."""
        values = [float(cell.summary[name]) for cell in self.cells if cell.summary.get(name) is not None]
        return fmean(values) if values else None


def training_table(plan: PlanResults, numbers: Sequence[Any] = ()) -> Table | None:
    """One row per method and dataset; trainings with other rounds or settings have rows of their own."""
    groups: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in plan.of_kind("training"):
        if cell.status == "done" and cell.summary.get("problems") is not None:
            facts = cell.facts
            settings = [f"{name}={value}" for name, value in facts.settings.items()] if plan.plan.get("tuning") else []
            rounds = [] if facts.rounds is None else [f"{facts.rounds} rounds"]
            groups[", ".join([facts.method or "", *rounds, *settings]), facts.dataset or ""].append(cell)
    rows = [_Trainings(method, dataset, cells) for (method, dataset), cells in groups.items()]
    caption = (
        "Means over seeds. Seconds are processor time: they depend on the machine, but not on what else runs on it."
    )
    return tabulate(f"{plan.name}-trainings", "Trainings", _TRAINING_COLUMNS, rows, caption, detail=True)


_TRAINING_COLUMNS = (
    Column.words("Method", lambda row: row.method),
    Column.words("Dataset", lambda row: row.dataset),
    Column.numbers("Seeds", lambda row: len(row.cells)),
    Column.numbers("Training problems", lambda row: row.mean("problems"), ",.0f"),
    Column.numbers("Epochs", lambda row: row.mean("epochs"), ".3g"),
    Column.numbers("Best epoch", lambda row: row.mean("best_epoch"), ".3g"),
    Column.numbers("Seconds per epoch", lambda row: row.mean("seconds_per_epoch"), ".1f"),
)


# --- how to reproduce a plan ---


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is needed to run a plan again, and its progress."""

    command: str
    seeds: tuple[int, ...]
    versions: Mapping[str, str]
    hosts: tuple[str, ...]
    seconds: float
    states: Mapping[str, int]  # done, failed, not run → how many cells


def recipe(plan: PlanResults) -> Recipe:
    """How a plan was run."""
    name = plan.name.partition("@")[0]
    preset = f" --preset {plan.preset}" if plan.preset else ""
    versions: dict[str, set[str]] = defaultdict(set)
    for cell in plan.cells:
        for package, version in cell.origin.get("versions", {}).items():
            versions[package].add(str(version))
    out = "runs" if plan.published else plan.path.parent.parent.name
    return Recipe(
        command=f"comdiv run experiments/{name}.yaml{preset} --out {out}",
        seeds=tuple(sorted({cell.facts.seed for cell in plan.cells if cell.facts.seed is not None})),
        versions={package: ", ".join(sorted(several)) for package, several in sorted(versions.items())},
        hosts=tuple(sorted({cell.origin["host"] for cell in plan.cells if cell.origin.get("host")})),
        seconds=sum(cell.seconds or 0 for cell in plan.cells),
        states=dict(Counter(cell.status for cell in plan.cells)),
    )


def cell_table(plan: PlanResults) -> Table | None:
    """Every cell of a plan: its state, where it ran, how long it took, and the hash of its result."""
    ids = tuple(f"{plan.name}-{cell.key}" for cell in plan.cells)
    return tabulate(f"{plan.name}-cells", "Cells", _CELL_COLUMNS, plan.cells, row_ids=ids, long=True)


# The file that is a cell's result, by kind; the first one that exists.
_RESULTS = (
    "test/predictions.jsonl",
    "run/model.safetensors",
    "run/metrics.jsonl",
    "measurement/report.json",
    "dataset/train.jsonl",
)


def _hash_entry(cell: Cell) -> Entry:
    """The file that is a cell's result, with its hash."""
    hashes = {name: str(entry.get("sha256", "")) for name, entry in cell.origin.get("files", {}).items()}
    hashes |= cell.origin.get("originals", {})  # of published results: what they were made from
    name = next((name for name in _RESULTS if name in hashes), next(iter(hashes), ""))
    digest = hashes.get(name, "")
    return Entry(digest[:16], digest, (name,) if name else (), hint=digest)


def _state_entry(cell: Cell) -> Entry:
    return Entry(cell.status, cell.status, (cell.reason,) if cell.reason else (), _TONES[cell.status])


def _place_entry(cell: Cell) -> Entry:
    where = " ".join(filter(None, (cell.origin.get("host"), cell.node)))
    return Entry(where, where, hint=cell.origin.get("finished") or "")


_CELL_COLUMNS = (
    Column.words("Cell", lambda cell: cell.label),
    Column.words("Kind", lambda cell: cell.kind),
    Column("State", number=False, show=_state_entry),
    Column("Time", show=lambda cell: Entry("" if cell.seconds is None else duration(cell.seconds), cell.seconds)),
    Column("Where", number=False, show=_place_entry),
    Column.words("Key", lambda cell: cell.key, help="has the hash of all that determines the cell"),
    Column("Result's SHA-256", number=False, show=_hash_entry),
)


# --- a few rows for the terminal ---

Row = dict[str, Any]  # column → value; numbers below 1 are shares


def accuracies(results: PlanResults) -> list[Row]:
    """One row per dataset, method and way to decode, with the mean over seeds; unfinished ones are left out."""
    groups: dict[tuple[str | None, str, str | None], list[Cell]] = defaultdict(list)
    for cell in results.of_kind("evaluation"):
        if cell.status == "done":
            method = ", ".join([str(cell.facts.method), *cell.facts.variant()])
            groups[cell.facts.dataset, method, cell.facts.cover].append(cell)
    rows = []
    for (dataset, method, cover), cells in groups.items():
        parts = list(cells[0].summary)
        shown = {part: mean(cell.summary[part]["answer_accuracy"] for cell in cells) for part in parts}
        n = cells[0].summary[parts[-1]]["n"]
        rows.append({"dataset": dataset, "method": method, "cover": cover, **shown, "n": n, "seeds": len(cells)})
    return rows


def best_settings(results: PlanResults, most: int = 3) -> list[Row]:
    """For each method and dataset, the settings with the best mean validation accuracy over seeds."""
    groups: dict[tuple[str | None, str | None], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in results.of_kind("training"):
        accuracy = cell.summary.get("validation_accuracy")
        if cell.status == "done" and accuracy is not None:
            settings = ", ".join(f"{name}={value}" for name, value in cell.facts.settings.items())
            groups[cell.facts.dataset, cell.facts.method][settings].append(accuracy)
    rows = []
    for (dataset, method), tried in groups.items():
        ranked = sorted(tried.items(), key=lambda item: (-mean(item[1]), item[0]))
        rows += [
            {"dataset": dataset, "method": method, "validation": mean(values), "seeds": len(values), "settings": name}
            for name, values in ranked[:most]
        ]
    return rows
