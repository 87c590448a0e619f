"""A cell: one piece of an experiment's work, from the moment it is planned until its result is read.

The kinds: `dataset` (a split, a synthesis, or an existing folder), `measurement` (divergences of a dataset at a given
k), `augmentation`, `rounds` (the training set after a given number of rounds of an augmentation), `training`,
`evaluation` (one way to decode, on validation and test). Their summaries:

    dataset, augmentation, rounds   problems: {train, validation, test}; of an augmentation also `report`
    measurement                     compound_divergence, atom_divergence, length_ratio … (as `comdiv measure --json`)
    training                        epochs, best_epoch, validation_accuracy, problems, left_out, steps, planned_epochs,
                                    seconds_per_epoch (processor time, so that a busy machine changes nothing)
    evaluation                      for each part, as `comdiv evaluate --json`. `subsets` of test are structural,
                                    lexical (of SD), "text in train", "text not in train" (number-masked text),
                                    "0/1/2 halves in train" (of SD)
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from comdiv.evaluation.accuracy import STRUCTURES

Kind = Literal["dataset", "measurement", "augmentation", "rounds", "training", "evaluation"]
Status = Literal["done", "failed", "not run"]
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a cell is in its plan: the names that tables and figures use. None: does not apply.

    Names are the plan's own. The same cell may be `GTS+DA` in one plan and `full` in another; its key is the same.
    """

    dataset: str | None = None  # the plan's name of the dataset: mawps-comdiv
    corpus: str | None = None  # its source: mawps, demo-en
    split: str | None = None  # dbca, iid, length, template (or "dbca within"), synthesis, disjoint, folder
    target: float | None = None  # compound divergence that the split should reach
    k: int | None = None  # clusters, of a measurement or a split
    split_seed: int | None = None
    method: str | None = None  # the row of a table: GTS+DA
    solver: str | None = None
    augmentation: str | None = None  # the plan's name of the augmentation; None if there is none
    augmentation_seed: int | None = None
    plain: str | None = None  # the method without augmentation that this one is compared with
    rounds: int | None = None  # rounds of the augmentation in the training set
    seed: int | None = None  # of the training
    steps: str | None = None  # "epochs": the same epochs for all; "equal": as many optimiser steps as `steps_like`
    steps_like: str | None = None  # the method whose number of steps this one takes
    settings: Record = field(default_factory=dict)  # hyper-parameters that differ from the preset's
    cover: str | None = None  # of an evaluation: none, soft, hard

    def to_json(self) -> dict[str, Any]:
        """Only what applies."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != {}}

    def variant(self) -> list[str]:
        """What distinguishes a training from others of the same method, dataset and seed, for labels and rows."""
        parts = [] if self.rounds is None else [f"{self.rounds} round{'s' * (self.rounds != 1)}"]
        if self.augmentation_seed:
            parts.append(f"augmentation seed {self.augmentation_seed}")
        if self.steps_like is not None and self.augmentation is None:
            parts.append(f"steps of {self.steps_like}")
        return parts


class Details(Protocol):
    """What a finished cell knows beyond its summary, wherever that is stored."""

    def dataset(self) -> Record:
        """`dataset.json` of a cell that makes a dataset."""

    def history(self) -> Sequence[Record]:
        """One record per epoch of a training."""

    def frequencies(self) -> Mapping[str, Sequence[Record]]:
        """All atoms and compounds of a measurement, with their frequencies in train and test."""

    def outcomes(self) -> Mapping[str, bool] | None:
        """Whether each test problem of an evaluation is right; None if that can no longer be known."""

    def test_ids(self) -> tuple[str, ...]:
        """Ids of the test problems of the dataset behind the cell, sorted; empty if they are not known."""

    def compositions(self) -> Mapping[str, frozenset[str]]:
        """Ids of the structural and the lexical test problems of the dataset behind the cell; empty if it has none."""

    def structures(self) -> Mapping[str, frozenset[str]]:
        """Ids of the same problems by whether their local structures are in its training side; empty if not known."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One piece of work and its outcome. `recipe` is everything that determines its result."""

    key: str
    kind: Kind
    label: str  # for people: "GTS+DA on sd, seed 0"
    facts: Facts
    needs: tuple[str, ...]  # keys of the cells whose results it uses; it continues the first of them
    recipe: Record = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)  # where sources are on this machine; not part of the key
    status: Status = "not run"
    reason: str = ""  # why it failed, or which failed cell kept it from running; empty: it is still waiting
    summary: Record = field(default_factory=dict)
    origin: Record = field(default_factory=dict)  # seconds, started, finished, host, node, versions, hashes
    folder: Path | None = None  # of its files; published results have none
    details: Details | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        return self.origin.get("seconds")

    @property
    def node(self) -> str | None:
        """The node of a Ray cluster, if it ran on one."""
        return self.origin.get("node")

    def file(self, name: str) -> Path | None:
        """One of its files, if it is there."""
        path = None if self.folder is None else self.folder / name
        return path if path is not None and path.is_file() else None

    def to_json(self) -> dict[str, Any]:
        """The record in the plan's file; the recipe is in the cell's own folder."""
        return {
            "key": self.key,
            "kind": self.kind,
            "label": self.label,
            "facts": self.facts.to_json(),
            "needs": list(self.needs),
        }

    def whole_json(self) -> dict[str, Any]:
        """The complete record: what a process needs to run the cell."""
        return {**self.to_json(), "recipe": dict(self.recipe), "inputs": dict(self.inputs)}

    @classmethod
    def from_json(cls, record: Record) -> "Cell":
        """The opposite of `to_json` and `whole_json`."""
        return cls(**{**record, "facts": Facts(**record["facts"]), "needs": tuple(record["needs"])})


@dataclass(frozen=True, slots=True)
class PlanResults:
    """A plan and all its cells in the plan's order: finished, failed or not run."""

    name: str
    title: str
    reproduces: str  # the table or figure of the paper; empty for a user's own plan
    preset: str | None  # smoke, for example; None: the plan itself
    plan: Record  # the whole plan as it was run
    path: Path  # the file that says so
    cells: tuple[Cell, ...]
    about: str = ""  # what a reader should know
    order: int = 100  # its place in a report
    published: bool = False  # numbers and ids only, for reading, not for continuing

    def of_kind(self, kind: Kind) -> tuple[Cell, ...]:
        """The cells of one kind."""
        return tuple(cell for cell in self.cells if cell.kind == kind)

    def ancestor(self, cell: Cell, *kinds: Kind) -> Cell | None:
        """The nearest cell of these kinds that a cell depends on, such as the training behind an evaluation."""
        by_key = {one.key: one for one in self.cells}
        level = [cell]
        while level:
            level = [by_key[key] for one in level for key in one.needs if key in by_key]
            for one in level:
                if one.kind in kinds:
                    return one
        return None


def sources(cells: Iterable[Cell]) -> dict[str, str]:
    """Key of a cell → key of the dataset that it comes from, before any augmentation."""
    origins: dict[str, str] = {}
    for cell in cells:  # each comes after those that it needs
        if cell.kind == "dataset":
            origins[cell.key] = cell.key
        elif cell.needs and cell.needs[0] in origins:
            origins[cell.key] = origins[cell.needs[0]]
    return origins


def right_answers(cell: Cell, subset: str | None = None) -> Mapping[str, bool] | None:
    """Whether each test problem of an evaluation is right; `subset` selects a composition, or a part by structures."""
    outcomes = None if cell.details is None else cell.details.outcomes()
    if outcomes is None or subset is None or cell.details is None:
        return outcomes
    parts = cell.details.structures() if subset in STRUCTURES else cell.details.compositions()
    ids = parts.get(subset, frozenset())
    return {name: right for name, right in outcomes.items() if name in ids} or None


def processor_seconds(cell: Cell) -> float | None:
    """What a cell took of a processor; the time on the clock where nothing else is known."""
    each, epochs = cell.summary.get("seconds_per_epoch"), cell.summary.get("epochs")
    return each * epochs if each and epochs else cell.seconds


def compact_json(record: Any) -> str:
    """One line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
