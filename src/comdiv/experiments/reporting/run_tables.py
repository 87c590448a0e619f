"""How to get the same numbers: a plan's command, its seeds and versions, and every cell with its hash."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.tables import Column, Entry, Table, Tone
from comdiv.experiments.reporting.wording import duration

_TONES: Mapping[str, Tone] = {"done": "", "failed": "failed", "not run": "missing"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What it takes to run a plan again, and how far it has come."""

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
    """Every cell of a plan: what became of it, where, how long it took, the hash of what came out."""
    columns = (
        Column("Cell", number=False), Column("Kind", number=False), Column("State", number=False), Column("Time"),
        Column("Where", number=False), Column("Key", number=False, help="has the hash of all that determines the cell"),
        Column("Result's SHA-256", number=False),
    )  # fmt: skip
    rows = tuple(_row(cell) for cell in plan.cells)
    ids = tuple(f"{plan.name}-{cell.key}" for cell in plan.cells)
    return Table(f"{plan.name}-cells", "Cells", columns, rows, row_ids=ids, long=True)


def _row(cell: Cell) -> tuple[Entry, ...]:
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


# The file that is a cell's result, by its kind; the first that it has.
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
