"""What has come of plans: frozen records of whatever has finished, failed or not been run.

`comdiv run PLAN --out runs` leaves this:

    runs/
      plans/NAME.json          the plan as it was run, and its cells; with a preset the name is NAME@PRESET
      cells/KEY/               one cell. KEY: its kind and the hash of everything that determines it; plans share cells
        cell.json              what it is: kind, label, facts, the keys of the cells it needs, and the whole recipe
        log.txt                what it said while it ran, of all attempts
        done.json              written last. summary (its numbers), seconds, started, finished, host, node, versions,
                               and the size and SHA-256 of its files
        failed.json            instead of done.json: reason
        dataset/               (kinds dataset, augmentation, rounds) a dataset folder: train.jsonl, validation.jsonl,
                               test.jsonl, dataset.json; of an augmentation also rounds/1…, report.json, report.md
        measurement/           (measurement) report.json with all frequencies, report.md, frequencies-*.svg and .png
        run/                   (training) a run folder: config.yaml, metrics.jsonl, model.safetensors…
        validation/, test/     (evaluation) result.json, predictions.jsonl
      judgements/              where there are any: what people think of augmented problems, *.jsonl or *.csv

The kinds: `dataset` (a split, a synthesis, or a folder that was there), `measurement` (divergences of a dataset at a
given k), `augmentation`, `rounds` (the training set as it was after so many rounds of an augmentation), `training`,
`evaluation` (one way to decode, on validation and test). Summaries (`Cell.summary`):

    dataset, augmentation, rounds   problems: {train, validation, test}; of an augmentation also `report`
    measurement                     compound_divergence, atom_divergence, length_ratio … (as `comdiv measure --json`)
    training                        epochs, best_epoch, validation_accuracy, problems, left_out, steps, planned_epochs,
                                    seconds_per_epoch (the processor's, so that a busy machine changes nothing)
    evaluation                      for each part: n, correct, answer_accuracy, subsets. `subsets` of test are
                                    {name: {n, correct, accuracy, interval}}: structural, lexical (of SD), "text in
                                    train", "text not in train" (number-masked text), "0/1/2 halves in train" (of SD)

Published results (`comdiv export results`) have `published.json` beside the plans, and of each cell only what holds
numbers and ids: no parts of datasets, no weights, no logs, no predictions. Instead of those, an evaluation has
`test/outcomes.json` (ids by right and wrong) and a dataset of SD's kind `dataset/compositions.json` (ids of structural
and lexical test problems). `originals` in `done.json` are the hashes of what was left out; judges are numbered.

An evaluation's `result.json` is what `comdiv evaluate` writes. A cell that could not be run says why in `reason`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from comdiv.errors import ComdivError
from comdiv.experiments.store import (
    DONE,
    FAILED,
    JUDGEMENTS,
    LOG,
    PLANS,
    Facts,
    Kind,
    cell_folder,
    read_done,
    read_json,
)

Status = Literal["done", "failed", "not run"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a plan and what has become of it. Paths are None where the cell has no such file (yet)."""

    key: str
    kind: Kind
    label: str
    facts: Facts
    needs: tuple[str, ...]
    folder: Path
    status: Status
    reason: str = ""  # why it failed, or because of which other cell it was not run; empty: its turn has not come
    summary: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    host: str | None = None
    node: str | None = None  # of a Ray cluster
    finished: str | None = None

    @property
    def log(self) -> Path | None:
        """What the cell said."""
        return _existing(self.folder / LOG)

    @property
    def dataset(self) -> Path | None:
        """`dataset.json` of a cell that makes a dataset."""
        return _existing(self.folder / "dataset" / "dataset.json")

    @property
    def augmentation_report(self) -> Path | None:
        """`report.json` of an augmentation."""
        return _existing(self.folder / "dataset" / "report.json")

    @property
    def measurement(self) -> Path | None:
        """`report.json` of a measurement, with all frequencies."""
        return _existing(self.folder / "measurement" / "report.json")

    @property
    def metrics(self) -> Path | None:
        """`metrics.jsonl` of a training: a line an epoch."""
        return _existing(self.folder / "run" / "metrics.jsonl")

    def result(self, part: str = "test") -> Path | None:
        """`result.json` of an evaluation on `validation` or `test`."""
        return _existing(self.folder / part / "result.json")

    def predictions(self, part: str = "test") -> Path | None:
        """`predictions.jsonl` of an evaluation on `validation` or `test`."""
        return _existing(self.folder / part / "predictions.jsonl")


@dataclass(frozen=True, slots=True)
class PlanResults:
    """A plan and all its cells, in the order in which it names them."""

    name: str
    title: str
    reproduces: str  # the table or figure of the paper; empty for plans of the user's own
    preset: str | None  # smoke, for example; None: as the plan stands
    plan: Mapping[str, Any]  # the whole plan as it was run
    path: Path
    cells: tuple[Cell, ...]

    def of_kind(self, kind: Kind) -> tuple[Cell, ...]:
        """The cells of one kind."""
        return tuple(cell for cell in self.cells if cell.kind == kind)

    def ancestor(self, cell: Cell, *kinds: Kind) -> Cell | None:
        """The nearest cell of these kinds that a cell depends on: the training behind an evaluation, for example.

        The first need of a cell is the one whose result it continues; others (equal steps) are looked at last.
        """
        by_key = {one.key: one for one in self.cells}
        level = [cell]
        while level:
            level = [by_key[key] for one in level for key in one.needs if key in by_key]
            for one in level:
                if one.kind in kinds:
                    return one
        return None


def read_results(root: Path) -> tuple[PlanResults, ...]:
    """All plans that were run into a folder, by name."""
    paths = sorted((root / PLANS).glob("*.json"))
    if not paths:
        raise ComdivError(f"{root} holds no results: it has no {PLANS}/*.json; `comdiv run PLAN --out {root}` makes it")
    return tuple(read_plan_results(root, path) for path in paths)


def judgement_files(root: Path) -> list[Path]:
    """People's marks that lie with the results."""
    folder = root / JUDGEMENTS
    return sorted(path for path in folder.iterdir() if path.suffix in (".jsonl", ".csv")) if folder.is_dir() else []


def read_plan_results(root: Path, path: Path) -> PlanResults:
    """One plan, with the state of its cells as it is on disk now."""
    record = read_json(path)
    try:
        return PlanResults(
            name=record["name"],
            title=record.get("title", ""),
            reproduces=record.get("reproduces", ""),
            preset=record.get("preset"),
            plan=record.get("plan", {}),
            path=path,
            cells=tuple(_cells(root, record["cells"])),
        )
    except (KeyError, TypeError) as error:
        raise ComdivError(f"{path} is no plan's file of this version: {error}") from error


def _cells(root: Path, records: list[Mapping[str, Any]]) -> Iterator[Cell]:
    """Cells come after those they need, so that a failure is known when its dependants are read."""
    blocked: dict[str, str] = {}  # key of a cell without a result → the label of the one that failed
    for record in records:
        key, folder = record["key"], cell_folder(root, record["key"])
        fixed: dict[str, Any] = {
            "key": key, "kind": record["kind"], "label": record["label"], "facts": Facts(**record["facts"]),
            "needs": tuple(record["needs"]), "folder": folder,
        }  # fmt: skip
        if (done := read_done(folder)) is not None:
            yield Cell(
                **fixed, status="done", summary=done.get("summary", {}), seconds=done.get("seconds"),
                host=done.get("host"), node=done.get("node"), finished=done.get("finished"),
            )  # fmt: skip
        elif not (folder / DONE).exists() and (folder / FAILED).is_file():
            failed = read_json(folder / FAILED)
            blocked[key] = record["label"]
            yield Cell(
                **fixed, status="failed", reason=str(failed.get("reason", "")), seconds=failed.get("seconds"),
                host=failed.get("host"), node=failed.get("node"), finished=failed.get("finished"),
            )  # fmt: skip
        else:
            culprit = next((blocked[need] for need in record["needs"] if need in blocked), None)
            if culprit is not None:
                blocked[key] = culprit
            yield Cell(**fixed, status="not run", reason=f"because of: {culprit}" if culprit else "")


def _existing(path: Path) -> Path | None:
    return path if path.is_file() else None
